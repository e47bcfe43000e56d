// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/held_log.hpp>
#include <totograph/core/log.hpp>

using namespace totograph;

namespace {

/// Lines of the topic `graph` while it lives.
struct Heard {
    std::vector<std::string> lines;
    Heard() {
        set_logs("graph");
        set_log_sink([this](LogTopic, std::string_view line) { lines.emplace_back(line); });
    }
    Heard(const Heard&) = delete;
    Heard& operator=(const Heard&) = delete;
    ~Heard() {
        set_log_sink({});
        set_logs("");
    }
};

void say(const char* line) {
    log(LogTopic::graph, [&] { return line; });
}

}  // namespace

TEST_CASE("held lines are written in their order, at the end of the first who holds them") {
    Heard heard;
    {
        const detail::HeldLog held;
        say("one");
        {
            const detail::HeldLog inner;
            say("two\nthree");
        }
        CHECK(heard.lines.empty());
        std::thread([] { say("of another thread"); }).join();
        CHECK(heard.lines == std::vector<std::string>{"of another thread"});
        say("four");
    }
    say("five");
    CHECK(heard.lines == std::vector<std::string>{"of another thread", "one", "two", "three", "four", "five"});
}

TEST_CASE("a lock behind it is gone when the sink is called") {
    Heard heard;
    std::mutex mutex;
    bool is_free = false;
    set_log_sink([&](LogTopic, std::string_view) {
        std::thread([&] {
            is_free = mutex.try_lock();
            if (is_free) {
                mutex.unlock();
            }
        }).join();
    });
    {
        const detail::HeldLog held;
        const std::scoped_lock lock(mutex);
        say("inside");
    }
    CHECK(is_free);
}
