// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>

// The buckets that the source files of this folder compile, for the CPU and for CUDA devices. A request is served by
// the cheapest bucket that holds it. More buckets mean less padding and a longer compile.
//
// Batches of series by themselves are for devices alone: there many cost little more than one. On a CPU series are put
// side by side as variates (docs/performance.md, "Batches").
namespace examples {

inline constexpr totograph::Index most_variates = 16;
inline constexpr totograph::Index demo_at_once = 8;     // as many as it was trained with
inline constexpr totograph::Index demo_context = 1024;  // the longest that it was trained with
inline constexpr totograph::Index toto_context = 4096;  // the longest that the published models were trained with

inline constexpr totograph::Bucket demo_short{
    .variates = demo_at_once, .context = 512, .horizon = 96, .samples = 128, .exogenous = 4};
inline constexpr totograph::Bucket demo_long{
    .variates = most_variates, .context = demo_context, .horizon = 336, .samples = 128, .exogenous = 4};
inline constexpr totograph::Bucket demo_mean{
    .variates = most_variates, .context = demo_context, .horizon = 336, .samples = 0, .exogenous = 4};
// So many series by themselves, on a device, where a forecast of few steps costs no more for room for many.
inline constexpr totograph::Bucket demo_batch_8{
    .batch = 8, .variates = 1, .context = demo_context, .horizon = 336, .samples = 128};
inline constexpr totograph::Bucket demo_batch_32{
    .batch = 32, .variates = 1, .context = demo_context, .horizon = 336, .samples = 128};
inline constexpr totograph::Bucket demo_batch_128{
    .batch = 128, .variates = 1, .context = demo_context, .horizon = 336, .samples = 128};
inline constexpr totograph::Bucket demo_mean_batch{
    .batch = 32, .variates = 1, .context = demo_context, .horizon = 336, .samples = 0};
inline constexpr totograph::Bucket open_base_short{
    .variates = most_variates, .context = 512, .horizon = 64, .samples = 128, .exogenous = 4};
inline constexpr totograph::Bucket open_base_long{
    .variates = most_variates, .context = toto_context, .horizon = 336, .samples = 128, .exogenous = 4};
inline constexpr totograph::Bucket open_base_mean{
    .variates = most_variates, .context = toto_context, .horizon = 336, .samples = 0, .exogenous = 4};

// So many series by themselves, on a device.
inline constexpr totograph::Bucket open_base_batch_8{
    .batch = 8, .variates = 1, .context = toto_context, .horizon = 336, .samples = 128};
inline constexpr totograph::Bucket open_base_batch_32{
    .batch = 32, .variates = 1, .context = toto_context, .horizon = 336, .samples = 128};
inline constexpr totograph::Bucket open_base_batch_128{
    .batch = 128, .variates = 1, .context = toto_context, .horizon = 336, .samples = 128};
inline constexpr totograph::Bucket open_base_mean_batch{
    .batch = 32, .variates = 1, .context = toto_context, .horizon = 336, .samples = 0};

// Of Toto 2.0, whose work is rows of variates and patches alone: one series by itself, a dashboard, and the most. The
// first has half the rows of the second and a sixteenth of those of the third. The horizon is the block in which its
// authors forecast long ones; a step of it is as many rows as one of context, so a shorter one would save little.
inline constexpr totograph::Bucket toto2_lone{.variates = 1, .context = toto_context, .horizon = 768};
inline constexpr totograph::Bucket toto2_short{
    .variates = most_variates, .context = 512, .horizon = 96, .exogenous = 4};
inline constexpr totograph::Bucket toto2_long{
    .variates = most_variates, .context = toto_context, .horizon = 768, .exogenous = 4};
// So many series by themselves, on a device, of which most fill the context.
inline constexpr totograph::Bucket toto2_batch_8{.batch = 8, .variates = 1, .context = 2048, .horizon = 96};
inline constexpr totograph::Bucket toto2_batch_32{.batch = 32, .variates = 1, .context = 2048, .horizon = 96};
inline constexpr totograph::Bucket toto2_batch_128{.batch = 128, .variates = 1, .context = 2048, .horizon = 96};
// Of contexts that grow. Their forecasts pay for all steps ahead that there is room for, so these are few; a program
// may hold many, so there is one of little memory.
inline constexpr totograph::Bucket toto2_short_session{.variates = most_variates, .context = 512, .horizon = 96};
inline constexpr totograph::Bucket toto2_long_session{
    .variates = most_variates, .context = toto_context, .horizon = 96};

}  // namespace examples
