// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <totograph/exec/cuda/explain/explain_words.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

namespace totograph::cuda {

namespace explain_detail {

/// A list of launches as a Graphviz picture.
std::string draw(const LaunchList& list, std::string_view title);

}  // namespace explain_detail

/// What a captured program launches as a Graphviz picture: a box for each launch, with the steps of the plan that were
/// fused into it and their operations and bytes as `explain_launches` counts them, in the order in which they run, and
/// a frame around each layer; equal layers in a row are drawn once. GEMMs that are not skinny have a double border.
/// Made from what is known when the program is compiled: no device is needed. `tools/render_graph.sh` makes an image of
/// it.
template <class Program, Precision precision>
std::string explain_launches_dot(std::string_view title, const DeviceTraits& device = compiled_for,
                                 const Execution& execution = {}) {
    const auto list = explain_detail::LaunchList::of<Program, precision>(device, execution);
    return explain_detail::draw(list, title);
}

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/explain/impl/explain_dot.hpp>
#endif
