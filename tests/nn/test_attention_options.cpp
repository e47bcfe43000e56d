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

/// The place of a row of queries.
struct Place {
    Index series;
    Index sample;
    Index variate;
    Index position;
};

/// softmax(scale q k^T) v in double, one element at a time.
class Definition {
public:
    explicit Definition(const CaseData& data) : data_(data), c_(data.of) {}

    [[nodiscard]] std::vector<double> results() const {
        std::vector<double> result;
        const Shape shape = c_.results();
        for (Index row = 0; row < shape.rows(); ++row) {
            const Place place{row / shape[3] / shape[2] / shape[1], row / shape[3] / shape[2] % shape[1],
                              row / shape[3] % shape[2], row % shape[3]};
            for (Index head = 0; head < c_.heads; ++head) {
                append_head(place, head, result);
            }
        }
        return result;
    }

private:
    [[nodiscard]] Index prefix(const Place& place) const {
        return c_.is_over_variates() ? c_.variates : data_.length[static_cast<std::size_t>(place.series)];
    }
    [[nodiscard]] Index count(const Place& place) const {
        return prefix(place) + (c_.suffix > 0 ? data_.suffix_length[0] : 0);
    }
    /// The key at which the query stands.
    [[nodiscard]] Index own_key(const Place& place) const {
        if (c_.is_over_variates()) {
            return place.variate;
        }
        return c_.queries_at == QueryPlaces::first ? place.position : count(place) - c_.queries + place.position;
    }
    [[nodiscard]] std::int32_t id_of(const Place& place, Index key) const {
        const Shape shape = c_.mask_shape();
        const Index series = shape[0] == 1 ? 0 : place.series;
        Index variate = shape[1] == 1 ? 0 : place.variate;
        Index position = key < prefix(place) ? key : AttentionCase::capacity + key - prefix(place);
        if (c_.is_over_variates()) {
            variate = key;
            position = place.position;
        }
        return data_.ids[static_cast<std::size_t>((series * shape[1] + variate) * shape[2] + position)];
    }
    [[nodiscard]] bool sees(const Place& place, Index key) const {
        const Index own = own_key(place);
        const bool is_later = !c_.is_over_variates() && c_.is_causal && key > own;
        if (is_later || own >= count(place)) {
            return false;
        }
        switch (c_.mask) {
            case KeyMask::by_key: return id_of(place, key) != 0;
            case KeyMask::by_group: return own >= 0 && id_of(place, key) == id_of(place, own);
            default: return true;
        }
    }

    [[nodiscard]] double element(std::span<const float> rows, Index samples, Index positions, Index width,
                                 const Place& place, Index column) const {
        const Index sample = samples == 1 ? 0 : place.sample;
        const Index row = ((place.series * samples + sample) * c_.variates + place.variate) * positions;
        return static_cast<double>(rows[static_cast<std::size_t>((row + place.position) * width + column)]);
    }
    [[nodiscard]] double key_element(bool is_value, Place place, Index key, Index column) const {
        const Index width = c_.kv_heads * (is_value ? c_.value_dim : c_.head_dim);
        const Index before = prefix(place);
        const bool is_suffix = key >= before;
        (c_.is_over_variates() ? place.variate : place.position) = is_suffix ? key - before : key;
        return is_suffix ? element(is_value ? data_.suffix_value : data_.suffix_key, c_.samples, c_.suffix, width,
                                   place, column)
                         : element(is_value ? data_.value : data_.key, c_.key_samples(), c_.key_positions(), width,
                                   place, column);
    }

    void append_head(const Place& place, Index head, std::vector<double>& result) const {
        const double scale = data_.scale.empty() ? c_.usual_scale() : static_cast<double>(data_.scale[0]);
        const Index kv_head = head * c_.kv_heads / c_.heads;
        std::vector<double> sums(static_cast<std::size_t>(c_.value_dim));
        double total = 0;
        for (Index key = 0; key < count(place); ++key) {
            if (!sees(place, key)) {
                continue;
            }
            double score = 0;
            for (Index d = 0; d < c_.head_dim; ++d) {
                score += element(data_.query, c_.samples, c_.queries, c_.heads * c_.head_dim, place,
                                 head * c_.head_dim + d) *
                         key_element(false, place, key, kv_head * c_.head_dim + d);
            }
            const double weight = std::exp(score * scale);
            total += weight;
            for (Index d = 0; d < c_.value_dim; ++d) {
                sums[static_cast<std::size_t>(d)] += weight * key_element(true, place, key, kv_head * c_.value_dim + d);
            }
        }
        for (const double sum : sums) {
            result.push_back(total == 0 ? 0 : sum / total);
        }
    }

    const CaseData& data_;
    const AttentionCase& c_;
};

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
                const CaseData data = data_of(executor, attention_cases::all[i], layer);
                const std::vector<double> expected = Definition(data).results();
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
