// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/package/interface/status.hpp>

// Structures that callers of other versions made.
namespace totograph::package {

namespace detail {

[[noreturn]] inline void refuse_size(std::string_view name, std::uint64_t found, std::size_t expected,
                                     std::string_view why) {
    throw Error(ErrorCode::invalid_argument, "The structure " + std::string(name) + " says that it has " +
                                                 std::to_string(found) + " bytes; this package knows " +
                                                 std::to_string(expected) + " of it. " + std::string(why));
}

}  // namespace detail

/// A structure of this version, with 0 in all but its size.
template <class Structure>
Structure sized() {
    Structure empty{};
    empty.size = sizeof empty;
    return empty;
}

/// A structure of the caller's with 0 in what its version did not have yet. Throws `Error(invalid_argument)` for one
/// without a size, and for one of a later version that says something that this one does not know.
template <class Structure>
Structure read_structure(const Structure* given, std::string_view name) {
    Structure result{};
    std::uint64_t size = 0;
    std::memcpy(&size, require(given, name), sizeof size);
    if (size < sizeof size) {
        detail::refuse_size(name, size, sizeof result, "Set its size, as its initializer does.");
    }
    const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
    constexpr std::uint64_t most = 4096;
    if (size > most || std::any_of(bytes + std::min<std::uint64_t>(sizeof result, size), bytes + size,
                                   [](unsigned char byte) { return byte != 0; })) {
        detail::refuse_size(name, size, sizeof result,
                            "It asks for what only a package of a later version has; compile the package anew.");
    }
    std::memcpy(&result, given, std::min<std::size_t>(sizeof result, size));
    result.size = sizeof result;
    return result;
}

/// Fills a structure of the caller's as far as its version has it, and leaves its size.
template <class Structure>
void write_structure(Structure* to, const Structure& from, std::string_view name) {
    std::uint64_t size = 0;
    std::memcpy(&size, require(to, name), sizeof size);
    if (size < sizeof size) {
        detail::refuse_size(name, size, sizeof from, "Set its size before it is filled.");
    }
    std::memcpy(reinterpret_cast<unsigned char*>(to) + sizeof size,
                reinterpret_cast<const unsigned char*>(&from) + sizeof size,
                std::min<std::size_t>(sizeof from, size) - sizeof size);
}

inline totograph_bucket c_bucket(const Bucket& bucket) {
    return {.size = sizeof(totograph_bucket),
            .batch = bucket.batch,
            .variates = bucket.variates,
            .context = bucket.context,
            .horizon = bucket.horizon,
            .samples = bucket.samples,
            .exogenous = bucket.exogenous};
}

inline Bucket bucket_of(const totograph_bucket& bucket) {
    return {.batch = bucket.batch,
            .variates = bucket.variates,
            .context = bucket.context,
            .horizon = bucket.horizon,
            .samples = bucket.samples,
            .exogenous = bucket.exogenous};
}

}  // namespace totograph::package
