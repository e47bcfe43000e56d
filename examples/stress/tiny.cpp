// SPDX-License-Identifier: Apache-2.0
#include "compile_tokens.hpp"

namespace examples::grid_models {

extern constinit const GridModel tiny = compile_tokens<grids::tiny>("tiny");

}  // namespace examples::grid_models
