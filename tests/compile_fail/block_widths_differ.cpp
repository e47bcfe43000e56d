// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the norms, the attention and the feed-forward of a transformer layer must be of one width.
// expect: {768, 12
// expect: {512, 2048
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/rms_norm.hpp>
#include <totograph/nn/transformer_layer.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
using FeedForward = nn::SwiGlu<nn::SwiGluSize{.width = 768, .hidden = 2048}>;
#else
using FeedForward = nn::SwiGlu<nn::SwiGluSize{.width = 512, .hidden = 2048}>;
#endif

using Norm = nn::RmsNorm<nn::RmsNormSize{.width = 768}>;
using Attention = nn::Attention<nn::AttentionSize{.width = 768, .heads = 12}>;
static_assert(nn::TransformerLayer<Norm, Attention, FeedForward>::parameters > 0);
