// SPDX-License-Identifier: Apache-2.0
// Toto 2.0 of a billion parameters.
#include "toto2_model.hpp"

namespace examples::models {

extern constinit const CompiledModel toto2_1b = compile_toto2<totograph::toto2::toto2_1b>("toto2_1b");

}  // namespace examples::models
