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
#include <random>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace bench {

namespace {

using tg::cuda::DeviceMemory;
using tg::cuda::LibraryProduct;

constexpr Index layers = Model::config.num_layers;

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

template <std::size_t count>
constexpr Index weights_of(const std::array<std::pair<Index, Index>, count>& products) {
    Index total = 0;
    for (const auto& [columns, depth] : products) {
        total += columns * depth;
    }
    return total;
}
constexpr Index layer_weights = weights_of(layer_products);

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

void print_floor(const Arguments& arguments, const std::vector<Index>& rows) {
    const tg::cuda::Device device = tg::cuda::describe_device(0);
    const tg::cuda::Stream stream;
    const tg::cuda::LibraryHandle library;
    const DeviceMemory workspace(tg::cuda::product_workspace_bytes);
    for (const Precision precision : {Precision::bf16, Precision::tf32, Precision::f32}) {
        if (!arguments.wants(arguments.precisions, tg::cuda::name(precision))) {
            continue;
        }
        const bool is_bf16 = precision == Precision::bf16;
        const std::size_t element = is_bf16 ? 2 : 4;
        const auto bytes = static_cast<std::size_t>(layers * layer_weights) * element;
        const DeviceMemory weights(bytes + static_cast<std::size_t>(weights_of(other_products)) * element);
        const DeviceMemory copy(bytes);
        // Noise: the rate of tensor cores depends on what they multiply. The exponent keeps it finite.
        std::vector<std::uint16_t> noise(weights.size() / 2);
        std::mt19937 generator(1);
        for (std::uint16_t& value : noise) {
            value = static_cast<std::uint16_t>((generator() & 0x80ffU) | 0x3c00U);
        }
        tg::cuda::check(cudaMemcpy(weights.data(), noise.data(), weights.size(), cudaMemcpyHostToDevice),
                        "copying noise");
        // A copy reads and writes: half of it is one reading at the card's copy speed.
        const Spread read = time_replays(stream, arguments.repeats, [&](cudaStream_t on) {
            tg::cuda::check(cudaMemcpyAsync(copy.data(), weights.data(), bytes, cudaMemcpyDeviceToDevice, on),
                            "copying weights");
        });
        print("weights, half a copy", 0, precision, {read.median / 2, read.least / 2, read.most / 2});
        for (const Index count : rows) {
            const DeviceMemory input(static_cast<std::size_t>(count * Model::config.mlp_hidden_dim) * element);
            const Index columns = std::max(2 * Model::config.mlp_hidden_dim, other_products.back().first);
            const DeviceMemory output(static_cast<std::size_t>(count * columns) * element);
            tg::cuda::check(cudaMemcpy(input.data(), noise.data(), input.size(), cudaMemcpyHostToDevice),
                            "copying noise");
            const auto tuned = [&](const auto& shapes) {
                std::vector<LibraryProduct> products;
                for (const auto& [width, depth] : shapes) {
                    tg::cuda::ProductShape shape;
                    shape.rows = count;
                    shape.columns = width;
                    shape.depth = depth;
                    shape.input_stride = depth;
                    shape.output_stride = width;
                    shape.precision = precision;
                    shape.stores_bf16_sums = is_bf16;
                    LibraryProduct product(library.get(), shape);
                    product.choose(tg::cuda::rank_algorithms(product, device).front());
                    products.push_back(std::move(product));
                }
                return products;
            };
            const std::vector<LibraryProduct> of_layer = tuned(layer_products);
            const std::vector<LibraryProduct> others = tuned(other_products);
            const auto time = [&](bool with_others) {
                return time_replays(stream, arguments.repeats, [&](cudaStream_t on) {
                    const std::byte* weight = weights.data();
                    const auto launch = [&](const std::vector<LibraryProduct>& products) {
                        for (const LibraryProduct& product : products) {
                            product.launch(input.data(), weight, output.data(), nullptr, nullptr, workspace.data(), on);
                            weight +=
                                static_cast<std::size_t>(product.shape().columns * product.shape().depth) * element;
                        }
                    };
                    for (Index layer = 0; layer < layers; ++layer) {
                        launch(of_layer);
                    }
                    if (with_others) {
                        launch(others);
                    }
                });
            };
            print("products of the layers", count, precision, time(false));
            print("products of a step", count, precision, time(true));
        }
    }
}

}  // namespace bench
