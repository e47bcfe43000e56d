// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/exec/cpu/evaluate/evaluate.hpp>
#include <totograph/exec/cpu/kernels/fused_kernels.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/structural_kernels.hpp>
#include <totograph/exec/cpu/prepared_weights.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/exec/position_error.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/needs_f32.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// The code of each kernel of a program.
template <class Program, class Storage>
struct KernelTable {
    template <std::size_t index>
    static constexpr KernelFunction function() {
        using K = KernelOf<Program, index>;
        if constexpr (K::kernel.kind == KernelKind::pointwise) {
            return fused_detail::pointwise_function<K>();
        } else if constexpr (K::kernel.kind == KernelKind::reduction) {
            return fused_detail::reduction_function<K>();
        } else if constexpr (K::kernel.kind == KernelKind::gemm) {
            return fused_detail::gemm_function<K, Storage>();
        } else {
            return structural_detail::structural_function<K>();
        }
    }

    static constexpr std::size_t count = Program::kernels.size();
    static constexpr std::array<KernelFunction, count> functions = []<std::size_t... i>(std::index_sequence<i...>) {
        return std::array<KernelFunction, count>{function<i>()...};
    }
    (std::make_index_sequence<count>());
    static constexpr std::size_t scratch_floats = []<std::size_t... i>(std::index_sequence<i...>) {
        return std::max({std::size_t{0}, structural_detail::scratch_floats<KernelOf<Program, i>>()...});
    }
    (std::make_index_sequence<count>());
};

/// Runs planned programs on the CPU: fused kernels, packed weights (`Storage` is `float` or `BFloat16`), one block of
/// memory. After construction nothing is allocated. Programs that need f32 (`needs_f32`) store their weights so.
template <class Storage, class... Programs>
class FusedExecutor {
    template <class Program>
    using StorageOf = std::conditional_t<needs_f32<Program>, float, Storage>;

public:
    using Layout = StateLayout<Programs...>;

    /// Scratch memory of each thread.
    static constexpr std::size_t scratch_floats =
        aligned_size(std::max({KernelTable<Programs, StorageOf<Programs>>::scratch_floats...}) * sizeof(float)) /
        sizeof(float);

    FusedExecutor(const Weights& weights, std::shared_ptr<ThreadPool> pool)
        : pool_(require_pool(std::move(pool))),
          memory_(Layout::bytes + Layout::arena_bytes +
                  scratch_floats * sizeof(float) * static_cast<std::size_t>(pool_->threads())) {
        const auto prepare = [&]<class Program>(Prepared<Program>& prepared) {
            const ProgramTables tables = tables_of<Program>();
            prepared.tensors = weights.prepared<PreparedWeights<StorageOf<Program>>>()->get(
                GraphView{tables.nodes}, tables.weights, weights.source(), evaluate_of_weights<Programs...>());
        };
        std::apply([&](auto&... prepared) { (prepare(prepared), ...); }, prepared_);
    }

    /// Runs one of the programs. Throws `Error` (`position_out_of_bounds`), at the end, when a position that is data
    /// reached beyond its axis; it was moved inside, so that nothing else was read or written.
    template <std::size_t which>
    void run() {
        run_observed<which>([](int, const auto& call) { call(); });
    }

    /// The same, with what `around(step, call)` does about each step, which has to make the call: for who measures.
    template <std::size_t which, class Around>
    void run_observed(const Around& around) {
        static_assert(
            which < sizeof...(Programs),
            "totograph: an executor runs the programs that it was made of, numbered from 0 on; it has none of "
            "this number.");
        using Program = std::tuple_element_t<which, std::tuple<Programs...>>;
        PositionFault fault;
        run_steps<which>(fault, around);
        if (fault.step >= 0) [[unlikely]] {
            throw totograph::detail::position_error<Program>(fault);
        }
    }

    /// The memory of a state; null when no program has one of this name.
    [[nodiscard]] void* state(std::string_view name, int layer = -1) const noexcept {
        const auto* entry = Layout::find(name, layer);
        return entry == nullptr ? nullptr : memory_.data() + entry->offset;
    }

