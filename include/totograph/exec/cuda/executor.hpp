// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/choosing_algorithms.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm_shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemms.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/launch.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/skinny/cluster_launch.hpp>
#include <totograph/exec/cuda/gemm/sm90/cluster_launch.hpp>
#include <totograph/exec/cuda/gemm/sm90/sm90_launch.hpp>
#include <totograph/exec/cuda/gemm/sm90/small_launch.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_launch.hpp>
#include <totograph/exec/cuda/gemm/sm90/wave_launch.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/chain_launch.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/launch.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/mixture_draw.hpp>
#include <totograph/exec/cuda/kernels/step_kernels.hpp>
#include <totograph/exec/cuda/kernels/step_launch.hpp>
#include <totograph/exec/cuda/lowering/gemm_choices.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/lowering/weight_uses.hpp>
#include <totograph/exec/cuda/placed_programs.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/exec/weight_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/loops.hpp>

namespace totograph::cuda {

/// Puts planned programs onto streams of a device. States, intermediates and workspace are one allocation; launches
/// allocate nothing on the device, and nothing waits.
template <Precision precision, class... Programs>
class Executor {
public:
    using Memory = PlacedPrograms<precision, Programs...>;
    using Layout = typename Memory::Layout;
    using StateStorage = typename Memory::StateStorage;
    using States = typename Memory::States;
    template <std::size_t which>
    using ProgramAt = typename Memory::template ProgramAt<which>;
    /// Whether weights of a program are bf16.
    template <std::size_t which>
    static constexpr bool streams = Memory::template streams<which>;

    /// Whether the first launch of a program reads no state before it has waited for what was launched before: steps in
    /// one kernel do not.
    template <std::size_t which>
    static constexpr bool waits_first() {
        return LaunchAt<ProgramAt<which>, streams<which>, 0>::launch.is_sequence();
    }

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
          memory_(weights, device, execution) {
        [&]<std::size_t... which>(std::index_sequence<which...>) {
            (choose_gemms<which>(), ...);
        }
        (std::index_sequence_for<Programs...>());
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
        // No constant: nvcc would look for these functions in device code.
        const auto functions = launch_functions<which>(std::make_index_sequence<LoweringAt<which>::count>());
        for (std::size_t launch = first; launch < end; ++launch) {
            const Loops::Place place = LoweringAt<which>::place(launch);
            (this->*functions[static_cast<std::size_t>(place.entry)])({stream, launch, place.turn});
            if (execution_.waits) {
                wait_unless_capturing(stream);
            }
        }
    }

    /// Where the regions of a program begin, as numbers of launches: what comes before the first layer, each layer, and
    /// what comes after the last one. The first is 0.
    template <std::size_t which>
    static std::vector<std::size_t> regions() {
        return LoweringAt<which>::regions();
    }

    /// The device memory of a state; null when no program has one of this name.
    [[nodiscard]] std::byte* state(std::string_view name, int layer = -1) const noexcept {
        return memory_.state(name, layer);
    }

    /// The input states (`StatePlacement`), which lie together: `States::input_bytes` bytes.
    [[nodiscard]] std::byte* inputs() const noexcept { return memory_.data(); }
    /// The offset of an input state among the inputs; -1 when no input has this name.
    static constexpr std::ptrdiff_t input_offset(std::string_view name) noexcept {
        const auto* entry = Layout::find(name);
        if (entry == nullptr) {
            return -1;
        }
        const std::size_t offset = States::offset(static_cast<std::size_t>(entry - &Layout::entries[0]));
        return offset < States::input_bytes ? static_cast<std::ptrdiff_t>(offset) : -1;
    }

    /// Fills all memory with a pattern that is NaN as f32 and f64: what is read before it is written shows.
    void poison(cudaStream_t stream) const { memory_.poison(stream); }

    /// Throws `Error` (`position_out_of_bounds`) when a position that is data has reached beyond its axis in what has
    /// run since the last call; it was moved inside, so that nothing else was read or written. Waits for nothing: call
    /// it when the host has waited for the result.
    void check_positions() const { memory_.faults().check(); }
    /// Forgets a fault, such as one of a run that nobody reads.
    void forget_position_fault() const noexcept { memory_.faults().forget(); }

