// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include <totograph/totograph.hpp>

#include "models/kronos/cases.hpp"
#include "models/kronos/fixture.hpp"

// What a user of `CandleForecaster` relies on.

namespace {

namespace tg = totograph;
using tg::Index;
using tg::kronos::CandleForecast;
using tg::kronos::CandleOptions;
using tg::kronos::Candles;
using tg::kronos::Column;
using Model = kronos_cases::head_of_52;

/// Candles that walk.
struct Symbol {
    std::array<std::vector<float>, 6> columns;
    std::vector<std::int64_t> time;
    std::vector<std::int64_t> future;

    Symbol(Index steps, Index horizon, unsigned number) {
        double price = 50 + number;
        for (Index i = 0; i < steps + horizon; ++i) {
            const std::int64_t at = 1700000000 + 900 * i;
            if (i >= steps) {
                future.push_back(at);
                continue;
            }
            time.push_back(at);
            const double next = price * (1 + 0.02 * std::sin(static_cast<double>(i) * 1.7 + number));
            const std::array<double, 6> candle{price,
                                               std::max(price, next) * 1.003,
                                               std::min(price, next) * 0.998,
                                               next,
                                               1000 + 300 * std::cos(static_cast<double>(i)),
                                               50000 + 9000 * std::sin(static_cast<double>(i) * 0.3)};
            for (std::size_t c = 0; c < candle.size(); ++c) {
                columns[c].push_back(static_cast<float>(candle[c]));
            }
            price = next;
        }
    }
    [[nodiscard]] Candles candles() const {
        return {.open = columns[0],
                .high = columns[1],
                .low = columns[2],
                .close = columns[3],
                .volume = columns[4],
                .amount = columns[5],
                .time = time,
                .future_time = future};
    }
};

std::vector<float> all_values(const CandleForecast& forecast, Index symbol) {
    std::vector<float> result;
    for (Index column = 0; column < tg::kronos::column_count; ++column) {
        const auto values = forecast.values(static_cast<Column>(column), symbol);
        result.insert(result.end(), values.begin(), values.end());
    }
    return result;
}

using Forecaster = tg::kronos::CandleForecaster<Model, Model::bucket>;

Forecaster& forecaster() {
    static Forecaster instance(kronos_fixture::load<Model>("head_of_52"));
    return instance;
}

constexpr CandleOptions options{.seed = 11, .temperature = 0.8F, .top_p = 0.95F};

}  // namespace

TEST_CASE("a path is the same beside others, in parts, and from a history that is shorter than its neighbour's") {
    const Symbol first(14, 10, 0);
    const Symbol second(9, 10, 1);
    const Symbol third(12, 10, 2);
    const std::array symbols{first.candles(), second.candles(), third.candles()};
    CandleOptions more = options;
    more.paths = 5;  // of buckets with two series and two paths
    const CandleForecast together = forecaster().forecast(symbols, more);
    CHECK(together.symbols() == 3);
    CHECK(together.paths() == 5);
    CHECK(together.is_finite());
    for (std::uint32_t number = 0; number < 3; ++number) {
        CandleOptions alone = more;
        alone.first_series = number;
        CHECK(all_values(forecaster().forecast(symbols[number], alone), 0) == all_values(together, number));
    }
    // Paths differ, and so do other seeds.
    CHECK(together.value(Column::close, 0, 9) != together.value(Column::close, 1, 9));
    CandleOptions other = more;
    other.seed = 12;
    CHECK(all_values(forecaster().forecast(symbols, other), 0) != all_values(together, 0));
}

TEST_CASE("what paths have in common of a window that slides is computed once, and changes no path") {
    constexpr tg::Bucket several = tg::kronos::candle_bucket(3, 14, 10, 3);
    constexpr tg::Bucket one = tg::kronos::candle_bucket(1, 14, 10, 1);
    using Shared = tg::kronos::SharedWindow<tg::kronos::Parts<Model, several>>;
    static_assert(std::is_same_v<Shared, tg::kronos::Window<tg::kronos::Parts<Model, several>>>);
    static_assert(!std::is_same_v<tg::kronos::SharedWindow<tg::kronos::Parts<Model, one>>,
                                  tg::kronos::Window<tg::kronos::Parts<Model, one>>>);
    const auto weights = kronos_fixture::load<Model>("head_of_52");
    tg::kronos::CandleForecaster<Model, several> of_several(weights);
    tg::kronos::CandleForecaster<Model, one> of_one(weights);
    // The last one has fewer candles than a path's own rows.
    const Symbol first(14, 10, 0);
    const Symbol second(11, 10, 1);
    const Symbol third(Shared::own - 6, 10, 2);
    const std::array symbols{first.candles(), second.candles(), third.candles()};
    CandleOptions paths = options;
    paths.paths = 3;
    const CandleForecast together = of_several.forecast(symbols, paths);
    // Of fewer paths, the rows of others are left out, and each path has the same bits.
    CandleOptions two = paths;
    two.paths = 2;
    const CandleForecast fewer = of_several.forecast(symbols, two);
    for (std::uint32_t number = 0; number < 3; ++number) {
        for (Index path = 0; path < 2; ++path) {
            for (Index step = 0; step < 10; ++step) {
                CHECK(fewer.value(Column::close, path, step, number) ==
                      together.value(Column::close, path, step, number));
            }
        }
    }
    for (std::uint32_t number = 0; number < 3; ++number) {
        CAPTURE(number);
        CandleOptions alone = paths;
        alone.first_series = number;
        const std::vector<float> expected = all_values(of_one.forecast(symbols[number], alone), 0);
        const std::vector<float> found = all_values(together, number);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            // Ids are the same; statistics and reconstruction are those of one program.
            CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
        }
    }
}

