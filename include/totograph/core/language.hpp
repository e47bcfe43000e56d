// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <version>

// What the headers need of the language and its library, in a sentence where it is missing. There is no header
// `an_error_is_above.hpp`: that ends the compilation, where thousands of errors would follow and hide the sentence.
#if __cplusplus < 202002L
#error \
    "totograph: the headers are C++20, and this file is compiled as an older standard; compile it with -std=c++20 or later, by g++ 12, clang 14 or a later one (CMake: link totograph::totograph)."
#include <totograph/core/an_error_is_above.hpp>
#elif !defined(__cpp_exceptions) && !defined(__CUDA_ARCH__)
#error \
    "totograph: mistakes are told by exceptions (totograph::Error), which -fno-exceptions leaves out; compile the files that include totograph with -fexceptions, or call a package through its C interface (totograph/c/totograph.h)."
#include <totograph/core/an_error_is_above.hpp>
#elif defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
#error \
    "totograph: numbers are read by std::from_chars of floating point, which libc++ has from version 20 on; compile with that one or a later one, or with libstdc++ (-stdlib=libstdc++)."
#include <totograph/core/an_error_is_above.hpp>
#endif
