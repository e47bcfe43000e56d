// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Whether this thread is inside of the sink.
bool is_writing_log() noexcept;

/// Lines that are written later; see `HeldLog`.
using HeldLines = std::vector<std::pair<LogTopic, std::string>>;

/// Where this thread's lines are kept meanwhile; null where they are written at once.
HeldLines*& held_lines() noexcept;

/// Writes lines in their order. One that cannot be written is lost.
void write_held(const HeldLines& lines) noexcept;

/// Hands a line to the sink, one thread at a time, or keeps it. What a sink logs itself is dropped.
void write_log(LogTopic topic, std::string_view line);

/// A text of several lines, line by line.
void write_log_lines(LogTopic topic, std::string_view text);

/// A list of topics as read.
struct LogList {
    LogTopics topics = 0;
    std::string unknown;  ///< A sentence about the names that are none; empty when there are none.
};

/// Foreign text as a message of this layer shows it: ASCII that steers no terminal, and at most 80 bytes of the text.
std::string ascii_of(std::string_view text);

LogList read_log_list(std::string_view list, std::string_view from);

/// Takes the topics of `TOTOGRAPH_LOGS`, unless another thread or `set_logs` was first.
LogTopics read_logs_of_environment() noexcept;

}  // namespace detail

/// Whether lines of a topic are written: one load, when they are not. The first call of a process reads
/// `TOTOGRAPH_LOGS`, unless `set_logs` came before it; names there that are no topics are told as a line of
/// `LogTopic::settings`, once.
bool logs(LogTopic topic) noexcept;

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
void set_logs(std::string_view list);

/// Gives lines to `sink` from now on, or to stderr again when it is empty. The sink is called by one thread at a time,
/// without the topic's name before the line; what it logs itself is dropped, what it throws is lost. When this returns,
/// the sink before is not being called, will not be called any more, and what it held is gone.
///
/// A sink may make and use forecasters. Inside of it `set_log_sink` throws `Error` (`invalid_argument`), and so does
/// every call of a `serve::ForecastService` that waits for its turn (see there; `is_ready()` and the like do not).
/// It must not end the life of a service: that waits for what the service builds in the background, which may wait to
/// log. Nor may it wait for a thread that logs.
void set_log_sink(LogSink sink);

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/core/impl/log.hpp>
#endif
