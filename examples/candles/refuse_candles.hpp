// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <totograph/core/error.hpp>

namespace examples::detail {

/// Refuses a file of candles.
[[noreturn]] inline void refuse_candles(const std::string& sentence) {
    throw totograph::Error(totograph::ErrorCode::invalid_file, sentence);
}

}  // namespace examples::detail
