// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm_shape.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/lowering/program_precision.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/lowering/weight_uses.hpp>
#include <totograph/exec/cuda/lowering/workspace.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/position_faults.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/exec/cuda/runtime/state_placement.hpp>
#include <totograph/exec/cuda/runtime/weights.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/exec/weight_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph::cuda {

/// Programs in the memory of a device: prepared weights, and one allocation for states, intermediates and workspace. It
/// knows what each step touches, at each turn of loops.
template <Precision precision, class... Programs>
class PlacedPrograms {
public:
    template <std::size_t which>
    static constexpr Precision precision_at =
        precision_of<precision, std::tuple_element_t<which, std::tuple<Programs...>>>;
    /// Whether weights of a program are bf16, and what GEMMs multiply them by.
    template <std::size_t which>
    static constexpr bool streams = precision_at<which> == Precision::bf16;
    using Layout = StateLayout<Programs...>;
    using StateStorage = Bf16States<precision == Precision::bf16, Programs...>;
    using States = StatePlacement<StateStorage, Programs...>;
    template <std::size_t which>
    using Storage = std::conditional_t<streams<which>, BFloat16, float>;
    /// Accumulators of a GEMM by cuBLASLt that a chain goes on with; in bf16 they are rounded as PyTorch's autocast
    /// rounds them.
    template <std::size_t which>
    using Accumulator = Storage<which>;
    template <std::size_t which>
    using ProgramAt =
        LoweredProgram<RunningTogether<std::tuple_element_t<which, std::tuple<Programs...>>, StateStorage>,
                       streams<which>>;
    template <std::size_t which>
    using LoweringAt = Lowering<ProgramAt<which>, streams<which>>;

private:
    /// What runs: the program, or the same with all layers written out.
    template <class Program>
    using Lowered =
        LoweredProgram<RunningTogether<Program, StateStorage>, precision_of<precision, Program> == Precision::bf16>;
    static constexpr std::size_t arena_bytes = std::max({Lowered<Programs>::arena_bytes...});
    static constexpr Workspace workspace = [] {
        Workspace result;
        (add_workspace<precision_of<precision, Programs>, Lowered<Programs>>(result), ...);
        return result;
    }();
    static constexpr std::size_t accumulators_offset = States::bytes + aligned_size(arena_bytes);
    static constexpr std::size_t inputs_offset = accumulators_offset + workspace.accumulators;
    static constexpr std::size_t squares_offset = inputs_offset + workspace.inputs;
    static constexpr std::size_t cublaslt_offset = (squares_offset + workspace.squares + 255) / 256 * 256;

public:
    /// Of states, intermediates and workspace together.
    static constexpr std::size_t bytes = cublaslt_offset + (workspace.has_cublaslt ? gemm_workspace_bytes : 0);
    static constexpr std::size_t pinned_bytes = PositionFaults<Programs...>::pinned_bytes;

    /// @param device  which the programs run on: it decides how some weights lie
    PlacedPrograms(const Weights& weights, const DeviceTraits& device, const Execution& execution) : memory_(bytes) {
        const auto prepare = [&]<std::size_t which>() {
            using Program = std::tuple_element_t<which, std::tuple<Programs...>>;
            const ProgramTables tables = tables_of<Lowered<Program>>();
            const auto uses = find_weight_uses<ProgramAt<which>, precision_at<which>>(device, execution);
            const std::vector<DeviceTensor> found = weights.prepared<DeviceWeights<Storage<which>>>()->get(
                GraphView{tables.nodes}, wanted_of<which>(uses, tables.weights), weights.source(),
                cpu::evaluate_of_weights<Programs...>());
            prepared_[which].resize(tables.weights.size());
            auto next = found.begin();
            for_each_use<which>(uses, tables.weights.size(), [&](std::size_t weight, WeightLayout layout) {
                prepared_[which][weight][static_cast<std::size_t>(layout)] = *next++;
            });
        };
        [&]<std::size_t... which>(std::index_sequence<which...>) {
            (prepare.template operator()<which>(), ...);
        }
        (std::index_sequence_for<Programs...>());
    }

    /// The memory of a state; null when no program has one of this name.
    [[nodiscard]] std::byte* state(std::string_view name, int layer) const noexcept {
        const auto* entry = Layout::find(name, layer);
        return entry == nullptr ? nullptr
                                : data() + States::offset(static_cast<std::size_t>(entry - &Layout::entries[0]));
    }
    /// Where all of it begins; the inputs lie first.
    [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }
    /// For what cuBLASLt computes and a chain goes on with.
    template <std::size_t which>
    [[nodiscard]] Accumulator<which>* accumulators() const noexcept {
        return reinterpret_cast<Accumulator<which>*>(data() + accumulators_offset);
    }
    /// For the input of a GEMM as bf16.
    [[nodiscard]] BFloat16* stored_input() const noexcept {
        return reinterpret_cast<BFloat16*>(data() + inputs_offset);
    }
    /// For sums of squares of the rows that a norm behind a GEMM is of: of each 64 columns, one of each row.
    [[nodiscard]] float* squares() const noexcept { return reinterpret_cast<float*>(data() + squares_offset); }
    /// For cuBLASLt itself.
    [[nodiscard]] std::byte* cublaslt_workspace() const noexcept { return data() + cublaslt_offset; }

