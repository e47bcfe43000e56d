// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/models/nanovlm/generator.hpp>

#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"
#include "support/count_allocations.hpp"

namespace {

namespace tg = totograph;
using tg::Index;
using tg::nanovlm::Generated;
using tg::nanovlm::GenerateOptions;
using tg::nanovlm::Prompt;
using Case = nanovlm_cases::vision_and_language;

using Ids = std::vector<std::int32_t>;

/// Room for more than any prompt has, and for one prompt less.
using Greedy = tg::nanovlm::Generator<Case, tg::nanovlm::token_bucket(1, 20, 9)>;
using Drawing = tg::nanovlm::Generator<tg::nanovlm::TextOnly<Case>, tg::nanovlm::token_bucket(2, 8, 5, 3)>;

Greedy& greedy() {
    static Greedy generator(nanovlm_fixture::load<Case>("vision_and_language"), {.threads = 1});
    return generator;
}
Drawing& drawing() {
    static Drawing generator(nanovlm_fixture::load<Case>("vision_and_language"), {.threads = 1});
    return generator;
}

/// The prompts of the case, without their padding.
struct Prompts {
    std::vector<Ids> ids;
    std::vector<float> pixels;
    std::vector<Prompt> prompts;

    Prompts() {
        const nanovlm_fixture::Tensors tensors("vision_and_language");
        const nanovlm_fixture::Prompts padded(tensors);
        const auto all = tensors.read<std::int32_t>("input_ids");
        pixels = tensors["images"];
        std::size_t used = 0;
        for (std::size_t b = 0; b < 2; ++b) {
            const auto begin = all.begin() + static_cast<Index>(b) * 15;
            ids.emplace_back(begin + padded.padding[b], begin + 15);
        }
        for (const Ids& prompt : ids) {
            const auto images = static_cast<std::size_t>(std::count(prompt.begin(), prompt.end(), 3)) / 4;
            const std::size_t size = images * 3 * 16 * 16;
            prompts.push_back({prompt, std::span<const float>(pixels).subspan(used, size)});
            used += size;
        }
    }
};

Ids of(std::span<const std::int32_t> ids) {
    return {ids.begin(), ids.end()};
}

void refuses(const std::string& sentence, const std::vector<Prompt>& prompts, const GenerateOptions& options = {}) {
    CAPTURE(sentence);
    try {
        (void)greedy().generate(prompts, options);
        FAIL_CHECK("nothing was thrown");
    } catch (const tg::Error& error) {
        CHECK_MESSAGE(std::string(error.what()).find(sentence) != std::string::npos, std::string(error.what()));
    }
}

}  // namespace

TEST_CASE("ids and pixels in, the reference's ids out, prompts one by one in a larger bucket") {
    const Prompts given;
    const auto expected = nanovlm_fixture::Tensors("vision_and_language").read<std::int32_t>("decoded_ids");
    const Generated generated = greedy().generate(given.prompts, {.new_tokens = 6, .end_token = {}});
    CHECK(generated.prompts() == 2);
    CHECK(generated.samples() == 1);
    for (Index prompt = 0; prompt < 2; ++prompt) {
        CHECK(of(generated.tokens(prompt)) == Ids(expected.begin() + prompt * 6, expected.begin() + prompt * 6 + 6));
        CHECK_FALSE(generated.has_ended(prompt));
    }
}

TEST_CASE("behind an end token there are end tokens, as in the reference") {
    const Prompts given;
    const auto expected = nanovlm_fixture::Tensors("vision_and_language").read<std::int32_t>("decoded_ids");
    const std::int32_t end = expected[2];
    const Index before = std::find(expected.begin(), expected.begin() + 6, end) - expected.begin();
    const Generated generated = greedy().generate(given.prompts[0], {.new_tokens = 6, .end_token = end});
    CHECK(generated.has_ended());
    CHECK(of(generated.tokens()) == Ids(expected.begin(), expected.begin() + before));
    Ids padded(expected.begin(), expected.begin() + 6);
    std::fill(padded.begin() + before, padded.end(), end);
    CHECK(of(generated.padded()) == padded);

    // It stops there, and goes on as long as one text has not ended.
    Index tokens = 0;
    const auto count = [&](Index chosen) { tokens = chosen; };
    (void)greedy().generate(given.prompts[0], {.end_token = end, .on_token = count});
    CHECK(tokens == before + 1);
    (void)greedy().generate(given.prompts[0], {.end_token = {}, .on_token = count});
    CHECK(tokens == 9);
    const Ids ids{5, 9, 30, 7};
    GenerateOptions of_all{.end_token = {}, .temperature = 5, .top_k = 0, .top_p = 1};
    const Generated drawn = drawing().generate(Prompt{ids}, of_all);
    const std::int32_t of_first = drawn.tokens(0, 0)[0];
    Index longest = 0;
    for (Index sample = 0; sample < 3; ++sample) {
        const auto all = drawn.padded(0, sample);
        longest = std::max<Index>(longest, std::find(all.begin(), all.end() - 1, of_first) - all.begin() + 1);
    }
    REQUIRE(longest > 1);
    of_all.end_token = of_first;
    of_all.on_token = count;
    const Generated again = drawing().generate(Prompt{ids}, of_all);
    CHECK(tokens == longest);
    CHECK(again.tokens(0, 0).empty());
}

