// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/weights/model_weights.hpp>

#include "models/nanovlm/cases.hpp"
#include "support/stored_tensors.hpp"

// Parity cases written by the public implementation: `tests/data/README.md` tells what each file holds.

namespace nanovlm_fixture {

namespace tg = totograph;
using tg::Index;

inline std::filesystem::path folder(const std::string& name) {
    return std::filesystem::path(TOTOGRAPH_TEST_DATA) / "nanovlm" / name;
}

template <class Case>
tg::ModelWeights<Case> load(const std::string& name) {
    return tg::load<Case>(folder(name));
}

/// The tensors of a case.
class Tensors : public tg::test::StoredTensors {
public:
    explicit Tensors(const std::string& name) : tg::test::StoredTensors(folder(name) / "io.safetensors") {}
};

/// The prompts of a case, padded on the left.
struct Prompts {
    std::vector<float> tokens;
    std::vector<std::uint8_t> attended;
    std::vector<Index> padding;  ///< Of each prompt.
    tg::Series series;

    explicit Prompts(const Tensors& tensors) {
        for (const std::int32_t id : tensors.read<std::int32_t>("input_ids")) {
            tokens.push_back(static_cast<float>(id));
        }
        const Index batch = tensors.shape("input_ids")[0];
        const Index steps = tensors.shape("input_ids")[1];
        padding.resize(static_cast<std::size_t>(batch));
        if (tensors.contains("attention_mask")) {
            for (const float mask : tensors["attention_mask"]) {
                padding[attended.size() / static_cast<std::size_t>(steps)] += mask == 0 ? 1 : 0;
                attended.push_back(mask != 0 ? 1 : 0);
            }
        }
        series = {.batch = batch, .steps = steps, .values = tokens, .observed = attended};
    }
};

}  // namespace nanovlm_fixture
