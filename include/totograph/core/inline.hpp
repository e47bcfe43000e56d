// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files whose names end in `_inl.hpp` define the functions that the header of the same name declares. Where nothing is
// said, every file that includes the header compiles them. With TOTOGRAPH_SEPARATE_COMPILATION defined, in all files of
// a program, they are compiled once, where `separate_compilation.hpp` is included. nvcc reads a file once more for each
// architecture, with __CUDA_ARCH__ defined; these functions run on the host, so that it leaves the definitions out
// then.

#ifdef TOTOGRAPH_SEPARATE_COMPILATION
#define TOTOGRAPH_INLINE
#else
#define TOTOGRAPH_INLINE inline
#endif
