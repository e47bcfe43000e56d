// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
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
#include <totograph/exec/cuda/lowering/weight_uses.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/exec/weight_layout.hpp>
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
    [[nodiscard]] const char* kind() const;
    /// Of steps one after the other: `29 small steps, 19 barriers`, `31 small steps, 11 barriers, 14.2 KiB shared`,
    /// `11 steps of 1792 rows, 8 barriers`, or `5 steps of 1792 rows and 12 aside, 4 barriers`.
    [[nodiscard]] std::string sequence_title() const;
    /// The numbers of its steps in the plan.
    [[nodiscard]] std::string step_range() const;
    /// What runs before and after its GEMMs, in the same kernel or in others; nothing for skinny ones, whose norm and
    /// epilogue are always inside.
    [[nodiscard]] std::string extra() const;
    /// What follows `as` in words, " bf16" or " bf16 in part", where results are stored as bf16; nothing where they are
    /// stored as planned.
    [[nodiscard]] std::string storage(std::string_view as) const;
    /// Whether two do the same for different layers.
    [[nodiscard]] bool is_like(const LaunchWords& other) const;
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
    LaunchList(LaunchList&& other) noexcept;
    LaunchList& operator=(LaunchList&&) = delete;
    ~LaunchList();

    template <class Program, Precision asked>
    static LaunchList of(const DeviceTraits& device, const Execution& execution) {
        constexpr Precision precision = precision_of<asked, Program>;
        constexpr bool streams = precision == Precision::bf16;
        using Chosen = LoweredProgram<Program, streams>;
        using Lowered = Lowering<Chosen, streams>;
        LaunchList list(tables_of<Program>(), streams ? DType::bf16 : DType::f32,
                        cuda::weight_bytes<Chosen, precision>(device, execution));
        const auto choices = gemm_choices<Chosen, precision>(device, execution);
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
    [[nodiscard]] std::string summary() const;
    /// Of the prepared weights that the program reads.
    [[nodiscard]] std::size_t weight_bytes() const { return weight_bytes_; }
    /// Of all launches together.
    [[nodiscard]] StepFacts facts() const;

private:
    LaunchList(const ProgramTables& tables, DType storage, std::size_t weight_bytes);

    /// @param steps  of the launch, as `stores_bf16` knows them
    void add(const Launch& launch, std::span<const Step> steps, bool (*stores_bf16)(const Reference&),
             const GemmChoice& choice, Precision precision);

    /// The plan counts f32: what the launches store as bf16 takes half of that.
    /// @param layout  of the weights of a GEMM
    [[nodiscard]] StepFacts facts_of_step(const Step& step, bool (*stores_bf16)(const Reference&),
                                          WeightLayout layout) const;

    void find_groups();

    [[nodiscard]] bool are_alike(const LaunchGroup& left, const LaunchGroup& right) const;

    ProgramTables tables_;
    DType storage_;
    std::size_t weight_bytes_;
    totograph::detail::ProgramWords words_;
    totograph::detail::ProgramNames names_;
    std::vector<LaunchWords> launches_;
    std::vector<LaunchGroup> groups_;
};

}  // namespace totograph::cuda::explain_detail

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/explain/impl/explain_words.hpp>
#endif
