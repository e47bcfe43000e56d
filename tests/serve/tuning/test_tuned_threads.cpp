// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/log.hpp>
#include <totograph/io/cache/cache_file.hpp>
#include <totograph/serve/tuning/tuned_threads.hpp>

#include "io/support.hpp"

// What is kept of measurements, with measurements that are made up.

namespace tg = totograph;
using tg::serve::detail::processor_name;
using tg::serve::detail::ThreadQuestion;
using tg::serve::detail::TunedThreads;
using tg::serve::detail::tuning_place;
using tg::serve::detail::TuningPlace;
using tg::test::ScratchFolder;

namespace {

TuningPlace place_in(const ScratchFolder& folder, std::string identity = "a processor") {
    return {{folder.path(), {}}, "Some CPU", std::move(identity)};
}

const ThreadQuestion question{.program = "1 x 2 x 16 -> 8, 0123", .subject = "the bucket"};

/// Two threads are the fastest; counts how often it was asked.
struct Measure {
    int* asked;
    double operator()(int threads, double /*too_slow*/) const {
        ++*asked;
        return threads == 2 ? 1.0 : 5.0;
    }
};

/// What it was asked, and what it chose.
struct Chosen {
    int threads;
    int asked;
};

Chosen choose(TunedThreads& tuned, const TuningPlace& place, int most = 4, const ThreadQuestion& about = question) {
    int asked = 0;
    const int threads = tuned.choose(0, most, place, about, Measure{&asked});
    return {threads, asked};
}

/// The same by another process: it knows what the file says.
Chosen choose_anew(const TuningPlace& place, int most = 4, const ThreadQuestion& about = question) {
    TunedThreads tuned;
    return choose(tuned, place, most, about);
}

tg::CacheCounts counts() {
    return tg::cache_counts().of("tuning").read();
}

std::filesystem::path cache_file(const ScratchFolder& folder) {
    for (const auto& each : std::filesystem::directory_iterator(folder.path())) {
        if (each.path().extension() == ".cache") {
            return each.path();
        }
    }
    throw std::runtime_error("there is no cache file");
}

}  // namespace

TEST_CASE("threads are measured once by a process, and taken from the file by the next") {
    const ScratchFolder folder;
    const TuningPlace place = place_in(folder);
    const tg::CacheCounts before = counts();
    TunedThreads first;
    CHECK(first.known(0, 4) == 0);
    const Chosen measured = choose(first, place);
    CHECK(measured.threads == 2);
    CHECK(measured.asked == 3);  // 4, 2, 1
    CHECK(first.known(0, 4) == 2);
    CHECK(first.known(0, 2) == 0);
    CHECK(first.known(1, 4) == 0);
    CHECK(choose(first, place).asked == 0);
    CHECK(cache_file(folder).filename().string().starts_with("cpu-some-cpu-"));

    const Chosen found = choose_anew(place);
    CHECK(found.threads == 2);
    CHECK(found.asked == 0);
    // With another limit, program, processor or build it is another question.
    CHECK(choose_anew(place, 2).asked > 0);
    CHECK(choose_anew(place, 4, {.program = "another", .subject = "it"}).asked > 0);
    CHECK(choose_anew(place_in(folder, "another processor")).asked > 0);
    CHECK(choose_anew(place, 4, {.program = "another", .subject = "it"}).asked == 0);
    CHECK(choose_anew(place).asked == 0);
    const tg::CacheCounts after = counts();
    CHECK(after.misses - before.misses == 4);
    CHECK(after.hits - before.hits == 3);
    CHECK(after.ignored == before.ignored);
}

TEST_CASE("one thread is no choice") {
    const ScratchFolder folder;
    const tg::CacheCounts before = counts();
    const Chosen one = choose_anew(place_in(folder), 1);
    CHECK(one.threads == 1);
    CHECK(one.asked == 0);
    CHECK(folder.file_count() == 0);
    CHECK(counts().misses == before.misses);
}

TEST_CASE("without a folder threads are measured once by each process") {
    const TuningPlace nowhere{{{}, "There is none."}, "Some CPU", "a processor"};
    TunedThreads tuned;
    CHECK(choose(tuned, nowhere).threads == 2);
    CHECK(choose(tuned, nowhere).asked == 0);
    CHECK(choose_anew(nowhere).asked > 0);
}

