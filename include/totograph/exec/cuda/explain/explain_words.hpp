// SPDX-License-Identifier: Apache-2.0
#pragma once

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
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/lowering/gemm_choices.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/lowering/program_precision.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/explain/names.hpp>
#include <totograph/graph/explain/steps.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph::cuda::explain_detail {

/// A launch in words.
struct LaunchWords {
    Launch launch;
    int layer = -1;
    std::vector<std::string> steps;  ///< What each of its steps computes.
    std::string weights;             ///< Names of the tensors of the checkpoint that GEMMs read.
    bool stores_bf16 = false;        ///< A result is stored as bf16.
    StepFacts facts;
    int main_kernel = 0;                                ///< The kernel of the plan that says what it is about.
    AttentionKernel attention = AttentionKernel::none;  ///< How a lone attention is computed.
    GemmChoice choice;                                  ///< How the device computes its GEMMs.

    /// What launches it; of GEMMs and attentions the kernel that computes them on the device.
    [[nodiscard]] const char* kind() const {
        switch (launch.kind) {
            case LaunchKind::step: return attention == AttentionKernel::none ? "kernel" : name(attention);
            case LaunchKind::segment: return "segment";
            case LaunchKind::rows: return "rows";
            case LaunchKind::skinny:
            case LaunchKind::gemm: return name(choice.kernel);
        }
        return "";
    }
    /// Of steps one after the other: `29 small steps, 19 barriers`, `31 small steps, 11 barriers, 14.2 KiB shared`,
    /// `11 steps of 1792 rows, 8 barriers`, or `5 steps of 1792 rows and 12 aside, 4 barriers`.
    [[nodiscard]] std::string sequence_title() const {
        const auto barriers = std::count(launch.barriers.begin(), launch.barriers.end(), true);
        const auto aside = std::count(launch.aside.begin(), launch.aside.end(), true);
        const auto own = launch.count - aside;
        const std::string plural = own == 1 ? "" : "s";
        return std::to_string(own) +
               (launch.kind == LaunchKind::rows ? " step" + plural + " of " + std::to_string(launch.rows) + " rows"
                                                : " small step" + plural) +
               (aside > 0 ? " and " + std::to_string(aside) + " aside, " : ", ") + std::to_string(barriers) +
               (barriers == 1 ? " barrier" : " barriers") +
               (launch.local_bytes > 0 ? ", " + totograph::detail::bytes_text(launch.local_bytes) + " shared" : "");
    }
    /// The numbers of its steps in the plan.
    [[nodiscard]] std::string step_range() const {
        const std::string first = std::to_string(launch.first);
        return launch.count == 1 ? first : first + "-" + std::to_string(launch.first + launch.count - 1);
    }
    /// What runs before and after its GEMMs, in the same kernel or in others; nothing for skinny ones, whose norm and
    /// epilogue are always inside.
    [[nodiscard]] std::string extra() const {
        const std::string before =
            choice.converts_input
                ? launch.norms() > 0 ? "norm and bf16 input in a kernel before, " : "bf16 input in a kernel before, "
                : "";
        switch (choice.kernel) {
            case GemmKernel::none:
            case GemmKernel::skinny:
            case GemmKernel::skinny_tiles: return {};
            case GemmKernel::cublaslt:
                return before + (launch.direct.is_possible  ? "epilogue inside"
                                 : launch.draws.is_possible ? "epilogue where draws need it"
                                                            : "epilogue in a kernel after");
            case GemmKernel::sm90: return before + "epilogue of a tile beside the next tile";
            case GemmKernel::sm90_cluster:
                return before + "epilogue inside, and of the next launch the bf16 input" +
                       (choice.tail == TailFusion::norm ? " and the norm" : "");
        }
        return {};
    }
    /// What follows `as` in words, " bf16" or " bf16 in part", where results are stored as bf16; nothing where they are
    /// stored as planned.
    [[nodiscard]] std::string storage(std::string_view as) const {
        return !stores_bf16 ? "" : std::string(as) + " bf16" + (launch.is_sequence() ? " in part" : "");
    }
    /// Whether two do the same for different layers.
    [[nodiscard]] bool is_like(const LaunchWords& other) const {
        return launch.kind == other.launch.kind && steps == other.steps && stores_bf16 == other.stores_bf16 &&
               facts == other.facts && attention == other.attention && choice == other.choice &&
               extra() == other.extra();
    }
};

/// Launches of one layer in a row, or of several equal layers, of which the first is told.
struct LaunchGroup {
    std::size_t first = 0;
    std::size_t count = 0;
    int repeats = 1;
    int layer = -1;
};

