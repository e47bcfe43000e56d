// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <totograph/core/processors.hpp>

#include "io/support.hpp"

using namespace totograph;
using totograph::detail::no_processor_limit;

namespace {

/// Control groups in a folder, as the system mounts them.
class Groups {
public:
    void write(const std::filesystem::path& group, const std::string& file, const std::string& content) const {
        std::filesystem::create_directories(scratch_.path() / group);
        (void)scratch_.file((group / file).string(), content);
    }
    /// The quota of a process whose `/proc/self/cgroup` says this.
    [[nodiscard]] double quota(const std::string& own, const std::string& mounted = "") const {
        std::istringstream text(own);
        return detail::quota_of_groups(text, (scratch_.path() / mounted).string());
    }

private:
    test::ScratchFolder scratch_;
};

}  // namespace

TEST_CASE("a quota of control groups, version 2") {
    const Groups groups;
    CHECK(groups.quota("0::/\n") == no_processor_limit);
    CHECK(groups.quota("") == no_processor_limit);
    groups.write("pod/serve", "cpu.max", "250000 100000\n");
    CHECK(groups.quota("0::/pod/serve\n") == 2.5);
    CHECK(groups.quota("0::/pod\n") == no_processor_limit);
    CHECK(groups.quota("0:://pod//serve/\n") == 2.5);
    // What the group is in counts too, and the narrowest counts.
    groups.write("pod", "cpu.max", "150000 100000\n");
    CHECK(groups.quota("0::/pod/serve\n") == 1.5);
    groups.write("pod", "cpu.max", "max 100000\n");
    CHECK(groups.quota("0::/pod/serve\n") == 2.5);
    // A container that does not see its own group sees the root's file.
    groups.write("", "cpu.max", "50000 100000\n");
    CHECK(groups.quota("0::/kubepods/elsewhere\n") == 0.5);
    CHECK(groups.quota("0::/../../elsewhere\n") == 0.5);
    CHECK(groups.quota("") == 0.5);
    // What lies beside the mounted groups is none of them.
    groups.write("mounted", "cpu.max", "max 100000\n");
    groups.write("beside", "cpu.max", "10000 100000\n");
    CHECK(groups.quota("0::/../beside\n", "mounted") == no_processor_limit);
}

TEST_CASE("a quota of control groups, version 1") {
    const Groups groups;
    const std::string own = "9:memory:/pod\n4:cpuacct,cpu:/pod\n1:name=systemd:/pod\n0::/pod\n";
    groups.write("cpu/pod", "cpu.cfs_quota_us", "300000\n");
    CHECK(groups.quota(own) == no_processor_limit);  // half of it says nothing
    groups.write("cpu/pod", "cpu.cfs_period_us", "100000\n");
    CHECK(groups.quota(own) == 3);
    CHECK(groups.quota("9:memory:/pod\n") == no_processor_limit);
    groups.write("cpuacct,cpu/pod", "cpu.cfs_quota_us", "200000\n");
    groups.write("cpuacct,cpu/pod", "cpu.cfs_period_us", "100000\n");
    CHECK(groups.quota(own) == 2);
    groups.write("cpuacct,cpu/pod", "cpu.cfs_quota_us", "-1\n");
    CHECK(groups.quota(own) == no_processor_limit);
    // Processor sets are another controller's.
    groups.write("cpu/elsewhere", "cpu.cfs_quota_us", "100000\n");
    groups.write("cpu/elsewhere", "cpu.cfs_period_us", "100000\n");
    CHECK(groups.quota("5:cpuset:/elsewhere\n4:cpuacct,cpu:/pod\n") == no_processor_limit);
    // A container that does not see its own group sees the controller's files.
    groups.write("cpuacct,cpu", "cpu.cfs_quota_us", "150000\n");
    groups.write("cpuacct,cpu", "cpu.cfs_period_us", "100000\n");
    CHECK(groups.quota("4:cpuacct,cpu:/kubepods/elsewhere\n") == 1.5);
}

TEST_CASE("files that say something else do not limit") {
    const Groups groups;
    for (const char* const content : {"", "\n", "many 100000", "0 100000", "-5 100000", "100000 0", "100000"}) {
        CAPTURE(content);
        groups.write("odd", "cpu.max", content);
        CHECK(groups.quota("0::/odd\n") == no_processor_limit);
    }
    groups.write("odd", "cpu.max", "100000 100000");
    CHECK(groups.quota("0::/odd\n") == 1);
    CHECK(groups.quota("no colons at all\n") == no_processor_limit);
}

TEST_CASE("threads find a processor each, and there is one at least") {
    CHECK(threads_for_processors(0.25) == 1);
    CHECK(threads_for_processors(1) == 1);
    CHECK(threads_for_processors(2.5) == 2);
    CHECK(threads_for_processors(64) == 64);
}

TEST_CASE("a process that is pinned has fewer processors, and its default stays what it was") {
    const int before = default_threads();
    CHECK(before >= 1);
    const double usable = usable_processors();
    CHECK(usable > 0);
    CHECK(usable <= std::thread::hardware_concurrency());
    CHECK(before == threads_for_processors(usable));

    cpu_set_t all;
    REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    const double pinned = usable_processors();
    const int after = default_threads();
    REQUIRE(::sched_setaffinity(0, sizeof all, &all) == 0);
    CHECK(pinned <= 1);
    CHECK(pinned > 0);
    CHECK(after == before);
    CHECK(usable_processors() == usable);
}
