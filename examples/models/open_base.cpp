// SPDX-License-Identifier: Apache-2.0
// Toto Open Base 1.0, compiled for the CPU.
#include "compile_model.hpp"
#include "sizes.hpp"

namespace examples::models {

extern constinit const CompiledModel open_base =
    compile_model<totograph::toto1::open_base_1_0, open_base_short, open_base_long, open_base_mean>("open_base",
                                                                                                    most_variates);

}  // namespace examples::models
