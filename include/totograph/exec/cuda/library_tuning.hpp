// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/check.hpp>
#include <totograph/exec/cuda/device.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/library_product.hpp>
#include <totograph/exec/cuda/memory.hpp>
#include <totograph/exec/cuda/stream.hpp>
#include <totograph/exec/tuning_cache.hpp>
#include <totograph/graph/explain_text.hpp>
#include <totograph/io/cache_folder.hpp>

namespace totograph::cuda {

/// Numbers between -1 and 1, as bf16 or f32: products of zeros need less power, and run faster, than real ones.
template <class T>
__global__ void fill_with_noise(T* to, Index count, bool as_bf16) {
    for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += static_cast<Index>(gridDim.x) * blockDim.x) {
        const auto hashed = static_cast<std::uint32_t>((i + 1) * 2654435761LL);
        const float value = static_cast<float>(hashed >> 8U) * 0x1p-23F - 1.0F;
        if (as_bf16) {
            reinterpret_cast<BFloat16*>(to)[i] = stored_as<BFloat16>(value);
        } else {
            reinterpret_cast<float*>(to)[i] = value;
        }
    }
}

/// The fastest of the algorithms that cuBLASLt expects to be fast, by measuring them on the current device. Throws
/// `Error` when none of them runs.
///
/// Weights are read as in a forecast, from memory: between two uses of a layer's weights all other layers' have passed
/// through the cache. So each launch takes another copy of them, of so many that the cache cannot hold them.
inline ProductAlgorithm measure_algorithms(const LibraryProduct& product, const Device& device) {
    constexpr int tried = 24;
    constexpr int finalists = 5;
    // In rounds, the best of which counts: the choice is kept, so one disturbance must not decide it.
    constexpr int final_rounds = 5;
    constexpr int repeats = 6;
    constexpr Index most_copies = 64;
    const ProductShape& shape = product.shape();
    auto candidates = product.candidates(tried);
    const bool as_bf16 = shape.precision == Precision::bf16;
    const Index element = as_bf16 ? 2 : 4;
    const auto bytes = [](Index elements, Index each) { return static_cast<std::size_t>(elements * each); };
    const Index weight_elements = shape.columns * shape.depth;
    const Index copies = std::clamp<Index>(
        divide_rounding_up(static_cast<Index>(device.cache_bytes) * 3 / 2, weight_elements * element), 2, most_copies);
    const DeviceMemory input(bytes(shape.rows * shape.input_stride, element));
    const DeviceMemory weight(bytes(weight_elements * copies, element));
    const DeviceMemory output(bytes(shape.rows * shape.output_stride, sizeof(float)));
    const DeviceMemory residual(bytes(shape.rows * shape.residual_stride, sizeof(float)));
    const DeviceMemory bias(bytes(shape.columns, sizeof(float)));
    const DeviceMemory workspace(product_workspace_bytes);
    const Stream stream;
    const auto fill = [&](const DeviceMemory& memory, Index count, bool rounded) {
        if (count > 0) {
            fill_with_noise<<<256, 256, 0, stream.get()>>>(memory.data(), count, rounded);
            check(cudaGetLastError(), "filling memory");
        }
    };
    fill(input, shape.rows * shape.input_stride, as_bf16);
    fill(weight, weight_elements * copies, as_bf16);
    fill(residual, shape.rows * shape.residual_stride, false);
    fill(bias, shape.columns, false);
    Index copy = 0;
    const auto launch = [&](const ProductAlgorithm& candidate) {
        copy = (copy + 1) % copies;
        return product.try_launch(candidate, input.data(), weight.data() + bytes(copy * weight_elements, element),
                                  output.data(),
                                  shape.residual_stride > 0 ? reinterpret_cast<const float*>(residual.data()) : nullptr,
                                  reinterpret_cast<const float*>(bias.data()), workspace.data(), stream.get());
    };
    const Event begin(true);
    const Event end(true);
    /// Milliseconds of a few launches; infinite when it does not run.
    const auto time = [&](const ProductAlgorithm& candidate) {
        if (launch(candidate) != CUBLAS_STATUS_SUCCESS) {
            return std::numeric_limits<float>::infinity();
        }
        begin.record(stream.get());
        for (int repeat = 0; repeat < repeats; ++repeat) {
            launch(candidate);
        }
        end.record(stream.get());
        stream.synchronize();
        return end.since(begin);
    };
    struct Timed {
        float least;
        std::size_t place;  ///< Among the candidates.
        ProductAlgorithm algorithm;
    };
    std::vector<Timed> timed;
    for (std::size_t place = 0; place < candidates.size(); ++place) {
        if (const float least = time(candidates[place]); least < std::numeric_limits<float>::infinity()) {
            timed.push_back({least, place, candidates[place]});
        }
    }
    const std::size_t ran = timed.size();
    if (timed.empty()) {
        throw Error(ErrorCode::device_failure, "cuda: none of the " + std::to_string(candidates.size()) +
                                                   " algorithms of cuBLASLt runs " + product_key(shape) +
                                                   " on this device; use another precision or bucket.");
    }
    const auto is_faster = [](const Timed& a, const Timed& b) { return a.least < b.least; };
    std::sort(timed.begin(), timed.end(), is_faster);
    timed.resize(std::min<std::size_t>(timed.size(), finalists));
    for (int round = 0; round < final_rounds; ++round) {
        for (Timed& finalist : timed) {
            finalist.least = std::min(finalist.least, time(finalist.algorithm));
        }
    }
    const Timed& best = *std::min_element(timed.begin(), timed.end(), is_faster);
    log(LogTopic::tuning, [&] {
        return "product " + product_key(shape) + ": timed " + std::to_string(ran) + " of " +
               std::to_string(candidates.size()) + " algorithms of cuBLASLt, chose number " +
               std::to_string(best.place + 1) + " by its expectation, which takes " +
               totograph::detail::number_text(static_cast<double>(best.least) * 1000 / repeats, 3) + " us";
    });
    return best.algorithm;
}

