// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/verify/caches.hpp>

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/atomic_file.hpp>
#include <totograph/io/cache/cache_file.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/io/cache/trusted_file.hpp>
#include <totograph/io/cache/weight_file.hpp>
#include <totograph/io/file_lock.hpp>
#include <totograph/io/mapped_file.hpp>
#include <totograph/io/text.hpp>

namespace totograph::serve {
namespace detail {

TOTOGRAPH_INLINE std::string identity_in(const std::filesystem::path& path) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed) ||
        std::filesystem::file_size(path, failed) > io::most_cache_bytes) {
        return {};
    }
    std::ifstream stream(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    io::cache_detail::Reader reader(bytes);
    (void)reader.take(io::cache_magic.size());
    (void)reader.number<std::uint32_t>();
    return std::string(reader.take(reader.number<std::uint32_t>()));
}

TOTOGRAPH_INLINE bool begins_as_records(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::string start(io::cache_magic.size(), '\0');
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    return stream.good() && start == io::cache_magic;
}

TOTOGRAPH_INLINE std::string wrong_with_weights(const std::filesystem::path& path) {
    try {
        const io::TrustedFile opened = io::open_trusted(path);
        if (!opened.file) {
            return opened.wrong;
        }
        const io::MappedFile file(path, opened.file, opened.status);
        return io::weight_file_detail::check_alone(file.bytes(), [](std::size_t parts, auto&& function) {
            for (std::size_t part = 0; part < parts; ++part) {
                function(part);
            }
        });
    } catch (const Error& error) {
        return error.what();
    }
}

TOTOGRAPH_INLINE std::vector<Check> check_weight_files(const std::filesystem::path& root) {
    std::vector<Check> checks;
    std::error_code failed;
    std::size_t files = 0;
    std::uintmax_t bytes = 0;
    std::filesystem::recursive_directory_iterator each(root, failed);
    for (; !failed && each != std::filesystem::recursive_directory_iterator(); each.increment(failed)) {
        std::error_code ignored;
        const std::string file = each->path().filename().string();
        if (each->is_directory(ignored)) {
            if (std::string distrusted = io::distrusted_folder(each->path()); !distrusted.empty()) {
                checks.push_back(open_folder(std::move(distrusted)));
            }
            continue;
        }
        if (is_left_over(file) && each->is_regular_file(ignored)) {
            checks.push_back(left_over(file));
            continue;
        }
        if (each->path().extension() != ".weight" || !each->is_regular_file(ignored)) {
            continue;
        }
        const std::string wrong = wrong_with_weights(each->path());
        if (wrong.empty()) {
            ++files;
            bytes += each->file_size(ignored);
            continue;
        }
        checks.push_back({"cached weights", CheckResult::failed,
                          io::in_quotes(each->path().string(), 400) + " is ignored: " + wrong,
                          "Delete it: nothing is lost but the time that it would save."});
    }
    if (files > 0) {
        checks.push_back(
            {"cached weights", CheckResult::ok,
             std::to_string(files) + " files, " + totograph::detail::bytes_text(static_cast<std::size_t>(bytes))});
    }
    return checks;
}

TOTOGRAPH_INLINE Check check_cache_file(const std::filesystem::path& path) {
    const std::string file = path.filename().string();
    if (is_left_over(file)) {
        return left_over(file);
    }
    if (!begins_as_records(path)) {
        return {"cache file", CheckResult::warning, io::in_quotes(file, 200) + " is no cache file of totograph",
                "Delete it, if it should be one: it is ignored."};
    }
    const std::string identity = identity_in(path);
    const io::CacheContent content = io::read_cache_file(path, identity);
    if (!content.ignored.empty()) {
        return {"cache file", CheckResult::failed, content.ignored,
                "Delete it: nothing is lost but the time that it would save."};
    }
    const std::size_t count = content.records.size();
    return {"cache file", CheckResult::ok,
            io::in_quotes(file, 200) + ": " + std::to_string(count) + (count == 1 ? " record" : " records") + " for " +
                io::in_quotes(identity, 100)};
}

TOTOGRAPH_INLINE std::vector<Check> check_cache_files(const std::filesystem::path& folder) {
    std::error_code failed;
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator each(folder, failed), end; !failed && each != end;
         each.increment(failed)) {
        if (each->path().extension() != ".lock" && each->is_regular_file(failed)) {
            files.push_back(each->path());
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<Check> checks;
    checks.reserve(files.size());
    for (const std::filesystem::path& path : files) {
        checks.push_back(check_cache_file(path));
    }
    return checks;
}

}  // namespace detail

TOTOGRAPH_INLINE std::vector<Check> check_cache_folder(const io::CacheFolder& folder) {
    namespace fs = std::filesystem;
    if (folder.path.empty()) {
        return {{"cache folder", CheckResult::warning, folder.missing,
                 "Set TOTOGRAPH_CACHE_DIR to a folder that outlives the process, or each start tunes anew."}};
    }
    const std::string shown = io::in_quotes(folder.path, 400);
    const std::string remedy =
        "Set TOTOGRAPH_CACHE_DIR to a folder that this user may write, or to nothing to do "
        "without caches.";
    std::error_code failed;
    const bool was_there = fs::exists(folder.path, failed);
    if (was_there && !fs::is_directory(folder.path, failed)) {
        return {{"cache folder", CheckResult::failed, shown + " is not a folder", remedy}};
    }
    failed = io::make_own_folders(folder.path);
    if (failed) {
        return {{"cache folder", CheckResult::failed, shown + " cannot be made: " + failed.message(), remedy}};
    }
    std::vector<Check> checks;
    if (std::string distrusted = io::distrusted_folder(folder.path); !distrusted.empty()) {
        checks.push_back(detail::open_folder(std::move(distrusted)));
    }
    const fs::path probe = fs::path(folder.path) / ("verify-" + std::to_string(::getpid()));
    try {
        io::AtomicFile file(probe);
        file.write(std::string_view("totograph"));
        file.commit();
        checks.push_back({"cache folder", CheckResult::ok, shown + (was_there ? "" : " (made)") + " can be written"});
        const io::FileLock lock(probe, std::chrono::milliseconds(100));
        checks.push_back(lock.is_held()
                             ? Check{"cache locks", CheckResult::ok, "processes that share the folder can take turns"}
                             : Check{"cache locks", CheckResult::warning, "the file system does not lock files",
                                     "Processes that write at the same time may lose each other's results, which are "
                                     "then made anew. Use a local folder."});
    } catch (const Error& error) {
        checks.push_back({"cache folder", CheckResult::failed, error.what(), remedy});
    }
    fs::remove(probe, failed);
    if (!was_there) {
        fs::remove(folder.path, failed);  // only when it is empty, as it was not there
    }
    for (Check& check : detail::check_cache_files(folder.path)) {
        checks.push_back(std::move(check));
    }
    const fs::path weights = fs::path(folder.path) / "weights";
    if (std::string distrusted = io::distrusted_folder(weights); !distrusted.empty()) {
        checks.push_back(detail::open_folder(std::move(distrusted)));
    }
    for (Check& check : detail::check_weight_files(weights)) {
        checks.push_back(std::move(check));
    }
    return checks;
}

}  // namespace totograph::serve
