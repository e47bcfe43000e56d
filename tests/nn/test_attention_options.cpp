// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>

#include "support/attention_cases.hpp"
#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// What an attention reads; empty where it has none.
struct CaseData {
    AttentionCase of;
    std::span<float> query = {};
    std::span<float> key = {};
    std::span<float> value = {};
    std::span<std::int32_t> length = {};
    std::span<float> suffix_key = {};
    std::span<float> suffix_value = {};
    std::span<std::int32_t> suffix_length = {};
    std::span<std::int32_t> ids = {};
    std::span<float> scale = {};
};

/// softmax(scale q k^T) v in double, one element at a time.
std::vector<double> defined_attention(const CaseData& data) {
    const AttentionCase& c = data.of;
    std::vector<double> result;
    const double scale = data.scale.empty() ? c.usual_scale() : static_cast<double>(data.scale[0]);
    const auto element = [&](std::span<const float> rows, Index samples, Index positions, Index width, Index b, Index s,
                             Index v, Index p, Index column) {
        const Index row = ((b * samples + (samples == 1 ? 0 : s)) * c.variates + v) * positions + p;
        return static_cast<double>(rows[static_cast<std::size_t>(row * width + column)]);
    };
    for (Index b = 0; b < AttentionCase::series; ++b) {
        const Index prefix = c.is_over_variates() ? c.variates : data.length[static_cast<std::size_t>(b)];
        const Index count = prefix + (c.suffix > 0 ? data.suffix_length[0] : 0);
        for (Index s = 0; s < c.samples; ++s) {
            for (Index v = 0; v < c.variates; ++v) {
                for (Index p = 0; p < c.queries; ++p) {
                    const auto id_of = [&](Index key) {
                        const Shape shape = c.mask_shape();
                        const Index variate = c.is_over_variates() ? key : shape[1] == 1 ? 0 : v;
                        const Index place = c.is_over_variates() ? p
                                            : key < prefix       ? key
                                                                 : AttentionCase::capacity + key - prefix;
                        const Index series = shape[0] == 1 ? 0 : b;
                        return data.ids[static_cast<std::size_t>((series * shape[1] + variate) * shape[2] + place)];
                    };
                    // The key at which the query stands.
                    const Index own = c.is_over_variates()                 ? v
                                      : c.queries_at == QueryPlaces::first ? p
                                                                           : count - c.queries + p;
                    std::vector<Index> seen;
                    for (Index key = 0; key < count && own < count; ++key) {
                        const bool is_later = !c.is_over_variates() && c.is_causal && key > own;
                        const bool counts = c.mask == KeyMask::none     ? true
                                            : c.mask == KeyMask::by_key ? id_of(key) != 0
                                                                        : own >= 0 && id_of(key) == id_of(own);
                        if (!is_later && counts) {
                            seen.push_back(key);
                        }
                    }
                    const auto of_key = [&](bool is_value, Index key, Index column) {
                        const Index width = c.kv_heads * (is_value ? c.value_dim : c.head_dim);
                        if (c.is_over_variates()) {
                            return element(is_value ? data.value : data.key, c.key_samples(), c.queries, width, b, s,
                                           key, p, column);
                        }
                        if (key < prefix) {
                            return element(is_value ? data.value : data.key, c.key_samples(), AttentionCase::capacity,
                                           width, b, s, v, key, column);
                        }
                        return element(is_value ? data.suffix_value : data.suffix_key, c.samples, c.suffix, width, b, s,
                                       v, key - prefix, column);
                    };
                    for (Index head = 0; head < c.heads; ++head) {
                        const Index kv_head = head * c.kv_heads / c.heads;
                        std::vector<double> weights;
                        double total = 0;
                        for (const Index key : seen) {
                            double score = 0;
                            for (Index d = 0; d < c.head_dim; ++d) {
                                score += element(data.query, c.samples, c.queries, c.heads * c.head_dim, b, s, v, p,
                                                 head * c.head_dim + d) *
                                         of_key(false, key, kv_head * c.head_dim + d);
                            }
                            weights.push_back(std::exp(score * scale));
                            total += weights.back();
                        }
                        for (Index d = 0; d < c.value_dim; ++d) {
                            double sum = 0;
                            for (std::size_t i = 0; i < seen.size(); ++i) {
                                sum += weights[i] * of_key(true, seen[i], kv_head * c.value_dim + d);
                            }
                            result.push_back(seen.empty() ? 0 : sum / total);
                        }
                    }
                }
            }
        }
    }
    return result;
}

template <class Executor>
CaseData data_of(const Executor& executor, const AttentionCase& of, int layer) {
    CaseData data{.of = of};
    data.query = state_of<float>(executor, "q", layer);
    data.key = state_of<float>(executor, "k", layer);
    data.value = state_of<float>(executor, "v", layer);
    if (of.axis == AttentionAxis::positions) {
        data.length = state_of<std::int32_t>(executor, "n", layer);
    }
    if (of.suffix > 0) {
        data.suffix_key = state_of<float>(executor, "sk", layer);
        data.suffix_value = state_of<float>(executor, "sv", layer);
        data.suffix_length = state_of<std::int32_t>(executor, "sn", layer);
    }
    if (of.mask != KeyMask::none) {
        data.ids = state_of<std::int32_t>(executor, "ids", layer);
    }
    if (of.scale_is_data) {
        data.scale = state_of<float>(executor, "positive.scale", layer);
    }
    return data;
}

}  // namespace

TEST_CASE_TEMPLATE("every kind of attention is what its definition gives in double", Model, EverySecondAttention<0>,
                   EverySecondAttention<1>) {
    run_on_both<Model>(
        [](auto& executor) {
            for (std::size_t i = Model::begin; i < attention_cases::all.size(); i += 2) {
                const CaseData data = data_of(executor, attention_cases::all[i], static_cast<int>(i));
                for (const auto& [name, integers] :
                     {std::pair{"n", data.length}, {"sn", data.suffix_length}, {"ids", data.ids}}) {
                    for (std::size_t at = 0; at < integers.size(); ++at) {
                        integers[at] = Model::integer(name, static_cast<Index>(at));
                    }
                }
            }
        },
        [](auto& executor) {
            for (std::size_t i = Model::begin; i < attention_cases::all.size(); i += 2) {
                const auto layer = static_cast<int>(i);
                const std::vector<double> expected =
                    defined_attention(data_of(executor, attention_cases::all[i], layer));
                const auto found = state_of<float>(executor, "out", layer);
                REQUIRE(found.size() == expected.size());
                std::size_t wrong = 0;
                for (std::size_t at = 0; at < expected.size(); ++at) {
                    wrong += static_cast<double>(found[at]) == near(expected[at]) ? 0 : 1;
                }
                CHECK_MESSAGE(wrong == 0, attention_cases::all[i].name);
            }
        });
}
