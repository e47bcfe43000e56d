// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <totograph/core/error.hpp>

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
Mode mode_of(std::string_view text, std::string_view from = "A mode");

/// The mode that counts when a program asks for `wanted` and the environment has these values (null where a variable is
/// not set): `TOTOGRAPH_DISABLE` set to anything but 0 or nothing gives `eager`, then `TOTOGRAPH_MODE` goes before what
/// the program says, so that who operates a program can change it without building it. Throws `Error`
/// (`invalid_argument`) for a name that is none.
Mode choose_mode(Mode wanted, const char* disable, const char* mode);

/// The same with this process's environment, as it is at the call.
inline Mode effective_mode(Mode wanted) {
    return choose_mode(wanted, std::getenv("TOTOGRAPH_DISABLE"), std::getenv("TOTOGRAPH_MODE"));
}

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/mode.hpp>
#endif
