// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace totograph {

/// Calls `visit.template operator()<which>()` for each of so many programs, in order.
template <std::size_t programs, class Visit>
constexpr void for_each_program(const Visit& visit) {
    [&]<std::size_t... which>(std::index_sequence<which...>) {
        (visit.template operator()<which>(), ...);
    }
    (std::make_index_sequence<programs>());
}

}  // namespace totograph
