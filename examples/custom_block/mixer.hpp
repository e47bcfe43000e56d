// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <totograph/exec/weights.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/linear.hpp>
#include <totograph/nn/rms_norm.hpp>

// A model that is not Toto, of the library's parts and an operation of its own: what both halves of the example share.
namespace mixer {

using namespace totograph;

inline constexpr Index steps = 12;
inline constexpr Index width = 20;
inline constexpr Index hidden = 48;
inline constexpr int layers = 2;

/// x / (1 + |x|). Written once, for single floats and for vectors of them, on the CPU and on a GPU; it becomes part of
/// the kernel around it.
struct Softsign {
    static constexpr std::string_view name = "softsign";
    template <class T>
#ifdef __CUDACC__
    __host__ __device__
#endif
        static T
        apply(T x) {
        using std::abs;
        return x / (T(1.0F) + abs(x));
    }
};

/// x + out(softsign(in(norm(seen)))).
struct MixingBlock {
    nn::RmsNorm<nn::RmsNormSize{.width = width}> norm;
    nn::Linear<nn::LinearSize{.in = width, .out = hidden}> in;
    nn::Linear<nn::LinearSize{.in = hidden, .out = width}> out;

    constexpr MixingBlock(Recorder& r, int layer)
        : norm(r, "layers.{}.norm.weight"_name, 1e-6, layer),
          in(r, "layers.{}.in"_name, layer),
          out(r, "layers.{}.out"_name, layer) {}

    [[nodiscard]] constexpr Tensor record(Tensor x, Tensor seen) const {
        return x + out.record(apply<Softsign>(in.record(norm.record(seen))));
    }
};

/// The model without its opaque operation, which a GPU has no kernel for.
struct PlainMixer {
    // NOLINTNEXTLINE(readability-identifier-naming): the library looks for this name
    using operations = OperationSet<Softsign>;
    static constexpr void record(Recorder& r) {
        Tensor x = r.state("input", {steps, width});
        for (int layer = 0; layer < layers; ++layer) {
            x = MixingBlock(r, layer).record(x, x);
        }
        r.store(r.state("output", {steps, width}), x);
    }
};

/// Makes weights up. A checkpoint is another `TensorSource`.
struct MadeUpWeights final : TensorSource {
    void read(const std::string& name, const Shape&, std::span<float> values) const override {
        auto phase = static_cast<double>(name.size());
        for (float& value : values) {
            value = static_cast<float>(0.3 * std::sin(phase += 1.7));
        }
    }
};

/// Something to run on.
inline void fill_input(float* input) {
    for (Index i = 0; i < steps * width; ++i) {
        input[i] = std::cos(0.1F * static_cast<float>(i));
    }
}

inline float largest_difference(std::span<const float> a, std::span<const float> b) {
    float largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    return largest;
}

}  // namespace mixer
