// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tells once for each file that is compiled without optimization, where a forecast takes dozens of times as
/// long. No error under -Werror, neither of g++, whose note it is, nor of clang, which says nothing in headers that it
/// was given with -isystem (our CMake package says it when it configures). Defining `TOTOGRAPH_NO_OPTIMIZE_WARNING`
/// before the first header, or for the whole target, silences it. Files that nvcc compiles are left alone: what it
/// hands to the host's compiler computes nothing.
#if !defined(__OPTIMIZE__) && !defined(TOTOGRAPH_NO_OPTIMIZE_WARNING) && !defined(__CUDACC__)
#pragma message( \
    "totograph: compiled without optimization, a forecast takes dozens of times as long. Compile with -O2 -march=native (CMake: -DCMAKE_BUILD_TYPE=Release), or define TOTOGRAPH_NO_OPTIMIZE_WARNING.")
#endif
