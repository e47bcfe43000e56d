// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>

namespace totograph::detail {

/// An attention of so many positions in words: `attention of 8 heads of 64 on 2, causal, against a cache`.
std::string attention_text(const AttentionDescription& attention, Index positions);

}  // namespace totograph::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/explain/impl/attention.hpp>
#endif
