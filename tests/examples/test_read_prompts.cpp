// SPDX-License-Identifier: Apache-2.0
#include "../../examples/vlm/read_prompts.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/support.hpp"
#include "support/refusal.hpp"

TEST_CASE("a prompt is a line, however lines end") {
    using Prompts = std::vector<std::vector<std::int32_t>>;
    const totograph::test::ScratchFolder scratch;
    const auto prompts_of = [&](const std::string& text) {
        return examples::read_prompts(scratch.file("prompts.txt", text));
    };
    for (const std::string text : {"1 2\n\n3,4\n", "1 2\r\n\r\n3, 4", "1 2\r\r3 4\r", "1\t2\n\r\n3 4\r\n"}) {
        CAPTURE(text);
        CHECK(prompts_of(text) == Prompts{{1, 2}, {3, 4}});
    }
    for (const std::string text : {"1\n2\nx\n", "1\r\n2\r\nx\r\n", "1\r2\rx\r"}) {
        CHECK(refusal([&] { (void)prompts_of(text); }).starts_with("Line 3 of the prompts: 'x' is no id"));
    }
    CHECK(refusal([&] { (void)prompts_of("\r\r\n"); }).starts_with("There is no prompt"));
}
