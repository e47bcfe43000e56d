// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <totograph/exec/cpu/evaluate/evaluate.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/prepared_cache_report.hpp>
#include <totograph/exec/weight_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// A prepared weight on the device.
struct DeviceTensor {
    std::shared_ptr<const DeviceMemory> memory;  ///< Shared with the tensors that were prepared together with it.
    const std::byte* data = nullptr;
};

/// A prepared weight and how it is to lie on the device.
struct DeviceWeight {
    PreparedWeight weight;
    WeightLayout layout = WeightLayout::rows;
};

/// What executors have put on devices from one checkpoint, GEMMs' weights in rows as `Storage`: `float` or `BFloat16`.
/// Forecasters share it; entries never change.
template <class Storage>
class DeviceWeights {
public:
    DeviceWeights();
    DeviceWeights(const DeviceWeights&) = delete;
    DeviceWeights& operator=(const DeviceWeights&) = delete;
    ~DeviceWeights();

    /// Where each of `wanted` is, in order; prepares what is not there yet. `evaluate` has the ops that they are made
    /// of.
    std::vector<DeviceTensor> get(GraphView graph, std::span<const DeviceWeight> wanted, const TensorSource& source,
                                  cpu::Evaluate evaluate);

    /// Bytes of everything on the device so far.
    [[nodiscard]] std::size_t bytes() const;

    /// What became of the weights on disk so far.
    [[nodiscard]] PreparedCacheReport cache_report() const;

private:
    struct Entries;
    struct Missing;

    void prepare(GraphView graph, std::span<const DeviceWeight> wanted, const TensorSource& source,
                 cpu::Evaluate evaluate, const Missing& missing);

    std::unique_ptr<Entries> entries_;
};

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION)
#include <totograph/exec/cuda/runtime/impl/weights.hpp>
#endif
