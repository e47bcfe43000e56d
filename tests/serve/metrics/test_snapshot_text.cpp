// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/metrics/snapshot_json.hpp>
#include <totograph/serve/metrics/snapshot_prometheus.hpp>

namespace tg = totograph;
using namespace totograph::serve;

namespace {

using Labels = std::map<std::string, std::string>;

struct Sample {
    std::string series;  ///< Name and labels as written.
    std::string name;
    Labels labels;
    double value = 0;
};

struct Family {
    std::string type;
    std::string help;
    std::vector<Sample> samples;
};

/// Reads the text exposition format 0.0.4, more strictly than a server: HELP and TYPE come once and before the samples
/// of a family, these stand together, and nothing is there twice. Throws when it is something else.
class ExpositionReader {
public:
    explicit ExpositionReader(std::string_view text) : text_(text) {
        require(text.empty() || text.back() == '\n', "the last line has no end");
        while (!text_.empty()) {
            if (takes("# HELP ")) {
                const std::string name = metric_name();
                expect(' ');
                require(families.count(name) == 0, "a family begins twice");
                families[name].help = rest_of_line();
                current_ = name;
            } else if (takes("# TYPE ")) {
                require(metric_name() == current_ && family().type.empty(), "a TYPE is not behind its HELP");
                expect(' ');
                family().type = rest_of_line();
                require(types.count(family().type) == 1, "there is no such type");
            } else {
                sample();
            }
        }
        for (const auto& [name, family] : families) {
            require(!family.type.empty() && !family.help.empty(), "a family has no TYPE or HELP");
        }
    }

    std::map<std::string, Family> families;
    std::map<std::string, double> values;  ///< By name and labels as written.

private:
    static inline const std::set<std::string> types{"counter", "gauge", "histogram", "summary", "untyped"};

    static void require(bool condition, const std::string& what) {
        if (!condition) {
            throw std::runtime_error(what);
        }
    }
    Family& family() { return families.at(current_); }

    bool takes(std::string_view begin) {
        const bool is_there = text_.starts_with(begin);
        text_.remove_prefix(is_there ? begin.size() : 0);
        return is_there;
    }
    char next() {
        require(!text_.empty(), "the text ends in a line");
        const char character = text_.front();
        text_.remove_prefix(1);
        return character;
    }
    void expect(char character) { require(next() == character, std::string("expected ") + character); }

    std::string rest_of_line() {
        std::string line;
        for (char character = next(); character != '\n'; character = next()) {
            require(character != '\\', "an escape in a HELP, of which there is none");
            line += character;
        }
        return line;
    }

    std::string name_of(std::string_view also) {
        std::string name;
        const auto belongs = [&](char c) {
            const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
            return is_letter || also.find(c) != std::string_view::npos || (!name.empty() && c >= '0' && c <= '9');
        };
        while (!text_.empty() && belongs(text_.front())) {
            name += next();
        }
        require(!name.empty(), "a name is missing");
        return name;
    }
    std::string metric_name() { return name_of(":"); }

    Labels labels() {
        Labels result;
        do {
            const std::string key = name_of("");
            require(takes("=\""), "a label's value is not quoted");
            std::string value;
            for (char character = next(); character != '"'; character = next()) {
                require(character != '\n', "a line ends in a label");
                if (character == '\\') {
                    const char escaped = next();
                    require(escaped == '\\' || escaped == '"' || escaped == 'n', "there is no such escape");
                    character = escaped == 'n' ? '\n' : escaped;
                }
                value += character;
            }
            require(result.emplace(key, value).second, "a label stands twice");
        } while (takes(","));
        expect('}');
        return result;
    }

    static double number(const std::string& text) {
        if (text == "+Inf") {
            return std::numeric_limits<double>::infinity();
        }
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        require(!text.empty() && *end == '\0' && std::isfinite(value), "a value is no number");
        return value;
    }

