// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/bounds.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// What device code needs of a program's tables, in smaller ones: a constant expression that reads a table costs nvcc
/// its whole size each time, megabytes for that of the kernels.
template <class ProgramType>
struct DeviceTables {
    static constexpr std::size_t kernels = ProgramType::kernels.size();

    /// For each kernel, whether a step that runs it reads or writes anything at a position.
    static constexpr auto uses_positions = [] {
        std::array<bool, kernels> result{};
        for (const Step& step : ProgramType::steps) {
            bool& found = result[static_cast<std::size_t>(step.kernel)];
            found = found || step.output.position >= 0 || step.input.position >= 0;
            for (const Reference& operand : step.operands) {
                found = found || operand.position >= 0;
            }
        }
        return result;
    }();

    /// The room that each kernel needs.
    struct Size {
        int operands = 0;
        int prologue = 0;
        int chain = 0;
    };
    static constexpr auto sizes = [] {
        std::array<Size, kernels> result{};
        for (std::size_t i = 0; i < kernels; ++i) {
            const Kernel& kernel = ProgramType::kernels[i];
            // Code of structural ops asks about operands that it may lack.
            const bool is_structural = kernel.kind == KernelKind::structural;
            result[i] = {is_structural ? max_operands : std::max(1, kernel.operand_count),
                         std::max(1, kernel.prologue.count), std::max(1, kernel.chain.count)};
        }
        return result;
    }();

    /// The bounds of each kernel.
    static constexpr auto bounds = [] {
        std::array<LoopBounds, kernels> result{};
        for (std::size_t i = 0; i < kernels; ++i) {
            result[i] = ProgramType::kernels[i].bounds;
        }
        return result;
    }();

    /// Kernels that lie in one small table.
    static constexpr std::size_t chunk = 8;
    /// The kernels from number `begin` on.
    template <std::size_t begin>
    static constexpr auto kernels_from = [] {
        std::array<Kernel, std::min(chunk, kernels - begin)> result{};
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] = ProgramType::kernels[begin + i];
        }
        return result;
    }();
};

/// How what a kernel reads and writes is stored, as flags. Not a struct of Booleans: g++ 12 and 13 take equal structs
/// that were computed in two ways as different template arguments, and then launch a kernel that nvcc never registered.
enum class KernelStorage : unsigned {
    plain = 0,
    bf16_output = 1U << 0U,   ///< The result is stored as bf16: only GEMMs, attention and copies read it.
    aligned_rows = 1U << 1U,  ///< Rows of all that it touches begin at multiples of 16 bytes: no access is tested.
    bf16_query = 1U << 2U,    ///< An attention's queries are stored as bf16.
    bf16_keys = 1U << 3U,     ///< Its keys and values are.
    /// The prefix of an attention and its length were written before the launch before this one: they can be read while
    /// that one still runs.
    early_prefix = 1U << 4U,
    bf16_copy = 1U << 5U,  ///< A copy of what is stored as bf16.
};