TEST_CASE("a shorter horizon is the beginning of a longer one") {
    const Symbol symbol(8, 10, 3);  // never slides
    Candles shorter = symbol.candles();
    const CandleForecast longer = forecaster().forecast(shorter, options);
    shorter.future_time = shorter.future_time.first(4);
    const CandleForecast begun = forecaster().forecast(shorter, options);
    CHECK(begun.horizon() == 4);
    for (Index step = 0; step < 4; ++step) {
        CHECK(begun.value(Column::close, 1, step) == longer.value(Column::close, 1, step));
    }
}

TEST_CASE("means and quantiles are those of the paths, and candles can be made consistent") {
    const Symbol symbol(14, 6, 4);
    CandleOptions many = options;
    many.paths = 7;
    const CandleForecast raw = forecaster().forecast(symbol.candles(), many);
    many.consistent = true;
    const CandleForecast made = forecaster().forecast(symbol.candles(), many);
    Index changed = 0;
    for (Index step = 0; step < 6; ++step) {
        double sum = 0;
        for (Index path = 0; path < 7; ++path) {
            sum += static_cast<double>(raw.value(Column::close, path, step));
            const auto of = [&](Column column) { return made.value(column, path, step); };
            CHECK(of(Column::low) <= std::min(of(Column::open), of(Column::close)));
            CHECK(of(Column::high) >= std::max(of(Column::open), of(Column::close)));
            CHECK(of(Column::volume) >= 0);
            CHECK(of(Column::amount) >= 0);
            CHECK(of(Column::close) == raw.value(Column::close, path, step));
            changed += of(Column::low) != raw.value(Column::low, path, step) ? 1 : 0;
        }
        CHECK(raw.mean(Column::close)[static_cast<std::size_t>(step)] == doctest::Approx(sum / 7).epsilon(1e-6));
        CHECK(raw.quantile(0, Column::close)[static_cast<std::size_t>(step)] <=
              raw.quantile(1, Column::close)[static_cast<std::size_t>(step)]);
    }
    CHECK(changed > 0);  // an untrained model puts lows anywhere
}

TEST_CASE("checkpoints that do not belong there are refused with a sentence") {
    const auto refusal = [](const std::filesystem::path& tokenizer, const std::filesystem::path& predictor) {
        try {
            (void)tg::kronos::load<Model>(tokenizer, predictor);
        } catch (const tg::Error& error) {
            return std::string(error.what());
        }
        return std::string("nothing was refused");
    };
    const auto own = kronos_fixture::folder("head_of_52");
    const auto other = kronos_fixture::folder("no_volume");
    CHECK(refusal(own / "predictor", own / "tokenizer").find("is not that of a Kronos tokenizer") != std::string::npos);
    CHECK(refusal(own / "tokenizer", own / "tokenizer").find("is not that of a Kronos predictor") != std::string::npos);
    CHECK(refusal(other / "tokenizer", own / "predictor").find("d_model") != std::string::npos);
    CHECK(refusal(own / "tokenizer", other / "predictor").find("n_heads") != std::string::npos);
    CHECK(refusal(own / "nowhere", own / "predictor").find("nowhere") != std::string::npos);
}

TEST_CASE("published sizes have as many parameters as the published checkpoints") {
    CHECK(tg::kronos::mini::config.predictor.parameters() == 4108032);
    CHECK(tg::kronos::small::config.predictor.parameters() == 24741376);
    CHECK(tg::kronos::base::config.predictor.parameters() == 102310592);
    // The published tokenizer's 3,958,042, less the layer of 256 x (10 + 1) that only training reads.
    CHECK(tg::kronos::base::config.tokenizer.parameters() == 3958042 - 256 * 11);
    // The programs read those tensors, and no other.
    Index read = 0;
    for (const tg::NamedShape& tensor : tg::checkpoint_tensors<tg::kronos::small>()) {
        read += tensor.shape.size();
    }
    CHECK(read == 24741376 + 3958042 - 256 * 11);
}
