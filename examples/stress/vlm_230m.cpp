// SPDX-License-Identifier: Apache-2.0
#include "compile_tokens.hpp"

namespace examples::grid_models {

extern constinit const GridModel vlm_230m = compile_tokens<grids::vlm_230m>("vlm_230m");

}  // namespace examples::grid_models
