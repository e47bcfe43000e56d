// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>

// Errors on their way through the C interface.
namespace totograph::package {

constexpr totograph_status status_of(ErrorCode code) noexcept {
    return static_cast<totograph_status>(code) + 1;
}
static_assert(status_of(ErrorCode::invalid_argument) == TOTOGRAPH_INVALID_ARGUMENT &&
              status_of(ErrorCode::recapture) == TOTOGRAPH_RECAPTURE);

/// The code that a status stands for; `invalid_argument` for all others, such as TOTOGRAPH_UNFORESEEN.
constexpr ErrorCode code_of(totograph_status status) noexcept {
    return status >= TOTOGRAPH_INVALID_ARGUMENT && status <= TOTOGRAPH_RECAPTURE ? static_cast<ErrorCode>(status - 1)
                                                                                 : ErrorCode::invalid_argument;
}

/// Writes what went wrong to an error of the caller's, as far as it has room: in whole characters, always terminated.
inline totograph_status report(totograph_error* error, totograph_status status, std::string_view sentence) noexcept {
    constexpr std::size_t before = offsetof(totograph_error, sentence);
    if (error == nullptr || error->size <= before) {
        return status;
    }
    error->status = status;
    std::size_t length = std::min<std::size_t>(sentence.size(), error->size - before - 1);
    const auto continues = [&](std::size_t at) {
        return at < sentence.size() && (static_cast<unsigned char>(sentence[at]) & 0xC0U) == 0x80U;
    };
    while (length > 0 && continues(length)) {
        --length;
    }
    char* const to = reinterpret_cast<char*>(error) + before;
    std::copy_n(sentence.begin(), length, to);  // none of no sentence, which may be null
    to[length] = '\0';
    return status;
}

/// Runs what may throw, and makes a status and a sentence of it.
template <class Run>
totograph_status guarded(totograph_error* error, const Run& run) noexcept {
    try {
        run();
        return report(error, TOTOGRAPH_OK, {});
    } catch (const Error& thrown) {
        return report(error, status_of(thrown.code()), thrown.what());
    } catch (const std::bad_alloc&) {
        return report(error, TOTOGRAPH_OUT_OF_MEMORY, "The memory of this machine does not suffice; ask for less.");
    } catch (const std::exception& thrown) {
        const char* const what = thrown.what();
        return report(error, TOTOGRAPH_UNFORESEEN, what);
    } catch (...) {
        return report(error, TOTOGRAPH_UNFORESEEN, "Something unforeseen went wrong.");
    }
}

/// A pointer that the caller has to give. Throws `Error(invalid_argument)`.
template <class Pointer>
Pointer require(Pointer given, std::string_view what) {
    if (given == nullptr) {
        throw Error(ErrorCode::invalid_argument, std::string(what) + " is NULL; pass one.");
    }
    return given;
}

}  // namespace totograph::package
