// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/forecast/results/result_memory.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/background_build.hpp>
#include <totograph/serve/result_pool.hpp>
#include <totograph/serve/service.hpp>

#include "serve/service_fakes.hpp"

// Several threads in one service.

using namespace service_fakes;

namespace {

/// What forecasters of the backend below tell and are told.
struct Stage {
    std::atomic<int> inside{0};
    std::atomic<int> overlaps{0};  ///< Calls that met another one.
    std::atomic<bool> gate_is_open{true};
    std::function<void()> meanwhile;  ///< What a forecaster does beside forecasting.
    std::mutex mutex;
    std::vector<float> order;  ///< What was asked for, as it was served.
};

/// Foresees for every step the first value of the series, in memory of its own, slowly enough for another thread to
/// come in between.
class Echo final : public serve::BucketForecaster {
public:
    Echo(const Bucket& bucket, Stage& stage) : bucket_(bucket), stage_(stage) {}

    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& options) override {
        {
            const std::scoped_lock lock(stage_.mutex);
            stage_.order.push_back(series.values[0]);
        }
        stage_.overlaps += stage_.inside++ == 0 ? 0 : 1;
        if (stage_.meanwhile) {
            stage_.meanwhile();
        }
        while (!stage_.gate_is_open) {
            std::this_thread::yield();
        }
        const Bucket request = tg::request_sizes(series, options, bucket_);
        values_.resize(static_cast<std::size_t>(request.horizon));
        for (float& value : values_) {
            value = series.values[0];
            if (&value == values_.data()) {
                std::this_thread::yield();
            }
        }
        --stage_.inside;
        return {values_, 1, 1, request.horizon, 0};
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return fake_bytes; }

private:
    Bucket bucket_;
    Stage& stage_;
    std::vector<float> values_;
};

class EchoBackend final : public serve::Backend {
public:
    explicit EchoBackend(Stage& stage) : stage_(stage) {}

    [[nodiscard]] std::string_view name() const override { return "echo"; }
    [[nodiscard]] std::vector<Bucket> buckets() const override { return {small}; }
    [[nodiscard]] std::string describe(Mode) const override { return "an echo"; }
    [[nodiscard]] std::unique_ptr<serve::BucketForecaster> make(const Bucket& bucket, Mode,
                                                                const serve::BackendResources&) const override {
        return std::make_unique<Echo>(bucket, stage_);
    }
    [[nodiscard]] serve::Explanation explain(const Bucket&, Mode) const override { return {}; }

private:
    Stage& stage_;
};

struct EchoService {
    Stage stage;
    serve::BackendRegistry registry = [this] {
        serve::BackendRegistry backends;
        backends.add(std::make_shared<EchoBackend>(stage));
        return backends;
    }();
    serve::ForecastService service{registry, {.mode = Mode::standard}};

    tg::Forecast ask(float value) {
        const std::vector<float> values(8, value);
        return service.forecast({.steps = 8, .values = values}, {.samples = 0});
    }
};

bool is_all(const tg::Forecast& forecast, float value) {
    const std::vector<float> mean = forecast.mean();
    return !mean.empty() && std::count(mean.begin(), mean.end(), value) == static_cast<std::ptrdiff_t>(mean.size());
}

}  // namespace

TEST_CASE("threads that share a service are served one after the other, each with its own result") {
    EchoService one;  // not warmed up: the first two threads need what neither has built
    constexpr int each = 100;
    constexpr int threads = 4;
    std::atomic<int> wrong{0};
    std::vector<std::thread> workers;
    for (int worker = 0; worker < threads; ++worker) {
        workers.emplace_back([&, worker] {
            tg::Forecast before = one.ask(static_cast<float>(worker));
            for (int i = 1; i < each; ++i) {
                const auto value = static_cast<float>(i * threads + worker);
                const tg::Forecast now = one.ask(value);
                std::this_thread::yield();  // others forecast meanwhile
                wrong += is_all(now, value) ? 0 : 1;
                wrong += is_all(before, i == 1 ? static_cast<float>(worker) : value - threads) ? 0 : 1;
                before = now;
                if (i % 25 == 0) {
                    (void)one.service.mode();
                    (void)one.service.memory_bytes();
                }
            }
        });
    }
    for (std::thread& worker : workers) {
        worker.join();
    }
    CHECK(wrong == 0);
    CHECK(one.stage.overlaps == 0);
    CHECK(one.service.waiting() == 0);
    const serve::Snapshot::Entry entry = entry_of(one.service.snapshot(), "echo", small, Mode::standard);
    CHECK(entry.forecasts == threads * each);
    CHECK(entry.builds == 1);
    CHECK(entry.failures == 0);
}

