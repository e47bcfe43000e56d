// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/explain/explain_words.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/weight_uses.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/exec/tf32_tile.hpp>
#include <totograph/exec/weight_layout.hpp>
#include <totograph/graph/explain/names.hpp>
#include <totograph/graph/explain/steps.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda::explain_detail {

TOTOGRAPH_CUDA_INLINE const char* LaunchWords::kind() const {
    switch (launch.kind) {
        case LaunchKind::step: return attention == AttentionKernel::none ? "kernel" : name(attention);
        case LaunchKind::segment: return "segment";
        case LaunchKind::rows: return "rows";
        case LaunchKind::skinny:
        case LaunchKind::gemm: return name(choice.kernel);
    }
    return "";
}

TOTOGRAPH_CUDA_INLINE std::string LaunchWords::sequence_title() const {
    const auto barriers = std::count(launch.barriers.begin(), launch.barriers.end(), true);
    const auto aside = std::count(launch.aside.begin(), launch.aside.end(), true);
    const auto own = launch.count - aside;
    const std::string plural = own == 1 ? "" : "s";
    return std::to_string(own) +
           (launch.kind == LaunchKind::rows ? " step" + plural + " of " + std::to_string(launch.rows) + " rows"
                                            : " small step" + plural) +
           (aside > 0 ? " and " + std::to_string(aside) + " aside, " : ", ") + std::to_string(barriers) +
           (barriers == 1 ? " barrier" : " barriers") + (launch.is_wide ? ", blocks of 1024 threads" : "") +
           (launch.local_bytes > 0 ? ", " + totograph::detail::bytes_text(launch.local_bytes) + " shared" : "");
}

TOTOGRAPH_CUDA_INLINE std::string LaunchWords::step_range() const {
    const std::string first = std::to_string(launch.first);
    return launch.count == 1 ? first : first + "-" + std::to_string(launch.first + launch.count - 1);
}

TOTOGRAPH_CUDA_INLINE std::string LaunchWords::extra() const {
    const std::string before = choice.converts_input ? launch.norms() > 0 ? "norm and bf16 input in a kernel before, "
                                                                          : "bf16 input in a kernel before, "
                               : choice.follows_norm ? "norm in a kernel before, "
                                                     : "";
    switch (choice.kernel) {
        case GemmKernel::none: return {};
        case GemmKernel::skinny:
        case GemmKernel::skinny_tiles: return launch.leaves_bf16 ? "bf16 input of the next launch, too" : "";
        case GemmKernel::tf32_parts:
        case GemmKernel::cublaslt:
            return before + (launch.direct.is_possible  ? "epilogue inside"
                             : launch.draws.is_possible ? "epilogue where draws need it"
                                                        : "epilogue in a kernel after");
        case GemmKernel::skinny_cluster:
        case GemmKernel::tf32_parts_chain: return before + "epilogue inside";
        case GemmKernel::sm90: return before + "epilogue of a tile beside the next tile";
        case GemmKernel::sm90_small:
        case GemmKernel::sm90_wave:
        case GemmKernel::sm90_cluster: {
            return before + "epilogue inside" +
                   (choice.tail == TailFusion::none ? ""
                    : launch.gemm.is_bf16           ? ", and of the next launch the bf16 input"
                                                    : ", and of the next launch") +
                   (choice.tail != TailFusion::norm ? ""
                    : !launch.gemm.is_bf16          ? " the squares of its norm"
                    : leaves_squares(choice.kernel) ? " and the squares of its norm"
                                                    : " and the norm");
        }
    }
    return {};
}

TOTOGRAPH_CUDA_INLINE std::string LaunchWords::storage(std::string_view as) const {
    return !stores_bf16 ? "" : std::string(as) + " bf16" + (launch.is_sequence() ? " in part" : "");
}

TOTOGRAPH_CUDA_INLINE bool LaunchWords::is_like(const LaunchWords& other) const {
    return launch.kind == other.launch.kind && steps == other.steps && stores_bf16 == other.stores_bf16 &&
           facts == other.facts && attention == other.attention && choice == other.choice && extra() == other.extra();
}

TOTOGRAPH_CUDA_INLINE std::string LaunchList::summary() const {
    return std::to_string(launches_.size()) + (launches_.size() == 1 ? " launch" : " launches") + " for " +
           std::to_string(tables_.steps.size()) + " steps";
}

TOTOGRAPH_CUDA_INLINE StepFacts LaunchList::facts() const {
    StepFacts total;
    for (const LaunchWords& launch : launches_) {
        total += launch.facts;
    }
    return total;
}

