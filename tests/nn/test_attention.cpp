// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index batch = 2;
constexpr Index samples = 3;
constexpr Index variates = 4;
constexpr Index positions = 5;
constexpr Index heads = 2;
constexpr Index head_dim = 6;
constexpr Index width = heads * head_dim;

/// Rows of a tensor `[batch, samples, variates, positions, width]`; one sample may stand for all.
struct Rows {
    std::span<const float> values;
    Index samples;
    Index positions;

    [[nodiscard]] double operator()(Index b, Index s, Index v, Index p, Index column) const {
        const Index sample = samples == 1 ? 0 : s;
        return static_cast<double>(values[static_cast<std::size_t>(
            (((b * samples + sample) * variates + v) * positions + p) * width + column)]);
    }
};

/// softmax(q k^T / sqrt(d)) v of one head and column, over keys and values given as functions of (place, column).
template <class Query, class Key, class Value>
double attended(Index column, std::size_t count, Query&& query, Key&& key, Value&& value) {
    const Index first = column / head_dim * head_dim;
    double total = 0;
    double sum = 0;
    for (std::size_t place = 0; place < count; ++place) {
        double score = 0;
        for (Index k = first; k < first + head_dim; ++k) {
            score += query(k) * key(place, k);
        }
        const double share = std::exp(score / std::sqrt(static_cast<double>(head_dim)));
        total += share;
        sum += share * value(place, column);
    }
    return count == 0 ? 0.0 : sum / total;
}

/// Calls `visit(batch, sample, variate, position, column, element)` for all results.
template <class Visit>
void for_each_result(Index result_positions, Visit&& visit) {
    std::size_t element = 0;
    for (Index b = 0; b < batch; ++b) {
        for (Index s = 0; s < samples; ++s) {
            for (Index v = 0; v < variates; ++v) {
                for (Index p = 0; p < result_positions; ++p) {
                    for (Index column = 0; column < width; ++column) {
                        visit(b, s, v, p, column, element++);
                    }
                }
            }
        }
    }
}

constexpr Shape rows_of(Index count) {
    return {batch, samples, variates, count, width};
}

struct Causal {
    static constexpr void record(Recorder& r) {
        const Tensor valid = r.state("valid", {batch}, DType::i32);
        // Keys and values are a cache with room for more.
        r.store(r.state("out", rows_of(positions)),
                nn::causal_attention(r.state("q", rows_of(positions)), r.state("k", rows_of(positions + 2)),
                                     r.state("v", rows_of(positions + 2)), valid, {.heads = heads}));
    }
};

template <bool shared>
struct Cached {
    static constexpr Index prefix_samples = shared ? 1 : samples;
    static constexpr void record(Recorder& r) {
        const Shape prefix{batch, prefix_samples, variates, 7, width};
        r.store(r.state("out", rows_of(1)),
                nn::cached_attention(
                    r.state("q", rows_of(1)),
                    {r.state("pk", prefix), r.state("pv", prefix), r.state("prefix", {batch}, DType::i32)},
                    {r.state("sk", rows_of(4)), r.state("sv", rows_of(4)), r.state("suffix", {1}, DType::i32)},
                    {.heads = heads}));
    }
};

struct AcrossVariates {
    static constexpr void record(Recorder& r) {
        const Tensor groups = r.state("groups", {batch, variates, positions}, DType::i32);
        r.store(r.state("out", rows_of(positions)),
                nn::variate_attention(r.state("q", rows_of(positions)), r.state("k", rows_of(positions)),
                                      r.state("v", rows_of(positions)), groups, {.heads = heads}));
    }
};