TEST_CASE("a file that is damaged, foreign, or says what cannot be is not trusted") {
    const ScratchFolder folder;
    const TuningPlace place = place_in(folder);
    (void)choose_anew(place);
    const std::filesystem::path path = cache_file(folder);
    const std::string key = question.program + ", at most 4 threads";
    const std::string whole = tg::test::content_of(path);
    struct Wrong {
        std::string content;
        bool is_ignored;  // or read, and not accepted
    };
    for (const Wrong& wrong :
         std::vector<Wrong>{{whole.substr(0, whole.size() / 2), true},
                            {"", true},
                            {tg::io::cache_bytes("another processor", {{key, "1"}}), true},
                            {tg::io::cache_bytes(place.identity, {{key, "5"}}), false},
                            {tg::io::cache_bytes(place.identity, {{key, "0"}}), false},
                            {tg::io::cache_bytes(place.identity, {{key, "-1"}}), false},
                            {tg::io::cache_bytes(place.identity, {{key, "2 "}}), false},
                            {tg::io::cache_bytes(place.identity, {{key, ""}}), false},
                            {tg::io::cache_bytes(place.identity, {{key, "99999999999"}}), false}}) {
        CAPTURE(wrong.content);
        (void)folder.file(path.filename().string(), wrong.content);
        const tg::CacheCounts before = counts();
        const Chosen chosen = choose_anew(place);
        CHECK(chosen.threads == 2);
        CHECK(chosen.asked == 3);
        CHECK(counts().ignored - before.ignored == (wrong.is_ignored ? 1 : 0));
        CHECK((!wrong.is_ignored || counts().last_reason.find(path.filename().string()) != std::string::npos));
        CHECK(counts().misses - before.misses == 1);
        CHECK(choose_anew(place).asked == 0);  // it was replaced
    }
    // What can be is believed: it was measured by somebody with the same processor.
    (void)folder.file(path.filename().string(), tg::io::cache_bytes(place.identity, {{key, "3"}}));
    CHECK(choose_anew(place).threads == 3);
}

TEST_CASE("a measurement that fails keeps nothing, and the next one has its turn") {
    const ScratchFolder folder;
    TunedThreads tuned;
    const auto fail = [](int, double) -> double { throw std::runtime_error("no memory"); };
    CHECK_THROWS_AS((void)tuned.choose(0, 4, place_in(folder), question, fail), std::runtime_error);
    CHECK(tuned.known(0, 4) == 0);
    CHECK(folder.file_count() == 0);
    CHECK(choose(tuned, place_in(folder)).threads == 2);
}

TEST_CASE("who warms up at the same time measures in turns, and once what they share") {
    const TuningPlace nowhere{{{}, "There is none."}, "Some CPU", "a processor"};
    TunedThreads shared;
    TunedThreads other;
    std::atomic<int> measuring{0};
    std::atomic<int> most_at_once{0};
    std::atomic<int> asked{0};
    const auto measure = [&](int, double) {
        const int now = ++measuring;
        if (now > most_at_once) {
            most_at_once = now;
        }
        ++asked;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --measuring;
        return 1.0;
    };
    std::vector<std::thread> threads;
    constexpr int count = 8;
    threads.reserve(count);
    for (int i = 0; i < count; ++i) {
        threads.emplace_back(
            [&, i] { CHECK((i % 4 == 0 ? other : shared).choose(0, 4, nowhere, question, measure) == 1); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(most_at_once == 1);
    CHECK(asked == 2 * 3);
}

TEST_CASE("what becomes of threads is logged") {
    const ScratchFolder folder;
    std::vector<std::string> lines;
    tg::set_log_sink([&](tg::LogTopic, std::string_view line) { lines.emplace_back(line); });
    tg::set_logs("tuning");
    (void)choose_anew(place_in(folder), 2);
    (void)choose_anew(place_in(folder), 2);
    tg::set_logs("");
    tg::set_log_sink({});
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "the bucket: 2 threads 1.00 s, 1 thread 5.00 s: takes 2");
    CHECK(lines[1].starts_with("1 choice is kept in '"));
    CHECK(lines[2] == "the bucket: takes 2, as was measured before");
}

TEST_CASE("a log sink is called when the turn to tune is over") {
    int lines = 0;
    int free = 0;
    tg::set_log_sink([&](tg::LogTopic, std::string_view) {
        ++lines;
        std::thread([&] {
            if (tg::serve::detail::tuning_turn().try_lock()) {
                ++free;
                tg::serve::detail::tuning_turn().unlock();
            }
        }).join();
    });
    tg::set_logs("tuning");
    const ScratchFolder folder;
    (void)choose_anew(place_in(folder), 2);
    (void)choose_anew(place_in(folder), 2);
    tg::set_logs("");
    tg::set_log_sink({});
    CHECK(lines == 3);
    CHECK(free == lines);
}

TEST_CASE("a processor has the name that the system gives it") {
    const auto named = [](const std::string& text) {
        std::istringstream stream(text);
        return processor_name(stream);
    };
    CHECK(named("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
                "model name\t: Intel(R) Xeon(R) Platinum 8480C\ncpu MHz\t\t: 2000.0\ncache size\t: 107520 KB\n\n"
                "processor\t: 1\nmodel name\t: Another\n") == "Intel(R) Xeon(R) Platinum 8480C, 6, 143, 107520 KB");
    CHECK(named("processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n\n") ==
          "0x41, 0xd40");
    CHECK(named("\n\nmodel name : A\n\nmodel name : B\n") == "A");
    CHECK(named(": x\n\nmodel name : A\n") == "A");
    CHECK(named("").empty());
    CHECK(named(":\nmodel name\nmodel name:\n: x\n").empty());
}

TEST_CASE("the place of this process names all that a choice depends on") {
    const TuningPlace place = tuning_place(16);
    for (const std::string part : {"totograph ", "compiler ", "vectors of 16 floats", " usable"}) {
        CAPTURE(part);
        CHECK(place.identity.find(part) != std::string::npos);
    }
    CHECK(place.identity.find(place.processor) != std::string::npos);
    CHECK(tuning_place(8).identity != place.identity);
    CHECK(tuning_place(16).identity == place.identity);
}