    void sample() {
        Sample sample;
        const std::string_view line = text_;
        sample.name = metric_name();
        sample.labels = takes("{") ? labels() : Labels{};
        sample.series = line.substr(0, line.size() - text_.size());
        expect(' ');
        sample.value = number(rest_of_line());
        std::string suffix = sample.name;
        require(suffix.starts_with(current_) && !current_.empty(), "a sample is not below its family");
        suffix.erase(0, current_.size());
        const bool is_histogram = family().type == "histogram";
        const bool is_summary = family().type == "summary";
        require(suffix.empty() ? !is_histogram
                               : (suffix == "_bucket" && is_histogram) ||
                                     ((suffix == "_sum" || suffix == "_count") && (is_histogram || is_summary)),
                "a sample's name is not one of its family's");
        require((sample.labels.count("le") == 1) == (suffix == "_bucket"), "a label le is where it must not be");
        require((sample.labels.count("quantile") == 1) == (is_summary && suffix.empty()), "so is a label quantile");
        require(family().type != "counter" || current_.ends_with("_total"), "a counter does not end in _total");
        for (const Sample& other : family().samples) {
            require(other.name != sample.name || other.labels != sample.labels, "a sample stands twice");
        }
        values[sample.series] = sample.value;
        family().samples.push_back(std::move(sample));
    }

    std::string_view text_;
    std::string current_;
};

constexpr tg::Bucket bucket{.batch = 2, .variates = 3, .context = 512, .horizon = 64, .samples = 16, .exogenous = 1};
constexpr std::string_view awkward = "a \"name\"\\\nof two lines, {b=\"c\"} \xc3\xa9";

/// Two entries (one without forecasts, with a name that needs escapes) and two caches.
Snapshot example() {
    Metrics metrics;
    ForecastCounters& counters = metrics.counters("cpu", bucket, Mode::max_autotune);
    counters.add_build(1.5, 4);
    counters.add_build(0.5, 1);
    counters.add_recapture(RecaptureReason::mode_changed);
    counters.add_bytes_held(5'000'000'000);
    counters.add_failure();
    counters.add_eager_fallback();
    counters.add_forecast(std::chrono::microseconds(10), 1);  // below the first written edge
    counters.add_forecast(std::chrono::milliseconds(3), 1, false);
    counters.add_forecast(std::chrono::nanoseconds(1 << 22), 1);  // an edge itself
    counters.add_forecast(std::chrono::minutes(2), 1, false);     // beyond the last
    metrics.counters(awkward, {.context = 32, .horizon = 8}, Mode::eager);
    metrics.accuracy().expect("shop", 5, std::array{3.0F, 4.0F}, std::array{2.0F, 3.0F}, std::array{4.0F, 5.0F});
    metrics.accuracy().observe("shop", 5, 2.5);
    metrics.accuracy().observe("shop", 9, 2.5);
    metrics.accuracy().expect("waits", 0, std::array{1.0F});
    Snapshot snapshot = metrics.snapshot();
    snapshot.caches = {{"tuning", 5, 2, 1, "The file 'x' is torn."}, {std::string(awkward), 0, 0, 0, ""}};
    snapshot.since_seconds = 12.25;
    snapshot.resets = 3;
    snapshot.requests_without_bucket = 17;
    return snapshot;
}

const std::string cpu = R"(backend="cpu",bucket="2 x 3 x 512 -> 64, 16 samples, 1 exogenous",mode="max-autotune")";
const std::string idle =
    "backend=\"a \\\"name\\\"\\\\\\nof two lines, {b=\\\"c\\\"} \xc3\xa9\","
    "bucket=\"1 x 1 x 32 -> 8, no samples\",mode=\"eager\"";

}  // namespace

TEST_CASE("JSON reads back as the snapshot") {
    const Snapshot snapshot = example();
    const LatencySummary latency = snapshot.entries[1].latency();
    auto expected = nlohmann::json::parse(R"({
        "since_seconds": 12.25, "resets": 3, "requests_without_bucket": 17,
        "entries": [
            {"backend": "", "mode": "eager",
             "bucket": {"batch": 1, "variates": 1, "context": 32, "horizon": 8, "samples": 0, "exogenous": 0},
             "forecasts": 0, "not_finite": 0, "failures": 0, "builds": 0, "captures": 0, "replays": 0,
             "recaptures": {"not_warmed_up": 0, "released": 0, "mode_changed": 0},
             "eager_fallbacks": 0, "graph_breaks": 0, "build_seconds": 0.0, "bytes_held": 0,
             "latency": {"count": 0, "sum_seconds": 0.0, "min_seconds": null, "p50_seconds": null,
                         "p90_seconds": null, "p99_seconds": null, "max_seconds": null}},
            {"backend": "cpu", "mode": "max-autotune",
             "bucket": {"batch": 2, "variates": 3, "context": 512, "horizon": 64, "samples": 16, "exogenous": 1},
             "forecasts": 4, "not_finite": 2, "failures": 1, "builds": 2, "captures": 5, "replays": 4,
             "recaptures": {"not_warmed_up": 0, "released": 0, "mode_changed": 1},
             "eager_fallbacks": 1, "graph_breaks": 0, "build_seconds": 2.0, "bytes_held": 5000000000,
             "latency": {"count": 4, "min_seconds": 1e-5, "max_seconds": 120.0}}],
        "caches": [
            {"name": "tuning", "hits": 5, "misses": 2, "ignored": 1, "last_reason": "The file 'x' is torn."},
            {"hits": 0, "misses": 0, "ignored": 0, "last_reason": ""}],
        "accuracy": [
            {"group": "shop", "scored": 1, "missed": 1, "window": 1, "banded": 1,
             "mae": 0.5, "rmse": 0.5, "bias": 0.5, "coverage": 1.0},
            {"group": "waits", "scored": 0, "missed": 0, "window": 0, "banded": 0,
             "mae": null, "rmse": null, "bias": null, "coverage": null}]})");
    expected["entries"][0]["backend"] = awkward;
    expected["caches"][1]["name"] = awkward;
    auto& latency_of_cpu = expected["entries"][1]["latency"];
    latency_of_cpu["sum_seconds"] = latency.sum_seconds;
    latency_of_cpu["p50_seconds"] = latency.p50;
    latency_of_cpu["p90_seconds"] = latency.p90;
    latency_of_cpu["p99_seconds"] = latency.p99;
    // As text, which a failure shows.
    CHECK(nlohmann::json::parse(json_text(snapshot)).dump(1) == expected.dump(1));
}

