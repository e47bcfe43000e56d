// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include <totograph/diagnostics/verify/check.hpp>

namespace totograph::serve {

/// Names and values of environment variables.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// The variables of this process whose names begin with `TOTOGRAPH_`, by name.
Environment totograph_environment();

namespace detail {

Check check_variable(const std::string& variable, const std::string& value);

}  // namespace detail

/// Whether these variables, whose names begin with `TOTOGRAPH_`, have values that are understood.
std::vector<Check> check_environment(const Environment& variables);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/verify/impl/environment.hpp>
#endif
