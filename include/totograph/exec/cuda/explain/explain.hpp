// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/exec/cuda/explain/explain_words.hpp>
#include <totograph/exec/cuda/gemm/thresholds.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/explain/text.hpp>

namespace totograph::cuda {

/// What a captured program launches, as a table: a line a launch, with the steps of the plan that are in it (numbers as
/// in `explain`), what they compute, and the operations and bytes of them together, as if each ran alone; what is
/// stored as bf16 counts 2 bytes an element. Of GEMMs and attentions, the kind is the kernel that `select_gemm` or
/// `select_attention` chooses. Equal layers in a row are told once.
/// @param device     where it is to run; else the one that programs are cut for
/// @param execution  how an executor runs it
template <class Program, Precision precision>
std::string explain_launches(std::string_view title, const DeviceTraits& device = compiled_for,
                             const Execution& execution = {}) {
    using namespace totograph::detail;
    const auto list = explain_detail::LaunchList::of<Program, precision>(device, execution);
    TextTable table(
        {{"launch", true}, {"kind"}, {"steps"}, {"read", true}, {"written", true}, {"work", true}, {"computes"}});
    for (const explain_detail::LaunchGroup& group : list.groups()) {
        if (group.repeats > 1) {
            table.add_heading(std::to_string(group.repeats) + " layers with the same " + std::to_string(group.count) +
                              " launches, here the first of them:");
        }
        for (std::size_t i = group.first; i < group.first + group.count; ++i) {
            const explain_detail::LaunchWords& launch = list.launches()[i];
            std::string what = join(launch.steps, "; ");
            if (launch.launch.is_sequence()) {
                what = launch.sequence_title() + ": " + launch.steps.front() + " ... " + launch.steps.back();
            }
            what += launch.extra().empty() ? "" : " (" + launch.extra() + ")";
            what += launch.storage(" ->");
            table.add_row({std::to_string(i), launch.kind(), launch.step_range(), bytes_text(launch.facts.bytes_read),
                           bytes_text(launch.facts.bytes_written), flops_text(launch.facts.flops), what});
        }
    }
    const bool is_measured = thresholds_of(device.architecture()).is_measured;
    return std::string(title) + ": " + list.summary() + ", on " + to_string(device) +
           (is_measured ? "" : ", whose thresholds for GEMMs nobody has measured") + "\n\n" + table.text();
}

}  // namespace totograph::cuda
