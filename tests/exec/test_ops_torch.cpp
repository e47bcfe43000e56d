// SPDX-License-Identifier: Apache-2.0
// Ops that no fixture of a model has: against what PyTorch computes, on both executors.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/categorical.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/layer_norm.hpp>

#include "support/executors.hpp"
#include "support/torch_values.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

template <class T, class Executor>
void fill(const Executor& executor, std::string_view state, const std::vector<double>& values) {
    const auto to = state_of<T>(executor, state);
    REQUIRE(to.size() == values.size());
    for (std::size_t at = 0; at < to.size(); ++at) {
        to[at] = static_cast<T>(values[at]);
    }
}

template <class T, class Executor>
void check(const Executor& executor, std::string_view state, const std::vector<double>& expected, Tolerance tolerance) {
    const auto found = state_of<T>(executor, state);
    REQUIRE(found.size() == expected.size());
    for (std::size_t at = 0; at < found.size(); ++at) {
        CAPTURE(at);
        CHECK_MESSAGE(tolerance.accepts(static_cast<double>(found[at]), expected[at]), std::string(state), ": found ",
                      found[at], ", expected ", expected[at]);
    }
}

struct Functions {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {32});
        r.tap("out sinh", sinh(x));
        r.tap("out gelu", gelu(x));
        r.tap("out asinh", asinh(r.state("wide", {39})));
        r.tap("out norm",
              nn::layer_norm(r.state("rows", {5, 12}), r.state("scale", {12}), r.state("shift", {12}), 1e-5));
    }
};

struct Rows {
    static constexpr void record(Recorder& r) {
        const Tensor table = r.state("table", {7, 5});
        const Tensor ids = r.state("ids", {2, 3}, DType::i32);
        r.tap("out rows", embedding(table, ids));
        r.tap("out other rows", embedding(permute(r.state("turned", {5, 7}), {1, 0}), permute(ids, {1, 0})));
        r.tap("out no rows", embedding(table, ids * 7.0 - 7.0));
        r.tap("out weights",
              embedding(r.weight("table", {4, 6}), r.constant(2, DType::i32) + r.state("none", {1}, DType::i32)));
        const Tensor scores = r.state("scores", {6, 9});
        r.tap("out argmax", argmax(scores));
        r.tap("out amax", amax(scores));
        r.tap("out amin", amin(scores));
        r.tap("out argmax of columns", argmax(permute(slice(scores, 1, 1, 4), {1, 0})));
        r.tap("out sorted", sort(scores));
        r.tap("out sorted columns", sort(permute(scores, {1, 0})));
        r.tap("out packed", pack_bits(r.state("signs", {8, 10})));
        r.tap("out bits", unpack_bits(r.state("packed", {8, 1}, DType::i32), 10));
        r.tap("out all bits", pack_bits(r.state("24 signs", {1, 24})));
        r.tap("out all signs", unpack_bits(r.state("all", {1, 1}, DType::i32), 24));
    }
};

struct Draws {
    static constexpr Index samples = 64;
    static constexpr void record(Recorder& r) {
        const CategoricalFilter filter{r.state("temperature", {1}), r.state("top_k", {1}, DType::i32),
                                       r.state("top_p", {1})};
        const DrawNames names{r.state("seed", {2}, DType::i32), r.state("first", {2}, DType::i32),
                              r.state("time", {1}, DType::i32)};
        const Tensor logits = r.state("logits", {1, 1, 3, 2, 40});
        r.tap("out ids", sample_categorical(logits, samples, filter, names, 2));
        const Tensor own = expand(reshape(r.state("own", {2, 40}), {1, 2, 1, 1, 40}), {1, 2, 3, 1, 40});
        r.tap("out own ids", sample_categorical(own * 1.0, 2, filter, names));
        const CategoricalFilter late{filter.temperature, filter.top_k, filter.top_p, true, true};
        r.tap("out late ids", sample_categorical(logits, samples, late, names, 2));
    }
};

}  // namespace

TEST_CASE("functions and a layer norm are PyTorch's") {
    run_on_both<Functions>(
        [](auto& executor) {
            for (const std::string_view name : {"x", "wide", "rows", "scale", "shift"}) {
                fill<float>(executor, name, torch_values(name));
            }
        },
        [](auto& executor) {
            // A few roundings of f32; a power of e has the rounding of its exponent, up to 25 here, times that.
            check<float>(executor, "out sinh", torch_values("sinh"), {1e-6});
            check<float>(executor, "out asinh", torch_values("asinh"), {1e-6});
            check<float>(executor, "out gelu", torch_values("gelu"), {1e-5, 1e-37});
            // Numbers of about 5, of which the mean is taken, scaled by up to 3.
            check<float>(executor, "out norm", torch_values("layer_norm"), {0, 5e-6});
            // The sign of zero, too.
            CHECK(std::signbit(state_of<float>(executor, "out sinh")[16]));
            CHECK(std::signbit(state_of<float>(executor, "out asinh")[16]));
            CHECK_FALSE(std::signbit(state_of<float>(executor, "out sinh")[0]));
        });
}

