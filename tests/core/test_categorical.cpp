// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/categorical.hpp>

#include "support/sanitized.hpp"
#include "support/torch_values.hpp"

using namespace totograph;
using totograph::test::repetitions;
using totograph::test::torch_values;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

std::int32_t draw(const std::vector<float>& logits, const CategoricalOptions& options, std::uint32_t word) {
    return sample_categorical(
        static_cast<std::int64_t>(logits.size()), [&](std::int64_t id) { return logits[static_cast<std::size_t>(id)]; },
        options, word);
}

}  // namespace

TEST_CASE("ids are drawn with the shares that PyTorch's filters leave") {
    constexpr std::size_t rows = 6;
    constexpr std::size_t vocabulary = 40;
    // Words that cut the unit interval evenly: an id gets as many as lie in its part of the cumulative shares.
    constexpr std::uint32_t words = repetitions(4096U);
    const std::vector<double> logits = torch_values("logits");
    const std::vector<double> cases = torch_values("cases");
    const std::vector<double> shares = torch_values("shares");
    REQUIRE(logits.size() == rows * vocabulary);
    for (std::size_t number = 0; number < cases.size() / 3; ++number) {
        const double temperature = cases[3 * number];
        const CategoricalOptions options{static_cast<std::int32_t>(cases[3 * number + 1]),
                                         static_cast<float>(cases[3 * number + 2])};
        for (std::size_t row = 0; row < rows; ++row) {
            CAPTURE(number);
            CAPTURE(row);
            std::vector<float> scaled(vocabulary);
            for (std::size_t id = 0; id < vocabulary; ++id) {
                scaled[id] = static_cast<float>(logits[row * vocabulary + id] / temperature);
            }
            std::vector<double> found(vocabulary, 0.0);
            for (std::uint32_t i = 0; i < words; ++i) {
                const std::int32_t id = draw(scaled, options, i * (0xffffffffU / words) + 0xffffffffU / words / 2);
                REQUIRE(id >= 0);
                found[static_cast<std::size_t>(id)] += 1;
            }
            for (std::size_t id = 0; id < vocabulary; ++id) {
                CAPTURE(id);
                const double share = shares[(number * rows + row) * vocabulary + id];
                // Both ends of a part may cut off a word; what is filtered out is never drawn.
                CHECK(std::abs(found[id] - share * words) <= (share > 0 ? 1.01 : 0.0));
            }
        }
    }
}

TEST_CASE("ids come in the order of the cumulative shares, and the ends are drawn") {
    const std::vector<float> logits{0.0F, -infinity, std::log(2.0F), no_number, 0.0F};
    CHECK(draw(logits, {}, 0) == 0);
    CHECK(draw(logits, {}, 0x3fffff00U) == 0);
    CHECK(draw(logits, {}, 0x40000100U) == 2);
    CHECK(draw(logits, {}, 0xbfffff00U) == 2);
    CHECK(draw(logits, {}, 0xc0000100U) == 4);
    CHECK(draw(logits, {}, 0xffffffffU) == 4);
}

TEST_CASE("a row without a logit that can be drawn gives -1, and an infinite one is certain") {
    CHECK(draw({-infinity, -infinity}, {}, 5) == -1);
    CHECK(draw({no_number, no_number}, {3, 0.5F}, 5) == -1);
    CHECK(draw({1.0F, infinity, 80.0F}, {}, 0xffffffffU) == 1);
    CHECK(draw({no_number, -infinity, -1e30F}, {2, 0.5F}, 0xffffffffU) == 2);
    CHECK(draw({3.0F}, {1, 0.1F}, 77) == 0);
}