    /// Bytes of states, intermediates and workspace together: known when the program is compiled.
    static constexpr std::size_t memory_bytes() noexcept { return Memory::bytes; }
    /// Bytes of page-locked memory of the host.
    static constexpr std::size_t pinned_bytes() noexcept { return Memory::pinned_bytes; }
    /// Launches of one run. One that cuBLASLt computes is several kernels.
    template <std::size_t which>
    static constexpr std::size_t launches() {
        return LoweringAt<which>::launches;
    }

private:
    template <std::size_t which>
    using Accumulator = typename Memory::template Accumulator<which>;
    template <std::size_t which>
    static constexpr Precision precision_at = Memory::template precision_at<which>;
    template <std::size_t which>
    using LoweringAt = typename Memory::template LoweringAt<which>;
    template <std::size_t which>
    static constexpr WeightLayout rows = layout_of_weights(LaunchKind::gemm, precision_at<which>);

    /// When a launch runs.
    struct Turn {
        cudaStream_t stream;
        std::size_t launch;  ///< Of the run.
        LoopTurn loops;      ///< As `Lowering::place` tells it.
    };
    using LaunchFunction = void (Executor::*)(const Turn&) const;

    /// What launches an entry of the table; null where another one does.
    template <std::size_t which, std::size_t entry>
    static LaunchFunction launch_function() {
        if constexpr (LoweringAt<which>::stands_behind(entry)) {
            return nullptr;
        } else {
            return &Executor::launch_one<which, entry>;
        }
    }

    template <std::size_t which, std::size_t... entry>
    static std::array<LaunchFunction, sizeof...(entry)> launch_functions(std::index_sequence<entry...>) {
        return {launch_function<which, entry>()...};
    }

    /// @param first_column  of `step` among those of all GEMMs of the launch
    template <std::size_t which>
    [[nodiscard]] GemmPointers pointers_of(const Launch& launch, LoopTurn turn, int step, Index first_column) const {
        const KernelCall call = memory_.template call_of<which>(launch.first_gemm(), turn, rows<which>);
        const auto operand = [&](int index) {
            return index < 0 ? nullptr : static_cast<const float*>(call.operands[static_cast<std::size_t>(index)].base);
        };
        GemmPointers pointers;
        pointers.input = streams<which> && !launch.gemm.input_is_bf16 ? memory_.stored_input() : call.input.base;
        pointers.weight = memory_.template weight_of<which>(step, turn, rows<which>);
        if (launch.direct.is_possible) {
            pointers.output = call.output.base;
            pointers.residual = operand(launch.direct.residual);
            pointers.bias = operand(launch.direct.bias);
        } else {
            pointers.output = memory_.template accumulators<which>() + first_column;
        }
        return pointers;
    }

    /// Calls `visit(shape, pointers)` for each GEMM of a launch that cuBLASLt computes, or tf32 parts: of those whose
    /// weights are neighbours at once.
    template <std::size_t which, class Visit>
    void for_each_gemm(const Launch& launch, LoopTurn turn, const Visit& visit) const {
        using Program = ProgramAt<which>;
        const auto weight_of = [&](int step) { return memory_.template weight_of<which>(step, turn, rows<which>); };
        constexpr std::size_t element_bytes = sizeof(typename Memory::template Storage<which>);
        for (const GemmPart& part : parts_of_gemms<Program>(launch, element_bytes, weight_of)) {
            const GemmPointers pointers = pointers_of<which>(launch, turn, part.first, part.begin);
            visit(gemm_shape<precision_at<which>, Program>(launch, part.columns, pointers), pointers);
        }
    }

    /// Selects how each launch of a program computes its GEMMs on this device.
    template <std::size_t which>
    void choose_gemms() {
        const auto choices = gemm_choices<ProgramAt<which>, precision_at<which>>(device_, execution_);
        choices_[which].assign(choices.begin(), choices.end());
    }

    /// Prepares what a program needs of cuBLASLt, so that nothing is looked up or built while launching.
    template <std::size_t which>
    void add_gemms(bool tunes) {
        for (std::size_t i = 0; i < launches<which>(); ++i) {
            if (choices_[which][i].kernel != GemmKernel::cublaslt) {
                continue;
            }
            const Loops::Place place = LoweringAt<which>::place(i);
            const Launch& launch = LoweringAt<which>::at(static_cast<std::size_t>(place.entry));
            for_each_gemm<which>(launch, place.turn, [&](const GemmShape& shape, const GemmPointers&) {
                if (tunes) {
                    gemms_.add_tuned(shape, static_cast<int>(which), device_);
                } else {
                    gemms_.add_untuned(shape);
                }
            });
        }
    }

