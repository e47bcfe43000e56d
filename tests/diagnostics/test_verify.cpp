// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <totograph/diagnostics/verify.hpp>
#include <totograph/diagnostics/verify/backends.hpp>
#include <totograph/diagnostics/verify/caches.hpp>
#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/io/cache/cache_file.hpp>
#include <totograph/io/cache/weight_file.hpp>

#include "io/support.hpp"

// What the doctor finds, with what it looks at given or made here: never this machine's own settings.

using namespace totograph::serve;
using totograph::Bucket;
using totograph::Error;
using totograph::ErrorCode;
using totograph::Index;
using totograph::test::ScratchFolder;
namespace io = totograph::io;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

BuildIdentity good_build() {
    BuildIdentity build;
    build.compiler = "gcc 12.2.0";
    build.vectors = std::string(processor_vectors());
    build.is_optimized = true;
    return build;
}

class PlainBackend final : public Backend {
public:
    PlainBackend(std::string name, std::string reason, std::string precision = {})
        : name_(std::move(name)), reason_(std::move(reason)), precision_(std::move(precision)) {}
    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::vector<Bucket> buckets() const override {
        return {{.context = 8, .horizon = 1}, {.context = 16, .horizon = 1}};
    }
    [[nodiscard]] std::string describe(Mode mode) const override { return mode == Mode::max_autotune ? "" : "plain"; }
    [[nodiscard]] std::string_view precision() const override { return precision_; }
    [[nodiscard]] std::string unavailable(const BackendResources&) const override { return reason_; }
    [[nodiscard]] std::unique_ptr<BucketForecaster> make(const Bucket&, Mode, const BackendResources&) const override {
        throw Error(ErrorCode::device_failure, "A doctor makes no forecaster.");
    }
    [[nodiscard]] Explanation explain(const Bucket& bucket, Mode) const override {
        Explanation explanation;
        explanation.bucket = bucket;
        explanation.state_bytes = 2 * mebibyte;
        explanation.shared_weight_bytes = 10 * mebibyte;
        return explanation;
    }

private:
    std::string name_;
    std::string reason_;
    std::string precision_;
};

BackendRegistry registry() {
    BackendRegistry backends;
    backends.add(std::make_shared<PlainBackend>("device", "There is no device here."));
    backends.add(std::make_shared<PlainBackend>("plain", ""));
    return backends;
}

/// Everything in order, with a folder for caches that is not there yet.
VerifyOptions good_options(const ScratchFolder& folder) {
    return {.build = good_build(),
            .backend = "plain",
            .mode = Mode::standard,
            .resources = {.threads = 1},
            .caches = {folder.path() / "cache", {}},
            .environment = {},
            .memory = [](const Backend&) { return 1000 * mebibyte; }};
}

CheckResult result_of(const std::vector<Check>& checks, std::string_view what) {
    const VerifyReport report{checks};
    const Check* const found = report.find(what);
    REQUIRE(found != nullptr);
    CHECK((found->result == CheckResult::ok) == found->remedy.empty());
    return found->result;
}

}  // namespace

TEST_CASE("in order") {
    const ScratchFolder folder;
    const VerifyReport report = verify(registry(), good_options(folder));
    const std::string text = to_string(report);
    CAPTURE(text);
    CHECK(report.is_fit());
    for (const char* what : {"build", "vectors", "threads", "mode", "memory", "cache folder", "cache locks"}) {
        REQUIRE(report.find(what) != nullptr);
        CHECK(report.find(what)->result == CheckResult::ok);
    }
    CHECK(report.find("backend device")->result == CheckResult::warning);
    CHECK(has(text, "fit to serve, with warnings\n"));
    CHECK(has(report.find("memory")->found, "14.0 MiB for all compiled sizes"));
    CHECK(folder.file_count() == 0);  // it leaves nothing
    const auto document = nlohmann::json::parse(json_text(report));
    CHECK(document["result"] == "warning");
    CHECK(document["checks"].size() == report.checks.size());
}