template <bool shared>
void check_cached() {
    run_on_both<Cached<shared>>(
        [](auto& executor) {
            state_of<std::int32_t>(executor, "prefix")[0] = 7;
            state_of<std::int32_t>(executor, "prefix")[1] = 3;
            state_of<std::int32_t>(executor, "suffix")[0] = 2;
        },
        [](auto& executor) {
            const Rows q{state_of<float>(executor, "q"), samples, 1};
            const Rows pk{state_of<float>(executor, "pk"), Cached<shared>::prefix_samples, 7};
            const Rows pv{state_of<float>(executor, "pv"), Cached<shared>::prefix_samples, 7};
            const Rows sk{state_of<float>(executor, "sk"), samples, 4};
            const Rows sv{state_of<float>(executor, "sv"), samples, 4};
            const auto out = state_of<float>(executor, "out");
            for_each_result(1, [&](Index b, Index s, Index v, Index, Index column, std::size_t element) {
                const Index prefix = b == 0 ? 7 : 3;
                const auto row = [&](const Rows& before, const Rows& after) {
                    return [&, prefix](std::size_t place, Index k) {
                        const auto at = static_cast<Index>(place);
                        return at < prefix ? before(b, s, v, at, k) : after(b, s, v, at - prefix, k);
                    };
                };
                const double expected = attended(
                    column, static_cast<std::size_t>(prefix + 2), [&](Index k) { return q(b, s, v, 0, k); },
                    row(pk, sk), row(pv, sv));
                CHECK(out[element] == near(expected));
            });
        });
}

}  // namespace

TEST_CASE("causal attention over the valid positions of a series") {
    run_on_both<Causal>(
        [](auto& executor) {
            state_of<std::int32_t>(executor, "valid")[0] = positions;
            state_of<std::int32_t>(executor, "valid")[1] = 3;
        },
        [](auto& executor) {
            const Rows q{state_of<float>(executor, "q"), samples, positions};
            const Rows keys{state_of<float>(executor, "k"), samples, positions + 2};
            const Rows values{state_of<float>(executor, "v"), samples, positions + 2};
            const auto out = state_of<float>(executor, "out");
            for_each_result(positions, [&](Index b, Index s, Index v, Index p, Index column, std::size_t element) {
                const bool is_valid = b == 0 || p < 3;
                const double expected = attended(
                    column, is_valid ? static_cast<std::size_t>(p + 1) : 0, [&](Index k) { return q(b, s, v, p, k); },
                    [&](std::size_t place, Index k) { return keys(b, s, v, static_cast<Index>(place), k); },
                    [&](std::size_t place, Index k) { return values(b, s, v, static_cast<Index>(place), k); });
                CHECK(out[element] == near(expected));
            });
        });
}

TEST_CASE("cached attention over a prefix that samples share") {
    check_cached<true>();
}

TEST_CASE("cached attention over a prefix of each sample") {
    check_cached<false>();
}

TEST_CASE("attention over variates of one group") {
    run_on_both<AcrossVariates>(
        [](auto& executor) {
            const auto groups = state_of<std::int32_t>(executor, "groups");
            for (std::size_t at = 0; at < groups.size(); ++at) {
                groups[at] = static_cast<std::int32_t>(at * at % 3);
            }
        },
        [](auto& executor) {
            const Rows q{state_of<float>(executor, "q"), samples, positions};
            const Rows keys{state_of<float>(executor, "k"), samples, positions};
            const Rows values{state_of<float>(executor, "v"), samples, positions};
            const auto groups = state_of<std::int32_t>(executor, "groups");
            const auto out = state_of<float>(executor, "out");
            for_each_result(positions, [&](Index b, Index s, Index v, Index p, Index column, std::size_t element) {
                const auto group = [&](Index variate) {
                    return groups[static_cast<std::size_t>((b * variates + variate) * positions + p)];
                };
                std::vector<Index> seen;
                for (Index other = 0; other < variates; ++other) {
                    if (group(other) == group(v)) {
                        seen.push_back(other);
                    }
                }
                const double expected = attended(
                    column, seen.size(), [&](Index k) { return q(b, s, v, p, k); },
                    [&](std::size_t place, Index k) { return keys(b, s, seen[place], p, k); },
                    [&](std::size_t place, Index k) { return values(b, s, seen[place], p, k); });
                CHECK(out[element] == near(expected));
            });
        });
}