    template <std::size_t which, std::size_t entry>
    void launch_one(const Turn& turn) const {
        using At = LaunchAt<ProgramAt<which>, streams<which>, entry>;
        constexpr LaunchKind kind = At::launch.kind;
        constexpr WeightLayout layout = layout_of_weights(kind, precision_at<which>);
        const auto call = [&](int step) { return memory_.template call_of<which>(step, turn.loops, layout); };
        if constexpr (kind == LaunchKind::step) {
            launch_step<typename At::template KernelAt<0>, precision_at<which>>(launcher_, device_,
                                                                                call(At::launch.first), turn.stream);
        } else if constexpr (At::launch.is_sequence()) {
            launch_sequence<LoweringAt<which>, At>(launcher_, device_, call, turn.stream);
        } else if constexpr (kind == LaunchKind::skinny) {
            launch_skinny<At, precision_at<which>>(launcher_, call, memory_.stored_input(), turn.stream);
        } else {
            launch_gemms<which, entry>(turn, std::make_integer_sequence<int, At::launch.gemms()>());
        }
    }

    /// Launches GEMMs of one input as `gemm_choices` says.
    template <std::size_t which, std::size_t entry, int... i>
    void launch_gemms(const Turn& turn, std::integer_sequence<int, i...>) const {
        using At = LaunchAt<ProgramAt<which>, streams<which>, entry>;
        constexpr const GemmGroup& group = At::launch.gemm;
        constexpr int first = At::launch.first;
        constexpr int gemm = At::launch.first_gemm();
        const GemmChoice& choice = choices_[which][turn.launch];
        const auto call = [&](int step) { return memory_.template call_of<which>(step, turn.loops, rows<which>); };
        const auto weight = [&](int step) { return memory_.template weight_of<which>(step, turn.loops, rows<which>); };
        if constexpr (streams<which> && !group.input_is_bf16) {
            if (choice.converts_input) {
                launch_conversion<At>(launcher_, device_, call(first), memory_.stored_input(), turn.stream);
            }
        } else {
            static_assert(!At::launch.input_moves,
                          "totograph: the input of a GEMM lies at a place that is known before the run.");
        }
        if constexpr (At::launch.has_reduction && !streams<which>) {
            if (choice.follows_norm) {
                launch_step<typename At::template KernelAt<0>, precision_at<which>>(launcher_, device_, call(first),
                                                                                    turn.stream);
            }
        }
        [[maybe_unused]] const void* const input =
            streams<which> && !group.input_is_bf16 ? memory_.stored_input() : call(gemm).input.base;
        if constexpr (is_compiled(GemmKernel::sm90, group)) {
            if (choice.kernel == GemmKernel::sm90) {
                const NormFromSquares norm{call(first), tail_at<which>(turn.launch).squares_of_input};
                return launch_sm90<At>(launcher_, device_, input, {weight(gemm + i)...}, {call(gemm + i)...}, norm,
                                       turn.stream);
            }
        }
        constexpr GemmKernel own = wgmma_kernel(group, precision_at<which>);
        if constexpr (leaves_squares(own)) {  // small tiles or waves
            if (choice.kernel == own) {
                const TileOperands<sizeof...(i)> operands{
                    input, {weight(gemm + i)...}, {call(gemm + i)...}, call(first), tail_at<which>(turn.launch)};
                if constexpr (own == GemmKernel::sm90_wave) {
                    return launch_sm90_wave<At>(launcher_, operands, turn.stream);
                } else {
                    return launch_sm90_small<At>(launcher_, operands, turn.stream);
                }
            }
        }
        if constexpr (precision_at<which> == Precision::f32 && is_compiled(GemmKernel::tf32_parts_chain, group)) {
            if (choice.kernel == GemmKernel::tf32_parts_chain) {
                return launch_tf32_parts_chain<At>(launcher_, device_,
                                                   {input, {weight(gemm + i)...}, {call(gemm + i)...}, call(first), {}},
                                                   turn.stream);
            }
        }
        if constexpr (precision_at<which> == Precision::tf32 && is_compiled(GemmKernel::skinny_cluster, group)) {
            if (choice.kernel == GemmKernel::skinny_cluster) {
                return launch_skinny_cluster<At>(
                    launcher_, memory_.template call_of<which>(gemm, turn.loops, WeightLayout::tf32_tiles),
                    turn.stream);
            }
        }
        if constexpr (is_compiled(GemmKernel::sm90_cluster, group)) {
            if (choice.kernel == GemmKernel::sm90_cluster) {
                return launch_cluster<which, entry>(turn);
            }
        }
        launch_whole_gemms<which>(At::launch, turn);
        launch_epilogue<which, entry>(turn, std::integer_sequence<int, i...>());
    }

