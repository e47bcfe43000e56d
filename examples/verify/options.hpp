// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <totograph/serve/mode.hpp>

namespace examples {

/// What the command line asks for.
struct Options {
    std::string backend;
    totograph::serve::Mode mode = totograph::serve::Mode::max_autotune;
    std::filesystem::path checkpoint;
    std::filesystem::path package;  ///< Empty: what the program has compiled in.
    int threads = 0;
    std::filesystem::path json;
};

}  // namespace examples
