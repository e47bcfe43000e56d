// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>

// The GEMMs that a warpgroup computes from shared memory: instructions of compute capability 9.0.

namespace totograph::cuda {

#if defined(TOTOGRAPH_HAS_WGMMA)

/// Where a GEMM finds a tile of rows of 128 bytes, swizzled, in shared memory.
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

/// 64 rows by 256 columns, over 32 bytes of k of each, added to `acc` where it `accumulates`. Of a warpgroup's thread,
/// `acc[4 j + 2 h + i]` is row `16 warp + lane / 4 + 8 h`, column `8 j + 2 (lane % 4) + i`.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[128], std::uint64_t rows, std::uint64_t columns,
                                          int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %130, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n256" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, " \
        "%128, %129, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
          "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), \
          "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), \
          "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), \
          "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), \
          "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), \
          "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]), \
          "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), \
          "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]), \
          "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), \
          "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), \
          "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), \
          "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]), \
          "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), \
          "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63]), \
          "+f"(acc[64]), "+f"(acc[65]), "+f"(acc[66]), "+f"(acc[67]), \
          "+f"(acc[68]), "+f"(acc[69]), "+f"(acc[70]), "+f"(acc[71]), \
          "+f"(acc[72]), "+f"(acc[73]), "+f"(acc[74]), "+f"(acc[75]), \
          "+f"(acc[76]), "+f"(acc[77]), "+f"(acc[78]), "+f"(acc[79]), \
          "+f"(acc[80]), "+f"(acc[81]), "+f"(acc[82]), "+f"(acc[83]), \
          "+f"(acc[84]), "+f"(acc[85]), "+f"(acc[86]), "+f"(acc[87]), \
          "+f"(acc[88]), "+f"(acc[89]), "+f"(acc[90]), "+f"(acc[91]), \
          "+f"(acc[92]), "+f"(acc[93]), "+f"(acc[94]), "+f"(acc[95]), \
          "+f"(acc[96]), "+f"(acc[97]), "+f"(acc[98]), "+f"(acc[99]), \
          "+f"(acc[100]), "+f"(acc[101]), "+f"(acc[102]), "+f"(acc[103]), \
          "+f"(acc[104]), "+f"(acc[105]), "+f"(acc[106]), "+f"(acc[107]), \
          "+f"(acc[108]), "+f"(acc[109]), "+f"(acc[110]), "+f"(acc[111]), \
          "+f"(acc[112]), "+f"(acc[113]), "+f"(acc[114]), "+f"(acc[115]), \
          "+f"(acc[116]), "+f"(acc[117]), "+f"(acc[118]), "+f"(acc[119]), \
          "+f"(acc[120]), "+f"(acc[121]), "+f"(acc[122]), "+f"(acc[123]), \
          "+f"(acc[124]), "+f"(acc[125]), "+f"(acc[126]), "+f"(acc[127]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

/// The same for 224 columns.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[112], std::uint64_t rows, std::uint64_t columns,
                                          int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %114, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n224" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111}, " \
        "%112, %113, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
          "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), \
          "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), \
          "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), \
          "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), \
          "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), \
          "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]), \
          "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), \
          "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]), \
          "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), \
          "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), \
          "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), \
          "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]), \
          "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), \
          "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63]), \
          "+f"(acc[64]), "+f"(acc[65]), "+f"(acc[66]), "+f"(acc[67]), \
          "+f"(acc[68]), "+f"(acc[69]), "+f"(acc[70]), "+f"(acc[71]), \
          "+f"(acc[72]), "+f"(acc[73]), "+f"(acc[74]), "+f"(acc[75]), \
          "+f"(acc[76]), "+f"(acc[77]), "+f"(acc[78]), "+f"(acc[79]), \
          "+f"(acc[80]), "+f"(acc[81]), "+f"(acc[82]), "+f"(acc[83]), \
          "+f"(acc[84]), "+f"(acc[85]), "+f"(acc[86]), "+f"(acc[87]), \
          "+f"(acc[88]), "+f"(acc[89]), "+f"(acc[90]), "+f"(acc[91]), \
          "+f"(acc[92]), "+f"(acc[93]), "+f"(acc[94]), "+f"(acc[95]), \
          "+f"(acc[96]), "+f"(acc[97]), "+f"(acc[98]), "+f"(acc[99]), \
          "+f"(acc[100]), "+f"(acc[101]), "+f"(acc[102]), "+f"(acc[103]), \
          "+f"(acc[104]), "+f"(acc[105]), "+f"(acc[106]), "+f"(acc[107]), \
          "+f"(acc[108]), "+f"(acc[109]), "+f"(acc[110]), "+f"(acc[111]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

/// The same for 192 columns.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[96], std::uint64_t rows, std::uint64_t columns,
                                          int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %98, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n192" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, " \
        "%96, %97, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
          "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), \
          "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), \
          "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), \
          "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), \
          "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), \
          "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]), \
          "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), \
          "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]), \
          "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), \
          "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), \
          "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), \
          "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]), \
          "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), \
          "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63]), \
          "+f"(acc[64]), "+f"(acc[65]), "+f"(acc[66]), "+f"(acc[67]), \
          "+f"(acc[68]), "+f"(acc[69]), "+f"(acc[70]), "+f"(acc[71]), \
          "+f"(acc[72]), "+f"(acc[73]), "+f"(acc[74]), "+f"(acc[75]), \
          "+f"(acc[76]), "+f"(acc[77]), "+f"(acc[78]), "+f"(acc[79]), \
          "+f"(acc[80]), "+f"(acc[81]), "+f"(acc[82]), "+f"(acc[83]), \
          "+f"(acc[84]), "+f"(acc[85]), "+f"(acc[86]), "+f"(acc[87]), \
          "+f"(acc[88]), "+f"(acc[89]), "+f"(acc[90]), "+f"(acc[91]), \
          "+f"(acc[92]), "+f"(acc[93]), "+f"(acc[94]), "+f"(acc[95]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

/// The same for 96 columns.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[48], std::uint64_t rows, std::uint64_t columns,
                                          int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %50, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n96" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, " \
        "%48, %49, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
          "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), \
          "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), \
          "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), \
          "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), \
          "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), \
          "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]), \
          "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), \
          "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]), \
          "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), \
          "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

