// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>

// `wgmma` on tiles in shared memory: the matrix instructions of a warpgroup, of compute capability 9.0.

namespace totograph::cuda {

#if defined(TOTOGRAPH_HAS_WGMMA)

/// Where `wgmma` finds a tile of rows of 128 bytes, swizzled, in shared memory.
__device__ __forceinline__ std::uint64_t wgmma_descriptor(const void* tile) {
    constexpr std::uint64_t eight_rows = std::uint64_t{1024 >> 4U} << 32U;
    constexpr std::uint64_t swizzled = std::uint64_t{1} << 62U;
    return ((shared_address(tile) & 0x3ffffU) >> 4U) | (std::uint64_t{1} << 16U) | eight_rows | swizzled;
}

__device__ __forceinline__ void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most so many of the committed groups are under way.
template <int most>
__device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(most) : "memory");
}

// clang-format off
// Names of the accumulators in the text of an instruction, and the accumulators themselves, each list of the one before.
#define TOTOGRAPH_WGMMA_NAMES_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define TOTOGRAPH_WGMMA_NAMES_16 TOTOGRAPH_WGMMA_NAMES_8 \
    ", %8, %9, %10, %11, %12, %13, %14, %15"
#define TOTOGRAPH_WGMMA_NAMES_20 TOTOGRAPH_WGMMA_NAMES_16 \
    ", %16, %17, %18, %19"
#define TOTOGRAPH_WGMMA_NAMES_32 TOTOGRAPH_WGMMA_NAMES_20 \
    ", %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TOTOGRAPH_WGMMA_NAMES_40 TOTOGRAPH_WGMMA_NAMES_32 \
    ", %32, %33, %34, %35, %36, %37, %38, %39"
#define TOTOGRAPH_WGMMA_NAMES_48 TOTOGRAPH_WGMMA_NAMES_40 \
    ", %40, %41, %42, %43, %44, %45, %46, %47"
#define TOTOGRAPH_WGMMA_NAMES_64 TOTOGRAPH_WGMMA_NAMES_48 \
    ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TOTOGRAPH_WGMMA_NAMES_96 TOTOGRAPH_WGMMA_NAMES_64 \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
    ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define TOTOGRAPH_WGMMA_NAMES_112 TOTOGRAPH_WGMMA_NAMES_96 \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define TOTOGRAPH_WGMMA_NAMES_128 TOTOGRAPH_WGMMA_NAMES_112 \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define TOTOGRAPH_WGMMA_FOUR(i) "+f"(acc[i]), "+f"(acc[(i) + 1]), "+f"(acc[(i) + 2]), "+f"(acc[(i) + 3])
#define TOTOGRAPH_WGMMA_SUMS_8 TOTOGRAPH_WGMMA_FOUR(0), TOTOGRAPH_WGMMA_FOUR(4)
#define TOTOGRAPH_WGMMA_SUMS_16 TOTOGRAPH_WGMMA_SUMS_8, \
    TOTOGRAPH_WGMMA_FOUR(8), TOTOGRAPH_WGMMA_FOUR(12)
#define TOTOGRAPH_WGMMA_SUMS_20 TOTOGRAPH_WGMMA_SUMS_16, \
    TOTOGRAPH_WGMMA_FOUR(16)
#define TOTOGRAPH_WGMMA_SUMS_32 TOTOGRAPH_WGMMA_SUMS_20, \
    TOTOGRAPH_WGMMA_FOUR(20), TOTOGRAPH_WGMMA_FOUR(24), TOTOGRAPH_WGMMA_FOUR(28)
#define TOTOGRAPH_WGMMA_SUMS_40 TOTOGRAPH_WGMMA_SUMS_32, \
    TOTOGRAPH_WGMMA_FOUR(32), TOTOGRAPH_WGMMA_FOUR(36)
#define TOTOGRAPH_WGMMA_SUMS_48 TOTOGRAPH_WGMMA_SUMS_40, \
    TOTOGRAPH_WGMMA_FOUR(40), TOTOGRAPH_WGMMA_FOUR(44)
#define TOTOGRAPH_WGMMA_SUMS_64 TOTOGRAPH_WGMMA_SUMS_48, \
    TOTOGRAPH_WGMMA_FOUR(48), TOTOGRAPH_WGMMA_FOUR(52), TOTOGRAPH_WGMMA_FOUR(56), TOTOGRAPH_WGMMA_FOUR(60)
#define TOTOGRAPH_WGMMA_SUMS_96 TOTOGRAPH_WGMMA_SUMS_64, \
    TOTOGRAPH_WGMMA_FOUR(64), TOTOGRAPH_WGMMA_FOUR(68), TOTOGRAPH_WGMMA_FOUR(72), TOTOGRAPH_WGMMA_FOUR(76), \
    TOTOGRAPH_WGMMA_FOUR(80), TOTOGRAPH_WGMMA_FOUR(84), TOTOGRAPH_WGMMA_FOUR(88), TOTOGRAPH_WGMMA_FOUR(92)