TEST_CASE("keys of the JSON keep their order") {
    const std::string text = json_text(example());
    std::size_t place = 0;
    for (const char* const key : {"since_seconds", "resets",        "requests_without_bucket",
                                  "entries",       "backend",       "bucket",
                                  "batch",         "variates",      "context",
                                  "horizon",       "samples",       "exogenous",
                                  "mode",          "forecasts",     "not_finite",
                                  "failures",      "builds",        "captures",
                                  "replays",       "recaptures",    "not_warmed_up",
                                  "released",      "mode_changed",  "eager_fallbacks",
                                  "graph_breaks",  "build_seconds", "bytes_held",
                                  "latency",       "count",         "sum_seconds",
                                  "min_seconds",   "p50_seconds",   "p90_seconds",
                                  "p99_seconds",   "max_seconds",   "caches",
                                  "name",          "hits",          "misses",
                                  "ignored",       "last_reason",   "accuracy",
                                  "group",         "scored",        "missed",
                                  "window",        "banded",        "mae",
                                  "rmse",          "bias",          "coverage"}) {
        CAPTURE(key);
        place = text.find(std::string(1, '"').append(key).append("\": "), place);
        REQUIRE(place != std::string::npos);
    }
}

TEST_CASE("JSON of nothing, and of names that are no UTF-8, is JSON") {
    CHECK(nlohmann::json::parse(json_text(Snapshot{})).dump() ==
          R"({"accuracy":[],"caches":[],"entries":[],"requests_without_bucket":0,"resets":0,"since_seconds":0.0})");
    Snapshot broken;
    broken.caches.push_back({"weights", 0, 0, 1, "The folder '\xff\xfe' is no folder."});
    const auto read = nlohmann::json::parse(json_text(broken));
    CHECK(read["caches"][0]["last_reason"].get<std::string>() == "The folder '\xef\xbf\xbd\xef\xbf\xbd' is no folder.");
}

