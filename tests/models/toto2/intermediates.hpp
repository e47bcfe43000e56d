// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/models/toto2/config.hpp>

#include "models/toto2/fixture.hpp"

// Intermediate tensors of the first and the second pass against the reference's.

namespace toto2_fixture {

/// A program's state of a name, of a layer where it has one.
using StateOf = std::function<std::vector<float>(const std::string& name, int layer)>;

/// `[batch, variates, positions, width]` as layers over variates have it in the reference: `[batch, positions,
/// variates, width]`.
inline std::vector<float> by_position(const std::vector<float>& rows, Index batch, Index variates, Index width) {
    const Index positions = static_cast<Index>(rows.size()) / (batch * variates * width);
    std::vector<float> result;
    for (Index b = 0; b < batch; ++b) {
        for (Index p = 0; p < positions; ++p) {
            for (Index v = 0; v < variates; ++v) {
                const auto from = rows.begin() + ((b * variates + v) * positions + p) * width;
                result.insert(result.end(), from, from + width);
            }
        }
    }
    return result;
}

/// The head's `[batch, variates, patches, patch_size, levels]` as the reference has it, levels first.
inline std::vector<float> by_level(const std::vector<float>& head) {
    constexpr auto levels = static_cast<std::size_t>(tg::toto2::Toto2Config::levels);
    std::vector<float> result;
    for (std::size_t level = 0; level < levels; ++level) {
        for (std::size_t at = level; at < head.size(); at += levels) {
            result.push_back(head[at]);
        }
    }
    return result;
}

/// Statistics of the first patches of each row, as many as the program has, or the reference.
inline void check_statistics(const Tensors& tensors, const std::string& name, std::vector<float> found, Index rows,
                             double bound) {
    const auto all = tensors[name];
    const std::size_t has = found.size() / static_cast<std::size_t>(rows);
    const std::size_t expects = all.size() / static_cast<std::size_t>(rows);
    std::vector<float> expected;
    std::vector<float> kept;
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
        for (std::size_t patch = 0; patch < std::min(has, expects); ++patch) {
            kept.push_back(found[row * has + patch]);
            expected.push_back(all[row * expects + patch]);
        }
    }
    fixture::check_close(name, kept, expected, bound);
}

/// @param bound  of a tensor's largest value: the reference's own f32 is up to 3e-6 from its f64
inline void check_first_pass(const Tensors& tensors, const tg::toto2::Toto2Config& config, const tg::Series& series,
                             bool has_fallback, double bound, const StateOf& state_of) {
    fixture::check_close("patch_embeddings", state_of("tap.embeddings", -1), tensors["patch_embeddings"], bound);
    for (int layer = 0; layer < config.num_layers; ++layer) {
        const std::string name = "layer_0" + std::to_string(layer);
        const auto rows = state_of("tap.layer", layer);
        const bool over_variates = config.layer_kind(layer) == tg::toto2::LayerKind::variate;
        fixture::check_close(name,
                             over_variates ? by_position(rows, series.batch, series.variates, config.d_model) : rows,
                             tensors[name], bound);
    }
    fixture::check_close("out_norm", state_of("tap.out_norm", -1), tensors["out_norm"], bound);
    if (tensors.contains("head_first")) {
        fixture::check_close("head_first", by_level(state_of("tap.head", -1)), tensors["head_first"], bound);
    }
    // The reference's are those before the fallback for few observations.
    if (tensors.contains("loc_first") && !has_fallback) {
        check_statistics(tensors, "loc_first", state_of("tap.location", -1), series.rows(), bound);
        check_statistics(tensors, "scale_first", state_of("tap.scale", -1), series.rows(), bound);
    }
}

inline void check_second_pass(const Tensors& tensors, double bound, const StateOf& state_of) {
    if (tensors.contains("pass_2_embeddings")) {
        fixture::check_close("pass_2_embeddings", state_of("tap.later_embeddings", -1), tensors["pass_2_embeddings"],
                             bound);
        fixture::check_close("pass_2_out_norm", state_of("tap.later_out_norm", -1), tensors["pass_2_out_norm"], bound);
    }
}

}  // namespace toto2_fixture
