// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemms.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/launch.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/tuning.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/sm90/cluster_launch.hpp>
#include <totograph/exec/cuda/gemm/sm90/sm90_launch.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/mixture_draw.hpp>
#include <totograph/exec/cuda/kernels/step_kernels.hpp>
#include <totograph/exec/cuda/kernels/step_launch.hpp>
#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/lowering/gemm_choices.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/lowering/workspace.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/position_faults.hpp>
#include <totograph/exec/cuda/runtime/state_placement.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/exec/cuda/runtime/weights.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// Puts planned programs onto streams of a device. States, intermediates and workspace are one allocation; launches
/// allocate nothing on the device, and nothing waits.
template <Precision precision, class... Programs>
class Executor {
public:
    /// Whether GEMMs of few rows are skinny, and inputs of the others are stored as bf16.
    static constexpr bool streams = precision == Precision::bf16;
    using Layout = StateLayout<Programs...>;
    using StateStorage = Bf16States<streams, Programs...>;
    using States = StatePlacement<StateStorage, Programs...>;
    using Storage = std::conditional_t<precision == Precision::bf16, BFloat16, float>;
    /// Accumulators of a GEMM by cuBLASLt that a chain goes on with; in bf16 they are rounded as PyTorch's autocast
    /// rounds them.
    using Accumulator = Storage;
    template <std::size_t which>
    using ProgramAt = RunningTogether<std::tuple_element_t<which, std::tuple<Programs...>>, StateStorage>;

    /// Which of the programs will ever run. GEMMs of the others are not tuned.
    using Runs = std::array<bool, sizeof...(Programs)>;
    static constexpr Runs all_run = [] {
        Runs runs{};
        runs.fill(true);
        return runs;
    }();

    /// @param choosing  given by who calls `tune` before it ends; else GEMMs use, and keep, what is the fastest
    ///                  alone
    Executor(const Weights& weights, const Device& device, const Execution& execution = {}, const Runs& runs = all_run,
             ChoosingAlgorithms* choosing = nullptr)
        : device_(device),
          execution_(execution),
          launcher_(device.has_clusters, execution.overlaps),
          memory_(memory_bytes_planned) {
        [&]<std::size_t... which>(std::index_sequence<which...>) {
            (choose_gemms<which>(), ...);
        }
        (std::index_sequence_for<Programs...>());
        auto store = weights.prepared<DeviceWeights<Storage>>();
        std::size_t program = 0;
        ((prepared_[program++] = store->get(Programs::graph, Programs::weights, weights.source())), ...);
        ChoosingAlgorithms own;
        ChoosingAlgorithms& chooser = choosing == nullptr ? own : *choosing;
        if (execution_.tunes) {
            chooser.begin(device_);
        }
        [&]<std::size_t... which>(std::index_sequence<which...>) {
            ((runs[which] ? add_gemms<which>(execution_.tunes) : void()), ...);
            (add_gemms<which>(false), ...);  // those that are not there yet
        }
        (std::index_sequence_for<Programs...>());
        if (choosing == nullptr) {
            gemms_.keep_fastest(device_);
            own.end();
        }
    }

    /// Chooses algorithms of cuBLASLt that are about as fast by the time of the programs, while nothing runs
    /// (`CublasLtGemms::choose_in_programs`).
    template <class Record>
    void tune(const Stream& stream, const Record& record) {
        gemms_.choose_in_programs(device_, stream, record);
    }

    /// Launches one of the programs. The host does not wait, unless it was made to; within a capture, nothing runs.
    template <std::size_t which>
    void launch(cudaStream_t stream) const {
        launch_some<which>(stream, 0, launches<which>());
    }

