// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/attention/attention.hpp>
#include <totograph/exec/cpu/attention/masked_attention.hpp>
#include <totograph/graph/attention.hpp>

#include "exec/cpu/attention_reference.hpp"
#include "support/sanitized.hpp"

using namespace attention_test;
namespace cpu = totograph::cpu;

namespace {

// Elements are averages of normal numbers, at most about 4. A score of 128 products is off by some 1e-6 and moves its
// weight by as much; the sums add a few units of 6e-8. Largest difference seen: 1.1e-6.
constexpr double bound = 4e-6;

cpu::HeadSize size_of(Index head_dim) {
    return {head_dim, head_dim, static_cast<float>(totograph::usual_attention_scale(head_dim))};
}

Rows run_prefill(const Rows& query, const Rows& key, const Rows& value, Index head_dim, Index positions, Index valid) {
    Rows out(positions, head_dim);
    std::vector<float> scratch = scratch_of(cpu::prefill_scratch_floats(positions, head_dim, head_dim));
    cpu::prefill({.query = query.of(0, head_dim),
                  .key = key.of(0, head_dim),
                  .value = value.of(0, head_dim),
                  .out = out.of(0, head_dim),
                  .query_stride = query.stride,
                  .key_stride = key.stride,
                  .value_stride = value.stride,
                  .out_stride = out.stride,
                  .size = size_of(head_dim),
                  .positions = positions,
                  .valid = valid},
                 scratch.data());
    return out;
}

/// Queries `first` ... `first + queries - 1`, the first `prefix` keys and `suffix` further keys for each query, of
/// which there is room for `capacity`.
Rows run_decode(const Rows& query, Index first, Index queries, const Rows& key, const Rows& value, Index prefix,
                const Rows& suffix_key, const Rows& suffix_value, Index suffix, Index capacity, Index head_dim) {
    Rows out(queries, head_dim);
    std::vector<float> scratch = scratch_of(cpu::decode_scratch_floats(prefix, suffix, head_dim, head_dim));
    cpu::decode({.query = query.of(first, head_dim),
                 .prefix_key = key.of(0, head_dim),
                 .prefix_value = value.of(0, head_dim),
                 .suffix_key = suffix > 0 ? suffix_key.of(first * capacity, head_dim) : nullptr,
                 .suffix_value = suffix > 0 ? suffix_value.of(first * capacity, head_dim) : nullptr,
                 .out = out.of(0, head_dim),
                 .query_stride = query.stride,
                 .prefix_key_stride = key.stride,
                 .prefix_value_stride = value.stride,
                 .suffix_key_query_stride = capacity * suffix_key.stride,
                 .suffix_value_query_stride = capacity * suffix_value.stride,
                 .suffix_key_stride = suffix_key.stride,
                 .suffix_value_stride = suffix_value.stride,
                 .out_stride = out.stride,
                 .size = size_of(head_dim),
                 .queries = queries,
                 .prefix_length = prefix,
                 .suffix_length = suffix},
                scratch.data());
    return out;
}

Rows run_across(const Rows& query, const Rows& key, const Rows& value, const std::vector<std::int32_t>& group,
                Index head_dim, Index variates, Index valid) {
    Rows out(variates, head_dim);
    std::vector<float> scratch = scratch_of(cpu::across_variates_scratch_floats(variates, head_dim, head_dim));
    cpu::across_variates({.query = query.of(0, head_dim),
                          .key = key.of(0, head_dim),
                          .value = value.of(0, head_dim),
                          .group = group.data(),
                          .out = out.of(0, head_dim),
                          .query_stride = query.stride,
                          .key_stride = key.stride,
                          .value_stride = value.stride,
                          .group_stride = 2,
                          .out_stride = out.stride,
                          .size = size_of(head_dim),
                          .variates = variates,
                          .valid = valid},
                         scratch.data());
    return out;
}

/// Queries `first` ... `first + queries - 1`, each at its own key, of `length` keys in two parts, the second from
/// `cut`.
Rows run_masked(const Rows& query, Index first, Index queries, const Rows& key, const Rows& value, Index length,
                Index cut, Index head_dim, totograph::KeyMask mask, const std::vector<std::int32_t>& ids) {
    Rows out(queries, head_dim);
    std::vector<float> scratch = scratch_of(cpu::masked_attention_scratch_floats(length, head_dim, head_dim));
    const auto part = [&](Index begin, Index end) {
        return cpu::KeyRows{.key = key.of(begin, head_dim),
                            .value = value.of(begin, head_dim),
                            .mask = ids.data() + begin,
                            .key_stride = key.stride,
                            .value_stride = value.stride,
                            .count = end - begin};
    };
    cpu::masked_attention({.query = query.of(first, head_dim),
                           .out = out.of(0, head_dim),
                           .query_stride = query.stride,
                           .out_stride = out.stride,
                           .queries = queries,
                           .first_place = first,
                           .keys = {part(0, cut), part(cut, length)},
                           .mask = mask,
                           .is_causal = true,
                           .size = size_of(head_dim)},
                          scratch.data());
    return out;
}

/// Group ids two apart, with a marker between them that is no id.
std::vector<std::int32_t> spread(const std::vector<std::int32_t>& ids) {
    std::vector<std::int32_t> group;
    for (const std::int32_t id : ids) {
        group.insert(group.end(), {id, -77});
    }
    return group;
}

}  // namespace

