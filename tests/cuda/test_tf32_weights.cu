// SPDX-License-Identifier: Apache-2.0
// Weights in tiles of tf32 on a device.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>
#include <totograph/exec/tf32_tile.hpp>
#include <totograph/graph/program.hpp>

#include "exec/cuda/weight_models.hpp"
#include "support/tensor_sources.hpp"

namespace {

namespace tg = totograph;
using tg::Index;
using tg::cuda::Precision;
using namespace weight_models;

std::vector<float> made_up(std::string_view name, Index size) {
    std::vector<float> values(static_cast<std::size_t>(size));
    tg::test::MadeUpTensors().read(std::string(name), {size}, values);
    return values;
}

/// A program in tf32, whose states are read and written by name.
template <class Model>
class OnDevice {
public:
    OnDevice()
        : executor_(tg::Weights(std::make_shared<tg::test::MadeUpTensors>()), tg::cuda::describe_device(0),
                    {.tunes = false}) {
        executor_.poison(stream_.get());
    }
    void write(std::string_view state, const std::vector<float>& values) {
        REQUIRE(cudaMemcpyAsync(executor_.state(state), values.data(), values.size() * sizeof(float),
                                cudaMemcpyHostToDevice, stream_.get()) == cudaSuccess);
    }
    void run() { executor_.template launch<0>(stream_.get()); }
    std::vector<float> read(std::string_view state, Index size) {
        std::vector<float> values(static_cast<std::size_t>(size));
        REQUIRE(cudaMemcpyAsync(values.data(), executor_.state(state), values.size() * sizeof(float),
                                cudaMemcpyDeviceToHost, stream_.get()) == cudaSuccess);
        stream_.synchronize();
        return values;
    }

private:
    tg::cuda::Stream stream_;
    tg::cuda::Executor<Precision::tf32, tg::Program<Model>> executor_;
};

/// Rows of zeros with a 1 each, whose products are weights.
template <Index rows, Index columns = n, Index elements = k>
void check_each_weight() {
    const auto weights = made_up("w", columns * elements);
    OnDevice<OneGemm<rows, columns, elements>> device;
    Index wrong = 0;
    for (Index first = 0; first < elements; first += rows) {
        std::vector<float> x(static_cast<std::size_t>(rows * elements));
        for (Index row = 0; row < rows; ++row) {
            x[static_cast<std::size_t>(row * elements + (first + row) % elements)] = 1;
        }
        device.write("x", x);
        device.run();
        const auto y = device.read("y", rows * columns);
        for (Index row = 0; row < rows; ++row) {
            for (Index column = 0; column < columns; ++column) {
                const float weight = weights[static_cast<std::size_t>(column * elements + (first + row) % elements)];
                const float product = y[static_cast<std::size_t>(row * columns + column)];
                wrong += std::bit_cast<std::uint32_t>(product) == tg::tf32_bits(weight) ? 0 : 1;
            }
        }
    }
    CHECK(wrong == 0);
}

/// Compares x w^T, and what `finish` makes of a sum.
template <class Finish>
void check_product(const std::vector<float>& x, const std::vector<float>& w, const std::vector<float>& found,
                   Index rows, const Finish& finish) {
    // Both factors lie in [-1, 1), and tf32 cuts 2^-10 of it off at most.
    constexpr double bound = 2 * k * 0x1p-10;
    for (Index row = 0; row < rows; ++row) {
        for (Index column = 0; column < n; ++column) {
            double sum = 0;
            for (Index i = 0; i < k; ++i) {
                sum += static_cast<double>(x[static_cast<std::size_t>(row * k + i)]) *
                       static_cast<double>(w[static_cast<std::size_t>(column * k + i)]);
            }
            CHECK(std::abs(static_cast<double>(found[static_cast<std::size_t>(row * n + column)]) -
                           finish(sum, column)) <= bound);
        }
    }
}

}  // namespace

TEST_CASE("each weight is multiplied as its tf32, whatever bits lie below it") {
    check_each_weight<16>();
    check_each_weight<40>();
}

TEST_CASE("blocks that share k multiply each weight once") {
    using Chosen = tg::cuda::LaunchAt<tg::Program<OneGemm<18, 800, 5464>>, false, 0>;
    static_assert(tg::cuda::takes_skinny_cluster(Chosen::launch.gemm, tg::cuda::traits_of(90)));
    static_assert(tg::cuda::skinny_cluster_cut(18, 800, 5464) == tg::cuda::SkinnyClusterCut{2, 4});
    check_each_weight<18, 800, 5464>();
    using Narrow = tg::cuda::LaunchAt<tg::Program<OneGemm<45, 64, 4100>>, false, 0>;
    static_assert(tg::cuda::takes_skinny_cluster(Narrow::launch.gemm, tg::cuda::traits_of(90)));
    check_each_weight<45, 64, 4100>();
}

TEST_CASE("a weight that few and many rows read is there in both layouts") {
    OnDevice<FewAndMany> device;
    const auto x = made_up("x", few * k);
    const auto y = made_up("y", many * k);
    device.write("few", x);
    device.write("many", y);
    device.run();
    const auto bias = made_up("bias", n);
    const auto with_bias = [&](double sum, Index column) {
        return sum + static_cast<double>(bias[static_cast<std::size_t>(column)]);
    };
    const auto with_tanh = [](double sum, Index) { return std::tanh(sum); };
    check_product(x, made_up("of_few", n * k), device.read("few by its own", few * n), few, with_bias);
    check_product(y, made_up("of_many", n * k), device.read("many by its own", many * n), many, with_bias);
    check_product(x, made_up("of_both", n * k), device.read("few by both", few * n), few, with_tanh);
    check_product(y, made_up("of_both", n * k), device.read("many by both", many * n), many, with_tanh);
}