TEST_CASE("a call from inside a call is an error, not a wait without end") {
    EchoService one;
    std::string said;
    std::string caller = "a backend that it was running";
    const auto come_back = [&] {
        try {
            (void)one.ask(2);
        } catch (const tg::Error& error) {
            CHECK(error.code() == tg::ErrorCode::invalid_argument);
            said = error.what();
        }
    };
    SUBCASE("from a backend") {
        one.stage.meanwhile = come_back;
        CHECK(is_all(one.ask(1), 1));
    }
    SUBCASE("from a log sink, whosever call it tells of") {
        EchoService other;
        caller = "a log sink";
        tg::set_log_sink([&](tg::LogTopic, std::string_view) { come_back(); });
        tg::set_logs("sizes");
        CHECK(is_all(one.ask(1), 1));
        CHECK(said.find(caller) != std::string::npos);
        said.clear();
        CHECK(is_all(other.ask(1), 1));
        tg::set_logs("");
        tg::set_log_sink({});
    }
    SUBCASE("but what waits for no turn may be called by a log sink") {
        std::string failed;
        int lines = 0;
        tg::set_log_sink([&](tg::LogTopic, std::string_view) {
            try {
                ++lines;
                (void)one.service.is_ready();
                (void)one.service.waiting();
                (void)one.service.snapshot();
                (void)one.service.buckets();
                (void)one.service.observe("a", 1, 1.0);
                const EchoService made;
            } catch (const tg::Error& error) {
                failed = error.what();
            }
        });
        tg::set_logs("sizes");
        CHECK(is_all(one.ask(1), 1));
        tg::set_logs("");
        tg::set_log_sink({});
        CHECK(lines > 0);
        CHECK(failed.empty());
        return;
    }
    SUBCASE("which ends the forecast where nobody catches it") {
        one.stage.meanwhile = [&] { (void)one.service.mode(); };
        CHECK_THROWS_AS(one.ask(1), tg::Error);
        CHECK(entry_of(one.service.snapshot(), "echo", small, Mode::standard).failures == 1);
        come_back();
        one.stage.meanwhile = come_back;
        CHECK(is_all(one.ask(1), 1));
    }
    CHECK(said.find("A ForecastService was called by " + caller) == 0);
    one.stage.meanwhile = {};
    CHECK(is_all(one.ask(3), 3));  // served as ever
    CHECK(one.service.waiting() == 0);
}