TEST_CASE("prefill is causal attention, to rounding, for any head size and length") {
    for (const Index head_dim : {1, 3, 8, 17, 32, 64, 128}) {
        for (const Index valid : {1, 2, 5, 16, 17, 33, 64, 101}) {
            const Index positions = valid + valid % 3;
            const Rows query = random_rows(positions, valid, head_dim, 1);
            const Rows key = random_rows(positions, valid, head_dim, 2);
            const Rows value = random_rows(positions, valid, head_dim, 3);
            const Rows out = run_prefill(query, key, value, head_dim, positions, valid);
            CAPTURE(head_dim);
            CAPTURE(valid);
            std::vector<const float*> keys;
            std::vector<const float*> values;
            double largest = 0.0;
            for (Index row = 0; row < valid; ++row) {
                keys.push_back(key.of(row, head_dim));
                values.push_back(value.of(row, head_dim));
                largest = std::max(largest, difference(out.of(row, head_dim), naive_attention(query.of(row, head_dim),
                                                                                              keys, values, head_dim)));
            }
            CHECK(largest <= bound);
            for (Index row = valid; row < positions; ++row) {
                CHECK(is_zero(out.of(row, head_dim), head_dim));
            }
            CHECK(other_heads_untouched(out, head_dim));
        }
    }
}

TEST_CASE("prefill gives the same bits in a larger buffer and in a longer sequence") {
    constexpr Index longest = 70;
    for (const Index head_dim : {8, 17, 32, 64}) {
        const Rows query = random_rows(longest, longest, head_dim, 4);
        const Rows key = random_rows(longest, longest, head_dim, 5);
        const Rows value = random_rows(longest, longest, head_dim, 6);
        const Rows all = run_prefill(query, key, value, head_dim, longest, longest);
        for (Index valid = 1; valid <= longest; ++valid) {
            const Rows exact = run_prefill(query, key, value, head_dim, valid, valid);
            const Rows roomy = run_prefill(query, key, value, head_dim, longest, valid);
            Index differing = 0;
            for (Index row = 0; row < valid; ++row) {
                differing += same_bits(exact.of(row, head_dim), all.of(row, head_dim), head_dim) ? 0 : 1;
                differing += same_bits(roomy.of(row, head_dim), all.of(row, head_dim), head_dim) ? 0 : 1;
            }
            CAPTURE(head_dim);
            CAPTURE(valid);
            CHECK(differing == 0);
        }
    }
}

TEST_CASE("prefill keeps NaN and infinity of later positions away from earlier ones") {
    constexpr Index head_dim = 32;
    constexpr Index positions = 23;
    const Rows query = random_rows(positions, positions, head_dim, 7);
    const Rows key = random_rows(positions, positions, head_dim, 8);
    const Rows value = random_rows(positions, positions, head_dim, 9);
    const Rows clean = run_prefill(query, key, value, head_dim, positions, positions);
    for (Index bad = 1; bad < positions; ++bad) {
        Rows bad_key = key;
        Rows bad_value = value;
        bad_key.of(bad, head_dim)[3] = missing;
        bad_value.of(bad, head_dim)[5] = std::numeric_limits<float>::infinity();
        const Rows out = run_prefill(query, bad_key, bad_value, head_dim, positions, positions);
        for (Index row = 0; row < bad; ++row) {
            CHECK(same_bits(out.of(row, head_dim), clean.of(row, head_dim), head_dim));
        }
        CHECK_FALSE(same_bits(out.of(bad, head_dim), clean.of(bad, head_dim), head_dim));
    }
}

