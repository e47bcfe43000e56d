// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <totograph/graph/explain/text.hpp>

namespace totograph::serve::detail {

/// A duration as people read it, `12.3 ms`; a dash for 0, which stands for what did not happen.
inline std::string seconds_text(double seconds) {
    return seconds == 0 ? "-" : totograph::detail::with_unit(seconds * 1e9, 1000, {"ns", "us", "ms", "s", "ks"});
}

}  // namespace totograph::serve::detail
