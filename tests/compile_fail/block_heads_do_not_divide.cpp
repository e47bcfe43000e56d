// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the embedding dimension must be divisible by the number of heads.
// expect: 768, 10
#include <totograph/nn/attention_block.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
using Attention = nn::Attention<nn::AttentionSize{.width = 768, .heads = 12}>;
#else
using Attention = nn::Attention<nn::AttentionSize{.width = 768, .heads = 10}>;
#endif

static_assert(Attention::parameters > 0);