TEST_CASE("decode is attention to the prefix and to the own suffix, to rounding") {
    int combination = 0;
    for (const Index head_dim : {1, 8, 17, 32, 64, 128}) {
        for (const Index queries : {1, 3, 4, 15, 16, 37}) {
            for (const Index prefix : {1, 7, 16, 33, 128}) {
                for (const Index suffix : {0, 1, 3, 8, 16}) {
                    if (totograph::test::is_sanitized && ++combination % 4 != 0) {
                        continue;  // of every size some
                    }
                    const Index capacity = suffix + 2;
                    const Rows query = random_rows(queries, queries, head_dim, 10);
                    const Rows key = random_rows(prefix, prefix, head_dim, 11);
                    const Rows value = random_rows(prefix, prefix, head_dim, 12);
                    const Rows own_key = random_rows(queries * capacity, queries * capacity, head_dim, 13);
                    const Rows own_value = random_rows(queries * capacity, queries * capacity, head_dim, 14);
                    const Rows out = run_decode(query, 0, queries, key, value, prefix, own_key, own_value, suffix,
                                                capacity, head_dim);
                    double largest = 0.0;
                    for (Index row = 0; row < queries; ++row) {
                        std::vector<const float*> keys;
                        std::vector<const float*> values;
                        for (Index position = 0; position < prefix; ++position) {
                            keys.push_back(key.of(position, head_dim));
                            values.push_back(value.of(position, head_dim));
                        }
                        for (Index position = 0; position < suffix; ++position) {
                            keys.push_back(own_key.of(row * capacity + position, head_dim));
                            values.push_back(own_value.of(row * capacity + position, head_dim));
                        }
                        largest = std::max(
                            largest, difference(out.of(row, head_dim),
                                                naive_attention(query.of(row, head_dim), keys, values, head_dim)));
                    }
                    CAPTURE(head_dim);
                    CAPTURE(queries);
                    CAPTURE(prefix);
                    CAPTURE(suffix);
                    CHECK(largest <= bound);
                    CHECK(other_heads_untouched(out, head_dim));
                }
            }
        }
    }
}

TEST_CASE("decode gives a query the same bits alone, among many, and wherever its sequence is cut in two") {
    constexpr Index queries = 37;
    constexpr Index length = 45;
    for (const Index head_dim : {8, 17, 32, 64}) {
        // Every query's own suffix repeats the shared sequence, so that all cuts describe the same attention.
        const Rows query = random_rows(queries, queries, head_dim, 15);
        const Rows key = random_rows(length, length, head_dim, 16);
        const Rows value = random_rows(length, length, head_dim, 17);
        const Rows none(1, head_dim);
        const Rows whole = run_decode(query, 0, queries, key, value, length, none, none, 0, 1, head_dim);
        for (const Index suffix : {0, 1, 2, 5, 13, 16, 17}) {
            const Index prefix = length - suffix;
            const Index capacity = suffix + 1;
            Rows own_key(queries * capacity, head_dim);
            Rows own_value(queries * capacity, head_dim);
            for (Index row = 0; row < queries; ++row) {
                for (Index position = 0; position < suffix; ++position) {
                    std::copy_n(key.of(prefix + position, head_dim), head_dim,
                                own_key.of(row * capacity + position, head_dim));
                    std::copy_n(value.of(prefix + position, head_dim), head_dim,
                                own_value.of(row * capacity + position, head_dim));
                }
            }
            const auto run = [&](Index first, Index count) {
                return run_decode(query, first, count, key, value, prefix, own_key, own_value, suffix, capacity,
                                  head_dim);
            };
            Index differing = 0;
            for (const Index count : {1, 2, 3, 4, 5, 7, 16, 21, 37}) {
                for (Index first = 0; first + count <= queries; first += count) {
                    const Rows part = run(first, count);
                    for (Index row = 0; row < count; ++row) {
                        differing +=
                            same_bits(part.of(row, head_dim), whole.of(first + row, head_dim), head_dim) ? 0 : 1;
                    }
                }
            }
            CAPTURE(head_dim);
            CAPTURE(suffix);
            CHECK(differing == 0);
        }
    }
}

TEST_CASE("decode gives the bits of prefill for the same sequence") {
    constexpr Index positions = 40;
    for (const Index head_dim : {8, 32, 64}) {
        const Rows query = random_rows(positions, positions, head_dim, 18);
        const Rows key = random_rows(positions, positions, head_dim, 19);
        const Rows value = random_rows(positions, positions, head_dim, 20);
        const Rows none(1, head_dim);
        const Rows together = run_prefill(query, key, value, head_dim, positions, positions);
        for (Index row = 0; row < positions; ++row) {
            const Rows alone = run_decode(query, row, 1, key, value, row + 1, none, none, 0, 1, head_dim);
            CHECK(same_bits(alone.of(0, head_dim), together.of(row, head_dim), head_dim));
        }
    }
}

