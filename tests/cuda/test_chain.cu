// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of chains whose result is rounded to bf16, which are instructions of the device.
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/graph/op.hpp>

namespace tg = totograph;

namespace {

template <tg::Op op, bool is_factor>
__global__ void apply_rounded(const float* in, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        using tg::cuda::chain_detail::OpUse;
        constexpr OpUse use = is_factor ? OpUse::factor_in_bf16 : OpUse::in_bf16;
        out[i] = tg::cuda::chain_detail::apply<op, use>(in[i], 0.0F, 0.0F);
    }
}

template <tg::Op op, bool is_factor>
std::vector<float> apply_on_device(const std::vector<float>& in) {
    const std::size_t bytes = in.size() * sizeof(float);
    const tg::cuda::DeviceMemory memory(2 * bytes);
    auto* const from = reinterpret_cast<float*>(memory.data());
    float* const to = from + in.size();
    REQUIRE(cudaMemcpy(from, in.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    const auto count = static_cast<int>(in.size());
    apply_rounded<op, is_factor><<<(count + 255) / 256, 256>>>(from, to, count);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    std::vector<float> out(in.size());
    REQUIRE(cudaMemcpy(out.data(), to, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
    return out;
}

/// From -30 to 30, and what is large, or has a sigmoid less than f32's normal numbers.
std::vector<float> numbers() {
    std::vector<float> result{0.0F, -0.0F, 1e-30F, -1e-30F, -88.0F, -100.0F, 1e4F, -1e4F, 1e30F, -1e30F};
    for (int i = -30 * 512; i <= 30 * 512; ++i) {
        result.push_back(static_cast<float>(i) / 512);
    }
    return result;
}

double sigmoid(double a) {
    return 1 / (1 + std::exp(-a));
}

}  // namespace

TEST_CASE("a silu that is a factor errs by no more than a tangent of 11 bits can, any other by less") {
    const std::vector<float> in = numbers();
    const auto fast = apply_on_device<tg::Op::silu, true>(in);
    const auto other = apply_on_device<tg::Op::silu, false>(in);
    for (std::size_t i = 0; i < in.size(); ++i) {
        CAPTURE(in[i]);
        const double expected = in[i] * sigmoid(in[i]);
        // 2^-10.99, as CUDA's documentation has it, times a/2; and f32's own rounding.
        CHECK(std::abs(fast[i] - expected) <= std::abs(in[i]) / 2 * 4.93e-4 + std::abs(expected) * 1e-6);
        // The power of e is off by as much as its argument is rounded; what is less than f32's normal numbers is 0.
        CHECK(std::abs(other[i] - expected) <= std::abs(expected) * (2e-6 + 2e-7 * std::abs(in[i])) + 1e-34);
    }
}

TEST_CASE("a sigmoid keeps 18 bits and more, a factor or not") {
    const std::vector<float> in = numbers();
    const auto factor = apply_on_device<tg::Op::sigmoid, true>(in);
    const auto other = apply_on_device<tg::Op::sigmoid, false>(in);
    for (std::size_t i = 0; i < in.size(); ++i) {
        CAPTURE(in[i]);
        const double expected = sigmoid(in[i]);
        CHECK(factor[i] == other[i]);
        CHECK(std::abs(other[i] - expected) <= expected * (2e-6 + 2e-7 * std::abs(in[i])) + 1e-37);
    }
}

TEST_CASE("a silu of what is no number, or too large for one") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> in{infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
    for (const auto& out : {apply_on_device<tg::Op::silu, true>(in), apply_on_device<tg::Op::silu, false>(in)}) {
        CHECK(out[0] == infinity);
        CHECK(std::isnan(out[1]));  // infinity times zero, as on the CPU
        CHECK(std::isnan(out[2]));
    }
}
