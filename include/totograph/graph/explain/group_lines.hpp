// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <totograph/graph/facts.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph {

namespace detail {

std::string chain_text(const Chain& chain);

std::string group_text(const Kernel& kernel);

}  // namespace detail

/// The fused groups of a program, a line each: for a log. `explain` tells more, and takes longer to compile.
std::string group_lines(const ProgramTables& tables, std::string_view title);

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/explain/impl/group_lines.hpp>
#endif
