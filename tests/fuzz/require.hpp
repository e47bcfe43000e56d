// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>

namespace fuzz {

/// Ends the run, and so makes a finding of the input, unless the condition holds.
inline void require(bool condition) {
    if (!condition) {
        std::abort();
    }
}

/// The error of a reader: of this code, and with a message that is short and steers no terminal.
inline void require_harmless(const totograph::Error& error, totograph::ErrorCode code) {
    const std::string_view message = error.what();
    require(error.code() == code && message.size() < 2000 && totograph::io::printable(message) == message);
}

}  // namespace fuzz