#define TOTOGRAPH_WGMMA_SUMS_112 TOTOGRAPH_WGMMA_SUMS_96, \
    TOTOGRAPH_WGMMA_FOUR(96), TOTOGRAPH_WGMMA_FOUR(100), TOTOGRAPH_WGMMA_FOUR(104), TOTOGRAPH_WGMMA_FOUR(108)
#define TOTOGRAPH_WGMMA_SUMS_128 TOTOGRAPH_WGMMA_SUMS_112, \
    TOTOGRAPH_WGMMA_FOUR(112), TOTOGRAPH_WGMMA_FOUR(116), TOTOGRAPH_WGMMA_FOUR(120), TOTOGRAPH_WGMMA_FOUR(124)

// `types` ends the name of the instruction; `order` says that neither operand is transposed, where one can be.
#define TOTOGRAPH_WGMMA_OF(n, count, rows_name, columns_name, accumulates_name, types, order) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, " accumulates_name ", 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n" #n types " {" TOTOGRAPH_WGMMA_NAMES_##count "}, " \
        rows_name ", " columns_name ", accumulates, 1, 1" order ";\n}\n" \
        : TOTOGRAPH_WGMMA_SUMS_##count \
        : "l"(rows), "l"(columns), "r"(accumulates))

// 64 rows by n columns, over 32 bytes of k of each, added to `acc` where it `accumulates`. Of a warpgroup's thread,
// `acc[4 j + 2 h + i]` is row `16 warp + lane / 4 + 8 h`, column `8 j + 2 (lane % 4) + i`.
#define TOTOGRAPH_WGMMA(n, count, rows_name, columns_name, accumulates_name) \
    template <MmaOperand operand = MmaOperand::bf16> \
    __device__ __forceinline__ void wgmma_m64(float (&acc)[count], std::uint64_t rows, std::uint64_t columns, \
                                              int accumulates) { \
        if constexpr (operand == MmaOperand::tf32) { \
            TOTOGRAPH_WGMMA_OF(n, count, rows_name, columns_name, accumulates_name, "k8.f32.tf32.tf32", ""); \
        } else { \
            TOTOGRAPH_WGMMA_OF(n, count, rows_name, columns_name, accumulates_name, "k16.f32.bf16.bf16", ", 0, 0"); \
        } \
    }
TOTOGRAPH_WGMMA(256, 128, "%128", "%129", "%130")
TOTOGRAPH_WGMMA(224, 112, "%112", "%113", "%114")
TOTOGRAPH_WGMMA(192, 96, "%96", "%97", "%98")
TOTOGRAPH_WGMMA(128, 64, "%64", "%65", "%66")
TOTOGRAPH_WGMMA(96, 48, "%48", "%49", "%50")
TOTOGRAPH_WGMMA(80, 40, "%40", "%41", "%42")
TOTOGRAPH_WGMMA(64, 32, "%32", "%33", "%34")
TOTOGRAPH_WGMMA(40, 20, "%20", "%21", "%22")
TOTOGRAPH_WGMMA(32, 16, "%16", "%17", "%18")
TOTOGRAPH_WGMMA(16, 8, "%8", "%9", "%10")

#undef TOTOGRAPH_WGMMA
#undef TOTOGRAPH_WGMMA_OF
#undef TOTOGRAPH_WGMMA_FOUR
#undef TOTOGRAPH_WGMMA_NAMES_8
#undef TOTOGRAPH_WGMMA_NAMES_16
#undef TOTOGRAPH_WGMMA_NAMES_20
#undef TOTOGRAPH_WGMMA_NAMES_32
#undef TOTOGRAPH_WGMMA_NAMES_40
#undef TOTOGRAPH_WGMMA_NAMES_48
#undef TOTOGRAPH_WGMMA_NAMES_64
#undef TOTOGRAPH_WGMMA_NAMES_96
#undef TOTOGRAPH_WGMMA_NAMES_112
#undef TOTOGRAPH_WGMMA_NAMES_128
#undef TOTOGRAPH_WGMMA_SUMS_8
#undef TOTOGRAPH_WGMMA_SUMS_16
#undef TOTOGRAPH_WGMMA_SUMS_20
#undef TOTOGRAPH_WGMMA_SUMS_32
#undef TOTOGRAPH_WGMMA_SUMS_40
#undef TOTOGRAPH_WGMMA_SUMS_48
#undef TOTOGRAPH_WGMMA_SUMS_64
#undef TOTOGRAPH_WGMMA_SUMS_96
#undef TOTOGRAPH_WGMMA_SUMS_112
#undef TOTOGRAPH_WGMMA_SUMS_128
// clang-format on

#endif

}  // namespace totograph::cuda
