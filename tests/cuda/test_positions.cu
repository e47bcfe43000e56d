// SPDX-License-Identifier: Apache-2.0
// Positions and lengths that are data, beyond what they index, on the device: the host is told when it asks, and
// nothing else is read or written. `exec/test_positions.cpp` is the same on the CPU.
#pragma nv_diag_suppress 186  // a model without weights makes nvcc say that a count is never below zero

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/executor.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/nn/kv_cache.hpp>

#include "cuda/device_test.hpp"
#include "support/position_models.hpp"
#include "support/tensor_sources.hpp"

namespace {

namespace tg = totograph;
using device_test::check_has;
using device_test::error_of;

template <class Model, tg::cuda::Precision precision = tg::cuda::Precision::f32>
using ExecutorOf = tg::cuda::Executor<precision, tg::Program<Model>>;

template <class T, class Executor>
std::vector<T> read(const Executor& executor, const char* name, int layer = -1) {
    const auto* entry = Executor::Layout::find(name, layer);
    REQUIRE(entry != nullptr);
    std::vector<T> values(static_cast<std::size_t>(entry->slot.shape.size()));
    REQUIRE(cudaMemcpy(values.data(), executor.state(name, layer), values.size() * sizeof(T), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    return values;
}

template <class T, class Executor>
void fill(const Executor& executor, const char* name, T value, int layer = -1) {
    const auto* entry = Executor::Layout::find(name, layer);
    REQUIRE(entry != nullptr);
    const std::vector<T> values(static_cast<std::size_t>(entry->slot.shape.size()), value);
    REQUIRE(cudaMemcpy(executor.state(name, layer), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

template <class Executor>
void clear(const Executor& executor) {
    for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
        const tg::StateSlot& slot = Executor::Layout::entries[i].slot;
        REQUIRE(cudaMemset(executor.state(slot.name, slot.layer), 0, Executor::StateStorage::bytes(i)) == cudaSuccess);
    }
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

/// Runs a program once and asks.
template <class Executor>
std::string error_of_run(const Executor& executor, const tg::cuda::Stream& stream) {
    executor.template launch<0>(stream.get());
    stream.synchronize();
    return error_of([&] { executor.check_positions(); });
}

template <class Model>
void check_positions() {
    constexpr tg::test::PositionCase expected = Model::expected;
    const ExecutorOf<Model> executor(tg::test::made_up_weights(), tg::cuda::describe_device(0));
    const tg::cuda::Stream stream;
    clear(executor);
    for (const std::int32_t right : {expected.last, 0}) {
        fill(executor, expected.positions, right);
        CHECK(error_of_run(executor, stream).empty());
    }
    for (const std::int32_t wrong : {expected.last + 1, 1 << 30, -1, -(1 << 30)}) {
        CAPTURE(wrong);
        fill(executor, expected.positions, wrong);
        const std::string error = error_of_run(executor, stream);
        check_has(error, "position_out_of_bounds: Position " + std::to_string(wrong) + " of '" + expected.name + "'");
        check_has(error, "capacity of " + std::to_string(expected.capacity));
        check_has(error, "positions 0 to " + std::to_string(expected.last));
        CHECK(error_of([&] { executor.check_positions(); }).empty());  // told once
    }
    fill(executor, expected.positions, expected.last);
    CHECK(error_of_run(executor, stream).empty());
}

/// A cache between two states that nothing should touch.
struct Guarded {
    static constexpr void record(tg::Recorder& r) {
        tg::nn::KvCache<tg::nn::KvCacheSize{.capacity = 4, .width = 3}> cache(r, {"b.keys", "d.values", "length"});
        const tg::Tensor before = r.state("a.guard", {64});
        const tg::Tensor y = r.state("y", {1, 1, 1, 1, 3});
        cache.append(0, y, -y);
        const tg::Tensor between = r.state("c.guard", {64});
        r.store(r.state("e.guard", {64}), before + between);
        cache.advance(1);
    }
};

}  // namespace

TEST_CASE("positions and lengths out of bounds") {
    SUBCASE("a view at a position") {
        check_positions<tg::test::TakenView>();
    }
    SUBCASE("a copy from a position of each series") {
        check_positions<tg::test::TakenBySeries>();
    }
    SUBCASE("a store at a position of each series") {
        check_positions<tg::test::StoredBySeries>();
    }
    SUBCASE("a GEMM that is stored at a position") {
        check_positions<tg::test::StoredGemm>();
    }
    SUBCASE("the lengths of a cached attention's prefix") {
        check_positions<tg::test::CachedPrefix>();
    }
    SUBCASE("the length of a cached attention's suffix") {
        check_positions<tg::test::CachedSuffix>();
    }
}

TEST_CASE("a cache that is full writes nothing beside it") {
    const ExecutorOf<Guarded> executor(tg::test::made_up_weights(), tg::cuda::describe_device(0));
    const tg::cuda::Stream stream;
    clear(executor);
    fill(executor, "y", 2.0F);
    for (int step = 0; step < 4; ++step) {
        CHECK(error_of_run(executor, stream).empty());
    }
    fill(executor, "b.keys", 1.0F, 0);
    const std::string error = error_of_run(executor, stream);  // of the keys or the values, whichever came last
    check_has(error, "position_out_of_bounds: Position 4 of '");
    check_has(error, "' of layer 0 is out of bounds: with its capacity of 4, positions 0 to 3");
    for (const char* guard : {"a.guard", "c.guard", "e.guard"}) {
        CHECK(read<float>(executor, guard) == std::vector<float>(64, 0.0F));
    }
    // The last position, which is the nearest, was written.
    CHECK(read<float>(executor, "b.keys", 0) == std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2});
    fill<std::int32_t>(executor, "length", -7);
    check_has(error_of_run(executor, stream), "Position -7 of '");
    for (const char* guard : {"a.guard", "c.guard", "e.guard"}) {
        CHECK(read<float>(executor, guard) == std::vector<float>(64, 0.0F));
    }
}
