// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>

namespace totograph::serve {

/// How a forecast is run, in the words of `torch.compile`. What a mode does on an executor, its backend tells
/// (`Backend::describe`); `docs/production.md` has them side by side.
enum class Mode : std::uint8_t {
    eager,                       ///< Step by step, nothing fused, captured or tuned: the baseline for all others.
    standard,                    ///< `default`: the fused program, launched kernel by kernel.
    reduce_overhead,             ///< `reduce-overhead`: the fused program, replayed as one graph.
    max_autotune,                ///< `max-autotune`: GEMMs tuned by measurement, then replayed as one graph.
    max_autotune_no_cudagraphs,  ///< `max-autotune-no-cudagraphs`: tuned, launched kernel by kernel.
};

/// All modes, the slowest to the fastest to forecast as a rule.
inline constexpr std::array all_modes{Mode::eager, Mode::standard, Mode::max_autotune_no_cudagraphs,
                                      Mode::reduce_overhead, Mode::max_autotune};

/// The name of a mode as `TOTOGRAPH_MODE` spells it.
constexpr std::string_view name(Mode mode) noexcept {
    switch (mode) {
        case Mode::eager: return "eager";
        case Mode::standard: return "default";
        case Mode::reduce_overhead: return "reduce-overhead";
        case Mode::max_autotune: return "max-autotune";
        case Mode::max_autotune_no_cudagraphs: return "max-autotune-no-cudagraphs";
    }
    return "unknown";
}

/// The mode of a name. Throws `Error` (`invalid_argument`) that lists the names; `from` tells where the name was found.
inline Mode mode_of(std::string_view text, std::string_view from = "A mode") {
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

/// The mode that counts when a program asks for `wanted` and the environment has these values (null where a variable is
/// not set): `TOTOGRAPH_DISABLE` set to anything but 0 or nothing gives `eager`, then `TOTOGRAPH_MODE` goes before what
/// the program says, so that who operates a program can change it without building it. Throws `Error`
/// (`invalid_argument`) for a name that is none.
inline Mode choose_mode(Mode wanted, const char* disable, const char* mode) {
    const auto is_set = [](const char* value) { return value != nullptr && *value != '\0'; };
    if (is_set(disable) && std::string_view(disable) != "0") {
        return Mode::eager;
    }
    return is_set(mode) ? mode_of(mode, "TOTOGRAPH_MODE") : wanted;
}

/// The same with this process's environment, as it is at the call.
inline Mode effective_mode(Mode wanted) {
    return choose_mode(wanted, std::getenv("TOTOGRAPH_DISABLE"), std::getenv("TOTOGRAPH_MODE"));
}

}  // namespace totograph::serve