TEST_CASE("Prometheus text has each count under its name") {
    const Snapshot snapshot = example();
    const ExpositionReader reader(prometheus_text(snapshot));
    const LatencySummary latency = snapshot.entries[1].latency();
    struct Expected {
        std::string family;
        std::string labels;
        double value;
    };
    for (const Expected& expected : std::vector<Expected>{
             {"forecasts_total", cpu, 4},
             {"forecasts_total", idle, 0},
             {"accuracy_scored_total", "group=\"shop\"", 1},
             {"accuracy_missed_total", "group=\"shop\"", 1},
             {"accuracy_window_steps", "group=\"waits\"", 0},
             {"accuracy_mae", "group=\"shop\"", 0.5},
             {"accuracy_rmse", "group=\"shop\"", 0.5},
             {"accuracy_bias", "group=\"shop\"", 0.5},
             {"accuracy_coverage_ratio", "group=\"shop\"", 1},
             {"forecasts_not_finite_total", cpu, 2},
             {"forecasts_not_finite_total", idle, 0},
             {"forecast_failures_total", cpu, 1},
             {"builds_total", cpu, 2},
             {"build_seconds_total", cpu, 2},
             {"captures_total", cpu, 5},
             {"replays_total", cpu, 4},
             {"eager_fallbacks_total", cpu, 1},
             {"graph_breaks_total", cpu, 0},
             {"recaptures_total", cpu + ",reason=\"not_warmed_up\"", 0},
             {"recaptures_total", cpu + ",reason=\"released\"", 0},
             {"recaptures_total", cpu + ",reason=\"mode_changed\"", 1},
             {"cache_hits_total", "cache=\"tuning\"", 5},
             {"cache_misses_total", "cache=\"tuning\"", 2},
             {"cache_files_ignored_total", "cache=\"tuning\"", 1},
             {"held_bytes", cpu, 5e9},
             {"forecast_latency_seconds", cpu + ",quantile=\"0\"", 1e-5},
             {"forecast_latency_seconds", cpu + ",quantile=\"0.5\"", latency.p50},
             {"forecast_latency_seconds", cpu + ",quantile=\"0.9\"", latency.p90},
             {"forecast_latency_seconds", cpu + ",quantile=\"0.99\"", latency.p99},
             {"forecast_latency_seconds", cpu + ",quantile=\"1\"", 120},
             {"forecast_latency_seconds_count", cpu, 4},
             {"forecast_latency_seconds_sum", cpu, latency.sum_seconds},
         }) {
        const std::string series = "totograph_" + expected.family + "{" + expected.labels + "}";
        CAPTURE(series);
        REQUIRE(reader.values.count(series) == 1);
        CHECK(reader.values.at(series) == expected.value);
    }
    for (const auto& [name, family] : reader.families) {
        CHECK((family.type == "counter") == name.ends_with("_total"));
    }
    CHECK(reader.families.at("totograph_held_bytes").type == "gauge");
    CHECK(reader.families.at("totograph_forecast_latency_seconds").type == "summary");
    CHECK(reader.values.at("totograph_counted_seconds") == 12.25);
    CHECK(reader.values.at("totograph_requests_without_bucket_total") == 17);
    CHECK(reader.families.size() == 25);
    CHECK(reader.families.at("totograph_forecast_latency_seconds").samples.size() == 5 + 2);
    // Names come back as they were.
    CHECK(reader.families.at("totograph_forecasts_total").samples.at(0).labels.at("backend") == awkward);
    CHECK(reader.families.at("totograph_cache_hits_total").samples.at(1).labels.at("cache") == awkward);
}

TEST_CASE("Prometheus' histogram counts exactly what is at most as long as each edge") {
    const ExpositionReader reader(prometheus_text(example()));
    const Family& family = reader.families.at("totograph_forecast_seconds");
    CHECK(family.type == "histogram");
    int edges = 0;
    double last_edge = 0;
    for (const Sample& sample : family.samples) {
        if (sample.name != "totograph_forecast_seconds_bucket" || sample.labels.at("backend") != "cpu") {
            continue;
        }
        const std::string& text = sample.labels.at("le");
        const double edge = text == "+Inf" ? std::numeric_limits<double>::infinity() : std::stod(text);
        CHECK(edge > last_edge);
        int expected = 0;
        for (const double seconds : {1e-5, 3e-3, 4194304e-9, 120.0}) {
            expected += seconds <= edge ? 1 : 0;
        }
        CHECK(sample.value == expected);
        last_edge = edge;
        ++edges;
    }
    CHECK(edges == 42);
    CHECK(std::isinf(last_edge));
    const std::string name = "totograph_forecast_seconds";
    CHECK(reader.values.at(name + "_bucket{" + cpu + ",le=\"6.5536e-05\"}") == 1);
    CHECK(reader.values.at(name + "_count{" + cpu + "}") == 4);
    CHECK(reader.values.at(name + "_sum{" + cpu + "}") == doctest::Approx(120.007204304));
}

