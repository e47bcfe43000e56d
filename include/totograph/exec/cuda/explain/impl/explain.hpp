// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/explain/explain.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/exec/cuda/explain/explain_words.hpp>
#include <totograph/exec/cuda/gemm/thresholds.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/graph/explain/text.hpp>

namespace totograph::cuda::explain_detail {

TOTOGRAPH_CUDA_INLINE std::string table(const LaunchList& list, std::string_view title, const DeviceTraits& device) {
    using namespace totograph::detail;
    TextTable table(
        {{"launch", true}, {"kind"}, {"steps"}, {"read", true}, {"written", true}, {"work", true}, {"computes"}});
    for (const LaunchGroup& group : list.groups()) {
        if (group.repeats > 1) {
            table.add_heading(std::to_string(group.repeats) + " layers with the same " + std::to_string(group.count) +
                              " launches, here the first of them:");
        }
        for (std::size_t i = group.first; i < group.first + group.count; ++i) {
            const LaunchWords& launch = list.launches()[i];
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

}  // namespace totograph::cuda::explain_detail
