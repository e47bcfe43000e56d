// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <string>

// Memory that a forecast asks for and does not find.
namespace totograph::forecast_detail {

/// Throws `Error` (`out_of_memory`): `what` takes so many bytes, and there are not as many.
[[noreturn]] void reject_memory(const std::string& what, double bytes);

/// What `allocate` gives. Throws `Error` (`out_of_memory`) where it finds no memory for `what`, of so many bytes.
template <class Allocate>
auto with_memory(const char* what, std::size_t bytes, const Allocate& allocate) {
    try {
        return allocate();
    } catch (const std::bad_alloc&) {
        reject_memory(what, static_cast<double>(bytes));
    }
}

}  // namespace totograph::forecast_detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/out_of_memory.hpp>
#endif