/// All that the fastest algorithm of a product depends on beside the product, as text. Devices of one kind share it.
inline std::string tuning_identity(const Device& device) {
    // Raised when products are measured in another way, so that older choices are made anew.
    constexpr int version = 2;
    const auto attribute = [&](cudaDeviceAttr wanted) {
        int value = 0;
        check(cudaDeviceGetAttribute(&value, wanted, device.index), "asking a device for its properties");
        return std::to_string(value);
    };
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "asking for the driver's version");
    std::string driver_release;
    std::getline(std::ifstream("/sys/module/nvidia/version"), driver_release);  // stays empty where there is none
    return "totograph tuning " + std::to_string(version) + "; " + device.name + "; compute capability " +
           std::to_string(device.major) + "." + std::to_string(device.minor) + "; " +
           std::to_string(device.multiprocessors) + " multiprocessors; memory " +
           attribute(cudaDevAttrGlobalMemoryBusWidth) + " bits at " + attribute(cudaDevAttrMemoryClockRate) +
           " kHz; L2 " + attribute(cudaDevAttrL2CacheSize) + " bytes; CUDA driver " + std::to_string(driver) + " " +
           driver_release + "; cuBLASLt " + std::to_string(cublasLtGetVersion());
}

/// The algorithms that products use on each device, for all executors of this process. A product that the process has
/// not met is looked up in a file, which all processes of a user share (`io::cache_folder` says where); one that the
/// file does not have is measured. So the bits of a result are the same in each process that has found the file.
class TunedAlgorithms {
public:
    /// The algorithms of this process.
    static TunedAlgorithms& instance() {
        static TunedAlgorithms algorithms;
        return algorithms;
    }

    /// The fastest algorithm for a product on a device, which must be current.
    ProductAlgorithm fastest(const LibraryProduct& product, const Device& device) {
        const std::scoped_lock lock(mutex_);
        TuningCache& cache = cache_of(device);
        const std::string key = product_key(product.shape());
        const auto accepts = [&](std::string_view bytes) {
            return bytes.size() == sizeof(ProductAlgorithm) && product.accepts(from_bytes(bytes));
        };
        if (const auto known = cache.find(key, accepts)) {
            return from_bytes(*known);
        }
        const ProductAlgorithm measured = measure_algorithms(product, device);
        cache.add(key, {reinterpret_cast<const char*>(&measured), sizeof measured});
        return measured;
    }

    /// Adds what has been measured since the last call to the file. Whatever keeps it from that, `report` tells.
    void save(const Device& device) {
        const std::scoped_lock lock(mutex_);
        cache_of(device).save();
    }

    /// What became of the products of a device so far; nothing when it has had none.
    [[nodiscard]] TuningCacheReport report(int device) const {
        const std::scoped_lock lock(mutex_);
        const auto found = caches_.find(device);
        return found == caches_.end() ? TuningCacheReport{} : found->second.report();
    }

    /// Forgets what this process has chosen and counted. The next product reads the file again, wherever the
    /// environment then says that it is. Executors keep what they have.
    void forget() {
        const std::scoped_lock lock(mutex_);
        caches_.clear();
    }

private:
    TunedAlgorithms() = default;

    TuningCache& cache_of(const Device& device) {
        const auto known = caches_.find(device.index);
        if (known != caches_.end()) {
            return known->second;
        }
        return caches_
            .emplace(device.index, TuningCache(io::cache_folder(), "cuda " + device.name, tuning_identity(device)))
            .first->second;
    }

    /// Bytes of the right number.
    static ProductAlgorithm from_bytes(std::string_view bytes) {
        ProductAlgorithm algorithm{};
        std::memcpy(&algorithm, bytes.data(), sizeof algorithm);
        return algorithm;
    }

    mutable std::mutex mutex_;
    std::map<int, TuningCache> caches_;
};

/// The fastest algorithm for a product on a device, which must be current.
inline ProductAlgorithm fastest_algorithm(const LibraryProduct& product, const Device& device) {
    return TunedAlgorithms::instance().fastest(product, device);
}

/// Where the algorithms of a device's products have come from, in this process.
inline TuningCacheReport tuning_cache_report(int device = 0) {
    return TunedAlgorithms::instance().report(device);
}

}  // namespace totograph::cuda
