// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/error.hpp>

namespace totograph {

/// What debug lines are about. `TOTOGRAPH_LOGS=graph,capture` switches topics on, as `TORCH_LOGS` does for PyTorch.
enum class LogTopic : std::uint8_t {
    graph,     ///< Programs, when an executor is made: nodes, kernels, steps, memory.
    fusion,    ///< Their fused groups, a line each.
    capture,   ///< What is built and captured, when, why, and how long it took.
    tuning,    ///< Choices that are made by measurement, and the files that keep them.
    sizes,     ///< Which bucket serves a request, and what is made or freed for it.
    settings,  ///< A setting that cannot be used. Always on, and no name for a list.
};

/// The topics that can be switched on and off.
inline constexpr std::array all_log_topics{LogTopic::graph, LogTopic::fusion, LogTopic::capture, LogTopic::tuning,
                                           LogTopic::sizes};

/// The name of a topic, as `TOTOGRAPH_LOGS` spells it.
constexpr std::string_view name(LogTopic topic) noexcept {
    switch (topic) {
        case LogTopic::graph: return "graph";
        case LogTopic::fusion: return "fusion";
        case LogTopic::capture: return "capture";
        case LogTopic::tuning: return "tuning";
        case LogTopic::sizes: return "sizes";
        case LogTopic::settings: return "settings";
    }
    return "unknown";
}

/// Takes a line of a topic, without its end and without the topic's name.
using LogSink = std::function<void(LogTopic, std::string_view)>;

namespace detail {

/// A set of topics, one bit each.
using LogTopics = std::uint32_t;

constexpr LogTopics bit_of(LogTopic topic) noexcept {
    return LogTopics{1} << static_cast<unsigned>(topic);
}

inline constexpr LogTopics environment_not_read = LogTopics{1} << 31U;
inline std::atomic<LogTopics> logged_topics{environment_not_read};

struct LogOutput {
    std::mutex mutex;
    LogSink sink;
};

/// Never destroyed: what ends after `main` may still log.
inline LogOutput& log_output() {
    static auto* const output = new LogOutput;
    return *output;
}

/// Hands a line to the sink, one thread at a time. What a sink logs itself is dropped.
inline void write_log(LogTopic topic, std::string_view line) {
    static thread_local bool is_writing = false;
    if (is_writing) {
        return;
    }
    struct Scope {
        Scope() { is_writing = true; }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        ~Scope() { is_writing = false; }
    };
    const Scope scope;
    LogOutput& output = log_output();
    const std::scoped_lock lock(output.mutex);
    if (output.sink) {
        output.sink(topic, line);
        return;
    }
    const std::string text = "[totograph:" + std::string(name(topic)) + "] " + std::string(line) + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);  // in one piece, so that lines of several processes stay whole
}

/// A text of several lines, line by line.
inline void write_log_lines(LogTopic topic, std::string_view text) {
    while (true) {
        const std::size_t end = text.find('\n');
        write_log(topic, text.substr(0, end));
        if (end == std::string_view::npos || end + 1 == text.size()) {
            return;
        }
        text.remove_prefix(end + 1);
    }
}

/// A list of topics as read.
struct LogList {
    LogTopics topics = 0;
    std::string unknown;  ///< A sentence about the names that are none; empty when there are none.
};

inline LogList read_log_list(std::string_view list, std::string_view from) {
    LogList result;
    std::string unknown;
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        std::string_view item = list.substr(0, comma);
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
        constexpr std::string_view blanks = " \t";
        item.remove_prefix(std::min(item.find_first_not_of(blanks), item.size()));
        item = item.substr(0, item.find_last_not_of(blanks) + 1);
        LogTopics named = 0;
        for (const LogTopic topic : all_log_topics) {
            named |= item == "all" || item == name(topic) ? bit_of(topic) : 0;
        }
        result.topics |= named;
        if (named == 0 && !item.empty()) {
            unknown += (unknown.empty() ? "'" : ", '") + std::string(item) + "'";
        }
    }
    if (!unknown.empty()) {
        std::string known;
        for (const LogTopic topic : all_log_topics) {
            known += std::string(name(topic)) + ", ";
        }
        result.unknown = std::string(from) + " names " + unknown + ", expected a list of: " + known +
                         "or all, separated by commas. Correct the list.";
    }
    return result;
}

/// Takes the topics of `TOTOGRAPH_LOGS`, unless another thread or `set_logs` was first.
inline LogTopics read_logs_of_environment() noexcept {
    try {
        const char* const value = std::getenv("TOTOGRAPH_LOGS");
        const LogList list = read_log_list(value == nullptr ? "" : value, "TOTOGRAPH_LOGS");
        LogTopics before = environment_not_read;
        if (!logged_topics.compare_exchange_strong(before, list.topics, std::memory_order_relaxed)) {
            return before;
        }
        if (!list.unknown.empty()) {
            write_log(LogTopic::settings, list.unknown);
        }
        return list.topics;
    } catch (...) {
        return logged_topics.load(std::memory_order_relaxed) & ~environment_not_read;
    }
}

}  // namespace detail

/// Whether lines of a topic are written: one load, when they are not. The first call of a process reads
/// `TOTOGRAPH_LOGS`, unless `set_logs` came before it; names there that are no topics are told as a line of
/// `LogTopic::settings`, once.
inline bool logs(LogTopic topic) noexcept {
    detail::LogTopics topics = detail::logged_topics.load(std::memory_order_relaxed);
    if ((topics & detail::environment_not_read) != 0) [[unlikely]] {
        topics = detail::read_logs_of_environment();
    }
    return topic == LogTopic::settings || (topics & detail::bit_of(topic)) != 0;
}

/// Writes `make_text()`, something that a `std::string_view` can be made of, as a line of a topic:
/// `[totograph:capture] ...`, on stderr unless there is a sink. A text of several lines is written as several.
/// `make_text` is called only when the topic is on. Never throws: a line that cannot be made or written is lost.
template <class MakeText>
void log(LogTopic topic, MakeText&& make_text) noexcept {
    if (logs(topic)) [[unlikely]] {
        try {
            const auto& text = make_text();
            detail::write_log_lines(topic, text);
        } catch (...) {
            return;  // a debug line must not end what it tells about
        }
    }
}

/// Switches topics on and all others off: a list like `graph,fusion`, or `all`, or nothing. It takes the place of
/// `TOTOGRAPH_LOGS`. Throws `Error` (`invalid_argument`) that lists the topics, and changes nothing, when a name is
/// none.
inline void set_logs(std::string_view list) {
    const detail::LogList read = detail::read_log_list(list, "A list of log topics");
    if (!read.unknown.empty()) {
        throw Error(ErrorCode::invalid_argument, read.unknown);
    }
    detail::logged_topics.store(read.topics, std::memory_order_relaxed);
}

/// Gives lines to `sink` from now on, or to stderr again when it is empty. The sink is called by one thread at a time,
/// without the topic's name before the line; what it logs itself is dropped, what it throws is lost. It must not call
/// `set_log_sink`. When this returns, the sink before is not being called and will not be called any more.
inline void set_log_sink(LogSink sink) {
    detail::LogOutput& output = detail::log_output();
    const std::scoped_lock lock(output.mutex);
    output.sink = std::move(sink);
}

}  // namespace totograph