TEST_CASE("all that is counted stands there at 0, latencies once there can be any") {
    Metrics metrics;
    ForecastCounters& counters = metrics.counters(awkward, {.context = 32, .horizon = 8}, Mode::eager);
    for (const bool is_built : {false, true}) {
        CAPTURE(is_built);
        if (is_built) {
            counters.add_build(0.25, 0);
        }
        const ExpositionReader reader(prometheus_text(metrics.snapshot()));
        CHECK(reader.families.size() == 25);
        for (const char* const counted : {"forecasts_total", "forecasts_not_finite_total", "forecast_failures_total",
                                          "captures_total", "replays_total", "eager_fallbacks_total"}) {
            CAPTURE(counted);
            CHECK(reader.values.at("totograph_" + std::string(counted) + "{" + idle + "}") == 0);
        }
        for (const RecaptureReason reason : all_recapture_reasons) {
            CHECK(reader.values.at("totograph_recaptures_total{" + idle + ",reason=\"" + std::string(name(reason)) +
                                   "\"}") == 0);
        }
        CHECK(reader.values.at("totograph_requests_without_bucket_total") == 0);
        // Of a histogram, all edges or none; without forecasts there are no quantiles.
        CHECK(reader.families.at("totograph_forecast_seconds").samples.size() == (is_built ? 42 + 2 : 0));
        CHECK(reader.families.at("totograph_forecast_latency_seconds").samples.size() == (is_built ? 2 : 0));
        if (is_built) {
            CHECK(reader.values.at("totograph_forecast_seconds_bucket{" + idle + ",le=\"+Inf\"}") == 0);
            CHECK(reader.values.at("totograph_forecast_seconds_count{" + idle + "}") == 0);
            CHECK(reader.values.at("totograph_forecast_latency_seconds_count{" + idle + "}") == 0);
        }
    }
}

TEST_CASE("the reader of this test refuses what is no exposition text") {
    const std::string header = "# HELP a_total Help.\n# TYPE a_total counter\n";
    CHECK_NOTHROW(ExpositionReader(header + "a_total{b=\"c\",d=\"\\\\\\\"\\n\"} 1\n"));
    for (const char* const bad :
         {"a_total 1", "b_total 1\n", "a_total{b=\"c\"} \n", "a_total{b=c} 1\n", "a_total{b=\"c\nd\"} 1\n",
          "a_total{b=\"\\t\"} 1\n", "a_total 1\na_total 2\n", "a_total NaN1\n", "a_total{b=\"1\",b=\"2\"} 1\n",
          "# TYPE a_total counter\n", "# HELP a_total Again.\n", "a_total_sum 1\n", "a_total{1b=\"c\"} 1\n",
          "a_total{le=\"1\"} 1\n", "a_total{quantile=\"1\"} 1\n"}) {
        CAPTURE(bad);
        CHECK_THROWS(ExpositionReader(header + bad));
    }
    CHECK_THROWS(ExpositionReader("# HELP a Help.\n# TYPE a counter\na 1\n"));
    CHECK_THROWS(ExpositionReader("# HELP a Help.\n"));
}

TEST_CASE("Prometheus' own tool accepts the text") {
    if (std::system("command -v promtool > /dev/null 2>&1") != 0) {
        MESSAGE("skipped: there is no promtool on the path (Debian's package prometheus has it)");
        return;
    }
    std::FILE* const tool = ::popen("promtool check metrics", "w");
    REQUIRE(tool != nullptr);
    const std::string text = prometheus_text(example());
    CHECK(std::fwrite(text.data(), 1, text.size(), tool) == text.size());
    CHECK(::pclose(tool) == 0);
}
