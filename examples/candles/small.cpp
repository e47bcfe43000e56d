// SPDX-License-Identifier: Apache-2.0
#include "compile_model.hpp"

namespace examples::candle_models {

extern constinit const CompiledCandleModel small = compile_candle_model<totograph::kronos::small>("small");

}  // namespace examples::candle_models
