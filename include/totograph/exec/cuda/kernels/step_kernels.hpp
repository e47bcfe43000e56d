// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/attention.hpp>
#include <totograph/exec/cuda/gemm/epilogue.hpp>
#include <totograph/exec/cuda/kernels/argmax.hpp>
#include <totograph/exec/cuda/kernels/categorical.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/movement.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/sample.hpp>
#include <totograph/exec/cuda/kernels/scans/cumsum.hpp>
#include <totograph/exec/cuda/kernels/scans/running_moments.hpp>
#include <totograph/exec/cuda/kernels/softmax.hpp>
#include <totograph/exec/cuda/kernels/sort.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/exec/cuda/lowering/row_local.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>

// The kernels that are launched: one step, several small ones, several of the same rows, the chain after a library's
// GEMM.

namespace totograph::cuda {

/// Runs a step on threads that share it.
/// @param used  what of it is in use
template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_step(const KernelCall& call, const Used& used) {
    static_assert(K::kernel.kind != KernelKind::structural || op_row(K::kernel.op).executors.cuda,
                  "totograph: the CUDA executor has no kernel for an op that this model records.");
    static_assert(Threads::threads == block_threads || K::kernel.kind != KernelKind::structural ||
                      !op_row(K::kernel.op).stands_alone,
                  "totograph: an op that is work enough for a launch runs in blocks of 256 threads alone.");
    if constexpr (K::copies_bf16) {
        run_copy_of_bf16<K, Threads>(call, used);
    } else if constexpr (K::kernel.kind == KernelKind::pointwise) {
        run_pointwise<K, Threads>(call, used);
    } else if constexpr (K::kernel.kind == KernelKind::reduction) {
        run_reduction<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::take) {
        run_take<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::embedding) {
        run_embedding<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::concatenate) {
        run_concatenate<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::store) {
        run_store<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::cumsum) {
        run_cumsum<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::running_moments) {
        run_moments<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::softmax) {
        run_softmax<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::argmax) {
        run_argmax<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::sort) {
        run_sort<K, Threads>(call, used);
    } else if constexpr (K::kernel.op == Op::sample_categorical) {
        run_sample_categorical<K>(call, used);
    } else if constexpr (K::kernel.op == Op::attention) {
        run_attention<K>(call, used);
    } else {
        static_assert(K::kernel.op == Op::sample_student_t_mixture,
                      "totograph: an op has no kernel here; add one, or say so in `op_table`.");
        run_sample<K>(call, used);
    }
}

/// Blocks that keep a step busy, before the device's size is known.
template <class K>
constexpr Index blocks_wanted() {
    constexpr Index warps = block_threads / warp_size;
    const auto over = [](Index items, Index per_block) {
        return std::max<Index>(1, divide_rounding_up(items, per_block));
    };
    if constexpr (K::kernel.kind == KernelKind::pointwise || K::kernel.kind == KernelKind::gemm) {
        return over(K::kernel.iteration.size() / lanes_of<K>(K::kernel.iteration.size() < 65536), block_threads);
    } else if constexpr (K::kernel.kind == KernelKind::reduction) {
        return takes_block<K>() ? K::kernel.rows() : over(K::kernel.rows(), block_threads / row_threads<K>());
    } else if constexpr (K::kernel.op == Op::cumsum) {
        constexpr Index rows = K::kernel.iteration.size() / K::kernel.iteration[-1];
        return K::kernel.iteration[-1] <= 4 * warp_size ? over(rows, warps) : rows;
    } else if constexpr (K::kernel.op == Op::running_moments) {
        using Rows = MomentsOfRows<K, block_threads>;
        return Rows::takes_warp ? over(Rows::rows, warps) : Index{Rows::rows};
    } else if constexpr (K::kernel.op == Op::softmax) {
        constexpr Index columns = K::kernel.iteration[-1];
        return over(K::kernel.iteration.size() / columns, block_threads / softmax_threads(columns));
    } else if constexpr (K::kernel.op == Op::argmax) {
        constexpr Index rows = K::kernel.iteration.size();
        return K::kernel.operands[0].shape[-1] <= 1024 ? over(rows, warps) : rows;
    } else if constexpr (K::kernel.op == Op::sample_categorical) {
        return K::kernel.iteration.size();
    } else if constexpr (op_row(K::kernel.op).kind == OpClass::attention) {
        return query_takes_block<K>() ? AttentionSizes<K>::queries : over(AttentionSizes<K>::queries, warps);
    } else {
        return over(K::kernel.iteration.size(), block_threads);
    }
}

/// Blocks of a cluster that share one of these.
template <class K>
constexpr int blocks_of_item() {
    if constexpr (K::kernel.kind == KernelKind::structural && K::kernel.op == Op::attention) {
        return query_takes_block<K>() ? BlockShare<K>::parts : 1;
    } else if constexpr (K::kernel.kind == KernelKind::structural && K::kernel.op == Op::argmax) {
        return Argmax<K, block_threads>::parts;
    } else {
        return 1;
    }
}

template <class K>
__global__ void __launch_bounds__(block_threads) step_kernel(const __grid_constant__ KernelCall call) {
    const UsedExtents<K> used(call);
    if constexpr (!waits_for_itself<K>()) {
        wait_for_predecessor();
        launch_dependents();
    }
    run_step<K>(call, used);
}

/// Waits for all blocks of a segment; what they wrote can be read afterwards.
template <int blocks>
__device__ __forceinline__ void synchronize_segment() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (blocks > 1) {
        __syncwarp();
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
        return;
    }
#endif
    __syncthreads();
}

