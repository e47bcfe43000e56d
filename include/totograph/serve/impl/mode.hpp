// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/mode.hpp>

#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/text.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE Mode mode_of(std::string_view text, std::string_view from) {
    std::string list;
    for (const Mode mode : all_modes) {
        if (text == name(mode)) {
            return mode;
        }
        list += (list.empty() ? "" : ", ") + std::string(name(mode));
    }
    throw Error(ErrorCode::invalid_argument, std::string(from) + " is " + io::in_quotes(text, 100) +
                                                 ", expected one of: " + list + ". Use one of these names.");
}

TOTOGRAPH_INLINE Mode choose_mode(Mode wanted, const char* disable, const char* mode) {
    const auto is_set = [](const char* value) { return value != nullptr && *value != '\0'; };
    if (is_set(disable) && std::string_view(disable) != "0") {
        return Mode::eager;
    }
    return is_set(mode) ? mode_of(mode, "TOTOGRAPH_MODE") : wanted;
}

}  // namespace totograph::serve
