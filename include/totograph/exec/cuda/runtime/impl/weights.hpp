// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/weights.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/held_log.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/evaluate.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/uploader.hpp>
#include <totograph/exec/prepared_cache.hpp>
#include <totograph/exec/prepared_cache_report.hpp>
#include <totograph/exec/row_major_weights.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/tf32_tile.hpp>
#include <totograph/exec/tf32_weights.hpp>
#include <totograph/exec/weight_evaluator.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/exec/weight_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/io/cache/cache_folder.hpp>

namespace totograph::cuda {

/// a b for each b of a batch, summed in double. One thread an element: it runs once, when weights are prepared.
template <class T>
__global__ void compose_weights(const T* a, const T* b, T* out, Index parts, Index outer, Index inner, Index columns) {
    for (Index item = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; item < parts * outer * columns;
         item += static_cast<Index>(gridDim.x) * blockDim.x) {
        const Index column = item % columns;
        const Index row = item / columns % outer;
        const Index part = item / columns / outer;
        double total = 0;
        for (Index k = 0; k < inner; ++k) {
            total +=
                static_cast<double>(a[row * inner + k]) * static_cast<double>(b[(part * inner + k) * columns + column]);
        }
        out[item] = static_cast<T>(total);
    }
}

/// What evaluating weights leaves to the device: the GEMMs of which weights are composed.
class DeviceMatmul {
public:
    DeviceMatmul(Uploader& uploader, cpu::Evaluate evaluate_nodes) : evaluate(evaluate_nodes), uploader_(uploader) {}

    const cpu::Evaluate evaluate;

    /// Several GEMMs have one right side, which is large: it stays on the device until `forget`.
    template <class Ranges>
    void compose(Team& team, const cpu::TensorData& a, const Ranges& b, const cpu::TensorData& out) {
        const auto bytes = [](const Shape& shape) { return static_cast<std::size_t>(shape.size()) * sizeof(float); };
        DeviceMemory& right = right_sides_[b.node];
        if (right.data() == nullptr) {
            right = DeviceMemory(bytes(b.shape));
            upload(team, b, right.data());
        }
        const DeviceMemory left(bytes(a.shape));
        const DeviceMemory result(bytes(out.shape));
        const cudaStream_t stream = uploader_.stream();
        check(cudaMemcpyAsync(left.data(), a.data, left.size(), cudaMemcpyHostToDevice, stream), "copying weights");
        compose_weights<<<1024, 256, 0, stream>>>(
            reinterpret_cast<const float*>(left.data()), reinterpret_cast<const float*>(right.data()),
            reinterpret_cast<float*>(result.data()), b.shape[0], a.shape[0], a.shape[1], b.shape[-1]);
        check(cudaGetLastError(), "composing weights");
        check(cudaMemcpyAsync(out.data, result.data(), result.size(), cudaMemcpyDeviceToHost, stream),
              "copying weights");
        check(cudaStreamSynchronize(stream), "composing weights");
    }

    void forget() { right_sides_.clear(); }

private:
    template <class Ranges>
    void upload(Team& team, const Ranges& values, std::byte* to) {
        constexpr Index part = Index{1} << 16U;  // elements that stay in a core's cache
        uploader_.send();                        // what else is on its way goes to another block of memory
        const Index size = values.shape.size();
        for (Index done = 0; done < size;) {
            const auto wanted = static_cast<std::size_t>(size - done) * sizeof(float);
            const std::span<std::byte> room =
                uploader_.room(to + static_cast<std::size_t>(done) * sizeof(float), wanted);
            const auto count = static_cast<Index>(room.size() / sizeof(float));
            auto* const buffer = reinterpret_cast<float*>(room.data());
            team.for_each(divide_rounding_up(count, part), [&](Index item, int) {
                const Index first = item * part;
                const Index length = std::min(part, count - first);
                const float* const from = values(done + first, length, buffer + first);
                if (from != buffer + first) {
                    std::copy_n(from, length, buffer + first);
                }
            });
            uploader_.add(room.size());
            done += count;
        }
        uploader_.send();
    }

    Uploader& uploader_;
    std::unordered_map<int, DeviceMemory> right_sides_;
};

/// Computes weight expressions of a graph from the checkpoint, on the host but for what takes long.
using WeightEvaluator = BasicWeightEvaluator<DeviceMatmul>;

namespace weights_detail {

/// What keys of weights tell of a layout.
constexpr const char* name_of(WeightLayout layout) {
    switch (layout) {
        case WeightLayout::rows: return "";
        case WeightLayout::tf32_rows: return "tf32 rows\n";
        case WeightLayout::tf32_tiles: return "tf32 tiles\n";
    }
    return "";
}

/// Where a weight goes, for `write_row_major`.
struct UploaderSink {
    Uploader& uploader;
    std::byte* to;

