// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <totograph/core/error.hpp>

/// The sentence that an action is refused with.
template <class Action>
std::string refusal(Action action) {
    try {
        action();
    } catch (const totograph::Error& error) {
        return error.what();
    }
    return "";
}
