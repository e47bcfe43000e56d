// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>

// Checks for those who read and write states of a forecaster by name.
namespace totograph::forecast_detail {

/// What was found for a state. Throws `Error` (`invalid_argument`) when it is null: no program has it.
template <class Entry>
const Entry& require_state(const Entry* entry, std::string_view name, int layer) {
    if (entry == nullptr) {
        throw Error(ErrorCode::invalid_argument,
                    "No program of this forecaster has a state '" + std::string(name) + "'" +
                        (layer < 0 ? "" : " of layer " + std::to_string(layer)) +
                        "; forecast/states.hpp and the model's own states list the names.");
    }
    return *entry;
}

/// Throws `Error` (`invalid_argument`): a forecaster is used whose memory another one has.
[[noreturn]] void reject_moved_from();

/// Checks that elements of `given` are what a state is made of, and so many. Throws `Error` (`invalid_argument`).
void check_state(std::string_view state, DType stored, const Shape& shape, DType given, std::size_t count);

}  // namespace totograph::forecast_detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/state_access.hpp>
#endif
