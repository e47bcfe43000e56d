// SPDX-License-Identifier: Apache-2.0
#include "compile_model.hpp"

namespace examples::candle_models {

extern constinit const CompiledCandleModel base = compile_candle_model<totograph::kronos::base>("base");

}  // namespace examples::candle_models
