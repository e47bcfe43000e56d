// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "model.hpp"

// What the source files of this folder tell each other.
namespace examples {

inline constexpr totograph::Index most_variates = 16;
inline constexpr totograph::Index demo_at_once = 8;     // as many as it was trained with
inline constexpr totograph::Index demo_context = 1024;  // the longest that it was trained with
inline constexpr totograph::Index open_base_context = 4096;

std::unique_ptr<AnyModel> open_demo(const std::filesystem::path& checkpoint);
std::unique_ptr<AnyModel> open_open_base(const std::filesystem::path& checkpoint);
ProgramDescription describe_demo(const totograph::Series& series, const totograph::ForecastOptions& options);
ProgramDescription describe_open_base(const totograph::Series& series, const totograph::ForecastOptions& options);

}  // namespace examples
