// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__CUDACC__) && !defined(__clang__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error \
    "totograph: device code calls constexpr functions; compile with nvcc's option --expt-relaxed-constexpr, which the CMake target totograph::cuda has."
#endif

// Functions of the CUDA executor that depend on no model are declared in `name.hpp` and defined in `impl/name.hpp`, as
// core/inline.hpp tells. With TOTOGRAPH_SEPARATE_CUDA_COMPILATION defined, in all files of a program, nvcc compiles
// them once, where `cuda_separate_compilation.hpp` is included. A definition that launches a kernel is there for each
// architecture, for nvcc must meet its kernels whenever it reads a file; the others are left out then.

#ifdef TOTOGRAPH_SEPARATE_CUDA_COMPILATION
#define TOTOGRAPH_CUDA_INLINE
#else
#define TOTOGRAPH_CUDA_INLINE inline
#endif
