// SPDX-License-Identifier: Apache-2.0
//
// What a step of the full-size model cannot be faster than: its weights read once, or, where rows are many, its
// products by cuBLASLt, one after the other and nothing between them: those of the layers alone, and with those around
// them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace bench {

namespace {

/// Columns and depth of a layer's products: queries, keys and values; their output; the pair of the feed-forward
/// network; its output.
constexpr std::array<std::pair<Index, Index>, 4> layer_products{{
    {3 * Model::config.embed_dim, Model::config.embed_dim},
    {Model::config.embed_dim, Model::config.embed_dim},
    {2 * Model::config.mlp_hidden_dim, Model::config.embed_dim},
    {Model::config.embed_dim, Model::config.mlp_hidden_dim},
}};

/// Before the layers, a patch to a row; after them, a row to what mixtures of a patch need: degrees of freedom,
/// locations, scales and logits.
constexpr std::array<std::pair<Index, Index>, 2> other_products{{
    {Model::config.embed_dim, Model::config.patch_size},
    {4 * Model::config.components() * Model::config.patch_size, Model::config.embed_dim},
}};

/// Elements of the weights of products.
template <std::size_t count>
constexpr Index weights_of(const std::array<std::pair<Index, Index>, count>& products) {
    Index total = 0;
    for (const auto& [columns, depth] : products) {
        total += columns * depth;
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

/// The products of a step by cuBLASLt, each by the algorithm that is the fastest alone.
class StepProducts {
public:
    /// @param weights  of all layers and the products around them, noise
    StepProducts(Index rows, Precision precision, const tg::cuda::DeviceMemory& weights)
        : rows_(rows),
          precision_(precision),
          weights_(weights),
          input_(noise(bytes_of(Model::config.mlp_hidden_dim))),
          output_(bytes_of(std::max(2 * Model::config.mlp_hidden_dim, other_products.back().first))),
          of_layer_(tuned(layer_products)),
          others_(tuned(other_products)) {}

    [[nodiscard]] static std::size_t weight_bytes(Precision precision, bool with_others = true) {
        return static_cast<std::size_t>(Model::config.num_layers * weights_of(layer_products) +
                                        (with_others ? weights_of(other_products) : 0)) *
               element_bytes(precision);
    }

    /// One after the other and nothing between them: those of the layers alone, or with those around them.
    void launch(cudaStream_t stream, bool with_others) const {
        const std::byte* weight = weights_.data();
        const auto launch_all = [&](const std::vector<tg::cuda::LibraryProduct>& products) {
            for (const tg::cuda::LibraryProduct& product : products) {
                product.launch(input_.data(), weight, output_.data(), nullptr, nullptr, workspace_.data(), stream);
                weight += static_cast<std::size_t>(product.shape().columns * product.shape().depth) *
                          element_bytes(precision_);
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
    [[nodiscard]] std::size_t bytes_of(Index columns) const {
        return static_cast<std::size_t>(rows_ * columns) * element_bytes(precision_);
    }

    template <std::size_t count>
    [[nodiscard]] std::vector<tg::cuda::LibraryProduct> tuned(
        const std::array<std::pair<Index, Index>, count>& shapes) const {
        const tg::cuda::Device device = tg::cuda::describe_device(0);
        std::vector<tg::cuda::LibraryProduct> products;
        for (const auto& [columns, depth] : shapes) {
            tg::cuda::ProductShape shape;
            shape.rows = rows_;
            shape.columns = columns;
            shape.depth = depth;
            shape.input_stride = depth;
            shape.output_stride = columns;
            shape.precision = precision_;
            shape.stores_bf16_sums = precision_ == Precision::bf16;
            tg::cuda::LibraryProduct product(library_.get(), shape);
            product.choose(tg::cuda::rank_algorithms(product, device).front());
            products.push_back(std::move(product));
        }
        return products;
    }

    Index rows_;
    Precision precision_;
    const tg::cuda::DeviceMemory& weights_;
    tg::cuda::LibraryHandle library_;
    tg::cuda::DeviceMemory workspace_{tg::cuda::product_workspace_bytes};
    tg::cuda::DeviceMemory input_;
    tg::cuda::DeviceMemory output_;
    std::vector<tg::cuda::LibraryProduct> of_layer_;
    std::vector<tg::cuda::LibraryProduct> others_;
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

std::function<void(cudaStream_t)> products_of_step(Index rows, Precision precision) {
    struct Owner {
        tg::cuda::DeviceMemory weights;
        StepProducts products;
        Owner(Index of_rows, Precision in)
            : weights(noise(StepProducts::weight_bytes(in))), products(of_rows, in, weights) {}
    };
    return [owner = std::make_shared<Owner>(rows, precision)](cudaStream_t stream) {
        owner->products.launch(stream, true);
    };
}

void print_floor(const Arguments& arguments, const std::vector<Index>& rows) {
    const tg::cuda::Stream stream;
    for (const Precision precision : {Precision::bf16, Precision::tf32, Precision::f32}) {
        if (!arguments.wants(arguments.precisions, tg::cuda::name(precision))) {
            continue;
        }
        const tg::cuda::DeviceMemory weights = noise(StepProducts::weight_bytes(precision));
        const std::size_t of_layers = StepProducts::weight_bytes(precision, false);
        const tg::cuda::DeviceMemory copy(of_layers);
        // A copy reads and writes: half of it is one reading at the card's copy speed.
        const Spread read = time_replays(stream, arguments.repeats, [&](cudaStream_t on) {
            tg::cuda::check(cudaMemcpyAsync(copy.data(), weights.data(), of_layers, cudaMemcpyDeviceToDevice, on),
                            "copying weights");
        });
        print("weights, half a copy", 0, precision, {read.median / 2, read.least / 2, read.most / 2});
        for (const Index count : rows) {
            const StepProducts products(count, precision, weights);
            const auto time = [&](bool with_others) {
                return time_replays(stream, arguments.repeats,
                                    [&](cudaStream_t on) { products.launch(on, with_others); });
            };
            print("products of the layers", count, precision, time(false));
            print("products of a step", count, precision, time(true));
        }
    }
}

}  // namespace bench