/// What a kernel of several steps is launched with.
template <std::size_t steps>
struct StepCalls {
    KernelCall call[steps];
    /// A bit for each step's output, then one for each of its operands: it lies in the block's shared memory, and its
    /// address is counted from there.
    std::uint32_t local[steps];
    static_assert(sizeof(call) + sizeof(local) <= 32764,
                  "totograph: steps have more operands than a kernel has parameters.");
};

/// Where in a block each of several steps begins, of so many elements, 0 for those of other blocks: behind those since
/// the last barrier, so that steps of few elements run beside each other on warps of their own.
/// @tparam threads  of a block
template <std::uint64_t barriers, int threads, std::size_t steps>
constexpr std::array<int, steps> first_threads(const std::array<Index, steps>& sizes) {
    std::array<int, steps> result{};
    Index next = 0;
    for (std::size_t i = 0; i < steps; ++i) {
        next = barriers >> i & 1U ? 0 : next;
        result[i] = static_cast<int>(next % threads);
        next += round_up(std::min<Index>(sizes[i], threads), warp_size);
    }
    return result;
}

/// Of the sizes of steps those that are aside, or the others; 0 in place of the rest.
template <std::uint64_t aside, std::size_t steps>
constexpr std::array<Index, steps> sizes_where(std::array<Index, steps> sizes, bool is_aside) {
    for (std::size_t i = 0; i < steps; ++i) {
        sizes[i] = ((aside >> i & 1U) != 0) == is_aside ? sizes[i] : 0;
    }
    return sizes;
}

/// The barriers of those that are aside, or of the others: one or none before each of their own steps.
template <std::uint64_t barriers, std::uint64_t aside, std::size_t steps>
constexpr std::uint64_t barriers_where(bool is_aside) {
    std::uint64_t result = 0;
    bool waits = false;
    bool has_any = false;
    for (std::size_t i = 0; i < steps; ++i) {
        waits = waits || (barriers >> i & 1U) != 0;
        if (((aside >> i & 1U) != 0) == is_aside) {
            result |= waits && has_any ? std::uint64_t{1} << i : 0U;
            waits = false;
            has_any = true;
        }
    }
    return result;
}

/// Steps one after the other. `barriers` has a bit for each step that must wait for those before it, `aside` for each
/// that has nothing to do with the others: as many blocks more have those. They are small: to ask what of them is in
/// use would take as long as what it spares.
template <int blocks, int block_size, std::uint64_t barriers, std::uint64_t aside, class... K>
struct Segment {
    using Calls = StepCalls<sizeof...(K)>;
    static constexpr int threads = block_size;
    static constexpr std::size_t steps = sizeof...(K);
    static constexpr int parts = aside != 0 ? 2 : 1;

