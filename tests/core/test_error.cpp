// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>

using namespace totograph;

TEST_CASE("an error carries its code and its sentence") {
    try {
        throw Error(ErrorCode::missing_tensor, "There is no such tensor.");
    } catch (const std::runtime_error& error) {
        const auto* const ours = dynamic_cast<const Error*>(&error);
        REQUIRE(ours != nullptr);
        CHECK(ours->code() == ErrorCode::missing_tensor);
        CHECK(std::string(ours->what()) == "There is no such tensor.");
    }
}

TEST_CASE("every code has a name of its own") {
    std::set<std::string> names;
    for (int code = 0; code <= static_cast<int>(ErrorCode::recapture); ++code) {
        names.emplace(name(static_cast<ErrorCode>(code)));
    }
    CHECK(names.size() == static_cast<std::size_t>(ErrorCode::recapture) + 1);
    CHECK(names.count("unknown") == 0);
}
