// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/log.hpp>
#include <totograph/exec/tuning_cache.hpp>

#include "io/support.hpp"

namespace {

using totograph::TuningCache;
using totograph::test::content_of;
using totograph::test::ScratchFolder;

constexpr auto accept = [](std::string_view) { return true; };
constexpr auto refuse = [](std::string_view) { return false; };

TuningCache cache_in(const ScratchFolder& folder, const char* identity = "a device") {
    return {{folder.path(), {}}, "cuda Some Device", identity};
}

void check_counts(const TuningCache& cache, std::size_t hits, std::size_t misses, std::size_t repeats,
                  std::size_t refused) {
    CHECK(cache.report().hits == hits);
    CHECK(cache.report().misses == misses);
    CHECK(cache.report().repeats == repeats);
    CHECK(cache.report().refused == refused);
}

}  // namespace

TEST_CASE("tuning cache: what one process has measured the next takes from the file") {
    const ScratchFolder folder;
    TuningCache first = cache_in(folder);
    CHECK_FALSE(first.find("GEMM", accept).has_value());
    first.add("GEMM", "choice");
    CHECK(first.find("GEMM", refuse) == "choice");  // its own choices need no check
    check_counts(first, 0, 1, 1, 0);
    CHECK(folder.file_count() == 0);
    first.save();
    CHECK(first.report().not_written.empty());
    CHECK(std::filesystem::exists(first.report().path));

    TuningCache second = cache_in(folder);
    CHECK(second.find("GEMM", [](std::string_view choice) { return choice == "choice"; }) == "choice");
    CHECK(second.find("GEMM", refuse) == "choice");  // checked once
    CHECK_FALSE(second.find("other", accept).has_value());
    check_counts(second, 1, 1, 1, 0);
    CHECK(second.report().ignored.empty());
}

TEST_CASE("tuning cache: a choice that is not accepted is measured again and replaced") {
    const ScratchFolder folder;
    TuningCache first = cache_in(folder);
    first.add("GEMM", "broken");
    first.save();
    TuningCache second = cache_in(folder);
    CHECK_FALSE(second.find("GEMM", refuse).has_value());
    check_counts(second, 0, 1, 0, 1);
    second.add("GEMM", "better");
    second.save();
    TuningCache third = cache_in(folder);
    CHECK(third.find("GEMM", accept) == "better");
}

TEST_CASE("tuning cache: of two processes that measure at the same time the first decides for all later ones") {
    const ScratchFolder folder;
    TuningCache first = cache_in(folder);
    TuningCache second = cache_in(folder);
    first.add("GEMM", "first");
    first.add("one", "1");
    second.add("GEMM", "second");
    second.add("two", "2");
    first.save();
    second.save();
    CHECK(second.find("GEMM", accept) == "second");  // what it runs already stays
    TuningCache third = cache_in(folder);
    CHECK(third.find("GEMM", accept) == "first");
    CHECK(third.find("one", accept) == "1");
    CHECK(third.find("two", accept) == "2");
}

TEST_CASE("tuning cache: a damaged file is told and replaced") {
    const ScratchFolder folder;
    TuningCache first = cache_in(folder);
    first.add("GEMM", "choice");
    first.save();
    const std::string path = first.report().path;
    std::string bytes = content_of(path);
    bytes[bytes.size() / 2] ^= 1;
    folder.file(std::filesystem::path(path).filename().string(), bytes);
    TuningCache second = cache_in(folder);
    CHECK(second.report().ignored.find("checksum") != std::string::npos);
    CHECK(to_string(second.report()).find("checksum") != std::string::npos);
    CHECK_FALSE(second.find("GEMM", accept).has_value());
    second.add("GEMM", "choice");
    second.save();
    TuningCache third = cache_in(folder);
    CHECK(third.report().ignored.empty());
    CHECK(third.find("GEMM", accept) == "choice");
}

TEST_CASE("tuning cache: a file for each identity") {
    const ScratchFolder folder;
    TuningCache first = cache_in(folder, "driver 1");
    first.add("GEMM", "choice");
    first.save();
    TuningCache second = cache_in(folder, "driver 2");
    CHECK(first.report().path != second.report().path);
    CHECK_FALSE(second.find("GEMM", accept).has_value());
    CHECK(second.report().ignored.empty());
    // The checksum in the name may collide, and files may be renamed: the identity inside decides.
    std::filesystem::copy(first.report().path, second.report().path);
    CHECK(cache_in(folder, "driver 2").report().ignored.find("'driver 1', expected 'driver 2'") != std::string::npos);
    CHECK(TuningCache::file_name("NVIDIA H200/../x", "").substr(0, 17) == "nvidia-h200----x-");
    CHECK(TuningCache::file_name(std::string(1000, 'n'), "").size() < 100);
}

TEST_CASE("tuning cache: without a folder, or with one that cannot be written, choices last as long as the process") {
    TuningCache none({{}, "There is no folder."}, "device", "identity");
    none.add("GEMM", "choice");
    none.save();
    CHECK(none.find("GEMM", accept) == "choice");
    CHECK(none.report().path.empty());
    CHECK(none.report().ignored == "There is no folder.");
    CHECK(none.report().not_written.empty());

    const ScratchFolder folder;
    TuningCache blocked({folder.file("plain", "") / "folder", {}}, "device", "identity");
    CHECK(blocked.report().ignored.find("cannot be opened") != std::string::npos);
    blocked.add("GEMM", "choice");
    blocked.save();
    CHECK(blocked.find("GEMM", accept) == "choice");
    CHECK(blocked.report().not_written.find("cannot be made") != std::string::npos);
    CHECK(to_string(blocked.report()).find("cannot be made") != std::string::npos);
}

TEST_CASE("tuning cache: look-ups are counted for the process, and told to who wants to know") {
    using totograph::cache_counts;
    std::string lines;
    totograph::set_logs("tuning");
    totograph::set_log_sink([&](totograph::LogTopic, std::string_view line) { lines += std::string(line) + "\n"; });
    const totograph::CacheCounts before = cache_counts().of("tuning").read();
    const auto check_since = [&](std::uint64_t hits, std::uint64_t misses, std::uint64_t ignored) {
        const totograph::CacheCounts now = cache_counts().of("tuning").read();
        CHECK(now.hits == before.hits + hits);
        CHECK(now.misses == before.misses + misses);
        CHECK(now.ignored == before.ignored + ignored);
    };
    const ScratchFolder folder;
    TuningCache first = cache_in(folder);
    (void)first.find("GEMM", accept);
    check_since(0, 1, 0);
    first.add("GEMM", "choice");
    (void)first.find("GEMM", accept);
    check_since(0, 1, 0);  // its own choice is no look-up in the file
    first.save();
    const std::string path = first.report().path;
    CHECK(lines == "1 choice is kept in '" + path + "'\n");
    TuningCache second = cache_in(folder);
    (void)second.find("GEMM", accept);
    (void)second.find("GEMM", accept);
    check_since(1, 1, 0);
    (void)cache_in(folder).find("GEMM", refuse);
    check_since(1, 2, 0);
    folder.file(std::filesystem::path(path).filename().string(), "something else");
    const TuningCache third = cache_in(folder);
    check_since(1, 2, 1);
    CHECK(cache_counts().of("tuning").read().last_reason == third.report().ignored);
    CHECK(lines.ends_with(third.report().ignored + "\n"));
    totograph::set_log_sink({});
    totograph::set_logs("");
}
