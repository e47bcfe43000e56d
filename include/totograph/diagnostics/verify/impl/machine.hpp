// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/verify/machine.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE std::vector<Check> check_build(const BuildIdentity& build, std::string_view processor) {
    std::vector<Check> checks;
    Check compiled{"build", CheckResult::ok, to_string(build)};
    if (build.is_sanitized) {
        compiled.result = CheckResult::warning;
        compiled.remedy = "Sanitizers are for tests: they cost most of the speed. Build without -fsanitize to serve.";
    } else if (!build.is_optimized) {
        compiled.result = CheckResult::failed;
        compiled.remedy = "Compile with -O2: without it, forecasts take tens of times as long.";
    } else if (build.has_assertions) {
        compiled.result = CheckResult::warning;
        compiled.found += ", with assertions";
        compiled.remedy = "Assertions cost some of the speed. Compile with -DNDEBUG, as CMake does for Release.";
    }
    checks.push_back(compiled);

    const int compiled_width = floats_of_vectors(build.vectors);
    const int processor_width = floats_of_vectors(processor);
    Check vectors{"vectors", CheckResult::ok,
                  "compiled for " + (build.vectors.empty() ? "none" : build.vectors) + ", the processor has " +
                      (processor.empty() ? "some that are not known" : std::string(processor))};
    if (processor_width != 0 && (compiled_width > processor_width || (build.vectors == "avx2" && processor == "avx"))) {
        vectors.result = CheckResult::failed;
        vectors.remedy =
            "This processor cannot run the build. Compile on it with -march=native, or name its "
            "architecture with -march.";
    } else if (compiled_width < processor_width || (build.vectors == "avx" && processor == "avx2")) {
        vectors.result = CheckResult::warning;
        vectors.remedy =
            "Compile with -O2 -march=native (or the -march of the machines that serve): GEMMs run "
            "on the widest vectors that the compiler may emit.";
    }
    checks.push_back(vectors);
    return checks;
}

TOTOGRAPH_INLINE Check check_threads(int wanted, int unasked, double usable) {
    if (wanted < 0 || wanted > most_threads) {
        return {"threads", CheckResult::failed, std::to_string(wanted) + " threads for a forecast",
                "Ask for at most " + std::to_string(most_threads) +
                    " (BackendResources::threads), or 0 for all processors: making a service throws for others."};
    }
    const int threads = wanted > 0 ? wanted : unasked;
    const std::string found = std::to_string(threads) + " threads for a forecast, " +
                              totograph::detail::number_text(usable, 3) + " processors usable";
    if (static_cast<double>(threads) > std::ceil(usable)) {
        return {"threads", CheckResult::warning, found,
                "Ask for " + std::to_string(std::max(1, static_cast<int>(usable))) +
                    " threads (BackendResources::threads): threads that wait for a processor hold up all others. Or "
                    "raise the processor quota of the container."};
    }
    return {"threads", CheckResult::ok, found};
}

namespace detail {

TOTOGRAPH_INLINE std::size_t number_after(const std::filesystem::path& path, std::string_view word) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string key;
        std::size_t number = 0;
        if (words >> key >> number && key == word) {
            return number;
        }
    }
    return 0;
}

TOTOGRAPH_INLINE std::optional<std::size_t> left_in_group(const std::filesystem::path& limit,
                                                          const std::filesystem::path& usage,
                                                          const std::filesystem::path& statistics,
                                                          std::string_view inactive) {
    std::ifstream limit_file(limit);
    std::ifstream usage_file(usage);
    std::size_t most = 0;
    std::size_t used = 0;
    if (!(limit_file >> most && usage_file >> used)) {  // "max" where there is no limit
        return {};
    }
    used -= std::min(used, number_after(statistics, inactive));
    return most > used ? most - used : 0;
}

}  // namespace detail

TOTOGRAPH_INLINE std::optional<std::size_t> available_memory(const std::filesystem::path& root) {
    std::optional<std::size_t> available;
    for (const char* word : {"MemAvailable:", "MemFree:"}) {
        const std::size_t kibibytes = detail::number_after(root / "proc/meminfo", word);
        if (!available && kibibytes > 0) {
            available = kibibytes * 1024;
        }
    }
    const std::filesystem::path second = root / "sys/fs/cgroup";
    const std::filesystem::path first = second / "memory";
    for (const auto& left : {detail::left_in_group(second / "memory.max", second / "memory.current",
                                                   second / "memory.stat", "inactive_file"),
                             detail::left_in_group(first / "memory.limit_in_bytes", first / "memory.usage_in_bytes",
                                                   first / "memory.stat", "total_inactive_file")}) {
        if (left) {
            available = std::min(available.value_or(*left), *left);
        }
    }
    return available;
}

TOTOGRAPH_INLINE Check check_memory(std::size_t needed, std::optional<std::size_t> available) {
    const std::string found =
        totograph::detail::bytes_text(needed) + " for all compiled sizes and their weights, " +
        (available ? totograph::detail::bytes_text(*available) + " available" : "what is available is not known");
    if (available && needed > *available) {
        return {"memory", CheckResult::failed, found,
                "Serve fewer or smaller sizes, store weights as bf16, or give the process more memory."};
    }
    if (available && static_cast<double>(needed) > 0.8 * static_cast<double>(*available)) {
        return {"memory", CheckResult::warning, found,
                "Little is left for the rest of the program; give the process more memory."};
    }
    return {"memory", CheckResult::ok, found};
}

TOTOGRAPH_INLINE Check check_clock(const std::function<std::chrono::nanoseconds()>& now) {
    constexpr int reads = 2000;
    std::int64_t finest = std::numeric_limits<std::int64_t>::max();
    bool ascends = true;
    auto before = now();
    const auto start = before;
    for (int i = 0; i < reads; ++i) {
        const auto time = now();
        const std::int64_t step = (time - before).count();
        ascends = ascends && step >= 0;
        if (step > 0) {
            finest = std::min(finest, step);
        }
        before = time;
    }
    if (!ascends) {
        return {"clock", CheckResult::failed, "the steady clock goes backwards",
                "Latencies would be wrong. Update the system, or choose another clock source."};
    }
    const double each = static_cast<double>((before - start).count()) / reads * 1e-9;
    const std::string found = "a reading takes " + detail::seconds_text(each);
    constexpr double slow = 1e-6;
    if (each > slow) {
        return {"clock", CheckResult::warning, found,
                "Reading the time is a system call here; choose the clock source tsc, where the machine has it."};
    }
    if (finest > 10'000) {
        return {"clock", CheckResult::warning,
                found + ", steps of " + detail::seconds_text(1e-9 * static_cast<double>(finest)),
                "Latencies of short forecasts are coarse; choose another clock source."};
    }
    return {"clock", CheckResult::ok, found};
}

}  // namespace totograph::serve