TEST_CASE("builds") {
    BuildIdentity build = good_build();
    build.vectors = "avx512";
    CHECK(result_of(check_build(build, "avx512"), "vectors") == CheckResult::ok);
    CHECK(result_of(check_build(build, "avx2"), "vectors") == CheckResult::failed);
    CHECK(result_of(check_build(build, ""), "vectors") == CheckResult::ok);
    build.vectors = "sse";
    CHECK(result_of(check_build(build, "avx512"), "vectors") == CheckResult::warning);
    build.vectors = "avx";
    CHECK(result_of(check_build(build, "avx2"), "vectors") == CheckResult::warning);
    build.vectors = "avx2";
    CHECK(result_of(check_build(build, "avx"), "vectors") == CheckResult::failed);
    CHECK(result_of(check_build(build, "avx2"), "build") == CheckResult::ok);
    build.is_sanitized = true;
    CHECK(result_of(check_build(build, "avx2"), "build") == CheckResult::warning);
    build = good_build();
    build.has_assertions = true;
    CHECK(result_of(check_build(build, "avx2"), "build") == CheckResult::warning);
    build = good_build();
    build.is_optimized = false;
    CHECK(result_of(check_build(build, "avx2"), "build") == CheckResult::failed);
    const BuildIdentity own = build_identity();
    CHECK(own.library == totograph::version);
    CHECK_FALSE(own.compiler.empty());
    CHECK_FALSE(own.vectors.empty());
}