/// `flag` where `wanted`.
constexpr KernelStorage flag_if(bool wanted, KernelStorage flag) {
    return wanted ? flag : KernelStorage::plain;
}
constexpr KernelStorage operator|(KernelStorage a, KernelStorage b) {
    return static_cast<KernelStorage>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has_flag(KernelStorage storage, KernelStorage flag) {
    return (static_cast<unsigned>(storage) & static_cast<unsigned>(flag)) != 0;
}

/// A kernel of a program as a type. The value is a copy: device code may read a constant, but not through a reference
/// to host memory. It has no room to spare, for nvcc copies the whole of it wherever a constant expression reads a
/// part.
template <class ProgramType, std::size_t index, KernelStorage storage>
struct KernelOf {
    using Tables = DeviceTables<ProgramType>;
    using Operations = typename ProgramType::Operations;
    static constexpr typename Tables::Size size = Tables::sizes[index];
    static constexpr auto kernel = Tables::template kernels_from<index - index % Tables::chunk>[index % Tables::chunk]
                                       .template with_room<size.operands, size.prologue, size.chain>();
    static constexpr LoopBounds bounds = Tables::bounds[index];
    static constexpr bool stores_bf16 = has_flag(storage, KernelStorage::bf16_output);
    static constexpr bool copies_bf16 = has_flag(storage, KernelStorage::bf16_copy);
    static constexpr bool is_aligned = has_flag(storage, KernelStorage::aligned_rows);
    static constexpr bool prefix_is_early = has_flag(storage, KernelStorage::early_prefix);
    static constexpr bool has_positions = Tables::uses_positions[index];
    using Query = std::conditional_t<has_flag(storage, KernelStorage::bf16_query), BFloat16, float>;
    using Key = std::conditional_t<has_flag(storage, KernelStorage::bf16_keys), BFloat16, float>;
};

/// Where kernels report a position that is out of bounds: what a program reads or writes beyond it is none of its own.
struct PositionReport {
    /// In memory of the host; 0 for none. The upper half is `step + 1`, and a bit for the second of two lengths of one
    /// step; the lower half is the position. One write keeps all together, whichever thread comes last.
    volatile std::uint64_t* word = nullptr;
    std::uint32_t step = 0;

    /// A position from 0 to `last`; another one is moved there and reported. In a checked build (`position_error.hpp`),
    /// it ends the kernel and with it all work of the process on the device.
    [[nodiscard]] __device__ __forceinline__ std::int32_t bounded(std::int32_t position, std::int32_t last,
                                                                  std::uint32_t second = 0) const {
        const std::int32_t inside = min(max(position, 0), last);
        if (inside != position) {
#ifdef TOTOGRAPH_CHECKED
            __trap();
#endif
            *word =
                static_cast<std::uint64_t>(second << 31U | (step + 1U)) << 32U | static_cast<std::uint32_t>(position);
        }
        return inside;
    }
};

/// Stands for a report where a kernel has no position: nothing is tested that cannot be wrong, and loads can be moved
/// (on an H100, a decode step of 1,792 rows: 0.948 ms, and 0.959 with tests; in tf32 2.41 and 2.47). Skinny GEMMs of
/// few rows take the report all the same: it keeps their loads in order (one patch of one series: 0.197 ms, and 0.208
/// with `ReportedAtEnd`).
struct NoPositions {};

/// Stands for a report that `report_positions` makes when a kernel has done all else: a position is moved inside, and
/// nothing is written, which no load may pass. For skinny GEMMs in tiles, whose loads are many.
struct ReportedAtEnd {};

/// Where a tensor lies. A position is read on the device when the kernel runs, so that one recorded launch serves every
/// step.
struct Address {
    void* base = nullptr;
    const std::int32_t* position = nullptr;
    std::int32_t position_stride = 0;  ///< In elements.
    std::int32_t last_position = 0;    ///< The largest position at which all that is read or written lies inside.

    template <class T>
    [[nodiscard]] __device__ T* get(NoPositions) const {
        return static_cast<T*>(base);
    }
    template <class T>
    [[nodiscard]] __device__ T* get(const PositionReport& report) const {
        return at<T>([&] { return report.bounded(*position, last_position); });
    }
    template <class T>
    [[nodiscard]] __device__ T* get(ReportedAtEnd) const {
        return at<T>([&] { return min(max(*position, 0), last_position); });
    }

    /// Reports a position that is out of bounds.
    __device__ void report_to(const PositionReport& report) const {
        if (position != nullptr) {
            (void)report.bounded(*position, last_position);
        }
    }

private:
    template <class T, class Inside>
    [[nodiscard]] __device__ __forceinline__ T* at(const Inside& inside) const {
        T* pointer = static_cast<T*>(base);
        return position == nullptr ? pointer : pointer + static_cast<std::int64_t>(inside()) * position_stride;
    }
};

/// What a kernel is launched with.
struct KernelCall {
    PositionReport report;
    Address output;
    Address input;                         ///< Of a GEMM.
    const void* weight = nullptr;          ///< Of a GEMM.
    const std::int32_t* bounds = nullptr;  ///< The state of bounds, if the programs have one (`UsedExtents`).
    Address operands[max_operands];
};

/// What the addresses of a kernel's call are asked with.
template <class K>
__device__ __forceinline__ auto positions_of(const KernelCall& call) {
    if constexpr (K::has_positions) {
        return call.report;
    } else {
        return NoPositions();
    }
}

/// Reports the positions of a call that are out of bounds: for one thread, at the end of a kernel whose addresses were
/// asked with `ReportedAtEnd`.
template <class K>
__device__ __forceinline__ void report_positions(const KernelCall& call) {
    if constexpr (K::has_positions) {
        call.output.report_to(call.report);
        call.input.report_to(call.report);
        [&]<int... i>(std::integer_sequence<int, i...>) {
            (call.operands[i].report_to(call.report), ...);
        }
        (std::make_integer_sequence<int, K::kernel.operand_count>());
    }
}

/// The C++ type of a dtype.
template <DType dtype>
struct ElementOf;
template <>
struct ElementOf<DType::f32> {
    using type = float;
};
template <>
struct ElementOf<DType::f64> {
    using type = double;
};
template <>
struct ElementOf<DType::i32> {
    using type = std::int32_t;
};
template <DType dtype>
using Element = typename ElementOf<dtype>::type;

/// The type of what a kernel stores.
template <class K>
struct OutputOf {
    using type = Element<K::kernel.dtype>;
};
template <class K>
requires(K::stores_bf16) struct OutputOf<K> {
    using type = BFloat16;
};
template <class K>
using Output = typename OutputOf<K>::type;

/// A number as it is stored.
template <class To, class From>
__device__ __forceinline__ To stored_as(From value) {
    if constexpr (std::is_same_v<To, BFloat16>) {
        // As an instruction: the header of CUDA that has it as a function takes nvcc 0.4 s.
        BFloat16 rounded;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded.bits) : "f"(static_cast<float>(value)));
        return rounded;
    } else {
        return value;
    }
}

}  // namespace totograph::cuda
