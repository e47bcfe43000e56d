// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/exec/cpu/evaluate/evaluate.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/prepared_cache.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// A weight as a kernel reads it.
template <class Storage>
struct PreparedTensor {
    Arena plain;                                    ///< Row-major, of the node's dtype.
    std::unique_ptr<PackedMatrix<Storage>> packed;  ///< For GEMMs.

    [[nodiscard]] std::size_t bytes() const { return plain.size() + (packed ? packed->bytes() : 0); }
};

/// What executors have prepared from one checkpoint, by the whole text of its expression: `PreparedWeight::identity` is
/// a hash, and two expressions of one hash must not become one weight. Forecasters share it; entries never change.
template <class Storage>
class PreparedWeights {
public:
    /// The prepared form of each of `wanted`, in order; prepares what is not there yet. `evaluate` has the ops that
    /// they are made of.
    std::vector<std::shared_ptr<const PreparedTensor<Storage>>> get(GraphView graph,
                                                                    std::span<const PreparedWeight> wanted,
                                                                    const TensorSource& source,
                                                                    Evaluate evaluate = &cpu::evaluate);

    /// What became of the weights on disk so far.
    [[nodiscard]] PreparedCacheReport cache_report() const {
        const std::scoped_lock lock(mutex_);
        return cache_report_;
    }

    /// Bytes of everything prepared so far.
    [[nodiscard]] std::size_t bytes() const {
        const std::scoped_lock lock(mutex_);
        std::size_t total = 0;
        for (const auto& [expression, tensor] : entries_) {
            total += tensor->bytes();
        }
        return total;
    }

private:
    mutable std::mutex mutex_;
    PreparedCacheReport cache_report_;
    std::unordered_map<std::string, std::shared_ptr<const PreparedTensor<Storage>>> entries_;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/impl/prepared_weights.hpp>
#endif