TEST_CASE("attention stays finite without keys and with extreme scores") {
    constexpr Index head_dim = 32;
    const Rows query = random_rows(5, 5, head_dim, 21);
    const Rows none = random_rows(1, 1, head_dim, 22);
    const Rows empty = run_decode(query, 0, 5, none, none, 0, none, none, 0, 1, head_dim);
    const Rows unfilled = run_prefill(query, query, query, head_dim, 5, 0);
    for (Index row = 0; row < 5; ++row) {
        CHECK(is_zero(empty.of(row, head_dim), head_dim));
        CHECK(is_zero(unfilled.of(row, head_dim), head_dim));
    }

    // Scores so far apart that the softmax picks one key: the others' weights must vanish, not overflow.
    const Rows large = random_rows(20, 20, head_dim, 23, 1e3F);
    const Rows value = random_rows(20, 20, head_dim, 24);
    const Rows picked = run_prefill(large, large, value, head_dim, 20, 20);
    for (Index row = 0; row < 20; ++row) {
        std::vector<const float*> keys;
        std::vector<const float*> values;
        for (Index position = 0; position <= row; ++position) {
            keys.push_back(large.of(position, head_dim));
            values.push_back(value.of(position, head_dim));
        }
        CHECK(difference(picked.of(row, head_dim), naive_attention(large.of(row, head_dim), keys, values, head_dim)) <=
              bound);
    }

    // Scores that overflow to minus infinity, all of them.
    const Rows huge(5, head_dim, 1e30F);
    const Rows opposite(5, head_dim, -1e30F);
    const Rows finite = run_prefill(huge, opposite, value, head_dim, 5, 5);
    for (Index row = 0; row < 5; ++row) {
        const float* out = finite.of(row, head_dim);
        CHECK(std::all_of(out, out + head_dim, [](float element) { return std::isfinite(element); }));
    }
}

TEST_CASE("across_variates is attention within each group, to rounding") {
    for (const Index head_dim : {1, 8, 17, 32, 64}) {
        for (const Index valid : {1, 2, 7, 16, 40, 64}) {
            for (const std::int32_t groups : {1, 2, 5}) {
                const Index variates = valid + 3;
                const Rows query = random_rows(variates, valid, head_dim, 25);
                const Rows key = random_rows(variates, valid, head_dim, 26);
                const Rows value = random_rows(variates, valid, head_dim, 27);
                std::vector<std::int32_t> ids;
                for (std::int32_t variate = 0; variate < variates; ++variate) {
                    ids.push_back(variate * variate % groups - 1);
                }
                const Rows out = run_across(query, key, value, spread(ids), head_dim, variates, valid);
                double largest = 0.0;
                for (Index row = 0; row < valid; ++row) {
                    std::vector<const float*> keys;
                    std::vector<const float*> values;
                    for (Index other = 0; other < valid; ++other) {
                        if (ids[static_cast<std::size_t>(other)] == ids[static_cast<std::size_t>(row)]) {
                            keys.push_back(key.of(other, head_dim));
                            values.push_back(value.of(other, head_dim));
                        }
                    }
                    largest =
                        std::max(largest, difference(out.of(row, head_dim),
                                                     naive_attention(query.of(row, head_dim), keys, values, head_dim)));
                }
                CAPTURE(head_dim);
                CAPTURE(valid);
                CAPTURE(groups);
                CHECK(largest <= bound);
                for (Index row = valid; row < variates; ++row) {
                    CHECK(is_zero(out.of(row, head_dim), head_dim));
                }
                CHECK(other_heads_untouched(out, head_dim));
            }
        }
    }
}

TEST_CASE("across_variates gives a variate that is alone its own value, exactly") {
    constexpr Index head_dim = 32;
    const Rows query = random_rows(5, 5, head_dim, 28);
    const Rows value = random_rows(5, 5, head_dim, 29);
    const Rows single = run_across(query, query, value, spread({4}), head_dim, 1, 1);
    CHECK(same_bits(single.of(0, head_dim), value.of(0, head_dim), head_dim));
    const Rows apart = run_across(query, query, value, spread({4, 0, -3, 9, 2}), head_dim, 5, 5);
    for (Index row = 0; row < 5; ++row) {
        CHECK(same_bits(apart.of(row, head_dim), value.of(row, head_dim), head_dim));
    }
}

