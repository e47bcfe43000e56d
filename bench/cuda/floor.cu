// SPDX-License-Identifier: Apache-2.0
//
// What a step of the full-size model can hardly be faster than: its weights read once, or, where rows are many, its
// GEMMs by cuBLASLt, one after the other and nothing between them: those of the layers alone, and with those around
// them. Beside that, for comparison, the same GEMMs as plain calls of cuBLAS, which chooses algorithms itself.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include <cublas_v2.h>

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

constexpr std::size_t element_bytes(Precision precision) {
    return precision == Precision::bf16 ? 2 : 4;
}

/// Memory full of noise: the rate of tensor cores depends on what they multiply. The exponent keeps it finite.
tg::cuda::DeviceMemory noise(std::size_t bytes) {
    std::vector<std::uint16_t> values(bytes / 2);
    std::mt19937 generator(1);
    for (std::uint16_t& value : values) {
        value = static_cast<std::uint16_t>((generator() & 0x80ffU) | 0x3c00U);
    }
    tg::cuda::DeviceMemory memory(bytes);
    tg::cuda::check(cudaMemcpy(memory.data(), values.data(), bytes, cudaMemcpyHostToDevice), "copying noise");
    return memory;
}

/// Computes a GEMM, `output [m, n]` = `input [m, k]` times the transpose of `weight [n, k]`, on a stream.
using Multiply = std::function<void(const void* input, const void* weight, void* output, cudaStream_t stream)>;
/// Makes that for a shape. GEMMs of one maker share a library's handle and memory: they run one after the other.
using MakeMultiply = std::function<Multiply(const tg::cuda::GemmShape& shape)>;

std::shared_ptr<const tg::cuda::DeviceMemory> make_workspace() {
    return std::make_shared<const tg::cuda::DeviceMemory>(tg::cuda::gemm_workspace_bytes);
}

/// By cuBLASLt, of all algorithms that it names for a GEMM with the one that is the fastest alone.
MakeMultiply by_tuned_cublaslt() {
    const auto handle = std::make_shared<const tg::cuda::CublasLtHandle>();
    return [handle, memory = make_workspace()](const tg::cuda::GemmShape& shape) -> Multiply {
        const auto gemm = std::make_shared<tg::cuda::CublasLtGemm>(handle->get(), shape);
        gemm->choose(tg::cuda::rank_algorithms(*gemm, tg::cuda::describe_device(0)).front());
        return [handle, memory, gemm](const void* input, const void* weight, void* output, cudaStream_t stream) {
            gemm->launch(input, weight, output, nullptr, nullptr, memory->data(), stream);
        };
    };
}

/// By plain calls of cuBLAS, which chooses algorithms itself.
MakeMultiply by_calls_of_cublas() {
    cublasHandle_t made = nullptr;
    tg::cuda::check(cublasCreate(&made), "creating a handle of cuBLAS");
    const std::shared_ptr<std::remove_pointer_t<cublasHandle_t>> handle(
        made, [](cublasHandle_t owned) { cublasDestroy(owned); });
    return [handle, memory = make_workspace()](const tg::cuda::GemmShape& shape) -> Multiply {
        return [handle, memory, shape](const void* input, const void* weight, void* output, cudaStream_t stream) {
            const auto n = static_cast<int>(shape.n);
            const auto m = static_cast<int>(shape.m);
            const auto k = static_cast<int>(shape.k);
            const cudaDataType_t type = shape.precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
            const cublasComputeType_t computes =
                shape.precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
            const float one = 1;
            const float zero = 0;
            tg::cuda::check(cublasSetStream(handle.get(), stream), "choosing the stream of cuBLAS");
            // That took away the memory it had been given; without any, cuBLAS would allocate within the graph.
            tg::cuda::check(cublasSetWorkspace(handle.get(), memory->data(), memory->size()), "giving cuBLAS memory");
            // cuBLAS counts matrices by columns: it computes the transpose of our output, and the weight comes first.
            tg::cuda::check(cublasGemmEx(handle.get(), CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, weight, type, k, input,
                                         type, k, &zero, output, type, n, computes, CUBLAS_GEMM_DEFAULT),
                            "multiplying by cuBLAS");
        };
    };
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

template <class Record>
Spread time_replays(const tg::cuda::Stream& stream, int repeats, Record&& record) {
    const tg::cuda::ReplayableGraph graph(stream, record);
    return spread_of(repeats, [&] {
        graph.launch(stream.get());
        tg::cuda::check(cudaStreamSynchronize(stream.get()), "waiting for a replay");
    });
}

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