    /// Launches a part of one of the programs: from launch `first` to before `end`.
    template <std::size_t which>
    void launch_some(cudaStream_t stream, std::size_t first, std::size_t end) const {
        const auto launch_if = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
            if (i >= first && i < end) {
                launch_one<which, i>(stream);
                if (execution_.waits) {
                    wait_unless_capturing(stream);
                }
            }
        };
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            (launch_if(std::integral_constant<std::size_t, i>{}), ...);
        }
        (std::make_index_sequence<launches<which>()>());
    }

    /// Where the regions of a program begin, as numbers of launches: what comes before the first layer, each layer, and
    /// what comes after the last one. The first is 0.
    template <std::size_t which>
    static std::vector<std::size_t> regions() {
        return Lowering<ProgramAt<which>, streams>::regions();
    }

    /// The device memory of a state; null when no program has one of this name.
    [[nodiscard]] std::byte* state(std::string_view name, int layer = -1) const noexcept {
        const auto* entry = Layout::find(name, layer);
        return entry == nullptr
                   ? nullptr
                   : memory_.data() + States::offset(static_cast<std::size_t>(entry - &Layout::entries[0]));
    }

    /// The input states (`StatePlacement`), which lie together: `States::input_bytes` bytes.
    [[nodiscard]] std::byte* inputs() const noexcept { return memory_.data(); }
    /// The offset of an input state among the inputs; -1 when no input has this name.
    static std::ptrdiff_t input_offset(std::string_view name) noexcept {
        const auto* entry = Layout::find(name);
        if (entry == nullptr) {
            return -1;
        }
        const std::size_t offset = States::offset(static_cast<std::size_t>(entry - &Layout::entries[0]));
        return offset < States::input_bytes ? static_cast<std::ptrdiff_t>(offset) : -1;
    }

    /// Fills all memory with a pattern that is NaN as f32 and f64: what is read before it is written shows.
    void poison(cudaStream_t stream) const {
        check(cudaMemsetAsync(memory_.data(), 0xff, memory_.size(), stream), "poisoning memory");
    }

    /// Throws `Error` (`position_out_of_bounds`) when a position that is data has reached beyond its axis in what has
    /// run since the last call; it was moved inside, so that nothing else was read or written. Waits for nothing: call
    /// it when the host has waited for the result.
    void check_positions() const { faults_.check(); }
    /// Forgets a fault, such as one of a run that nobody reads.
    void forget_position_fault() const noexcept { faults_.forget(); }

    /// Bytes of states, intermediates and workspace together: known when the program is compiled.
    static constexpr std::size_t memory_bytes() noexcept { return memory_bytes_planned; }
    /// Bytes of page-locked memory of the host.
    static constexpr std::size_t pinned_bytes() noexcept { return PositionFaults<Programs...>::pinned_bytes; }
    /// Launches of one run. One that cuBLASLt computes is several kernels.
    template <std::size_t which>
    static constexpr std::size_t launches() {
        return Lowering<ProgramAt<which>, streams>::count;
    }

