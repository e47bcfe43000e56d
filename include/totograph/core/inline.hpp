// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files whose names end in `_inl.hpp` define the functions that the header of the same name declares. Where nothing is
// said, every file that includes the header compiles them. With TOTOGRAPH_SEPARATE_COMPILATION defined, in all files of
// a program, they are compiled once, where `separate_compilation.hpp` is included.

#ifdef TOTOGRAPH_SEPARATE_COMPILATION
#define TOTOGRAPH_INLINE
#else
#define TOTOGRAPH_INLINE inline
#endif