    /// Fills all of it with a pattern that is NaN as f32 and f64.
    void poison(cudaStream_t stream) const { check(cudaMemsetAsync(data(), 0xff, bytes, stream), "poisoning memory"); }

    [[nodiscard]] const PositionFaults<Programs...>& faults() const noexcept { return faults_; }

    /// The weights of a step that is a GEMM.
    template <std::size_t which>
    [[nodiscard]] const std::byte* weight_of(int step, LoopTurn turn, WeightLayout layout) const {
        return prepared<which>(lowering_detail::step_of<ProgramAt<which>>(step).weight.index, turn, layout);
    }

    /// What the kernel of a step is launched with.
    /// @param step    of the program's tables
    /// @param turn    when it runs
    /// @param layout  in which it reads the weights of a GEMM
    template <std::size_t which>
    [[nodiscard]] KernelCall call_of(int step, LoopTurn turn, WeightLayout layout) const {
        using Program = ProgramAt<which>;
        const Step& called = lowering_detail::step_of<Program>(step);
        const Kernel& kernel = lowering_detail::kernel_of<Program>(step);
        const auto place = [&](const Reference& reference, DType dtype) {
            const bool is_bf16 = LoweringAt<which>::stores_bf16(reference);
            return address<which>(reference, is_bf16 ? sizeof(BFloat16) : size_in_bytes(dtype), turn);
        };
        KernelCall call;
        call.report = faults_.template report_of<which>(Program::loops.at(&Loop::steps, step, turn));
        call.bounds = bounds();
        call.output = place(called.output, kernel.dtype);
        if (kernel.kind == KernelKind::gemm) {
            call.input = place(called.input, DType::f32);
            call.weight = weight_of<which>(step, turn, layout);
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
            call.operands[i] = place(called.operands[i], kernel.operands[i].dtype);
        }
        return call;
    }

private:
    /// The state of bounds; null where no program has one.
    [[nodiscard]] const std::int32_t* bounds() const noexcept {
        if constexpr (Layout::has_bounds) {
            static_assert(!States::writes_bounds,
                          "totograph: a program writes the state of bounds, which kernels of the CUDA executor read "
                          "while those before them run.");
            return reinterpret_cast<const std::int32_t*>(data() + States::offset(Layout::bounds_place));
        } else {
            return nullptr;
        }
    }

    /// A prepared weight by the layouts in which its program reads it.
    using Prepared = std::array<DeviceTensor, 3>;

    /// Calls `visit(weight, layout)` for each layout in which a program reads each of its weights, which are counted
    /// with all iterations written out.
    /// @param uses  of the weights of the program's table
    template <std::size_t which, class Uses, class Visit>
    static void for_each_use(const Uses& uses, std::size_t weights, const Visit& visit) {
        for (std::size_t i = 0; i < weights; ++i) {
            const int entry = ProgramAt<which>::loops.place(&Loop::weights, static_cast<int>(i)).entry;
            uses[static_cast<std::size_t>(entry)].for_each([&](WeightLayout layout) { visit(i, layout); });
        }
    }
    template <std::size_t which, class Uses>
    static std::vector<DeviceWeight> wanted_of(const Uses& uses, std::span<const PreparedWeight> weights) {
        std::vector<DeviceWeight> wanted;
        for_each_use<which>(uses, weights.size(), [&](std::size_t weight, WeightLayout layout) {
            wanted.push_back({weights[weight], layout});
        });
        return wanted;
    }

    template <std::size_t which>
    [[nodiscard]] const std::byte* prepared(int weight, LoopTurn turn, WeightLayout layout) const {
        const int index = ProgramAt<which>::loops.at(&Loop::weights, weight, turn);
        return prepared_[which][static_cast<std::size_t>(index)][static_cast<std::size_t>(layout)].data;
    }

    template <std::size_t which>
    [[nodiscard]] Address address(const Reference& reference, std::size_t element_bytes, LoopTurn turn) const {
        using Program = ProgramAt<which>;
        std::byte* base = nullptr;
        switch (reference.space) {
            case Space::weight:
                base = const_cast<std::byte*>(prepared<which>(reference.index, turn, WeightLayout::rows));
                break;
            case Space::state: base = data() + States::template offset_of<Program>(reference.index, turn); break;
            case Space::arena:
                base = data() + States::bytes + Program::buffers[static_cast<std::size_t>(reference.index)].offset;
                break;
            case Space::none: return {};
        }
        const Index offset = reference.offset * static_cast<Index>(element_bytes);
        const int local = LoweringAt<which>::local_offset(reference);
        Address address;
        // In shared memory it is counted from where that begins, as `StepCalls::local` tells.
        address.base = local < 0 ? base + offset : reinterpret_cast<void*>(static_cast<std::uintptr_t>(local + offset));
        if (reference.position >= 0) {
            address.position = reinterpret_cast<const std::int32_t*>(
                data() + States::template offset_of<Program>(reference.position, turn));
            address.position_stride = static_cast<std::int32_t>(reference.position_stride);
            address.last_position = static_cast<std::int32_t>(reference.last_position);
        }
        return address;
    }

    DeviceMemory memory_;
    PositionFaults<Programs...> faults_;
    std::array<std::vector<Prepared>, sizeof...(Programs)> prepared_;
};

}  // namespace totograph::cuda