TEST_CASE("rows by ids, largest places, sorted rows and packed bits are PyTorch's") {
    const std::vector<double> table = torch_values("table");
    const std::vector<double> ids = torch_values("ids");
    run_on_both<Rows>(
        [&](auto& executor) {
            fill<float>(executor, "table", table);
            fill<std::int32_t>(executor, "ids", ids);
            std::vector<double> turned(35);
            for (std::size_t at = 0; at < 35; ++at) {
                turned[at % 5 * 7 + at / 5] = table[at];
            }
            fill<float>(executor, "turned", turned);
            fill<float>(executor, "scores", torch_values("scores"));
            fill<float>(executor, "signs", torch_values("signs"));
            fill<std::int32_t>(executor, "packed", torch_values("packed"));
            fill<float>(executor, "24 signs", std::vector<double>(24, 1.0));
            fill<std::int32_t>(executor, "all", {0xffffff});
            fill<std::int32_t>(executor, "none", {0});
        },
        [&](auto& executor) {
            check<float>(executor, "out rows", torch_values("embedding"), {});
            const auto other = state_of<float>(executor, "out other rows");
            CHECK(static_cast<double>(other[1 * 5 + 2]) == table[3 * 5 + 2]);  // of id (1, 0)
            CHECK(static_cast<double>(other[4 * 5 + 4]) == table[3 * 5 + 4]);  // of id (0, 2)
            // 6, 0 and 3 become 35, -7 and 14: no rows. So does each of 5; 1 becomes 0.
            const auto none = state_of<float>(executor, "out no rows");
            for (std::size_t at = 0; at < 30; ++at) {
                const bool is_row = ids[at / 5] == 1;
                CHECK((is_row ? static_cast<double>(none[at]) == table[at % 5] : std::isnan(none[at])));
            }
            for (std::size_t at = 0; at < 6; ++at) {
                CHECK(static_cast<double>(state_of<float>(executor, "out weights")[at]) ==
                      weight("table", static_cast<Index>(12 + at)));
            }
            check<std::int32_t>(executor, "out argmax", torch_values("argmax"), {});
            const std::vector<double> scores = torch_values("scores");
            const std::vector<double> places = torch_values("argmax");
            for (std::size_t row = 0; row < 6; ++row) {
                // The number at torch's place, which is that of NaN where there is one.
                const double expected = scores[row * 9 + static_cast<std::size_t>(places[row])];
                const auto found = static_cast<double>(state_of<float>(executor, "out amax")[row]);
                CHECK((std::isnan(expected) ? std::isnan(found) : found == expected));
                const auto begin = scores.begin() + static_cast<std::ptrdiff_t>(row * 9);
                const auto least = static_cast<double>(state_of<float>(executor, "out amin")[row]);
                CHECK((std::isnan(expected) ? std::isnan(least) : least == *std::min_element(begin, begin + 9)));
            }
            for (std::size_t column = 0; column < 4; ++column) {
                std::size_t best = 0;
                for (std::size_t row = 1; row < 6 && !std::isnan(scores[best * 9 + column + 1]); ++row) {
                    const double value = scores[row * 9 + column + 1];
                    best = value > scores[best * 9 + column + 1] || std::isnan(value) ? row : best;
                }
                CHECK(state_of<std::int32_t>(executor, "out argmax of columns")[column] ==
                      static_cast<std::int32_t>(best));
            }
            const auto check_sorted = [&](const char* state, std::size_t rows, std::size_t row_step, std::size_t step) {
                const auto found = state_of<float>(executor, state);
                const std::size_t columns = scores.size() / rows;
                for (std::size_t row = 0; row < rows; ++row) {
                    std::vector<double> expected;
                    for (std::size_t column = 0; column < columns; ++column) {
                        expected.push_back(scores[row * row_step + column * step]);
                    }
                    const auto end = std::partition(expected.begin(), expected.end(), [](double x) { return x == x; });
                    std::sort(expected.begin(), end);
                    for (std::size_t column = 0; column < columns; ++column) {
                        const auto value = static_cast<double>(found[row * columns + column]);
                        CHECK((value == expected[column] || (std::isnan(value) && std::isnan(expected[column]))));
                    }
                }
            };
            check_sorted("out sorted", 6, 9, 1);
            check_sorted("out sorted columns", 9, 1, 9);
            check<std::int32_t>(executor, "out packed", torch_values("packed"), {});
            check<float>(executor, "out bits", torch_values("bits"), {});
            CHECK(state_of<std::int32_t>(executor, "out all bits")[0] == 0xffffff);
            check<float>(executor, "out all signs", std::vector<double>(24, 1.0), {});
        });
}