TEST_CASE("memory that is available") {
    const totograph::test::ScratchFolder root;
    CHECK_FALSE(available_memory(root.path()));
    for (const char* folder : {"proc", "sys/fs/cgroup/memory"}) {
        std::filesystem::create_directories(root.path() / folder);
    }
    root.file("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1000 kB\n");
    CHECK(available_memory(root.path()) == 1000 * 1024);
    root.file("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1000 kB\nMemAvailable:    5000 kB\n");
    CHECK(available_memory(root.path()) == 5000 * 1024);
    CHECK(available_memory().value_or(0) > 0);  // of this machine

    SUBCASE("less in a control group") {
        root.file("sys/fs/cgroup/memory.max", "max\n");
        root.file("sys/fs/cgroup/memory.current", "700000\n");
        CHECK(available_memory(root.path()) == 5000 * 1024);
        root.file("sys/fs/cgroup/memory.max", "1000000\n");
        CHECK(available_memory(root.path()) == 300'000);
        // Files that were read long ago make room.
        root.file("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 200000\nactive_file 5\n");
        CHECK(available_memory(root.path()) == 500'000);
        root.file("sys/fs/cgroup/memory.current", "1100000\n");
        CHECK(available_memory(root.path()) == 100'000);
        // Nothing is left: that is known, whatever the machine and another version of groups say.
        root.file("sys/fs/cgroup/memory.current", "1200000\n");
        root.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        root.file("sys/fs/cgroup/memory/memory.usage_in_bytes", "700000\n");
        CHECK(available_memory(root.path()) == 0);
        CHECK(check_memory(mebibyte, available_memory(root.path())).result == CheckResult::failed);
        root.file("sys/fs/cgroup/memory.current", "1300000\n");  // more than there is, for a moment
        CHECK(available_memory(root.path()) == 0);
    }
    SUBCASE("less in a control group of version 1") {
        root.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        root.file("sys/fs/cgroup/memory/memory.usage_in_bytes", "700000\n");
        CHECK(available_memory(root.path()) == 5000 * 1024);
        root.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
        root.file("sys/fs/cgroup/memory/memory.stat", "inactive_file 7\ntotal_inactive_file 100000\n");
        CHECK(available_memory(root.path()) == 400'000);
    }
    SUBCASE("a limit where nothing else is known") {
        std::filesystem::remove(root.path() / "proc/meminfo");
        root.file("sys/fs/cgroup/memory.max", "1000000\n");
        root.file("sys/fs/cgroup/memory.current", "700000\n");
        CHECK(available_memory(root.path()) == 300'000);
    }
}

TEST_CASE("threads, memory and clock") {
    CHECK(check_threads(0, 8, 8).result == CheckResult::ok);
    CHECK(check_threads(0, 8, 2).result == CheckResult::warning);  // a container's quota
    CHECK(has(check_threads(0, 8, 2).remedy, "Ask for 2 threads"));
    CHECK(check_threads(2, 8, 1.5).result == CheckResult::ok);
    // What making a service throws for is more than a warning.
    CHECK(check_threads(totograph::most_threads, 8, 8).result == CheckResult::warning);
    CHECK(check_threads(totograph::most_threads + 1, 8, 8).result == CheckResult::failed);
    CHECK(has(check_threads(5000, 8, 8).remedy, "at most 4096"));
    CHECK(check_threads(-1, 8, 8).result == CheckResult::failed);

    CHECK(check_memory(mebibyte, 10 * mebibyte).result == CheckResult::ok);
    CHECK(check_memory(9 * mebibyte, 10 * mebibyte).result == CheckResult::warning);
    CHECK(check_memory(8 * mebibyte, 10 * mebibyte).result == CheckResult::ok);
    CHECK(check_memory(10 * mebibyte, 10 * mebibyte).result == CheckResult::warning);
    CHECK(check_memory(11 * mebibyte, 10 * mebibyte).result == CheckResult::failed);
    CHECK(check_memory(11 * mebibyte, {}).result == CheckResult::ok);
    CHECK(check_memory(mebibyte, 0).result == CheckResult::failed);

    using std::chrono::nanoseconds;
    nanoseconds now{0};
    const auto ticking = [&](nanoseconds step) { return [&now, step] { return now += step; }; };
    CHECK(check_clock(ticking(nanoseconds(50))).result == CheckResult::ok);
    CHECK(check_clock(ticking(nanoseconds(3000))).result == CheckResult::warning);
    CHECK(check_clock(ticking(nanoseconds(-1))).result == CheckResult::failed);
    int reads = 0;
    CHECK(check_clock([&] { return nanoseconds(++reads / 1500 * 1'000'000); }).result == CheckResult::warning);
}

TEST_CASE("environment") {
    const auto result = [](const std::string& variable, const std::string& value) {
        return result_of(check_environment({{variable, value}}), variable);
    };
    CHECK(result("TOTOGRAPH_MODE", "max-autotune") == CheckResult::ok);
    CHECK(result("TOTOGRAPH_MODE", "") == CheckResult::ok);
    CHECK(result("TOTOGRAPH_MODE", "fast") == CheckResult::failed);
    CHECK(result("TOTOGRAPH_DISABLE", "0") == CheckResult::ok);
    CHECK(result("TOTOGRAPH_DISABLE", "1") == CheckResult::warning);
    CHECK(result("TOTOGRAPH_LOGS", "capture,tuning") == CheckResult::ok);
    CHECK(result("TOTOGRAPH_LOGS", "captures") == CheckResult::warning);
    CHECK(result("TOTOGRAPH_LOGS", "all") == CheckResult::warning);
    CHECK(result("TOTOGRAPH_CACHE_DIR", "/anything") == CheckResult::ok);
    for (const char* variable : {"TOTOGRAPH_NVTX", "TOTOGRAPH_BACKEND", "TOTOGRAPH_PRECISION", "TOTOGRAPH_PACKAGE_PATH",
                                 "TOTOGRAPH_PROCESSOR_LEVEL", "TOTOGRAPH_DEMO_MODEL"}) {
        CAPTURE(variable);
        CHECK(result(variable, "1") == CheckResult::ok);
    }
    CHECK(result("TOTOGRAPH_MODUS", "eager") == CheckResult::warning);
    CHECK(check_environment({{"TOTOGRAPH_MODE", "fast"}}).front().remedy.starts_with("TOTOGRAPH_MODE is 'fast'"));
    CHECK(result_of(check_environment({}), "environment") == CheckResult::ok);
    const Check foreign = check_environment({{"TOTOGRAPH_\nX", "\nY"}}).front();
    CHECK(foreign.what == "TOTOGRAPH_\\x0aX");
    CHECK(foreign.found == "'\\x0aY'");
}

TEST_CASE("backends and modes") {
    const BackendRegistry backends = registry();
    const auto result = [&](std::string_view backend, Mode mode, std::string_view what) {
        return result_of(check_backends(backends, backend, mode, {}), what);
    };
    CHECK(result("plain", Mode::standard, "mode") == CheckResult::ok);
    CHECK(result("", Mode::standard, "mode") == CheckResult::ok);
    CHECK(result("plain", Mode::eager, "mode") == CheckResult::warning);
    CHECK(result("plain", Mode::max_autotune, "mode") == CheckResult::failed);
    CHECK(result("device", Mode::standard, "backend device") == CheckResult::failed);
    CHECK(result("", Mode::standard, "backend device") == CheckResult::warning);
    CHECK(result("missing", Mode::standard, "backend") == CheckResult::failed);
    CHECK(result_of(check_backends({}, "", Mode::standard, {}), "backend") == CheckResult::failed);
}

TEST_CASE("checkpoints") {
    const ScratchFolder folder;
    const auto good = [](const std::filesystem::path&) { return std::string("a model"); };
    CHECK(has(check_checkpoint(folder.path(), good).found, "holds neither model.safetensors"));
    const auto file = folder.file("model.safetensors", "weights");
    CHECK(check_checkpoint(file, good).result == CheckResult::ok);
    CHECK(check_checkpoint(folder.path(), good).result == CheckResult::ok);
    CHECK(has(check_checkpoint(folder.path(), good).found, "a model"));
    CHECK(check_checkpoint(folder.path() / "nowhere", good).result == CheckResult::failed);
    const Check wrong = check_checkpoint(folder.path(), [](const std::filesystem::path&) -> std::string {
        throw Error(ErrorCode::config_mismatch, "The checkpoint has 12 layers, expected 6.");
    });
    CHECK(wrong.result == CheckResult::failed);
    CHECK(wrong.found == "The checkpoint has 12 layers, expected 6.");
}

TEST_CASE("cache folders and files") {
    const ScratchFolder folder;
    const auto result = [&](std::string_view what) { return result_of(check_cache_folder({folder.path(), {}}), what); };
    CHECK(result("cache folder") == CheckResult::ok);
    CHECK(result("cache locks") == CheckResult::ok);
    CHECK(result_of(check_cache_folder({{}, "No folder is named."}), "cache folder") == CheckResult::warning);
    CHECK(result_of(check_cache_folder({folder.file("plain", ""), {}}), "cache folder") == CheckResult::failed);
    CHECK(result_of(check_cache_folder({"/proc/nowhere", {}}), "cache folder") == CheckResult::failed);
    std::filesystem::remove(folder.path() / "plain");

    const std::string bytes = io::cache_bytes("device 1", {{"key", "value"}});
    folder.file("tuning.cache", bytes);
    folder.file("tuning.cache.lock", "");
    CHECK(result("cache file") == CheckResult::ok);
    CHECK(check_cache_folder({folder.path(), {}}).back().found == "'tuning.cache': 1 record for 'device 1'");
    std::string damaged = bytes;
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    for (const std::string& corrupt : {damaged, bytes.substr(0, bytes.size() - 3), bytes.substr(0, 9)}) {
        folder.file("tuning.cache", corrupt);
        CHECK(result("cache file") == CheckResult::failed);
    }
    folder.file("tuning.cache", "something else");
    CHECK(result("cache file") == CheckResult::warning);
    folder.file("tuning.cache", bytes);
    folder.file("tuning.cache.tmp-12-0", "half");
    CHECK(result("cache file") == CheckResult::warning);
}

TEST_CASE("what others may write to is not fit to serve") {
    const ScratchFolder folder;
    const auto cache = folder.path() / "cache";
    const auto set = cache / "weights" / "0123456789abcdef";
    std::filesystem::create_directories(set);
    const auto checked = [&] { return result_of(check_cache_folder({cache, {}}), "cache folder"); };
    for (const auto& each : {cache, cache / "weights", set}) {
        CAPTURE(each.string());
        CHECK(checked() == CheckResult::ok);
        REQUIRE(::chmod(each.c_str(), 0775) == 0);
        const std::vector<Check> checks = check_cache_folder({cache, {}});
        CHECK(std::any_of(checks.begin(), checks.end(), [](const Check& check) {
            return check.result == CheckResult::failed && has(check.found, "may write to it");
        }));
        REQUIRE(::chmod(each.c_str(), 0755) == 0);
    }
    const auto records = cache / "tuning.cache";
    folder.file("cache/tuning.cache", io::cache_bytes("device 1", {{"key", "value"}}));
    REQUIRE(::chmod(records.c_str(), 0664) == 0);
    CHECK(result_of(check_cache_folder({cache, {}}), "cache file") == CheckResult::failed);

    const auto checkpoint = folder.path() / "checkpoint";
    std::filesystem::create_directories(checkpoint / ".git");
    folder.file("checkpoint/config.json", "{}");
    const auto blob = folder.file("blob", "weights");
    std::filesystem::create_symlink(blob, checkpoint / "model.safetensors");
    const auto good = [](const std::filesystem::path&) { return std::string("a model"); };
    REQUIRE(::chmod((checkpoint / ".git").c_str(), 0777) == 0);
    CHECK(check_checkpoint(checkpoint, good).result == CheckResult::ok);
    for (const auto& each : {checkpoint, checkpoint / "config.json", blob}) {
        CAPTURE(each.string());
        struct stat before {};
        REQUIRE(::stat(each.c_str(), &before) == 0);
        for (const ::mode_t writers : {::mode_t{S_IWGRP}, ::mode_t{S_IWOTH}}) {
            REQUIRE(::chmod(each.c_str(), before.st_mode | writers) == 0);
            const Check check = check_checkpoint(checkpoint, good);
            CHECK(check.result == CheckResult::failed);
            CHECK(has(check.found, "may write to it"));
            CHECK(has(check.found, writers == S_IWGRP ? "(g+w, mode " : "(o+w, mode "));
            CHECK(has(check.remedy, "chmod -R go-w '" + checkpoint.string() + "'"));
        }
        REQUIRE(::chmod(each.c_str(), before.st_mode) == 0);
        CHECK(check_checkpoint(checkpoint, good).result == CheckResult::ok);
    }
}

TEST_CASE("cached weights") {
    const ScratchFolder folder;
    const auto set = folder.path() / "weights" / "0123456789abcdef";
    std::filesystem::create_directories(set);
    const auto one_by_one = [](std::size_t parts, auto&& function) {
        for (std::size_t part = 0; part < parts; ++part) {
            function(part);
        }
    };
    const std::vector<float> block(1000, 0.5F);
    const auto path = set / "0123456789abcdef.weight";
    io::write_weight_file(path, "device", std::as_bytes(std::span(block)), one_by_one);
    const auto result = [&] { return result_of(check_cache_folder({folder.path(), {}}), "cached weights"); };
    CHECK(result() == CheckResult::ok);
    const std::string bytes = totograph::test::content_of(path);
    const std::string name = "weights/0123456789abcdef/0123456789abcdef.weight";
    std::filesystem::remove(path);  // nobody may write to it
    for (const std::size_t at : {std::size_t{2}, std::size_t{17}, bytes.size() - 2000, bytes.size() - 1}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 64);
        folder.file(name, damaged);
        CHECK(result() == CheckResult::failed);
    }
    folder.file("weights/0123456789abcdef/ffff.weight.tmp-12-0", "half");
    CHECK(result_of(check_cache_folder({folder.path(), {}}), "cache file") == CheckResult::warning);
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{100}, bytes.size() - 1}) {
        folder.file(name, bytes.substr(0, size));
        CHECK(result() == CheckResult::failed);
    }
}

TEST_CASE("what fails makes the whole unfit") {
    const ScratchFolder folder;
    VerifyOptions options = good_options(folder);
    options.memory = [](const Backend& backend) {
        return backend.name() == "plain" ? std::optional<std::size_t>(mebibyte) : std::nullopt;
    };
    CHECK_FALSE(verify(registry(), options).is_fit());
    CHECK(has(to_string(verify(registry(), options)), "\nnot fit to serve\n"));

    options = good_options(folder);
    options.checkpoint = folder.path() / "nowhere";
    CHECK(verify(registry(), options).find("checkpoint")->result == CheckResult::failed);
    // One remedy is enough where the backends come from the checkpoint.
    CHECK(verify({}, options).find("backend") == nullptr);
    CHECK_FALSE(verify({}, options).is_fit());

    options = good_options(folder);
    options.environment = {{"TOTOGRAPH_DISABLE", "1"}};
    CHECK(verify(registry(), options).find("mode")->result == CheckResult::warning);
    options.environment = {{"TOTOGRAPH_MODE", "max-autotune"}};
    CHECK(verify(registry(), options).find("mode")->result == CheckResult::failed);
    CHECK(verify(registry(), options).find("memory") == nullptr);
    options.environment = {{"TOTOGRAPH_MODE", "fast"}};
    CHECK_FALSE(verify(registry(), options).is_fit());

    options = good_options(folder);
    options.further.emplace_back([] {
        return std::vector<Check>{{"driver", CheckResult::failed, "too old", "Update it."}};
    });
    CHECK(verify(registry(), options).find("driver")->result == CheckResult::failed);
    CHECK_FALSE(verify(registry(), options).is_fit());
    options.further = {[]() -> std::vector<Check> { throw Error(ErrorCode::device_failure, "The driver is gone."); }};
    CHECK(has(to_string(verify(registry(), options)), "The driver is gone."));
    CHECK_FALSE(verify(registry(), options).is_fit());
}

TEST_CASE("the backend that the environment names is the one that is looked at") {
    const ScratchFolder folder;
    VerifyOptions options = good_options(folder);
    const auto found = [&](std::string variable, std::string value) {
        options.environment = {{std::move(variable), std::move(value)}};
        const VerifyReport report = verify(registry(), options);
        const Check* const check = report.find("backend");
        return check == nullptr ? std::string() : check->found;
    };
    // What making a service throws.
    CHECK(has(found("TOTOGRAPH_BACKEND", "nowhere"), "There is no backend 'nowhere'"));
    CHECK(has(found("TOTOGRAPH_BACKEND", "device"), "There is no device here."));
    CHECK(has(found("TOTOGRAPH_PRECISION", "f64"), "TOTOGRAPH_PRECISION is 'f64', which no backend has"));
    CHECK_FALSE(verify(registry(), options).is_fit());
    // And what there is besides.
    CHECK(verify(registry(), options).find("backend plain") != nullptr);
    CHECK(verify(registry(), options).find("memory") != nullptr);

    options.backend = "device";
    CHECK(found("TOTOGRAPH_BACKEND", "plain").empty());
    CHECK(verify(registry(), options).is_fit());
    CHECK(has(verify(registry(), options).find("mode")->found, "on 'plain'"));
    CHECK_FALSE(found("TOTOGRAPH_BACKEND", "").empty());  // an empty one says nothing
}

TEST_CASE("the backend that is to serve is known by its name, with that of a precision") {
    const ScratchFolder folder;
    VerifyOptions options = good_options(folder);
    BackendRegistry backends;
    backends.add(std::make_shared<PlainBackend>("plain", "", "f32"));
    backends.add(std::make_shared<PlainBackend>("broken", "There is no device here.", "bf16"));
    backends.add(std::make_shared<PlainBackend>("device", "", "bf16"));
    backends.add(std::make_shared<PlainBackend>("absent", "There is no device here.", "tf32"));
    const auto serving = [&](std::string backend, Environment environment) {
        options.backend = std::move(backend);
        options.environment = std::move(environment);
        return backend_to_serve(backends, options);
    };
    CHECK(serving("", {}).empty());
    CHECK(serving("device", {}) == "device");
    CHECK(serving("device", {{"TOTOGRAPH_BACKEND", ""}, {"TOTOGRAPH_PRECISION", ""}}) == "device");
    CHECK(serving("device", {{"TOTOGRAPH_BACKEND", "plain"}}) == "plain");
    CHECK(serving("", {{"TOTOGRAPH_BACKEND", "device"}, {"TOTOGRAPH_PRECISION", "bf16"}}) == "device");
    // A precision chooses another one than the program's, and `verify` looks at that one.
    CHECK(serving("device", {{"TOTOGRAPH_PRECISION", "f32"}}) == "plain");
    CHECK(has(verify(backends, options).find("mode")->found, "on 'plain'"));
    for (const char* backend : {"", "plain"}) {
        CHECK(serving(backend, {{"TOTOGRAPH_PRECISION", "bf16"}}) == "device");
        CHECK(has(verify(backends, options).find("mode")->found, "on 'device'"));
    }
    // One that cannot be used is named as well, so that it can be looked at.
    CHECK(serving("plain", {{"TOTOGRAPH_PRECISION", "tf32"}}) == "absent");
    CHECK_FALSE(verify(backends, options).is_fit());
    CHECK(serving("plain", {{"TOTOGRAPH_PRECISION", "f64"}}) == "plain");
    CHECK_FALSE(verify(backends, options).is_fit());
    // Where there is none of the environment's, the program's own is looked at.
    CHECK(serving("device", {{"TOTOGRAPH_PRECISION", "f64"}}) == "device");
    CHECK(has(verify(backends, options).find("mode")->found, "on 'device'"));
}
