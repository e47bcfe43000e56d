// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/log.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>

namespace totograph {
namespace detail {

TOTOGRAPH_INLINE bool& writing_log() noexcept {
    static thread_local bool is_writing = false;
    return is_writing;
}

TOTOGRAPH_INLINE bool is_writing_log() noexcept {
    return writing_log();
}

TOTOGRAPH_INLINE HeldLines*& held_lines() noexcept {
    static thread_local HeldLines* lines = nullptr;
    return lines;
}

TOTOGRAPH_INLINE void write_held(const HeldLines& lines) noexcept {
    for (const auto& [topic, line] : lines) {
        try {
            write_log(topic, line);
        } catch (...) {
            continue;
        }
    }
}

TOTOGRAPH_INLINE void write_log(LogTopic topic, std::string_view line) {
    if (is_writing_log()) {
        return;
    }
    if (HeldLines* const held = held_lines()) {
        held->emplace_back(topic, line);
        return;
    }
    struct Scope {
        Scope() { writing_log() = true; }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        ~Scope() { writing_log() = false; }
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

TOTOGRAPH_INLINE void write_log_lines(LogTopic topic, std::string_view text) {
    while (true) {
        const std::size_t end = text.find('\n');
        write_log(topic, text.substr(0, end));
        if (end == std::string_view::npos || end + 1 == text.size()) {
            return;
        }
        text.remove_prefix(end + 1);
    }
}

TOTOGRAPH_INLINE std::string ascii_of(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr std::size_t longest = 80;
    std::string shown;
    for (const char letter : text.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte >= 0x20 && byte < 0x7F) {
            shown += letter;
        } else {
            shown.append("\\x").append(1, digits[byte / 16U]).append(1, digits[byte % 16U]);
        }
    }
    return shown + (text.size() > longest ? "..." : "");
}

TOTOGRAPH_INLINE LogList read_log_list(std::string_view list, std::string_view from) {
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
            unknown += (unknown.empty() ? "'" : ", '") + ascii_of(item) + "'";
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

TOTOGRAPH_INLINE LogTopics read_logs_of_environment() noexcept {
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

TOTOGRAPH_INLINE bool logs(LogTopic topic) noexcept {
    detail::LogTopics topics = detail::logged_topics.load(std::memory_order_relaxed);
    if ((topics & detail::environment_not_read) != 0) [[unlikely]] {
        topics = detail::read_logs_of_environment();
    }
    return topic == LogTopic::settings || (topics & detail::bit_of(topic)) != 0;
}

TOTOGRAPH_INLINE void set_logs(std::string_view list) {
    const detail::LogList read = detail::read_log_list(list, "A list of log topics");
    if (!read.unknown.empty()) {
        throw Error(ErrorCode::invalid_argument, read.unknown);
    }
    detail::logged_topics.store(read.topics, std::memory_order_relaxed);
}

TOTOGRAPH_INLINE void set_log_sink(LogSink sink) {
    if (detail::is_writing_log()) {
        throw Error(ErrorCode::invalid_argument,
                    "set_log_sink was called by a log sink, which it would wait for. Keep what is to come, and call it "
                    "from outside of the sink.");
    }
    detail::LogOutput& output = detail::log_output();
    {
        const std::scoped_lock lock(output.mutex);
        std::swap(output.sink, sink);
    }
    // What the sink before held ends here, without the lock: it may log, or wait for what does.
}

}  // namespace totograph
