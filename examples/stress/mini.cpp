// SPDX-License-Identifier: Apache-2.0
#include "compile_candles.hpp"

namespace examples::grid_models {

extern constinit const GridModel mini = compile_candles<grids::mini>("mini");

}  // namespace examples::grid_models
