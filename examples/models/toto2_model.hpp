// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile_model.hpp"
#include "sizes.hpp"

namespace examples {

/// A model of the Toto 2.0 kind, compiled for the CPU.
template <class Model>
constexpr CompiledModel compile_toto2(const char* name) {
    return compile_model<Model, toto2_lone, toto2_short, toto2_long>(name, most_variates);
}

}  // namespace examples
