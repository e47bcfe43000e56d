// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/out_of_memory.hpp>

#include <string>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/machine_memory.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>

namespace totograph::forecast_detail {

/// @param takes  what takes so many bytes
[[noreturn]] inline void reject_bytes(const std::string& takes, double bytes, const char* advice) {
    const auto text = [](double size) {
        return totograph::detail::with_unit(size, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
    };
    throw Error(ErrorCode::out_of_memory, "forecast: " + takes + " " + text(bytes) + ", and this machine has " +
                                              text(machine_memory()) + " of memory, not all of it free; " + advice);
}

TOTOGRAPH_INLINE void reject_memory(const std::string& what, double bytes) {
    reject_bytes(what + " takes", bytes, "ask for less, or in several requests.");
}

TOTOGRAPH_INLINE void reject_forecaster(const Bucket& bucket, double bytes) {
    reject_bytes("there is no memory for a forecaster of " + to_string(bucket) + ", which takes at least", bytes,
                 "compile a smaller size.");
}

}  // namespace totograph::forecast_detail
