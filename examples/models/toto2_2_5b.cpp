// SPDX-License-Identifier: Apache-2.0
// Toto 2.0 of 2.5 billion parameters.
#include "toto2_model.hpp"

namespace examples::models {

extern constinit const CompiledModel toto2_2_5b = compile_toto2<totograph::toto2::toto2_2_5b>("toto2_2_5b");

}  // namespace examples::models
