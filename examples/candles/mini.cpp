// SPDX-License-Identifier: Apache-2.0
#include "compile_model.hpp"

namespace examples::candle_models {

extern constinit const CompiledCandleModel mini = compile_candle_model<totograph::kronos::mini>("mini");

}  // namespace examples::candle_models
