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

/// A list of launches as a table.
std::string table(const LaunchList& list, std::string_view title, const DeviceTraits& device);

}  // namespace explain_detail

/// What a captured program launches, as a table: a line a launch, with the steps of the plan that are in it (numbers as
/// in `explain`), what they compute, and the operations and bytes of them together, as if each ran alone; what is
/// stored as bf16 counts 2 bytes an element. Of GEMMs and attentions, the kind is the kernel that `select_gemm` or
/// `select_attention` chooses. Equal layers in a row are told once.
/// @param device     where it is to run; else the one that programs are cut for
/// @param execution  how an executor runs it
template <class Program, Precision precision>
std::string explain_launches(std::string_view title, const DeviceTraits& device = compiled_for,
                             const Execution& execution = {}) {
    return explain_detail::table(explain_detail::LaunchList::of<Program, precision>(device, execution), title, device);
}

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/explain/impl/explain.hpp>
#endif