    static __device__ void run(const Calls& calls) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        constexpr int count = blocks;
#else
        constexpr int count = 1;  // without clusters
#endif
        if (aside != 0 && blockIdx.x >= count) {
            run_part<count, true>(calls, std::index_sequence_for<K...>());
        } else {
            run_part<count, false>(calls, std::index_sequence_for<K...>());
        }
    }

private:
    template <int count, bool is_aside, std::size_t... i>
    static __device__ __forceinline__ void run_part(const Calls& calls, std::index_sequence<i...>) {
        constexpr std::uint64_t own = barriers_where<barriers, aside, steps>(is_aside);
        constexpr auto begins =
            first_threads<own, threads, steps>(sizes_where<aside, steps>({K::kernel.iteration.size()...}, is_aside));
        ((own >> i & 1U ? synchronize_segment<blocks>() : void(),
          run_one<is_aside, i, K, Blocks<count, begins[i], is_aside ? count : 0, threads>>(calls.call[i])),
         ...);
    }
    template <bool is_aside, std::size_t i, class Kernel, class Threads>
    static __device__ __forceinline__ void run_one(const KernelCall& call) {
        if constexpr (((aside >> i & 1U) != 0) == is_aside) {
            run_step<Kernel, Threads>(call, AllExtents<Kernel>());
        }
    }
};

/// Steps of so many rows one after the other, of which each block has rows of its own: nothing that it reads is written
/// by another. `aside` has a bit for each step that has nothing to do with the rows: the first block has those, if
/// there are any.
template <Index rows, int block_size, std::uint64_t barriers, std::uint64_t aside, class... K>
struct RowSegment {
    using Calls = StepCalls<sizeof...(K)>;
    static constexpr int threads = block_size;
    static constexpr std::size_t steps = sizeof...(K);

private:
    static constexpr std::array<Index, steps> sizes{K::kernel.iteration.size()...};
    static constexpr auto sizes_of_rows = sizes_where<aside, steps>(sizes, false);
    static constexpr auto begins = first_threads<barriers, threads, steps>(sizes_where<aside, steps>(sizes, true));

    /// As many as give each thread a pair of the widest step; fewer where the device would have too few blocks.
    static constexpr Index widest = *std::max_element(sizes_of_rows.begin(), sizes_of_rows.end()) / rows;
    static_assert(widest > 0, "totograph: steps by rows are not all aside.");
    static constexpr Index rows_each =
        std::clamp<Index>(2 * threads / widest, 1, std::max<Index>(1, rows / fewest_row_blocks));
    static constexpr unsigned first_block = aside != 0 ? 1 : 0;

public:
    static constexpr Index blocks = first_block + divide_rounding_up(rows, rows_each);

    static __device__ void run(const Calls& calls) {
        if (aside != 0 && blockIdx.x == 0) {
            run_some<true>(calls, std::index_sequence_for<K...>());
        } else {
            run_some<false>(calls, std::index_sequence_for<K...>());
        }
    }

private:
    template <bool is_aside, std::size_t... i>
    static __device__ __forceinline__ void run_some(const Calls& calls, std::index_sequence<i...>) {
        (run_one<is_aside, i, K>(calls.call[i]), ...);
    }
    template <bool is_aside, std::size_t i, class Kernel>
    static __device__ __forceinline__ void run_one(const KernelCall& call) {
        if constexpr ((barriers >> i & 1U) != 0) {
            __syncthreads();
        }
        if constexpr (((aside >> i & 1U) != 0) == is_aside) {
            using Threads = std::conditional_t<is_aside, Blocks<1, begins[i], 0, threads>,
                                               BlocksOfRows<rows, rows_each, first_block, threads>>;
            if constexpr (is_aside) {
                run_step<Kernel, Threads>(call, AllExtents<Kernel>());
            } else {
                run_step<Kernel, Threads>(call, UsedExtents<Kernel>(call));
            }
        }
    }
};