TEST_CASE("a process that was forked from one with a service uses it, or is told that another thread did") {
    EchoService one;
    (void)one.ask(1);
    const auto failures_after_fork = [&](const auto& run) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);  // ends a child that waits for threads that it has not
            _exit(run());
        }
        int status = -1;
        return waitpid(child, &status, 0) == child ? status : -1;
    };
    const auto serves = [&] {
        std::atomic<int> failures{0};
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 3; ++thread) {
            threads.emplace_back([&, value = static_cast<float>(thread)] {
                for (int i = 0; i < 100; ++i) {
                    failures += is_all(one.ask(value), value) ? 0 : 1;
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        return failures.load();
    };
    CHECK(failures_after_fork(serves) == 0);

    one.stage.gate_is_open = false;
    std::thread busy([&] { (void)one.ask(2); });
    while (one.stage.inside == 0) {
        std::this_thread::yield();
    }
    const auto is_refused = [&] {
        int failures = 0;
        for (int i = 0; i < 2; ++i) {
            try {
                (void)one.ask(3);
                ++failures;
            } catch (const tg::Error& error) {
                failures += std::string_view(error.what()).find("forked while another thread used it") ==
                            std::string_view::npos;
            }
        }
        EchoService own;
        return failures + (is_all(own.ask(4), 4) ? 0 : 1);
    };
    CHECK(failures_after_fork(is_refused) == 0);
    one.stage.gate_is_open = true;
    busy.join();
    CHECK(is_all(one.ask(5), 5));
    CHECK(failures_after_fork(serves) == 0);
}

TEST_CASE("a process that was forked while a forecaster was built is told so, and ends") {
    using tg::serve::detail::BackgroundBuild;
    std::atomic<bool> is_inside{false};
    std::atomic<bool> may_end{false};
    const auto build = std::make_unique<BackgroundBuild>(0, 0, tg::serve::Mode{}, [&] {
        is_inside = true;
        while (!may_end) {
            std::this_thread::yield();
        }
        return tg::serve::detail::Built{.forecaster = nullptr, .seconds = 1};
    });
    while (!is_inside) {  // a thread that begins allocates, and the child would find the allocator locked
        std::this_thread::yield();
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // ends a child that waits for a thread that it has not
        int failures = 1;
        try {
            auto own = std::unique_ptr<BackgroundBuild>(build.get());
            (void)own->take();
        } catch (const tg::Error& error) {
            failures = std::string_view(error.what()).find("forked while it built") == std::string_view::npos;
        }
        _exit(failures);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    may_end = true;
    CHECK(build->take().seconds == 1);
}

TEST_CASE("calls are served in the order in which they came") {
    EchoService one;
    (void)one.ask(0);
    one.stage.order.clear();
    one.stage.gate_is_open = false;
    std::thread first([&] {
        (void)one.ask(1);
        (void)one.ask(4);  // comes back at once, behind those that wait
    });
    std::vector<std::thread> others;
    const auto wait_for = [&](std::size_t waiting) {
        while (one.service.waiting() != waiting) {
            std::this_thread::yield();
        }
    };
    while (one.stage.inside == 0) {
        std::this_thread::yield();
    }
    others.emplace_back([&] { (void)one.ask(2); });
    wait_for(1);
    others.emplace_back([&] { (void)one.ask(3); });
    wait_for(2);
    others.emplace_back([&] { one.service.release(small); });  // not below a forecast
    wait_for(3);
    CHECK(one.stage.order == std::vector<float>{1});
    one.stage.gate_is_open = true;
    first.join();
    for (std::thread& other : others) {
        other.join();
    }
    CHECK(one.stage.order == std::vector<float>{1, 2, 3, 4});
    CHECK(entry_of(one.service.snapshot(), "echo", small, Mode::standard).builds ==
          2);  // the fourth, after the release
}

TEST_CASE("a result stays as it is while it is held") {
    auto one = std::make_unique<EchoService>();
    const tg::Forecast first = one->ask(1);
    const tg::Forecast copy = first;
    std::vector<tg::Forecast> many;
    for (int i = 0; i < 20; ++i) {  // more than the service keeps memory for
        many.push_back(one->ask(static_cast<float>(10 + i)));
    }
    one->service.release(small);
    one.reset();
    CHECK(is_all(first, 1));
    CHECK(is_all(copy, 1));
    for (int i = 0; i < 20; ++i) {
        CHECK(is_all(many[static_cast<std::size_t>(i)], static_cast<float>(10 + i)));
    }
}

TEST_CASE("memory of a result is used again when nobody holds it") {
    serve::detail::ResultPool pool;
    const std::vector<float> some(100, 1.0F);
    tg::ResultMemory first = pool.take();
    const float* const memory = first.fill(some).data();
    {
        const tg::ResultMemory copy = first;
        first = tg::ResultMemory();
        CHECK(copy.is_alone() == false);
        CHECK(pool.take().fill(some).data() != memory);
    }
    CHECK(pool.take().fill(some).data() == memory);

    // A warm-up after forecasts finds room for the largest result, too, once.
    CHECK(pool.take().room() < 320);
    constexpr std::size_t largest = 8 * 2 * 8 * 4;
    pool.make_room(largest);
    CHECK(pool.take().room() >= largest);
    const float* const made = pool.take().fill(some).data();
    pool.make_room(largest);
    CHECK(pool.take().fill(some).data() == made);
    std::vector<tg::ResultMemory> held;
    for (int i = 0; i < 8; ++i) {
        held.push_back(pool.take());
    }
    pool.make_room(largest);
    CHECK(pool.take().room() >= largest);
    // Of more than eight, eight are kept.
    for (tg::ResultMemory& one : held) {
        (void)one.fill(some);
    }
    held.clear();
    for (int i = 0; i < 10; ++i) {
        held.push_back(pool.take());
    }
    CHECK(std::count_if(held.begin(), held.end(), [](const tg::ResultMemory& one) { return one.room() > 0; }) == 8);
    CHECK(tg::Forecast(some, 1, 1, 100, 0).keep_in({}).mean() == some);  // none to begin with
}