TEST_CASE("draws over a vocabulary have the names of their places") {
    const std::vector<double> logits = torch_values("logits");
    run_on_both<Draws>(
        [&](auto& executor) {
            fill<float>(executor, "logits", logits);
            fill<float>(executor, "own", {logits.begin(), logits.begin() + 80});
            fill<float>(executor, "temperature", {0.5});
            fill<std::int32_t>(executor, "top_k", {8});
            fill<float>(executor, "top_p", {0.75});
            fill<std::int32_t>(executor, "seed", {11, -3});
            fill<std::int32_t>(executor, "first", {5, 1000});
            fill<std::int32_t>(executor, "time", {30});
        },
        [&](auto& executor) {
            const auto expected = [&](std::size_t row, const SampleKey& key, std::size_t word) {
                return sample_categorical(
                    40,
                    [&](Index id) {
                        return static_cast<float>(logits[row * 40 + static_cast<std::size_t>(id)]) / 0.5F;
                    },
                    {8, 0.75F}, random_words(key).word[word]);
            };
            SampleKey key;
            key.seed = 0xfffffffd0000000bU;
            key.series = 5;
            const auto ids = state_of<std::int32_t>(executor, "out ids");  // [1, samples, 3, 2]
            for (std::uint32_t sample = 0; sample < Draws::samples; ++sample) {
                for (std::uint32_t row = 0; row < 6; ++row) {
                    key.sample = 1000 + sample;
                    key.variate = row / 2;
                    key.time = 30 + row % 2;
                    CHECK(ids[sample * 6 + row] == expected(row, key, 2));
                }
            }
            const auto late = state_of<std::int32_t>(executor, "out late ids");  // [1, samples, 3, 2]
            for (std::uint32_t at = 0; at < Draws::samples * 6; ++at) {
                const std::uint32_t row = at % 6;
                key.sample = 1000 + at / 6;
                key.variate = row / 2;
                key.time = 30 + row % 2;
                const auto logit = [&](Index id) {
                    return static_cast<float>(logits[row * 40 + static_cast<std::size_t>(id)]);
                };
                CHECK(late[at] == sample_categorical(40, logit, {8, 0.75F, true, 0.5F}, random_words(key).word[2]));
            }
            const auto own = state_of<std::int32_t>(executor, "out own ids");  // [1, 2, 3, 1]
            for (std::uint32_t sample = 0; sample < 2; ++sample) {
                for (std::uint32_t variate = 0; variate < 3; ++variate) {
                    key.sample = 1000 + sample;
                    key.variate = variate;
                    key.time = 30;
                    CHECK(own[sample * 3 + variate] == expected(sample, key, 0));
                }
            }
        });
}

TEST_CASE("mistakes in rows, bits and draws have sentences") {
    const auto message = [](auto&& record) {
        Recorder r;
        record(r);
        return std::string(r.graph().error.message());
    };
    CHECK(message([](Recorder& r) {
              embedding(r.state("t", {4, 2}), r.state("x", {3}));
          }) == "embedding: the table is f32, the ids f32; they must be f32 and i32");
    CHECK(message([](Recorder& r) { embedding(r.state("t", {4}), r.state("i", {3}, DType::i32)); }) ==
          "embedding: the table must be [rows, width], found [4]");
    CHECK(message([](Recorder& r) { amin(r.state("t", {4}, DType::i32)); }) == "amin: i32; cast to f64 before");
    CHECK(message([](Recorder& r) { argmax(r.state("t", {4}, DType::i32)); }) == "argmax: i32; cast to f32 before");
    CHECK(message([](Recorder& r) {
              pack_bits(r.state("t", {2, 25}));
          }) == "pack_bits: 25 bits; integers of 1 to 24 bits are packed");
    CHECK(message([](Recorder& r) {
              const Tensor one = r.state("one", {1});
              const Tensor whole = r.state("whole", {1}, DType::i32);
              const Tensor two = r.state("two", {2}, DType::i32);
              sample_categorical(r.state("x", {2, 3, 4}), 5, {one, whole, one}, {two, two, whole});
          }) ==
          "sample_categorical: 5 samples of logits that are f32 [2, 3, 4]; they must be f32 [series, 1 or samples, "
          "variates, positions, vocabulary]");
}
