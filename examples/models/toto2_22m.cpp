// SPDX-License-Identifier: Apache-2.0
// Toto 2.0 of 22 million parameters.
#include "toto2_model.hpp"

namespace examples::models {

extern constinit const CompiledModel toto2_22m = compile_toto2<totograph::toto2::toto2_22m>("toto2_22m");

}  // namespace examples::models