TEST_CASE("across_variates gives the same bits beside padding and beside other groups, even broken ones") {
    constexpr Index members = 21;
    for (const Index head_dim : {8, 32, 64}) {
        const Rows query = random_rows(members, members, head_dim, 30);
        const Rows key = random_rows(members, members, head_dim, 31);
        const Rows value = random_rows(members, members, head_dim, 32);
        const Rows alone =
            run_across(query, key, value, spread(std::vector<std::int32_t>(members, 6)), head_dim, members, members);

        // Members at every other place, NaN between and behind them.
        constexpr Index variates = 2 * members + 9;
        Rows wide_query(variates, head_dim);
        Rows wide_key(variates, head_dim);
        Rows wide_value(variates, head_dim);
        std::vector<std::int32_t> ids(variates, 6);
        for (Index row = 0; row < members; ++row) {
            std::copy_n(query.of(row, head_dim), head_dim, wide_query.of(2 * row + 1, head_dim));
            std::copy_n(key.of(row, head_dim), head_dim, wide_key.of(2 * row + 1, head_dim));
            std::copy_n(value.of(row, head_dim), head_dim, wide_value.of(2 * row + 1, head_dim));
            ids[static_cast<std::size_t>(2 * row)] = static_cast<std::int32_t>(row % 3);
        }
        const Rows wide = run_across(wide_query, wide_key, wide_value, spread(ids), head_dim, variates, 2 * members);
        for (Index row = 0; row < members; ++row) {
            CHECK(same_bits(wide.of(2 * row + 1, head_dim), alone.of(row, head_dim), head_dim));
        }
    }
}

TEST_CASE("a block against a cache gives the bits of a prefill, wherever the cache is cut in two") {
    using totograph::KeyMask;
    constexpr Index length = 41;
    const std::vector<std::int32_t> ones(length, 1);
    for (const Index head_dim : {8, 17, 20, 52, 64}) {
        const Rows query = random_rows(length, length, head_dim, 33);
        const Rows key = random_rows(length, length, head_dim, 34);
        const Rows value = random_rows(length, length, head_dim, 35);
        const Rows together = run_prefill(query, key, value, head_dim, length, length);
        Index differing = 0;
        for (const Index block : {1, 4, 7}) {
            for (const Index cut : {0, 1, 16, 33, 41}) {
                for (const KeyMask mask : {KeyMask::none, KeyMask::by_key, KeyMask::by_group}) {
                    for (Index first = 0; first + block <= length; first += block) {
                        const Rows part =
                            run_masked(query, first, block, key, value, length, cut, head_dim, mask, ones);
                        for (Index row = 0; row < block; ++row) {
                            const float* const expected = together.of(first + row, head_dim);
                            differing += same_bits(part.of(row, head_dim), expected, head_dim) ? 0 : 1;
                        }
                        CHECK(other_heads_untouched(part, head_dim));
                    }
                }
            }
        }
        CAPTURE(head_dim);
        CHECK(differing == 0);
    }
}

TEST_CASE("keys that a mask leaves out have no part in a result") {
    using totograph::KeyMask;
    constexpr Index head_dim = 20;
    constexpr Index members = 11;
    const Rows query = random_rows(members, members, head_dim, 36);
    const Rows key = random_rows(members, members, head_dim, 37);
    const Rows value = random_rows(members, members, head_dim, 38);
    const Rows alone = run_prefill(query, key, value, head_dim, members, members);

    // Members at every other place; between them NaN, of which each mask says that it does not count.
    constexpr Index length = 2 * members;
    Rows wide_query(length, head_dim);
    Rows wide_key(length, head_dim);
    Rows wide_value(length, head_dim);
    std::vector<std::int32_t> ids(length, 0);
    for (Index row = 0; row < members; ++row) {
        std::copy_n(query.of(row, head_dim), head_dim, wide_query.of(2 * row + 1, head_dim));
        std::copy_n(key.of(row, head_dim), head_dim, wide_key.of(2 * row + 1, head_dim));
        std::copy_n(value.of(row, head_dim), head_dim, wide_value.of(2 * row + 1, head_dim));
        ids[static_cast<std::size_t>(2 * row + 1)] = 1;
    }
    for (const KeyMask mask : {KeyMask::by_key, KeyMask::by_group}) {
        for (const Index cut : {0, 9, 22}) {
            const Rows wide = run_masked(wide_query, 0, length, wide_key, wide_value, length, cut, head_dim, mask, ids);
            for (Index row = 0; row < members; ++row) {
                CHECK(same_bits(wide.of(2 * row + 1, head_dim), alone.of(row, head_dim), head_dim));
            }
        }
    }
}