/// Copies the parameters of a kernel to shared memory with all threads of a block. Those of several steps are many,
/// each read once: one after the other, through the cache for constants, steps would wait for each of them.
template <int threads, class Parameters>
__device__ __forceinline__ void copy_parameters(Parameters& to, const Parameters& from) {
    using Word = std::uint64_t;
    static_assert(sizeof(Parameters) % sizeof(Word) == 0 && alignof(Parameters) == alignof(Word));
    const Word* source = reinterpret_cast<const Word*>(&from);
    asm volatile("" : "+l"(source));  // or the compiler would see constants, and take them from there
    for (unsigned i = threadIdx.x; i < sizeof(Parameters) / sizeof(Word); i += threads) {
        reinterpret_cast<Word*>(&to)[i] = source[i];
    }
    __syncthreads();
}

static_assert(block_elements == 4 * block_threads && wide_block_elements == 4 * wide_block_threads,
              "totograph: a thread takes four elements of a step in one turn.");
static_assert(sizeof(StepCalls<segment_steps>) + sizeof(SharedMoments) + most_block_stretches * sizeof(double) +
                      most_wide_local_bytes + 1024 <=  // the last is for other steps over rows
                  least_shared_bytes_of_block,
              "totograph: a segment of one wide block takes more shared memory than each known device gives a block.");

/// Points what lies in shared memory to it.
template <int threads, std::size_t steps>
__device__ __forceinline__ void place_local(StepCalls<steps>& calls, std::byte* memory) {
    constexpr unsigned places = 1 + max_operands;
    for (unsigned i = threadIdx.x; i < steps * places; i += threads) {
        const unsigned place = i % places;
        KernelCall& call = calls.call[i / places];
        if ((calls.local[i / places] >> place & 1U) != 0) {
            Address& address = place == 0 ? call.output : call.operands[place - 1];
            address.base = memory + reinterpret_cast<std::uintptr_t>(address.base);
        }
    }
    __syncthreads();
}

template <class SegmentType, bool has_local>
__global__ void __launch_bounds__(SegmentType::threads)
    segment_kernel(const __grid_constant__ typename SegmentType::Calls parameters) {
    // As words: what lies in shared memory has no initializers, and members of these parameters do.
    __shared__ std::uint64_t words[sizeof(typename SegmentType::Calls) / sizeof(std::uint64_t)];
    auto& calls = reinterpret_cast<typename SegmentType::Calls&>(words);
    copy_parameters<SegmentType::threads>(calls, parameters);
    if constexpr (has_local) {
        extern __shared__ uint4 local_memory[];
        place_local<SegmentType::threads>(calls, reinterpret_cast<std::byte*>(local_memory));
    }
    wait_for_predecessor();  // before any state is read, as `Executor::waits_first` says
    launch_dependents();
    SegmentType::run(calls);
}

/// What follows GEMMs that a library computed side by side: the chain of each.
template <class Accumulator, class... K>
struct EpilogueGroup {
    struct Calls {
        KernelCall call[sizeof...(K)];
    };
    /// Columns of one row of accumulators.
    static constexpr int row_stride = (static_cast<int>(K::kernel.columns() * K::kernel.accumulators) + ...);
    /// A block for each member of a round; rounds are so many as the largest member wants.
    static constexpr int members = sizeof...(K);
    static constexpr Index blocks =
        std::max({divide_rounding_up(epilogue_items<K, Accumulator>(), Index{block_threads})...});

    static __device__ void run(const Calls& calls, const Accumulator* accumulators) {
        const int own = static_cast<int>(blockIdx.x) % members;
        const int block = static_cast<int>(blockIdx.x) / members;
        const int count = static_cast<int>(gridDim.x) / members;
        int index = 0;
        const auto member = [&]<class Kernel>(Kernel*) {
            if (index == own) {
                run_epilogue<Kernel>(calls.call[index], accumulators, row_stride, block, count);
            }
            accumulators += Kernel::kernel.columns() * Kernel::kernel.accumulators;
            ++index;
        };
        (member(static_cast<K*>(nullptr)), ...);
    }
};

template <class Group, class Accumulator>
__global__ void __launch_bounds__(block_threads)
    epilogue_kernel(const __grid_constant__ typename Group::Calls calls, const Accumulator* accumulators) {
    wait_for_predecessor();
    launch_dependents();
    Group::run(calls, accumulators);
}

}  // namespace totograph::cuda
