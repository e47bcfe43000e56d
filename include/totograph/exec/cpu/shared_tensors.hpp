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
#include <totograph/core/dtype.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// Expressions of weights as executors read them that run node by node: row-major, of the node's dtype. Equal ones of
/// one checkpoint are one block of memory, which is freed with the last executor that reads it. Safe to use from many
/// threads.
class SharedTensors {
public:
    /// The value of each of `nodes`, in order, which depend on weights and constants alone. Computes those that nobody
    /// has at the moment.
    std::vector<std::shared_ptr<const Arena>> get(GraphView graph, std::span<const int> nodes,
                                                  const TensorSource& source);

private:
    static std::size_t bytes_of(const Node& node) {
        return static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype);
    }

    std::mutex mutex_;
    std::unordered_map<std::string, std::weak_ptr<const Arena>> known_;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/impl/shared_tensors.hpp>
#endif