TEST_CASE("ties with the last of the k largest stay, of the share only as many as cross it") {
    const std::vector<float> logits{1.0F, 2.0F, 1.0F, 1.0F, 0.0F};
    std::array<bool, 5> by_count{};
    std::array<bool, 5> by_share{};
    for (std::uint32_t i = 0; i < 1024; ++i) {
        by_count[static_cast<std::size_t>(draw(logits, {2, 1.0F}, i << 22U))] = true;
        by_share[static_cast<std::size_t>(draw(logits, {0, 0.65F}, i << 22U))] = true;
    }
    CHECK(by_count == std::array{true, true, true, true, false});
    for (std::uint32_t i = 0; i < 1024; ++i) {
        CHECK(draw(logits, {4, 1.0F}, i << 22U) != 4);  // all but the smallest
    }
    // Their shares are .164, .447, .164, .164 and .060: before the second of the equal ones is .611, before the third
    // .775.
    CHECK(by_share == std::array{true, true, true, false, false});
}

TEST_CASE("nanoVLM's filter: what crosses the share goes, the largest stays, and the temperature comes last") {
    // Its shares, in double, from logits in descending order; no two are equal.
    const auto shares_of = [](const std::vector<float>& logits, const CategoricalOptions& options) {
        std::vector<std::size_t> order(logits.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
        order.resize(std::min(order.size(), static_cast<std::size_t>(options.top_k)));
        const auto power = [&](std::size_t id, double by) { return std::exp(double{logits[id]} / by); };
        double total = 0;
        for (const std::size_t id : order) {
            total += power(id, 1);
        }
        std::vector<double> shares(logits.size(), 0.0);
        double cumulative = 0;
        double drawn = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            cumulative += power(order[i], 1) / total;
            if (i == 0 || cumulative <= double{options.top_p}) {
                shares[order[i]] = power(order[i], options.temperature);
                drawn += shares[order[i]];
            }
        }
        for (double& share : shares) {
            share /= drawn;
        }
        return shares;
    };
    constexpr std::uint32_t words = repetitions(4096U);
    constexpr std::size_t vocabulary = 40;
    const std::vector<double> all = torch_values("logits");
    for (const CategoricalOptions& options :
         {CategoricalOptions{40, 0.9F, true, 0.5F}, CategoricalOptions{5, 0.9F, true, 0.5F},
          CategoricalOptions{40, 0.01F, true, 2.0F}, CategoricalOptions{7, 0.6F, true, 1.0F},
          CategoricalOptions{3, 1.0F, true, 1.5F}}) {
        for (std::size_t row = 0; row < all.size() / vocabulary; ++row) {
            CAPTURE(options.top_k);
            CAPTURE(options.top_p);
            CAPTURE(row);
            std::vector<float> logits(vocabulary);
            for (std::size_t id = 0; id < vocabulary; ++id) {
                // Apart by more than rounding, also where the file has equal ones.
                logits[id] = static_cast<float>(all[row * vocabulary + id]) + 1e-3F * static_cast<float>(id);
            }
            std::vector<double> found(vocabulary, 0.0);
            for (std::uint32_t i = 0; i < words; ++i) {
                const std::int32_t id = draw(logits, options, i * (0xffffffffU / words) + 0xffffffffU / words / 2);
                REQUIRE(id >= 0);
                found[static_cast<std::size_t>(id)] += 1;
            }
            const std::vector<double> shares = shares_of(logits, options);
            for (std::size_t id = 0; id < vocabulary; ++id) {
                CAPTURE(id);
                // Both ends of a part may cut off a word; what is filtered out is never drawn.
                CHECK(std::abs(found[id] - shares[id] * words) <= (shares[id] > 0 ? 1.01 : 0.0));
            }
        }
    }
}

TEST_CASE("keys have the order of floats, and one for zero") {
    using categorical::key_of;
    const std::vector<float> ordered{-infinity, -3e38F, -1.0F, -1e-40F, 0.0F, 1e-40F, 1.0F, 3e38F, infinity};
    for (std::size_t i = 1; i < ordered.size(); ++i) {
        CHECK(key_of(ordered[i - 1]) < key_of(ordered[i]));
    }
    CHECK(key_of(-0.0F) == key_of(0.0F));
    CHECK(key_of(no_number) < key_of(-infinity));
}
