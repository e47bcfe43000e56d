// SPDX-License-Identifier: Apache-2.0
#include "compile_tokens.hpp"

namespace examples::grid_models {

extern constinit const GridModel vlm_460m = compile_tokens<grids::vlm_460m>("vlm_460m");

}  // namespace examples::grid_models
