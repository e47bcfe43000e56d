// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace totograph {

/// Whether a program's GEMMs multiply in f32, by weights in f32, whatever precision is asked for, since it decides by
/// what it computes: its model says `static constexpr bool needs_f32 = true`.
template <class Program>
inline constexpr bool needs_f32 = [] {
    if constexpr (requires { Program::Model::needs_f32; }) {
        return bool{Program::Model::needs_f32};
    } else {
        return false;
    }
}();

}  // namespace totograph