/// The same for 128 columns.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[64], std::uint64_t rows, std::uint64_t columns,
                                          int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %66, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n128" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, " \
        "%64, %65, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
          "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), \
          "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), \
          "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), \
          "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), \
          "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), \
          "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]), \
          "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), \
          "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]), \
          "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), \
          "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), \
          "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), \
          "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]), \
          "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), \
          "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

/// The same for 80 columns.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[40], std::uint64_t rows, std::uint64_t columns,
                                          int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %42, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n80" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
        "%32, %33, %34, %35, %36, %37, %38, %39}, " \
        "%40, %41, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
          "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), \
          "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), \
          "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), \
          "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), \
          "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), \
          "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]), \
          "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), \
          "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

/// The same for 64 columns.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[32], std::uint64_t rows, std::uint64_t columns,
                                          int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %34, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n64" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, " \
        "%32, %33, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
          "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), \
          "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), \
          "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), \
          "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), \
          "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), \
          "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

/// The same for 40 columns.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[20], std::uint64_t rows, std::uint64_t columns,
                                          int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %22, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n40" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19}, " \
        "%20, %21, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
          "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), \
          "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), \
          "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

/// The same for 32 columns.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[16], std::uint64_t rows, std::uint64_t columns,
                                          int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %18, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n32" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, " \
        "%16, %17, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
          "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), \
          "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

/// The same for 16 columns.
template <MmaOperand operand = MmaOperand::bf16>
__device__ __forceinline__ void wgmma_m64(float (&acc)[8], std::uint64_t rows, std::uint64_t columns, int accumulates) {
    // clang-format off
#define TOTOGRAPH_WGMMA(types, transposed) \
    asm volatile( \
        "{\n.reg .pred accumulates;\nsetp.ne.b32 accumulates, %10, 0;\n" \
        "wgmma.mma_async.sync.aligned.m64n16" types " {" \
        "%0, %1, %2, %3, %4, %5, %6, %7}, " \
        "%8, %9, accumulates, 1, 1" transposed ";\n}\n" \
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), \
          "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]) \
        : "l"(rows), "l"(columns), "r"(accumulates))
    // clang-format on
    if constexpr (operand == MmaOperand::tf32) {
        TOTOGRAPH_WGMMA("k8.f32.tf32.tf32", "");
    } else {
        TOTOGRAPH_WGMMA("k16.f32.bf16.bf16", ", 0, 0");
    }
#undef TOTOGRAPH_WGMMA
}

#endif

}  // namespace totograph::cuda
