// SPDX-License-Identifier: Apache-2.0
// The model that comes with the library, compiled for the CPU.
#include <totograph/models/toto1/demo_1_0.hpp>

#include "compile_model.hpp"
#include "sizes.hpp"

namespace examples::models {

extern constinit const CompiledModel demo =
    compile_model<totograph::toto1::demo_1_0, demo_short, demo_long, demo_mean>("demo", demo_at_once);

}  // namespace examples::models