    [[nodiscard]] std::span<std::byte> room(std::size_t wanted) const { return uploader.room(to, wanted); }
    void add(std::size_t bytes) {
        uploader.add(bytes);
        to += bytes;
    }
};

inline std::size_t padded(std::size_t bytes) {
    return (bytes + Uploader::alignment - 1) / Uploader::alignment * Uploader::alignment;
}

}  // namespace weights_detail

template <class Storage>
struct DeviceWeights<Storage>::Entries {
    std::mutex mutex;
    std::unordered_map<std::string, DeviceTensor> tensors;
    std::size_t bytes = 0;
    PreparedCacheReport cache_report;
};

/// Of weights that are wanted, those that are not there yet.
template <class Storage>
struct DeviceWeights<Storage>::Missing {
    std::vector<std::string> keys;              ///< Of all that are wanted.
    std::vector<WeightExpression> expressions;  ///< Likewise.
    std::vector<std::size_t> places;            ///< Among these.
    std::unordered_map<std::string, std::size_t> offsets;
    std::size_t bytes = 0;
};

template <class Storage>
DeviceWeights<Storage>::DeviceWeights() : entries_(std::make_unique<Entries>()) {}
template <class Storage>
DeviceWeights<Storage>::~DeviceWeights() = default;

template <class Storage>
std::size_t DeviceWeights<Storage>::bytes() const {
    const std::scoped_lock lock(entries_->mutex);
    return entries_->bytes;
}

template <class Storage>
PreparedCacheReport DeviceWeights<Storage>::cache_report() const {
    const std::scoped_lock lock(entries_->mutex);
    return entries_->cache_report;
}

template <class Storage>
std::vector<DeviceTensor> DeviceWeights<Storage>::get(GraphView graph, std::span<const DeviceWeight> wanted,
                                                      const TensorSource& source, cpu::Evaluate evaluate) {
    const totograph::detail::HeldLog held;  // written when the lock is gone
    const std::scoped_lock lock(entries_->mutex);
    int index = 0;
    check(cudaGetDevice(&index), "asking for the device in use");
    const std::string device = "device " + std::to_string(index) + "\n";
    Missing missing;
    for (const DeviceWeight& own : wanted) {
        missing.expressions.emplace_back(graph, own.weight);
        missing.keys.push_back(device + weights_detail::name_of(own.layout) + missing.expressions.back().text());
    }
    // Rows of GEMMs first, next to each other: those that share an input can then be multiplied as one.
    enum class Part : std::uint8_t { rows_of_gemms, tiles_of_gemms, others };
    const auto part_of = [](const DeviceWeight& own) {
        return own.layout == WeightLayout::tf32_tiles ? Part::tiles_of_gemms
               : own.weight.packed                    ? Part::rows_of_gemms
                                                      : Part::others;
    };
    for (const Part part : {Part::rows_of_gemms, Part::tiles_of_gemms, Part::others}) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const std::string& key = missing.keys[i];
            if (part_of(wanted[i]) == part && !entries_->tensors.contains(key) && !missing.offsets.contains(key)) {
                missing.offsets[key] = missing.bytes;
                missing.places.push_back(i);
                missing.bytes += weights_detail::padded(
                    wanted[i].layout == WeightLayout::tf32_tiles
                        ? tf32_tiles_bytes(graph[wanted[i].weight.node].shape, wanted[i].weight.second_node >= 0)
                        : row_major_bytes<Storage>(graph, wanted[i].weight));
            }
        }
    }
    if (!missing.places.empty()) {
        prepare(graph, wanted, source, evaluate, missing);
    }
    std::vector<DeviceTensor> tensors;
    for (const std::string& key : missing.keys) {
        tensors.push_back(entries_->tensors.at(key));
    }
    return tensors;
}

template <class Storage>
void DeviceWeights<Storage>::prepare(GraphView graph, std::span<const DeviceWeight> wanted, const TensorSource& source,
                                     cpu::Evaluate evaluate, const Missing& missing) {
    const auto begin = std::chrono::steady_clock::now();
    auto memory = std::make_shared<DeviceMemory>(missing.bytes);
    Uploader uploader(missing.bytes);
    Team team(Team::threads_for(missing.bytes));
    WeightEvaluator evaluator(graph, source, &team, DeviceMatmul(uploader, evaluate));
    PreparedCache cache(io::large_cache_folder(), source,
                        "rows, composed on a device, " + std::string(name(dtype_of<Storage>)));
    PreparedCache cache_of_tf32_rows(io::large_cache_folder(), source, "tf32 rows, composed on a device");
    PreparedCache cache_of_tiles(io::large_cache_folder(), source, "tf32 tiles, composed on a device");
    int last_layer = -1;
    for (const std::size_t i : missing.places) {
        // Layers share nothing but small constants; keeping one layer at a time bounds the memory.
        const PreparedWeight& weight = wanted[i].weight;
        const int layer = layer_of(graph, weight.node);
        if (layer != last_layer) {
            evaluator.forget();
            last_layer = layer;
        }
        const std::size_t offset = missing.offsets.at(missing.keys[i]);
        weights_detail::UploaderSink sink{uploader, memory->data() + offset};
        if (wanted[i].layout == WeightLayout::tf32_tiles) {
            write_tf32_tiles(graph, weight, evaluator, missing.expressions[i], cache_of_tiles, sink);
        } else if (wanted[i].layout == WeightLayout::tf32_rows) {
            write_row_major<Tf32>(graph, weight, evaluator, missing.expressions[i], cache_of_tf32_rows, sink);
        } else {
            write_row_major<Storage>(graph, weight, evaluator, missing.expressions[i], cache, sink);
        }
    }
    uploader.finish();
    for (const auto& [key, offset] : missing.offsets) {
        entries_->tensors[key] = {memory, memory->data() + offset};
    }
    entries_->bytes += missing.bytes;
    PreparedCacheReport report = cache.report();
    report.add(cache_of_tf32_rows.report());
    report.add(cache_of_tiles.report());
    entries_->cache_report.add(report);
    log(LogTopic::capture, [&] { return describe_preparation(missing.bytes, begin, report); });
}

}  // namespace totograph::cuda
