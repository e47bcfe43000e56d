// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/language.hpp>

// The header `impl/name.hpp` of a folder defines the functions that its `name.hpp` declares. Where nothing is said,
// every file that includes `name.hpp` compiles them. With TOTOGRAPH_SEPARATE_COMPILATION defined, in all files of a
// program, they are compiled once, where `separate_compilation.hpp` is included. nvcc reads a file once more for each
// architecture, with __CUDA_ARCH__ defined; these functions run on the host, so that it leaves the definitions out
// then.

#ifdef TOTOGRAPH_SEPARATE_COMPILATION
#define TOTOGRAPH_INLINE
#else
#define TOTOGRAPH_INLINE inline
#endif
