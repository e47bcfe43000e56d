// SPDX-License-Identifier: Apache-2.0
#include "compile_candles.hpp"

namespace examples::grid_models {

extern constinit const GridModel base = compile_candles<grids::base>("base");

}  // namespace examples::grid_models