private:
    static constexpr Workspace workspace = [] {
        Workspace result;
        (add_workspace<precision, RunningTogether<Programs, StateStorage>>(result), ...);
        return result;
    }();
    static constexpr std::size_t accumulators_offset = States::bytes + aligned_size(Layout::arena_bytes);
    static constexpr std::size_t inputs_offset = accumulators_offset + workspace.accumulators;
    static constexpr std::size_t cublaslt_offset = (inputs_offset + workspace.inputs + 255) / 256 * 256;
    static constexpr std::size_t memory_bytes_planned =
        cublaslt_offset + (workspace.has_cublaslt ? gemm_workspace_bytes : 0);

    template <std::size_t which>
    [[nodiscard]] GemmPointers pointers_of(const Launch& launch, int step, Index first_column) const {
        const KernelCall call = call_of<which>(launch.first_gemm());
        const auto operand = [&](int index) {
            return index < 0 ? nullptr : static_cast<const float*>(call.operands[static_cast<std::size_t>(index)].base);
        };
        GemmPointers pointers;
        pointers.input = streams && !launch.gemm.input_is_bf16 ? memory_.data() + inputs_offset : call.input.base;
        pointers.weight = weight_of<which>(step);
        if (launch.direct.is_possible) {
            pointers.output = call.output.base;
            pointers.residual = operand(launch.direct.residual);
            pointers.bias = operand(launch.direct.bias);
        } else {
            pointers.output = reinterpret_cast<Accumulator*>(memory_.data() + accumulators_offset) + first_column;
        }
        return pointers;
    }

    /// What cuBLASLt computes at once of a launch.
    template <std::size_t which>
    [[nodiscard]] std::vector<GemmPart> parts_of(const Launch& launch) const {
        return parts_of_gemms<ProgramAt<which>>(launch, sizeof(Storage),
                                                [this](int step) { return weight_of<which>(step); });
    }

    template <std::size_t which>
    [[nodiscard]] const std::byte* weight_of(int step) const {
        return prepared_[which][static_cast<std::size_t>(lowering_detail::step_of<ProgramAt<which>>(step).weight.index)]
            .data;
    }

    /// Selects how each launch of a program computes its GEMMs on this device.
    template <std::size_t which>
    void choose_gemms() {
        const auto choices = gemm_choices<ProgramAt<which>, streams>(device_, execution_);
        choices_[which].assign(choices.begin(), choices.end());
    }

    /// Prepares what a program needs of cuBLASLt, so that nothing is looked up or built while launching.
    template <std::size_t which>
    void add_gemms(bool tunes) {
        using Program = ProgramAt<which>;
        using Lowered = Lowering<Program, streams>;
        for (std::size_t i = 0; i < Lowered::count; ++i) {
            const Launch& launch = Lowered::at(i);
            if (choices_[which][i].kernel != GemmKernel::cublaslt) {
                continue;
            }
            for (const GemmPart& part : parts_of<which>(launch)) {
                const GemmShape shape = gemm_shape<precision, Program>(
                    launch, part.columns, pointers_of<which>(launch, part.first, part.begin));
                if (tunes) {
                    gemms_.add_tuned(shape, static_cast<int>(which), device_);
                } else {
                    gemms_.add_untuned(shape);
                }
            }
        }
    }

    template <std::size_t which>
    [[nodiscard]] Address address(const Reference& reference, std::size_t element_bytes) const {
        using Program = ProgramAt<which>;
        const auto index = static_cast<std::size_t>(reference.index);
        std::byte* base = nullptr;
        switch (reference.space) {
            case Space::weight: base = const_cast<std::byte*>(prepared_[which][index].data); break;
            case Space::state: base = memory_.data() + States::template offset_of<Program>(reference.index, 0); break;
            case Space::arena: base = memory_.data() + States::bytes + Program::buffers[index].offset; break;
            case Space::none: return {};
        }
        const Index offset = reference.offset * static_cast<Index>(element_bytes);
        const int local = Lowering<Program, streams>::local_offset(reference);
        Address address;
        // In shared memory it is counted from where that begins, as `StepCalls::local` tells.
        address.base = local < 0 ? base + offset : reinterpret_cast<void*>(static_cast<std::uintptr_t>(local + offset));
        if (reference.position >= 0) {
            address.position = reinterpret_cast<const std::int32_t*>(
                memory_.data() + States::template offset_of<Program>(reference.position, 0));
            address.position_stride = static_cast<std::int32_t>(reference.position_stride);
            address.last_position = static_cast<std::int32_t>(reference.last_position);
        }
        return address;
    }

    template <std::size_t which>
    [[nodiscard]] KernelCall call_of(int index) const {
        using Program = ProgramAt<which>;
        const Step& step = lowering_detail::step_of<Program>(index);
        const Kernel& kernel = lowering_detail::kernel_of<Program>(index);
        const auto element = [](const Reference& reference, DType dtype) {
            return Lowering<Program, streams>::stores_bf16(reference) ? sizeof(BFloat16) : size_in_bytes(dtype);
        };
        KernelCall call;
        call.report = faults_.template report_of<which>(index);
        call.output = address<which>(step.output, element(step.output, kernel.dtype));
        if (kernel.kind == KernelKind::gemm) {
            call.input = address<which>(step.input, element(step.input, DType::f32));
            call.weight = weight_of<which>(index);
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
            call.operands[i] = address<which>(step.operands[i], element(step.operands[i], kernel.operands[i].dtype));
        }
        return call;
    }

    template <std::size_t which, std::size_t index>
    void launch_one(cudaStream_t stream) const {
        using At = LaunchAt<ProgramAt<which>, streams, index>;
        constexpr LaunchKind kind = At::launch.kind;
        const auto call = [this](int step) { return call_of<which>(step); };
        if constexpr (kind == LaunchKind::step) {
            launch_step<typename At::template KernelAt<0>, precision>(launcher_, device_, call(At::launch.first),
                                                                      stream);
        } else if constexpr (At::launch.is_sequence()) {
            launch_sequence<Lowering<ProgramAt<which>, streams>, At>(launcher_, device_, call, stream);
        } else if constexpr (kind == LaunchKind::skinny) {
            launch_skinny<At>(launcher_, call, stream);
        } else {
            launch_gemms<which, index>(stream, std::make_integer_sequence<int, At::launch.gemms()>());
        }
    }

    /// Launches GEMMs of one input as `select_gemm` chose.
    template <std::size_t which, std::size_t index, int... i>
    void launch_gemms(cudaStream_t stream, std::integer_sequence<int, i...>) const {
        using At = LaunchAt<ProgramAt<which>, streams, index>;
        constexpr const GemmGroup& group = At::launch.gemm;
        const GemmChoice& choice = choices_[which][index];
        auto* const stored = reinterpret_cast<BFloat16*>(memory_.data() + inputs_offset);
        if constexpr (streams && !group.input_is_bf16) {
            if (choice.converts_input) {
                launch_conversion<At>(launcher_, device_, call_of<which>(At::launch.first), stored, stream);
            }
        } else {
            static_assert(!At::launch.input_moves,
                          "totograph: the input of a GEMM lies at a place that is known before the run.");
        }
        if constexpr (is_compiled(GemmKernel::sm90, group)) {
            if (choice.kernel == GemmKernel::sm90) {
                const int first = At::launch.first_gemm();
                return launch_sm90<At>(launcher_, device_, pointers_of<which>(At::launch, first, 0).input,
                                       {weight_of<which>(first + i)...}, {call_of<which>(first + i)...}, stream);
            }
        }
        if constexpr (is_compiled(GemmKernel::sm90_cluster, group)) {
            if (choice.kernel == GemmKernel::sm90_cluster) {
                using Group = typename ClusterGroupOf<ProgramAt<which>, streams, index>::type;
                const KernelCall call = call_of<which>(At::launch.first);
                const KernelCall norm =
                    Group::has_norm ? call_of<which>(At::launch.first + At::launch.count) : KernelCall{};
                return launch_sm90_cluster<Group>(launcher_, call.input.base, weight_of<which>(At::launch.first), call,
                                                  norm, stored, stream);
            }
        }
        launch_cublaslt<which, index>(stream);
        launch_epilogue<which, index>(stream, std::integer_sequence<int, i...>());
    }

    /// Launches what cuBLASLt computes of a launch: GEMMs whose weights are neighbours as one.
    template <std::size_t which, std::size_t index>
    void launch_cublaslt(cudaStream_t stream) const {
        using Program = ProgramAt<which>;
        using At = LaunchAt<Program, streams, index>;
        for (const GemmPart& part : parts_of<which>(At::launch)) {
            const GemmPointers pointers = pointers_of<which>(At::launch, part.first, part.begin);
            gemms_.find(gemm_shape<precision, Program>(At::launch, part.columns, pointers))
                ->launch(pointers.input, pointers.weight, pointers.output, pointers.residual, pointers.bias,
                         memory_.data() + cublaslt_offset, stream);
        }
    }

    /// Launches what follows GEMMs of cuBLASLt: draws from their accumulators, or a kernel for their epilogues.
    template <std::size_t which, std::size_t index, int... i>
    void launch_epilogue(cudaStream_t stream, std::integer_sequence<int, i...>) const {
        using At = LaunchAt<ProgramAt<which>, streams, index>;
        constexpr int norms = At::launch.norms();
        auto* const accumulators = reinterpret_cast<Accumulator*>(memory_.data() + accumulators_offset);
        if constexpr (At::launch.draws.is_possible) {
            constexpr int draw = At::launch.count - 1;
            using Draw = typename At::template KernelAt<draw>;
            constexpr std::array<int, 4> from = At::launch.draws.gemms;
            using Draws = MixtureDraw<Accumulator, Draw, std::integer_sequence<int, from[0], from[1], from[2], from[3]>,
                                      typename At::template KernelAt<norms + i>...>;
            const typename Draws::Calls calls{call_of<which>(At::launch.first + draw),
                                              {call_of<which>(At::launch.first_gemm() + i)...}};
            launcher_.launch(&mixture_draw_kernel<Draws, Accumulator>, {blocks_for(device_, blocks_wanted<Draw>())},
                             stream, calls, static_cast<const Accumulator*>(accumulators));
        } else if constexpr (!At::launch.direct.is_possible) {
            using Group = EpilogueGroup<Accumulator, typename At::template KernelAt<norms + i>...>;
            const typename Group::Calls calls{{call_of<which>(At::launch.first_gemm() + i)...}};
            launcher_.launch(&epilogue_kernel<Group, Accumulator>, {Group::blocks * Group::members}, stream, calls,
                             static_cast<const Accumulator*>(accumulators));
        }
    }

    Device device_;
    Execution execution_;
    KernelLauncher launcher_;
    DeviceMemory memory_;
    PositionFaults<Programs...> faults_;
    CublasLtGemms gemms_;
    std::array<std::vector<GemmChoice>, sizeof...(Programs)> choices_;  ///< Of each launch of each program.
    std::array<std::vector<DeviceTensor>, sizeof...(Programs)> prepared_;
};

}  // namespace totograph::cuda
