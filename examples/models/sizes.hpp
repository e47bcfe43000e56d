// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <totograph/forecast/bucket.hpp>

#include "model.hpp"

// What the source files of this folder tell each other.
namespace examples {

inline constexpr totograph::Index most_variates = 16;
inline constexpr totograph::Index demo_at_once = 8;     // as many as it was trained with
inline constexpr totograph::Index demo_context = 1024;  // the longest that it was trained with
inline constexpr totograph::Index open_base_context = 4096;

// A request is served by the cheapest bucket that holds it. More buckets mean less padding and a longer compile.
inline constexpr totograph::Bucket demo_short{
    .variates = demo_at_once, .context = 512, .horizon = 96, .samples = 128, .exogenous = 4};
inline constexpr totograph::Bucket demo_long{
    .variates = most_variates, .context = demo_context, .horizon = 336, .samples = 128, .exogenous = 4};
inline constexpr totograph::Bucket demo_mean{
    .variates = most_variates, .context = demo_context, .horizon = 336, .samples = 0, .exogenous = 4};
inline constexpr totograph::Bucket open_base_short{
    .variates = most_variates, .context = 512, .horizon = 64, .samples = 128, .exogenous = 4};
inline constexpr totograph::Bucket open_base_long{
    .variates = most_variates, .context = open_base_context, .horizon = 336, .samples = 128, .exogenous = 4};
inline constexpr totograph::Bucket open_base_mean{
    .variates = most_variates, .context = open_base_context, .horizon = 336, .samples = 0, .exogenous = 4};

void add_demo(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint);
void add_open_base(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint);
void check_demo_weights(const std::filesystem::path& checkpoint);
void check_open_base_weights(const std::filesystem::path& checkpoint);
// In builds with CUDA.
void add_demo_cuda(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint);
void add_open_base_cuda(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint);
ProgramDescription describe_demo(const totograph::Series& series, const totograph::ForecastOptions& options);
ProgramDescription describe_open_base(const totograph::Series& series, const totograph::ForecastOptions& options);

}  // namespace examples