    /// Bytes of states, intermediates and scratch together.
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_.size(); }
    [[nodiscard]] int threads() const noexcept { return pool_->threads(); }
    /// Computes with another pool of as many threads from now on.
    void use_pool(std::shared_ptr<ThreadPool> pool) noexcept {
        assert(pool != nullptr && pool->threads() == threads());
        pool_ = std::move(pool);
    }

private:
    template <std::size_t which, class Around>
    void run_steps(PositionFault& fault, const Around& around) noexcept {
        using Program = std::tuple_element_t<which, std::tuple<Programs...>>;
        using Table = KernelTable<Program, StorageOf<Program>>;
        KernelCall call;
        call.pool = pool_.get();
        call.scratch = reinterpret_cast<float*>(memory_.data() + Layout::bytes + Layout::arena_bytes);
        call.scratch_floats = scratch_floats;
        call.fault = &fault;
        if constexpr (Layout::has_bounds) {
            const std::size_t offset = Layout::entries[Layout::bounds_place].offset;
            call.bounds = reinterpret_cast<const std::int32_t*>(memory_.data() + offset);
        }
        Program::loops.for_each_step(Program::steps.size(), [&](int number, LoopTurn turn) {
            const Step& step = Program::steps[static_cast<std::size_t>(number)];
            const Kernel& kernel = Program::kernels[static_cast<std::size_t>(step.kernel)];
            call.step = Program::loops.at(&Loop::steps, number, turn);
            for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
                call.operands[i] = address<which>(step.operands[i], turn, kernel.operands[i].dtype, call);
            }
            if (kernel.kind == KernelKind::gemm) {
                call.input = address<which>(step.input, turn, DType::f32, call);
                call.packed = prepared<which>(step.weight, turn).packed.get();
            }
            call.output = address<which>(step.output, turn, kernel.dtype, call);
            around(call.step, [&] { Table::functions[static_cast<std::size_t>(step.kernel)](kernel, call); });
        });
    }

    /// The prepared weights of one program.
    template <class Program>
    struct Prepared {
        std::vector<std::shared_ptr<const PreparedTensor<StorageOf<Program>>>> tensors;
    };

    template <std::size_t which>
    [[nodiscard]] const auto& prepared(const Reference& weight, LoopTurn turn) const noexcept {
        using Program = std::tuple_element_t<which, std::tuple<Programs...>>;
        const int index = Program::loops.at(&Loop::weights, weight.index, turn);
        return *std::get<which>(prepared_).tensors[static_cast<std::size_t>(index)];
    }

    template <std::size_t which>
    [[nodiscard]] std::byte* state(int index, LoopTurn turn) const noexcept {
        using Program = std::tuple_element_t<which, std::tuple<Programs...>>;
        return memory_.data() + Layout::entries[Layout::template place_of<Program>(index, turn)].offset;
    }

    /// Where an operand of a step lies at a turn of the program's loops. An intermediate lies at one place in all
    /// of them.
    template <std::size_t which>
    [[nodiscard]] void* address(const Reference& reference, LoopTurn turn, DType dtype,
                                const KernelCall& call) const noexcept {
        using Program = std::tuple_element_t<which, std::tuple<Programs...>>;
        const auto index = static_cast<std::size_t>(reference.index);
        std::byte* base = nullptr;
        switch (reference.space) {
            case Space::weight: base = prepared<which>(reference, turn).plain.data(); break;
            case Space::state: base = state<which>(reference.index, turn); break;
            case Space::arena: base = memory_.data() + Layout::bytes + Program::buffers[index].offset; break;
            case Space::none: return nullptr;
        }
        Index offset = reference.offset;
        if (reference.position >= 0) {
            const auto* value = reinterpret_cast<const std::int32_t*>(state<which>(reference.position, turn));
            offset += call.bounded(*value, reference.last_position) * reference.position_stride;
        }
        return base + offset * static_cast<Index>(size_in_bytes(dtype));
    }

    std::shared_ptr<ThreadPool> pool_;
    Arena memory_;
    std::tuple<Prepared<Programs>...> prepared_;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
