// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/core/machine_memory.hpp>
#include <totograph/graph/explain/text.hpp>

// Memory that a forecast asks for and does not find.
namespace totograph::forecast_detail {

/// Throws `Error` (`out_of_memory`): `what` takes so many bytes, and there are not as many.
[[noreturn]] inline void reject_memory(const std::string& what, double bytes) {
    const auto text = [](double size) {
        return totograph::detail::with_unit(size, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
    };
    throw Error(ErrorCode::out_of_memory, "forecast: " + what + " takes " + text(bytes) + ", and this machine has " +
                                              text(machine_memory()) +
                                              " of memory, not all of it free; ask for less, or in several requests.");
}

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
