// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/graph/graph.hpp>

namespace totograph::cpu {

/// Throws `Error` (`position_out_of_bounds`) when a node that is about to be computed would use a position, or a
/// length, beyond its axis. The reference implementation of operations (`evaluate.hpp`) relies on it.
///
/// @param inputs  of the node; of a `store`, the state comes first
void check_positions(GraphView graph, const Node& node, std::span<const TensorData> inputs);

}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/evaluate/impl/check_positions.hpp>
#endif