/// What a captured program launches, in words.
class LaunchList {
public:
    template <class Program, Precision asked>
    static LaunchList of(const DeviceTraits& device, const Execution& execution) {
        constexpr Precision precision = precision_of<asked, Program>;
        constexpr bool streams = precision == Precision::bf16;
        using Chosen = LoweredProgram<Program, streams>;
        using Lowered = Lowering<Chosen, streams>;
        LaunchList list(tables_of<Program>(), streams ? DType::bf16 : DType::f32);
        const auto choices = gemm_choices<Chosen, streams>(device, execution);
        for (std::size_t i = 0; i < choices.size(); ++i) {
            const Launch& entry = Lowered::at(static_cast<std::size_t>(Lowered::place(i).entry));
            const auto steps =
                Chosen::steps.subspan(static_cast<std::size_t>(entry.first), static_cast<std::size_t>(entry.count));
            list.add(Lowered::written_out(i), steps, Lowered::stores_bf16, choices[i], precision);
        }
        list.find_groups();
        return list;
    }

    [[nodiscard]] const std::vector<LaunchWords>& launches() const { return launches_; }
    [[nodiscard]] const std::vector<LaunchGroup>& groups() const { return groups_; }
    [[nodiscard]] const ProgramTables& tables() const { return tables_; }

    /// `63 launches for 146 steps`.
    [[nodiscard]] std::string summary() const {
        return std::to_string(launches_.size()) + (launches_.size() == 1 ? " launch" : " launches") + " for " +
               std::to_string(tables_.steps.size()) + " steps";
    }
    /// Of the prepared weights that the program reads.
    [[nodiscard]] std::size_t weight_bytes() const { return totograph::weight_bytes(tables_, storage_); }
    /// Of all launches together.
    [[nodiscard]] StepFacts facts() const {
        StepFacts total;
        for (const LaunchWords& launch : launches_) {
            total += launch.facts;
        }
        return total;
    }

private:
    LaunchList(const ProgramTables& tables, DType storage)
        : tables_(tables), storage_(storage), words_(tables), names_(tables) {}

    /// @param steps  of the launch, as `stores_bf16` knows them
    void add(const Launch& launch, std::span<const Step> steps, bool (*stores_bf16)(const Reference&),
             const GemmChoice& choice, Precision precision) {
        LaunchWords result;
        result.launch = launch;
        result.choice = choice;
        if (launch.kind == LaunchKind::step) {
            const int kernel = tables_.steps[static_cast<std::size_t>(launch.first)].kernel;
            result.attention = select_attention(tables_.kernels[static_cast<std::size_t>(kernel)], launch.aligned[0],
                                                precision, least_device);
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
        for (const Step& step : steps) {
            result.facts += facts_of_step(step, stores_bf16);
        }
        if (launch.kind == LaunchKind::skinny || launch.kind == LaunchKind::gemm) {
            result.weights = names_.weights(weights, result.layer);
        }
        for (int i = 0; i < launch.count; ++i) {
            result.stores_bf16 = result.stores_bf16 || launch.stores_bf16[static_cast<std::size_t>(i)];
        }
        launches_.push_back(std::move(result));
    }

    /// The plan counts f32: what the launches store as bf16 takes half of that.
    [[nodiscard]] StepFacts facts_of_step(const Step& step, bool (*stores_bf16)(const Reference&)) const {
        Kernel kernel = tables_.kernels[static_cast<std::size_t>(step.kernel)];
        kernel.dtype = stores_bf16(step.output) ? DType::bf16 : kernel.dtype;
        for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
            kernel.operands[i].dtype = stores_bf16(step.operands[i]) ? DType::bf16 : kernel.operands[i].dtype;
        }
        StepFacts facts = facts_of(kernel, storage_);
        if (kernel.kind == KernelKind::gemm && stores_bf16(step.input)) {
            const Index input = kernel.input_stride == 0 ? kernel.k : kernel.rows() * kernel.k;
            facts.bytes_read -= input * static_cast<Index>(size_in_bytes(DType::f32) - size_in_bytes(DType::bf16));
        }
        return facts;
    }

    void find_groups() {
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

    [[nodiscard]] bool are_alike(const LaunchGroup& left, const LaunchGroup& right) const {
        bool same = left.count == right.count && left.layer >= 0 && right.layer >= 0;
        for (std::size_t i = 0; same && i < left.count; ++i) {
            same = launches_[left.first + i].is_like(launches_[right.first + i]);
        }
        return same;
    }

    ProgramTables tables_;
    DType storage_;
    totograph::detail::ProgramWords words_;
    totograph::detail::ProgramNames names_;
    std::vector<LaunchWords> launches_;
    std::vector<LaunchGroup> groups_;
};

}  // namespace totograph::cuda::explain_detail
