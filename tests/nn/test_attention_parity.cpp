// SPDX-License-Identifier: Apache-2.0
// Attention beside PyTorch's, whose results tools/make_attention_fixture.py wrote.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/nn/attention.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

struct ParityCase {
    std::string_view name;
    Index heads;
    Index kv_heads;
    Index queries;
    Index keys;
    Index head_dim;
    Index value_dim;
    Index batch = 2;
    nn::AttentionOptions options = {};
    std::array<std::int32_t, 6> ids = {};
};

constexpr std::array cases{
    ParityCase{"grouped", 8, 2, 6, 6, 16, 16},
    ParityCase{"block", 4, 1, 4, 9, 20, 12, 2, {.scale = 1.0 / 20, .queries = QueryPlaces::last}},
    ParityCase{"by_key", 3, 3, 5, 5, 52, 52, 2, {.is_causal = false, .mask = KeyMask::by_key}, {0, 1, 1, 0, 1}},
    ParityCase{"by_group", 2, 2, 6, 6, 64, 32, 2, {.mask = KeyMask::by_group}, {0, 1, 1, 0, 1, 0}},
    ParityCase{"wide", 2, 1, 1, 7, 256, 256, 1, {.is_causal = false, .queries = QueryPlaces::last}},
};

struct AllCases {
    static constexpr void record(Recorder& r) {
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const ParityCase& c = cases[i];
            const auto layer = static_cast<int>(i);
            const auto rows = [&](std::string_view name, Index positions, Index width) {
                return r.state(name, {c.batch, 1, 1, positions, width}, DType::f32, layer);
            };
            nn::AttentionOptions options = c.options;
            options.heads = c.heads;
            options.kv_heads = c.kv_heads;
            if (options.mask != KeyMask::none) {
                options.ids = r.state("ids", {1, 1, c.keys}, DType::i32, layer);
            }
            const nn::KeysAndValues keys{rows("key", c.keys, c.kv_heads * c.head_dim),
                                         rows("value", c.keys, c.kv_heads * c.value_dim),
                                         r.state("length", {1}, DType::i32, layer)};
            r.store(rows("out", c.queries, c.heads * c.value_dim),
                    nn::attention(rows("query", c.queries, c.heads * c.head_dim), keys, options));
        }
    }
};

std::vector<float> tensor(const std::string& name) {
    static const io::SafetensorsFile file(std::filesystem::path(TOTOGRAPH_TEST_DATA) / "attention" / "io.safetensors");
    const io::TensorInfo* const info = file.find(name);
    REQUIRE(info != nullptr);
    Index size = 1;
    for (const Index extent : info->shape) {
        size *= extent;
    }
    std::vector<float> values(static_cast<std::size_t>(size));
    file.copy_to_float(*info, values);
    return values;
}

}  // namespace

TEST_CASE("attention is PyTorch's scaled_dot_product_attention") {
    run_on_both<AllCases>(
        [](auto& executor) {
            for (std::size_t i = 0; i < cases.size(); ++i) {
                const auto layer = static_cast<int>(i);
                for (const char* const part : {"query", "key", "value"}) {
                    const std::vector<float> values = tensor(std::string(cases[i].name) + "." + part);
                    const auto state = state_of<float>(executor, part, layer);
                    REQUIRE(values.size() == state.size());
                    std::copy(values.begin(), values.end(), state.begin());
                }
                state_of<std::int32_t>(executor, "length", layer)[0] = static_cast<std::int32_t>(cases[i].keys);
                if (cases[i].options.mask != KeyMask::none) {
                    const auto ids = state_of<std::int32_t>(executor, "ids", layer);
                    std::copy_n(cases[i].ids.begin(), ids.size(), ids.begin());
                }
            }
        },
        [](auto& executor) {
            for (std::size_t i = 0; i < cases.size(); ++i) {
                CAPTURE(cases[i].name);
                const std::vector<float> expected = tensor(std::string(cases[i].name) + ".out");
                const auto found = state_of<float>(executor, "out", static_cast<int>(i));
                REQUIRE(found.size() == expected.size());
                for (std::size_t at = 0; at < expected.size(); ++at) {
                    CHECK(found[at] == near(static_cast<double>(expected[at])));
                }
            }
        });
}
