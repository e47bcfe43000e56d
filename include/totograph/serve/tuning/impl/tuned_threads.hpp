// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/tuning/tuned_threads.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <istream>
#include <string>
#include <string_view>
#include <system_error>

#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/processors.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/tuning_cache.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/serve/tuning/tune_threads.hpp>
#include <totograph/version.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE std::string processor_name(std::istream& cpuinfo) {
    constexpr std::array<std::string_view, 10> telling{"model name",  "cpu family",      "model",    "stepping",
                                                       "cache size",  "CPU implementer", "CPU part", "CPU architecture",
                                                       "CPU variant", "CPU revision"};
    constexpr std::string_view blank = " \t";
    std::array<std::string, telling.size()> values;
    bool has_begun = false;
    for (std::string line; std::getline(cpuinfo, line) && !(line.empty() && has_begun);) {
        const std::size_t colon = line.find(':');
        const std::size_t value = colon == std::string::npos ? colon : line.find_first_not_of(blank, colon + 1);
        if (colon == 0 || value == std::string::npos) {
            continue;
        }
        has_begun = true;
        const std::string_view key = std::string_view(line).substr(0, line.find_last_not_of(blank, colon - 1) + 1);
        for (std::size_t i = 0; i < telling.size(); ++i) {
            if (key == telling[i]) {
                values[i] = line.substr(value);
            }
        }
    }
    std::string name;
    for (const std::string& value : values) {
        name += name.empty() || value.empty() ? value : ", " + value;
    }
    return name;
}

TOTOGRAPH_INLINE TuningPlace tuning_place(Index floats_of_a_vector) {
#ifdef __VERSION__
    constexpr std::string_view compiler = __VERSION__;
#else
    constexpr std::string_view compiler = "unknown";
#endif
    std::ifstream cpuinfo("/proc/cpuinfo");
    TuningPlace place{io::cache_folder(), processor_name(cpuinfo), {}};
    place.identity = "threads, totograph " + std::string(version) + ", compiler " + std::string(compiler) +
                     ", vectors of " + std::to_string(floats_of_a_vector) + " floats, processor " + place.processor +
                     ", " + totograph::detail::number_text(usable_processors(), 6) + " usable";
    return place;
}

TOTOGRAPH_INLINE int TunedThreads::threads_of(std::string_view text, int most) {
    int threads = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number && threads >= 1 && threads <= most ? threads : 0;
}

}  // namespace totograph::serve::detail
