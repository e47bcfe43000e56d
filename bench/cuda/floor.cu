// SPDX-License-Identifier: Apache-2.0
//
// What a step of the full-size model can hardly be faster than: its weights read once, or, where rows are many, its
// GEMMs by cuBLASLt, one after the other and nothing between them: those of the layers alone, and with those around
// them. Beside that, for comparison, the same GEMMs as plain calls of cuBLAS, which chooses algorithms itself.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "library_gemms.hpp"
#include "measure.hpp"

namespace bench {

namespace {

/// n and k of a layer's GEMMs: queries, keys and values; their output; the pair of the feed-forward network; its
/// output.
constexpr std::array<std::pair<Index, Index>, 4> layer_gemms{{
    {3 * Model::config.embed_dim, Model::config.embed_dim},
    {Model::config.embed_dim, Model::config.embed_dim},
    {2 * Model::config.mlp_hidden_dim, Model::config.embed_dim},
    {Model::config.embed_dim, Model::config.mlp_hidden_dim},
}};

/// Before the layers, a patch to a row; after them, a row to what mixtures of a patch need: degrees of freedom,
/// locations, scales and logits.
constexpr std::array<std::pair<Index, Index>, 2> other_gemms{{
    {Model::config.embed_dim, Model::config.patch_size},
    {4 * Model::config.components() * Model::config.patch_size, Model::config.embed_dim},
}};

/// Elements of the weights of GEMMs.
template <std::size_t count>
constexpr Index weights_of(const std::array<std::pair<Index, Index>, count>& gemms) {
    Index total = 0;
    for (const auto& [n, k] : gemms) {
        total += n * k;
    }
    return total;
}

/// The GEMMs of a step.
class StepGemms {
public:
    /// @param weights  of all layers and the GEMMs around them, noise
    StepGemms(Index rows, Precision precision, const MakeMultiply& make,
              std::shared_ptr<const tg::cuda::DeviceMemory> weights)
        : rows_(rows),
          precision_(precision),
          weights_(std::move(weights)),
          input_(noise(bytes_of(Model::config.mlp_hidden_dim))),
          output_(bytes_of(std::max(2 * Model::config.mlp_hidden_dim, other_gemms.back().first))),
          of_layer_(gemms_of(layer_gemms, make)),
          others_(gemms_of(other_gemms, make)) {}

    [[nodiscard]] static std::size_t weight_bytes(Precision precision, bool with_others = true) {
        return static_cast<std::size_t>(Model::config.num_layers * weights_of(layer_gemms) +
                                        (with_others ? weights_of(other_gemms) : 0)) *
               element_bytes(precision);
    }

    /// One after the other and nothing between them: those of the layers alone, or with those around them.
    void launch(cudaStream_t stream, bool with_others) const {
        const std::byte* weight = weights_->data();
        const auto launch_all = [&](const std::vector<Gemm>& gemms) {
            for (const Gemm& gemm : gemms) {
                gemm.multiply(input_.data(), weight, output_.data(), stream);
                weight += gemm.weight_bytes;
            }
        };
        for (Index layer = 0; layer < Model::config.num_layers; ++layer) {
            launch_all(of_layer_);
        }
        if (with_others) {
            launch_all(others_);
        }
    }

private:
    struct Gemm {
        Multiply multiply;
        std::size_t weight_bytes;
    };

    [[nodiscard]] std::size_t bytes_of(Index columns) const {
        return static_cast<std::size_t>(rows_ * columns) * element_bytes(precision_);
    }

    template <std::size_t count>
    [[nodiscard]] std::vector<Gemm> gemms_of(const std::array<std::pair<Index, Index>, count>& shapes,
                                             const MakeMultiply& make) const {
        std::vector<Gemm> gemms;
        for (const auto& [n, k] : shapes) {
            tg::cuda::GemmShape shape;
            shape.m = rows_;
            shape.n = n;
            shape.k = k;
            shape.input_stride = k;
            shape.output_stride = n;
            shape.precision = precision_;
            shape.stores_bf16_accumulators = precision_ == Precision::bf16;
            gemms.push_back({make(shape), static_cast<std::size_t>(n * k) * element_bytes(precision_)});
        }
        return gemms;
    }

    Index rows_;
    Precision precision_;
    std::shared_ptr<const tg::cuda::DeviceMemory> weights_;
    tg::cuda::DeviceMemory input_;
    tg::cuda::DeviceMemory output_;
    std::vector<Gemm> of_layer_;
    std::vector<Gemm> others_;
};

void print(const char* what, Index rows, Precision precision, const Spread& spread) {
    std::printf(
        "{\"floor\": \"%s\", \"rows\": %lld, \"precision\": \"%s\", \"median_ms\": %.4f, \"min_ms\": %.4f, "
        "\"max_ms\": %.4f}\n",
        what, static_cast<long long>(rows), tg::cuda::name(precision), spread.median, spread.least, spread.most);
    std::fflush(stdout);
}

}  // namespace

std::vector<std::function<void(cudaStream_t)>> gemms_of_step(Index rows, Precision precision) {
    const auto weights = std::make_shared<const tg::cuda::DeviceMemory>(noise(StepGemms::weight_bytes(precision)));
    std::vector<std::function<void(cudaStream_t)>> result;
    for (const MakeMultiply& make : {by_tuned_cublaslt(), by_calls_of_cublas()}) {
        result.emplace_back([gemms = std::make_shared<StepGemms>(rows, precision, make, weights)](cudaStream_t stream) {
            gemms->launch(stream, true);
        });
    }
    return result;
}

void print_floor(const Arguments& arguments, const std::vector<Index>& rows) {
    const tg::cuda::Stream stream;
    for (const Precision precision : {Precision::bf16, Precision::tf32, Precision::f32}) {
        if (!arguments.wants(arguments.precisions, tg::cuda::name(precision))) {
            continue;
        }
        const auto weights = std::make_shared<const tg::cuda::DeviceMemory>(noise(StepGemms::weight_bytes(precision)));
        const std::size_t of_layers = StepGemms::weight_bytes(precision, false);
        const tg::cuda::DeviceMemory copy(of_layers);
        // A copy reads and writes: half of it is one reading at the card's copy speed.
        const Spread read = time_replays(stream, arguments.repeats, [&](cudaStream_t on) {
            tg::cuda::check(cudaMemcpyAsync(copy.data(), weights->data(), of_layers, cudaMemcpyDeviceToDevice, on),
                            "copying weights");
        });
        print("weights, half a copy", 0, precision, {read.median / 2, read.least / 2, read.most / 2});
        for (const Index count : rows) {
            const auto print_gemms = [&](const MakeMultiply& make, const char* of_layers_name,
                                         const char* of_step_name) {
                const StepGemms gemms(count, precision, make, weights);
                const auto time = [&](bool with_others) {
                    return time_replays(stream, arguments.repeats,
                                        [&](cudaStream_t on) { gemms.launch(on, with_others); });
                };
                print(of_layers_name, count, precision, time(false));
                print(of_step_name, count, precision, time(true));
            };
            print_gemms(by_tuned_cublaslt(), "GEMMs of the layers", "GEMMs of a step");
            print_gemms(by_calls_of_cublas(), "GEMMs of the layers, calls of cuBLAS",
                        "GEMMs of a step, calls of cuBLAS");
        }
    }
}

}  // namespace bench