TOTOGRAPH_CUDA_INLINE LaunchList::LaunchList(const ProgramTables& tables, DType storage, std::size_t weight_bytes)
    : tables_(tables), storage_(storage), weight_bytes_(weight_bytes), words_(tables), names_(tables) {}

TOTOGRAPH_CUDA_INLINE void LaunchList::add(const Launch& launch, std::span<const Step> steps,
                                           bool (*stores_bf16)(const Reference&), const GemmChoice& choice,
                                           Precision precision) {
    LaunchWords result;
    result.launch = launch;
    result.choice = choice;
    if (launch.kind == LaunchKind::step) {
        const int kernel = tables_.steps[static_cast<std::size_t>(launch.first)].kernel;
        const AttentionStorage storage{.is_aligned = launch.aligned[0], .keys_are_bf16 = launch.keys_are_bf16};
        result.attention =
            select_attention(tables_.kernels[static_cast<std::size_t>(kernel)], storage, precision, least_device);
    }
    const int last = launch.first + launch.count - 1;
    const int main = launch.end_of_gemms() - 1;
    result.layer = words_.step(main).layer;
    result.main_kernel = tables_.steps[static_cast<std::size_t>(main)].kernel;
    std::vector<totograph::detail::NameAndLayer> weights;
    for (int step = launch.first; step <= last; ++step) {
        const auto& words = words_.step(step);
        result.steps.push_back(words.line());
        for (const auto& weight : words.weights) {
            if (std::find(weights.begin(), weights.end(), weight) == weights.end()) {
                weights.push_back(weight);
            }
        }
    }
    const WeightLayout layout = layout_of_weights(launch.kind, precision, choice.kernel);
    for (const Step& step : steps) {
        result.facts += facts_of_step(step, stores_bf16, layout);
    }
    if (launch.kind == LaunchKind::skinny || launch.kind == LaunchKind::gemm) {
        result.weights = names_.weights(weights, result.layer);
    }
    for (int i = 0; i < launch.count; ++i) {
        result.stores_bf16 = result.stores_bf16 || launch.stores_bf16[static_cast<std::size_t>(i)];
    }
    launches_.push_back(std::move(result));
}

TOTOGRAPH_CUDA_INLINE StepFacts LaunchList::facts_of_step(const Step& step, bool (*stores_bf16)(const Reference&),
                                                          WeightLayout layout) const {
    Kernel kernel = tables_.kernels[static_cast<std::size_t>(step.kernel)];
    kernel.dtype = stores_bf16(step.output) ? DType::bf16 : kernel.dtype;
    for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
        kernel.operands[i].dtype = stores_bf16(step.operands[i]) ? DType::bf16 : kernel.operands[i].dtype;
    }
    StepFacts facts = facts_of(kernel, storage_);
    if (kernel.kind == KernelKind::gemm && stores_bf16(step.input)) {
        const Index input = kernel.rows() * kernel.k;
        facts.bytes_read -= input * static_cast<Index>(size_in_bytes(DType::f32) - size_in_bytes(DType::bf16));
    }
    if (kernel.kind == KernelKind::gemm && layout == WeightLayout::tf32_tiles) {
        const Index n = kernel.columns() * kernel.accumulators;
        facts.bytes_read -= n * kernel.k * static_cast<Index>(size_in_bytes(DType::f32));
        facts.bytes_read += static_cast<Index>(Tf32Tile::bytes_of(n, kernel.k));
    }
    return facts;
}

TOTOGRAPH_CUDA_INLINE void LaunchList::find_groups() {
    for (std::size_t i = 0; i < launches_.size();) {
        LaunchGroup group{i, 0, 1, launches_[i].layer};
        while (i < launches_.size() && launches_[i].layer == group.layer) {
            ++i;
            ++group.count;
        }
        if (!groups_.empty() && are_alike(groups_.back(), group)) {
            ++groups_.back().repeats;
        } else {
            groups_.push_back(group);
        }
    }
}

TOTOGRAPH_CUDA_INLINE bool LaunchList::are_alike(const LaunchGroup& left, const LaunchGroup& right) const {
    bool same = left.count == right.count && left.layer >= 0 && right.layer >= 0;
    for (std::size_t i = 0; same && i < left.count; ++i) {
        same = launches_[left.first + i].is_like(launches_[right.first + i]);
    }
    return same;
}

TOTOGRAPH_CUDA_INLINE LaunchList::LaunchList(LaunchList&& other) noexcept = default;
TOTOGRAPH_CUDA_INLINE LaunchList::~LaunchList() = default;

}  // namespace totograph::cuda::explain_detail
