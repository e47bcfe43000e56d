// SPDX-License-Identifier: Apache-2.0
// Toto 2.0 of 313 million parameters.
#include "toto2_model.hpp"

namespace examples::models {

extern constinit const CompiledModel toto2_313m = compile_toto2<totograph::toto2::toto2_313m>("toto2_313m");

}  // namespace examples::models