TEST_CASE("fewer new tokens are the first of more") {
    const Prompts given;
    const Generated more = greedy().generate(given.prompts[1], {.end_token = {}});
    const Generated one = greedy().generate(given.prompts[1], {.new_tokens = 1, .end_token = {}});
    CHECK(more.new_tokens() == 9);
    CHECK(of(one.tokens()) == Ids{more.tokens()[0]});
}

TEST_CASE("a further token allocates nothing") {
    const Prompts given;
    const auto count = [&](Index new_tokens) {
        const std::size_t before = allocations;
        (void)greedy().generate(given.prompts[0], {.new_tokens = new_tokens, .end_token = {}});
        return allocations - before;
    };
    (void)count(9);
    CHECK(count(9) == count(2));
}

TEST_CASE("a prompt without images has the tokens of a model without, whatever was seen before") {
    const Prompts given;
    const Ids ids{5, 9, 30, 7};
    (void)greedy().generate(given.prompts[1]);
    const Generated beside = greedy().generate(Prompt{ids}, {.new_tokens = 5, .end_token = {}});
    const Generated alone = drawing().generate(Prompt{ids}, {.end_token = {}, .top_k = 1});
    CHECK(of(beside.tokens()) == of(alone.tokens()));
}

TEST_CASE("draws have the names of their seed, prompt and sample, whatever is beside them") {
    const Ids first{5, 9, 30, 7};
    const Ids second{11, 4, 8, 6, 22, 17, 9};
    const Ids third{12};
    const std::vector<Prompt> prompts{{first}, {second}, {third}};
    const GenerateOptions options{.end_token = {}, .seed = 3, .temperature = 2};
    const Generated all = drawing().generate(prompts, options);  // in two parts
    CHECK(all.samples() == 3);
    CHECK(of(all.tokens(0, 0)) != of(all.tokens(0, 1)));
    GenerateOptions alone = options;
    for (std::uint32_t number = 0; number < 3; ++number) {
        alone.first_prompt = number;
        const Generated one = drawing().generate(prompts[number], alone);
        for (Index sample = 0; sample < 3; ++sample) {
            CHECK(of(one.tokens(0, sample)) == of(all.tokens(number, sample)));
        }
    }
    alone.seed = 4;
    CHECK(of(drawing().generate(prompts[2], alone).tokens()) != of(all.tokens(2)));
}

TEST_CASE("of one logit that stays all samples are the likeliest token") {
    const Ids ids{5, 9, 30, 7};
    const Generated by_count = drawing().generate(Prompt{ids}, {.end_token = {}, .top_k = 1});
    // What crosses the share goes, and the largest stays: of a small share it is the largest alone.
    const Generated by_share = drawing().generate(Prompt{ids}, {.end_token = {}, .top_k = 0, .top_p = 1e-6F});
    const Generated likeliest = greedy().generate(Prompt{ids}, {.new_tokens = 5, .end_token = {}});
    for (Index sample = 0; sample < 3; ++sample) {
        CHECK(of(by_count.tokens(0, sample)) == of(likeliest.tokens()));
        CHECK(of(by_share.tokens(0, sample)) == of(likeliest.tokens()));
    }
}

TEST_CASE("prompts and options that make no sense have sentences") {
    const Ids ids{5, 9};
    const std::vector<Prompt> good{{ids}};
    const Prompts given;
    refuses("there are no prompts", {});
    refuses("prompt 1 has no tokens", {{ids}, {}});
    const Ids long_one(21, 5);
    refuses("prompt 0 has 21 tokens, and there is room for 20", {{long_one}});
    const Ids unknown{5, 53};
    refuses("prompt 0, token 1: 53 is no id; ids are 0 to 52", {{unknown}});
    const Ids below{-1};
    refuses("token 0: -1 is no id", {{below}});
    refuses("has 4 image tokens (id 3) and pixels of 0 images", {{given.ids[0]}});
    refuses("has 0 image tokens (id 3) and pixels of 1 images", {{ids, given.prompts[0].pixels}});
    refuses("has 700 numbers of pixels; an image is 3 x 16 x 16", {{ids, std::span(given.pixels).first(700)}});
    std::vector<float> bad(given.prompts[0].pixels.begin(), given.prompts[0].pixels.end());
    bad[7] = std::numeric_limits<float>::quiet_NaN();
    refuses("pixel 7 is not a finite number", {{given.ids[0], bad}});
    refuses("10 new tokens are asked for, and there is room for 9", good, {.new_tokens = 10});
    refuses("new_tokens is 0", good, {.new_tokens = 0});
    refuses("the temperature must be above 0", good, {.temperature = 0});
    refuses("top_p must be above 0 and at most 1", good, {.top_p = 1.5F});
    refuses("top_k must be 0", good, {.top_k = -1});
    const Ids many(16, 3);
    const std::vector<float> four(4 * 3 * 16 * 16, 0.5F);
    refuses("has 4 images, and the model was compiled for 3", {{many, four}});
}
