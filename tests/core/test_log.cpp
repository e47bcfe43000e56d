// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>

using namespace totograph;

namespace {

/// Keeps lines while it lives, and leaves all topics off.
class Lines {
public:
    explicit Lines(std::string_view topics) {
        set_logs(topics);
        listen();
    }
    /// Topics as a program finds them that begins with this environment.
    explicit Lines(const char* variable, const char* value) {
        if (value == nullptr) {
            unsetenv(variable);
        } else {
            setenv(variable, value, 1);
        }
        detail::logged_topics = detail::environment_not_read;
        listen();
    }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    ~Lines() {
        set_log_sink({});
        set_logs("");
        unsetenv("TOTOGRAPH_LOGS");
    }

    [[nodiscard]] const std::vector<std::pair<LogTopic, std::string>>& all() const { return lines_; }

private:
    void listen() {
        set_log_sink([this](LogTopic topic, std::string_view line) { lines_.emplace_back(topic, line); });
    }

    std::vector<std::pair<LogTopic, std::string>> lines_;
};

std::vector<LogTopic> topics_on() {
    std::vector<LogTopic> on;
    for (const LogTopic topic : all_log_topics) {
        if (logs(topic)) {
            on.push_back(topic);
        }
    }
    return on;
}

/// What is written to stderr while `action` runs.
template <class Action>
std::string written_to_stderr(const Action& action) {
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    std::fflush(stderr);
    const int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    action();
    std::fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    std::string text(static_cast<std::size_t>(std::ftell(file)), ' ');
    std::rewind(file);
    CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
    std::fclose(file);
    return text;
}

}  // namespace

TEST_CASE("a list switches topics on and all others off") {
    Lines lines("graph");
    CHECK(topics_on() == std::vector{LogTopic::graph});
    set_logs("fusion,capture");
    CHECK(topics_on() == std::vector{LogTopic::fusion, LogTopic::capture});
    set_logs(" tuning ,\tsizes,,");
    CHECK(topics_on() == std::vector{LogTopic::tuning, LogTopic::sizes});
    set_logs("all");
    CHECK(topics_on() == std::vector(all_log_topics.begin(), all_log_topics.end()));
    set_logs("");
    CHECK(topics_on().empty());
    CHECK(logs(LogTopic::settings));
}

TEST_CASE("a name that is no topic is refused, and changes nothing") {
    Lines lines("capture");
    for (const char* const list : {"captures", "graph,settings", "Graph", "graph fusion", "graph,nonsense"}) {
        CAPTURE(list);
        try {
            set_logs(list);
            FAIL("it was taken");
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::invalid_argument);
            CHECK(std::string(error.what()).find("graph, fusion, capture, tuning, sizes, or all") != std::string::npos);
        }
        CHECK(topics_on() == std::vector{LogTopic::capture});
    }
}

TEST_CASE("a text is made only when its topic is on") {
    Lines lines("capture");
    int made = 0;
    const auto text = [&] {
        ++made;
        return "text " + std::to_string(made);
    };
    log(LogTopic::graph, text);
    CHECK(made == 0);
    log(LogTopic::capture, text);
    log(LogTopic::capture, [] { return "a literal"; });
    CHECK(made == 1);
    REQUIRE(lines.all().size() == 2);
    CHECK(lines.all()[0] == std::pair(LogTopic::capture, std::string("text 1")));
    CHECK(lines.all()[1] == std::pair(LogTopic::capture, std::string("a literal")));
}

TEST_CASE("a text of several lines is several lines") {
    Lines lines("fusion");
    log(LogTopic::fusion, [] { return "one\n\nthree\n"; });
    REQUIRE(lines.all().size() == 3);
    CHECK(lines.all()[0].second == "one");
    CHECK(lines.all()[1].second.empty());
    CHECK(lines.all()[2].second == "three");
}

TEST_CASE("without a sink, lines go to stderr behind the library's and the topic's name") {
    set_logs("tuning,sizes");
    const std::string text = written_to_stderr([] {
        log(LogTopic::tuning, [] { return "first\nsecond"; });
        log(LogTopic::graph, [] { return "not seen"; });
        log(LogTopic::sizes, [] { return "third"; });
    });
    set_logs("");
    CHECK(text == "[totograph:tuning] first\n[totograph:tuning] second\n[totograph:sizes] third\n");
}

TEST_CASE("the environment says which topics are on at first") {
    {
        Lines lines("TOTOGRAPH_LOGS", "graph,tuning");
        CHECK(topics_on() == std::vector{LogTopic::graph, LogTopic::tuning});
        setenv("TOTOGRAPH_LOGS", "fusion", 1);  // too late
        CHECK(topics_on() == std::vector{LogTopic::graph, LogTopic::tuning});
        CHECK(lines.all().empty());
    }
    Lines lines("TOTOGRAPH_LOGS", nullptr);
    CHECK(topics_on().empty());
}

TEST_CASE("names that are no topics are shown in one line that steers no terminal") {
    Lines lines("TOTOGRAPH_LOGS", "x\nEVIL\x1b[31m\x7f\xff");
    (void)topics_on();
    REQUIRE(lines.all().size() == 1);
    CHECK(lines.all()[0].second.starts_with(R"(TOTOGRAPH_LOGS names 'x\x0aEVIL\x1b[31m\x7f\xff', expected)"));
}

