// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <string>

#include <totograph/forecast/bucket.hpp>

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

/// Throws `Error` (`out_of_memory`): a forecaster takes so many bytes or more, and there are not as many.
[[noreturn]] void reject_forecaster(const Bucket& bucket, double bytes);

/// What `make` gives, a part of a forecaster of so many bytes or more. Throws `Error` (`out_of_memory`) where it finds
/// no memory.
template <class Make>
auto made_with_memory(const Bucket& bucket, std::size_t bytes, const Make& make) {
    try {
        return make();
    } catch (const std::bad_alloc&) {
        reject_forecaster(bucket, static_cast<double>(bytes));
    }
}

}  // namespace totograph::forecast_detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/out_of_memory.hpp>
#endif
