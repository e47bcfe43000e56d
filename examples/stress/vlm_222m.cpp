// SPDX-License-Identifier: Apache-2.0
#include "compile_tokens.hpp"

namespace examples::grid_models {

extern constinit const GridModel vlm_222m = compile_tokens<grids::vlm_222m>("vlm_222m");

}  // namespace examples::grid_models