TEST_CASE("of a name that is no topic 80 letters are shown") {
    for (const std::size_t letters : {std::size_t{80}, std::size_t{81}}) {
        const Lines lines("TOTOGRAPH_LOGS", std::string(letters, 'x').c_str());
        (void)topics_on();
        REQUIRE(lines.all().size() == 1);
        const std::string shown = std::string(80, 'x') + (letters > 80 ? "..." : "");
        CHECK(lines.all()[0].second.starts_with("TOTOGRAPH_LOGS names '" + shown + "', expected"));
    }
}

TEST_CASE("names in the environment that are no topics are told once, the others count") {
    Lines lines("TOTOGRAPH_LOGS", "graph,nonsense, dynamo");
    CHECK(topics_on() == std::vector{LogTopic::graph});
    CHECK(topics_on() == std::vector{LogTopic::graph});
    REQUIRE(lines.all().size() == 1);
    CHECK(lines.all()[0].first == LogTopic::settings);
    CHECK(lines.all()[0].second ==
          "TOTOGRAPH_LOGS names 'nonsense', 'dynamo', expected a list of: graph, fusion, capture, tuning, sizes, or "
          "all, separated by commas. Correct the list.");
}

TEST_CASE("what a program sets before goes before the environment") {
    Lines lines("TOTOGRAPH_LOGS", "graph,nonsense");
    set_logs("fusion");
    CHECK(topics_on() == std::vector{LogTopic::fusion});
    CHECK(lines.all().empty());
}

TEST_CASE("what fails in a sink or in a text is lost, and later lines are not") {
    set_logs("all");
    int calls = 0;
    set_log_sink([&](LogTopic, std::string_view line) {
        ++calls;
        if (line == "fails") {
            throw std::runtime_error("no space");
        }
    });
    log(LogTopic::graph, [] { return "fails"; });
    log(LogTopic::graph, []() -> std::string { throw std::runtime_error("no text"); });
    log(LogTopic::graph, [] { return "works"; });
    CHECK(calls == 2);
    set_log_sink({});
    set_logs("");
}

TEST_CASE("what a sink logs itself is dropped") {
    set_logs("all");
    int calls = 0;
    set_log_sink([&](LogTopic, std::string_view) {
        ++calls;
        log(LogTopic::graph, [] { return "from inside"; });
    });
    log(LogTopic::graph, [] { return "one"; });
    log(LogTopic::graph, [] { return "two"; });
    CHECK(calls == 2);
    set_log_sink({});
    set_logs("");
}

TEST_CASE("a sink that is replaced ends where others may log") {
    Lines lines("capture");
    struct Last {
        std::vector<std::thread>& threads;
        explicit Last(std::vector<std::thread>& others) : threads(others) {}
        Last(const Last&) = delete;
        Last& operator=(const Last&) = delete;
        ~Last() {
            // It waits for a thread that logs.
            const auto is_written = std::make_shared<std::promise<void>>();
            threads.emplace_back([is_written] {
                log(LogTopic::capture, [] { return "of a thread"; });
                is_written->set_value();
            });
            CHECK(is_written->get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
        }
    };
    std::vector<std::thread> threads;
    {
        const auto last = std::make_shared<Last>(threads);
        set_log_sink([last](LogTopic, std::string_view) {});
    }
    std::vector<std::string> next;
    set_log_sink([&](LogTopic, std::string_view line) { next.emplace_back(line); });
    threads.at(0).join();
    CHECK(next == std::vector<std::string>{"of a thread"});
}

TEST_CASE("a sink cannot replace itself") {
    set_logs("all");
    std::string said;
    set_log_sink([&](LogTopic, std::string_view) {
        try {
            set_log_sink({});
        } catch (const Error& error) {
            said = error.what();
        }
    });
    log(LogTopic::graph, [] { return "one"; });
    CHECK(said.starts_with("set_log_sink was called by a log sink"));
    set_log_sink({});
    set_logs("");
}

TEST_CASE("threads log whole lines, and a sink that was taken away is not called") {
    Lines lines("capture");
    std::vector<std::thread> threads;
    constexpr int per_thread = 200;
    threads.reserve(4);
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([thread] {
            for (int i = 0; i < per_thread; ++i) {
                log(LogTopic::capture, [&] { return std::string(20, static_cast<char>('a' + thread)); });
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::vector<int> counts(4, 0);
    for (const auto& [topic, line] : lines.all()) {
        const auto thread = static_cast<std::size_t>(line.at(0) - 'a');
        REQUIRE(line == std::string(20, line[0]));
        ++counts.at(thread);
    }
    CHECK(counts == std::vector<int>(4, per_thread));

    std::atomic<bool> is_there{true};
    std::atomic<bool> ends{false};
    std::atomic<int> late{0};
    set_log_sink([&](LogTopic, std::string_view) { late += is_there ? 0 : 1; });
    std::thread talker([&] {
        while (!ends) {
            log(LogTopic::capture, [] { return "line"; });
        }
    });
    for (int i = 0; i < 100; ++i) {
        is_there = true;
        set_log_sink([&](LogTopic, std::string_view) { late += is_there ? 0 : 1; });
        std::this_thread::yield();
        set_log_sink([](LogTopic, std::string_view) {});
        is_there = false;
    }
    ends = true;
    talker.join();
    CHECK(late == 0);
}
