// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of chains that are instructions of the device, and not the compiler's quotient.
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

using tg::cuda::chain_detail::OpUse;

template <tg::Op op, OpUse use>
__global__ void apply_to_each(const float* in, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        out[i] = tg::cuda::chain_detail::apply<op, use>(in[i], 0.0F, 0.0F);
    }
}

template <tg::Op op, OpUse use>
std::vector<float> apply_on_device(const std::vector<float>& in) {
    const std::size_t bytes = in.size() * sizeof(float);
    const tg::cuda::DeviceMemory memory(2 * bytes);
    auto* const from = reinterpret_cast<float*>(memory.data());
    float* const to = from + in.size();
    REQUIRE(cudaMemcpy(from, in.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    const auto count = static_cast<int>(in.size());
    apply_to_each<op, use><<<(count + 255) / 256, 256>>>(from, to, count);
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
    const auto fast = apply_on_device<tg::Op::silu, OpUse::factor_in_bf16>(in);
    const auto other = apply_on_device<tg::Op::silu, OpUse::in_bf16>(in);
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
    const auto factor = apply_on_device<tg::Op::sigmoid, OpUse::factor_in_bf16>(in);
    const auto other = apply_on_device<tg::Op::sigmoid, OpUse::in_bf16>(in);
    for (std::size_t i = 0; i < in.size(); ++i) {
        CAPTURE(in[i]);
        const double expected = sigmoid(in[i]);
        CHECK(factor[i] == other[i]);
        CHECK(std::abs(other[i] - expected) <= expected * (2e-6 + 2e-7 * std::abs(in[i])) + 1e-37);
    }
}

TEST_CASE("stored as f32, a sigmoid and a silu are as near as f32 is, with a sign of 0") {
    const std::vector<float> in = numbers();
    const auto ones = apply_on_device<tg::Op::sigmoid, OpUse::exact>(in);
    const auto others = apply_on_device<tg::Op::silu, OpUse::exact>(in);
    for (std::size_t i = 0; i < in.size(); ++i) {
        CAPTURE(in[i]);
        const double expected = sigmoid(in[i]);
        // Of 2^-24 each: 2 of exp(-a), 1 of the sum with 1, 2 of its reciprocal; for a silu 1 of the product. A sigmoid
        // below f32's normal numbers is 0.
        constexpr double unit = 0x1p-24;
        CHECK(std::abs(ones[i] - expected) <= expected * 5 * unit + 0x1p-126);
        CHECK(std::abs(others[i] - in[i] * expected) <= std::abs(in[i]) * (expected * 6 * unit + 0x1p-126));
    }
    CHECK(std::signbit(others[1]));  // of -0
}

TEST_CASE("a gelu is as near as f32 is, or as bf16 needs it") {
    const std::vector<float> in = numbers();
    const auto exact = apply_on_device<tg::Op::gelu, OpUse::exact>(in);
    const auto rounded = apply_on_device<tg::Op::gelu, OpUse::in_bf16>(in);
    CHECK(apply_on_device<tg::Op::gelu, OpUse::factor_in_bf16>(in) == rounded);
    for (std::size_t i = 0; i < in.size(); ++i) {
        CAPTURE(in[i]);
        const double a = in[i];
        const double tangent = std::tanh(0.7978845608028654 * (a + 0.044715 * a * a * a));
        const double power = -1.5957691216057308 * (a + 0.044715 * a * a * a);
        // The same number: 1 + the tangent loses digits below 0.
        const double expected = a > 0 ? a / 2 * (1 + tangent) : a / (1 + std::exp(power));
        // What rounds the power moves exp(power) by as much of itself times the power; below 0 that is the result's
        // error.
        const double moved = a > 0 ? 1 : 1 + std::abs(power);
        CHECK(std::abs(exact[i] - expected) <= std::abs(expected) * 6 * moved * 0x1p-24 + 1e-36);
        CHECK(std::abs(rounded[i] - expected) <= std::abs(expected) * 32 * moved * 0x1p-24 + 1e-34);
    }
}

TEST_CASE("a silu, a gelu and a sigmoid of what is no number, or too large for one") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> in{infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
    for (const auto& out :
         {apply_on_device<tg::Op::silu, OpUse::factor_in_bf16>(in), apply_on_device<tg::Op::silu, OpUse::in_bf16>(in),
          apply_on_device<tg::Op::silu, OpUse::exact>(in), apply_on_device<tg::Op::gelu, OpUse::in_bf16>(in),
          apply_on_device<tg::Op::gelu, OpUse::exact>(in)}) {
        CHECK(out[0] == infinity);
        CHECK(std::isnan(out[1]));  // infinity times zero, as on the CPU
        CHECK(std::isnan(out[2]));
    }
    for (const auto& out :
         {apply_on_device<tg::Op::sigmoid, OpUse::in_bf16>(in), apply_on_device<tg::Op::sigmoid, OpUse::exact>(in)}) {
        CHECK(out[0] == 1);
        CHECK(out[1] == 0);
        CHECK(std::isnan(out[2]));
    }
}
