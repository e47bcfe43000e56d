// SPDX-License-Identifier: Apache-2.0
#include "compile_candles.hpp"

namespace examples::grid_models {

extern constinit const GridModel small = compile_candles<grids::small>("small");

}  // namespace examples::grid_models