    /// What a launch by tiles shares with those before and behind it.
    template <std::size_t which>
    [[nodiscard]] SharedTail tail_at(std::size_t launch) const {
        const TileTails tails = tile_tails(choices_[which], launch);
        return {.squares_of_input = tails.finishes_norm ? memory_.squares() : nullptr,
                .stored = tails.leaves_input && streams<which> ? memory_.stored_input() : nullptr,
                .squares = tails.leaves_norm ? memory_.squares() : nullptr};
    }

    /// Launches GEMMs of cuBLASLt, or of tf32 parts, without what follows them. Compiled once for all launches of a
    /// program.
    template <std::size_t which>
    void launch_whole_gemms(const Launch& launch, const Turn& turn) const {
        for_each_gemm<which>(launch, turn.loops, [&](const GemmShape& shape, const GemmPointers& pointers) {
            if constexpr (precision_at<which> == Precision::f32) {
                if (choices_[which][turn.launch].kernel == GemmKernel::tf32_parts) {
                    return launch_tf32_parts_gemm<precision_at<which>>(launcher_, device_, shape, pointers,
                                                                       turn.stream);
                }
            }
            gemms_.launch(shape, pointers, memory_.cublaslt_workspace(), turn.stream);
        });
    }

    /// Launches a GEMM with the norm of the launch after it.
    template <std::size_t which, std::size_t entry>
    void launch_cluster(const Turn& turn) const {
        using Group = typename ClusterGroupOf<ProgramAt<which>, streams<which>, entry>::type;
        constexpr const Launch& launch = LaunchAt<ProgramAt<which>, streams<which>, entry>::launch;
        const KernelCall call = memory_.template call_of<which>(launch.first, turn.loops, rows<which>);
        KernelCall norm;
        if constexpr (Group::has_norm) {
            const Loops::Place next = ProgramAt<which>::loops.step_behind(launch.first + launch.count, turn.loops);
            norm = memory_.template call_of<which>(next.entry, next.turn, rows<which>);
        }
        launch_sm90_cluster<Group>(launcher_, call.input.base,
                                   memory_.template weight_of<which>(launch.first, turn.loops, rows<which>), call, norm,
                                   memory_.stored_input(), turn.stream);
    }

    /// Launches what follows such GEMMs: draws from their accumulators, or a kernel for their epilogues.
    template <std::size_t which, std::size_t entry, int... i>
    void launch_epilogue(const Turn& turn, std::integer_sequence<int, i...>) const {
        using At = LaunchAt<ProgramAt<which>, streams<which>, entry>;
        constexpr int norms = At::launch.norms();
        const Accumulator<which>* const accumulators = memory_.template accumulators<which>();
        const auto call = [&](int step) { return memory_.template call_of<which>(step, turn.loops, rows<which>); };
        if constexpr (At::launch.draws.is_possible) {
            constexpr int draw = At::launch.count - 1;
            using Draw = typename At::template KernelAt<draw>;
            constexpr std::array<int, 4> from = At::launch.draws.gemms;
            using Draws =
                MixtureDraw<Accumulator<which>, Draw, std::integer_sequence<int, from[0], from[1], from[2], from[3]>,
                            typename At::template KernelAt<norms + i>...>;
            const typename Draws::Calls calls{call(At::launch.first + draw), {call(At::launch.first_gemm() + i)...}};
            launcher_.launch(&mixture_draw_kernel<Draws, Accumulator<which>>,
                             {blocks_for(device_, blocks_wanted<Draw>())}, turn.stream, calls, accumulators);
        } else if constexpr (!At::launch.direct.is_possible) {
            using Group = EpilogueGroup<Accumulator<which>, typename At::template KernelAt<norms + i>...>;
            const typename Group::Calls calls{{call(At::launch.first_gemm() + i)...}};
            launcher_.launch(&epilogue_kernel<Group, Accumulator<which>>, {Group::blocks * Group::members}, turn.stream,
                             calls, accumulators);
        }
    }

    Device device_;
    Execution execution_;
    KernelLauncher launcher_;
    Memory memory_;
    CublasLtGemms gemms_;
    std::array<std::vector<GemmChoice>, sizeof...(Programs)> choices_;  ///< Of each launch of a run of each program.
};

}  // namespace totograph::cuda
