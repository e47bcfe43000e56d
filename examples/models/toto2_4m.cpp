// SPDX-License-Identifier: Apache-2.0
// Toto 2.0 of 4 million parameters.
#include "toto2_model.hpp"

namespace examples::models {

extern constinit const CompiledModel toto2_4m = compile_toto2<totograph::toto2::toto2_4m>("toto2_4m");

}  // namespace examples::models
