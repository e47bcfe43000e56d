// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/package/find_package.hpp>
#include <totograph/package/package.hpp>
#include <totograph/package/packaged_model.hpp>
#include <totograph/serve/service.hpp>

namespace tg = totograph;

namespace {

/// That of this build, or another one of the same sizes.
const std::filesystem::path package_file = [] {
    const char* const other = std::getenv("TOTOGRAPH_TEST_PACKAGE");
    return other == nullptr ? TINY_PACKAGE : other;
}();
const std::filesystem::path demo = std::string(TOTOGRAPH_MODELS) + "/demo";

std::vector<float> waves(std::size_t count) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) {
        values.push_back(static_cast<float>(std::sin(0.3 * static_cast<double>(i)) + 0.01 * static_cast<double>(i)));
    }
    return values;
}

/// Equal memory, so that differences of one bit show.
bool are_equal(const tg::Forecast& a, const tg::Forecast& b) {
    return a.values().size() == b.values().size() &&
           std::equal(a.values().begin(), a.values().end(), b.values().begin());
}

std::string read_bytes() {
    std::ifstream file(package_file, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What loading a file of these bytes says.
std::string refusal(const std::string& bytes) {
    const auto path = std::filesystem::temp_directory_path() / ("package_" + std::to_string(::getpid()) + ".so");
    std::ofstream(path, std::ios::binary) << bytes;
    std::string said;
    try {
        const tg::Package loaded(path);
    } catch (const tg::Error& error) {
        CHECK(error.code() == tg::ErrorCode::invalid_file);
        said = error.what();
    }
    std::filesystem::remove(path);
    return said;
}

/// The package with a text of its header replaced by one of equal length.
std::string with_header(std::string_view old_text, std::string_view new_text) {
    std::string bytes = read_bytes();
    REQUIRE(old_text.size() == new_text.size());
    const std::size_t at = bytes.find(old_text);
    REQUIRE(at != std::string::npos);
    bytes.replace(at, old_text.size(), new_text);
    return bytes;
}

/// The package as one for CUDA devices. What the device's name is longer, the package's is shorter.
std::string with_header_of_cuda() {
    const std::string bytes = with_header(R"("name":"tiny_package")", R"("name":"tiny_packag",)");
    const std::size_t name = bytes.find(R"("name":"tiny_packag",)");
    const std::size_t device = bytes.find(R"("cpu")", name);
    REQUIRE(device != std::string::npos);
    const std::size_t kept = name + std::string_view(R"("name":"tiny_packag",)").size();
    return bytes.substr(0, kept) + bytes.substr(kept + 1, device - kept - 1) + R"("cuda")" + bytes.substr(device + 5);
}

bool says(const std::string& message, std::string_view part) {
    INFO(message);
    return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a package's header tells what it holds, without loading it") {
    const tg::PackageHeader header = tg::read_package_header(package_file);
    CHECK(header.name == "tiny_package");
    CHECK(header.abi == 1);
    CHECK(header.device == "cpu");
    CHECK(header.hash.size() == 40);  // SHA-1, in hexadecimal
    REQUIRE(header.models.size() == 1);
    CHECK(header.models[0].name == "toto1::demo_1_0");
    // The cheapest first: the mean takes one pass.
    REQUIRE(header.models[0].buckets.size() == 2);
    CHECK(header.models[0].buckets[1] ==
          tg::Bucket{.variates = 3, .context = 80, .horizon = 32, .samples = 8, .exogenous = 2});

    const auto written = tg::io::ModelConfig::parse(header.models[0].config, "header");
    const tg::io::ModelConfig published(demo / "config.json");
    for (const char* key : {"patch_size", "stride", "embed_dim", "num_layers", "num_heads", "mlp_hidden_dim",
                            "spacewise_every_n_layers", "output_distribution_kwargs.k_components"}) {
        CHECK_MESSAGE(written.integer(key) == published.integer(key), key);
    }
    CHECK(written.text("scaler_cls") == published.text("scaler_cls"));
    CHECK(written.text("output_distribution_classes.0") == published.text("output_distribution_classes.0"));
}

TEST_CASE("a service of a package forecasts as one that is compiled in, to the bit") {
    tg::serve::BackendRegistry loaded;
    const tg::Package package(package_file);
    package.add_backend(loaded, demo);
    tg::serve::BackendRegistry compiled_in;
    tg::package::packaged_models().front()->add_backend(compiled_in, demo);
    tg::serve::ForecastService theirs(loaded, {.mode = tg::serve::Mode::standard});
    tg::serve::ForecastService ours(compiled_in, {.mode = tg::serve::Mode::standard});
    CHECK(theirs.buckets() == ours.buckets());

    const std::vector<float> values = waves(2 * 96);
    tg::Series series{.variates = 2, .steps = 96, .values = values};
    CHECK(are_equal(theirs.forecast(series, {.seed = 7}), ours.forecast(series, {.seed = 7})));
    CHECK(are_equal(theirs.forecast(series, {.horizon = 20, .samples = 0}),
                    ours.forecast(series, {.horizon = 20, .samples = 0})));
    // In parts: more samples, a longer horizon.
    const tg::ForecastOptions parts{.seed = 3, .horizon = 40, .samples = 20, .extend = true};
    CHECK(are_equal(theirs.forecast(series, parts), ours.forecast(series, parts)));

    // Rows that lie apart, gaps and a known future.
    const std::vector<float> future = waves(32);
    std::vector<std::uint8_t> observed(values.size(), 1);
    observed[100] = 0;
    series = series.newest(50);
    series.observed = observed;
    series.exogenous = 1;
    series.future_exogenous = future;
    CHECK(are_equal(theirs.forecast(series, {.seed = 9, .horizon = 32}),
                    ours.forecast(series, {.seed = 9, .horizon = 32})));

    const tg::Bucket bucket = ours.buckets().back();
    CHECK(theirs.explain(bucket).flops() == ours.explain(bucket).flops());
    CHECK(theirs.explain(bucket).memory_bytes() == ours.explain(bucket).memory_bytes());
    CHECK(theirs.snapshot().entries.size() == ours.snapshot().entries.size());
}

TEST_CASE("TOTOGRAPH_BACKEND names a package as a backend of the program, not one inside of the package") {
    const tg::Package package(package_file);
    tg::serve::BackendRegistry backends;
    package.add_backend(backends, demo, "of_the_package");
    const std::vector<float> values = waves(80);
    ::setenv("TOTOGRAPH_BACKEND", "of_the_package", 1);
    tg::serve::ForecastService service(backends, {.mode = tg::serve::Mode::standard});
    const tg::Forecast forecast = service.forecast({.steps = 80, .values = values});
    ::unsetenv("TOTOGRAPH_BACKEND");
    CHECK(forecast.horizon() > 0);
}

TEST_CASE("a package runs in mode eager where a stance says so, whatever TOTOGRAPH_MODE does") {
    const tg::Package package(package_file);
    tg::serve::BackendRegistry backends;
    package.add_backend(backends, demo);
    const std::vector<float> values = waves(80);
    const auto mean = [&] {
        tg::serve::ForecastService service(backends);
        const tg::serve::ScopedStance stance(tg::serve::Stance::force_eager);
        return service.forecast({.steps = 80, .values = values}, {.samples = 0}).mean();
    };
    const std::vector<float> eager = mean();
    ::setenv("TOTOGRAPH_MODE", "default", 1);
    const std::vector<float> found = mean();
    ::unsetenv("TOTOGRAPH_MODE");
    CHECK(found == eager);  // to the bit: the planned program rounds otherwise
}

TEST_CASE("a backend of a package says why it cannot be used here") {
    const tg::Package package(package_file);
    tg::serve::BackendRegistry backends;
    package.add_backend(backends, demo);
    const tg::serve::Backend& backend = *backends.all().front();
    CHECK(backend.name() == "cpu");
    CHECK(backend.unavailable({}).empty());
    ::setenv("TOTOGRAPH_MODE", "fastest", 1);
    CHECK(says(backend.unavailable({}), "expected one of: eager"));
    ::unsetenv("TOTOGRAPH_MODE");
}

TEST_CASE("a backend of a package tells what it runs on where that is known") {
    const auto runs_on = [](const std::filesystem::path& path) {
        const tg::Package package(path);
        tg::serve::BackendRegistry backends;
        package.add_backend(backends, demo);
        return backends.all().front()->runs_on({});
    };
    // Another build takes another time, so what was measured is true of this one alone.
    CHECK(runs_on(package_file) == "the processor, by the package " + tg::read_package_header(package_file).hash);
    const auto path = std::filesystem::temp_directory_path() / ("device_" + std::to_string(::getpid()) + ".so");
    std::ofstream(path, std::ios::binary) << with_header_of_cuda();
    CHECK(runs_on(path).empty());  // which device it is, and its driver, only the package could say
    std::filesystem::remove(path);
}

TEST_CASE("errors cross the interface with their code and sentence") {
    const tg::Package package(package_file);
    tg::serve::BackendRegistry backends;
    package.add_backend(backends, demo);
    tg::serve::ForecastService service(backends);
    std::vector<float> values = waves(64);
    values[5] = std::nanf("");
    const auto code_of = [](const std::function<void()>& call, std::string_view part) {
        try {
            call();
        } catch (const tg::Error& error) {
            CHECK(says(error.what(), part));
            return error.code();
        }
        return tg::ErrorCode::recapture;  // no error: none of these tests expects this one
    };
    CHECK(code_of([&] { (void)service.forecast({.steps = 64, .values = values}); }, "holds NaN or infinity") ==
          tg::ErrorCode::invalid_series);
    CHECK(code_of([&] { (void)service.forecast({.steps = 65, .values = values}); }, "values should hold") ==
          tg::ErrorCode::invalid_argument);
    CHECK(code_of([&] { (void)service.forecast({.variates = 4, .steps = 16, .values = values}); },
                  "no compiled size of 'cpu' holds a request") == tg::ErrorCode::no_bucket);
    CHECK(code_of([&] { package.add_backend(backends, "no_such_folder", "other"); }, "no_such_folder") ==
          tg::ErrorCode::file_not_found);
    CHECK(code_of([&] { package.add_backend(backends, demo.parent_path() / "demo_2_0", "other"); },
                  "the field 'embed_dim': expected 192") == tg::ErrorCode::config_mismatch);
}

TEST_CASE("what is no package, or none for this machine, is refused with a sentence before it is loaded") {
    const std::string bytes = read_bytes();
    CHECK(says(refusal("PK\x03\x04"), "it is no shared library"));
    CHECK(says(refusal(""), "it is no shared library"));
    CHECK(says(refusal(bytes.substr(0, 40)), "was cut"));
    CHECK(says(refusal(bytes.substr(0, 700)), "was cut"));
    CHECK(says(refusal(bytes.substr(0, bytes.size() / 2)), "was cut"));
    CHECK(says(refusal(with_header(R"("abi":1,)", R"("abi":2,)")), "Build the program anew"));
    CHECK(says(refusal(with_header(R"("abi":1,)", R"("abi":0,)")), "Build the package anew"));
    CHECK(says(refusal(with_header(R"("architecture":"x86-64")", R"("architecture":"risc-v")")), "of the kind risc-v"));
    CHECK(says(refusal(with_header(R"("device":"cpu")", R"("device":"tpu")")), "for devices of the kind tpu"));
    CHECK(says(refusal(with_header(R"("popcnt")", R"("popcat")")), "for processors with popcat"));
    CHECK(says(refusal(with_header(R"("version":)", R"("virsion":)")), "does not say 'version'"));
    CHECK(says(refusal(with_header(R"({"name":"tiny)", R"(["name":"tiny)")), "The header of the package"));
}

TEST_CASE("a package is found in a folder, by the checkpoint's configuration and this machine's processor") {
    const auto folder = std::filesystem::temp_directory_path() / ("packages_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const auto reason = [&](const std::filesystem::path& checkpoint, std::string_view device = "cpu") -> std::string {
        try {
            (void)tg::find_package(folder, checkpoint, device);
        } catch (const tg::Error& error) {
            CHECK(error.code() == tg::ErrorCode::file_not_found);
            return error.what();
        }
        return "";
    };
    CHECK(says(reason(demo), "holds no package for the checkpoint"));
    std::filesystem::copy_file(package_file, folder / "demo.a.so");
    std::ofstream(folder / "other.so") << "PK\x03\x04";
    std::ofstream(folder / "demo.b.so", std::ios::binary) << with_header(R"("popcnt")", R"("popcat")");
    CHECK(tg::find_package(folder, demo) == folder / "demo.a.so");
    CHECK(says(reason(demo, "cuda"), "demo.a.so' is for cpu."));
    std::ofstream(folder / "demo.c.so", std::ios::binary) << with_header_of_cuda();
    CHECK(tg::find_package(folder, demo, "cuda") == folder / "demo.c.so");
    CHECK(tg::find_package(folder, demo) == folder / "demo.a.so");  // by name alone the other would go before
    std::filesystem::remove(folder / "demo.c.so");
    CHECK(says(reason(demo.parent_path() / "demo_2_0"), "demo.a.so' has another model. "));
    std::filesystem::remove(folder / "demo.a.so");
    CHECK(says(reason(demo), "for processors with popcat"));
    std::filesystem::create_directory(folder / "bare");
    std::filesystem::copy_file(demo / "model.safetensors", folder / "bare" / "model.safetensors");
    CHECK(says(reason(folder / "bare"), "has no config.json"));
    std::filesystem::remove_all(folder);
}
