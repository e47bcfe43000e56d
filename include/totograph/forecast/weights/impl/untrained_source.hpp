// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/weights/untrained_source.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <totograph/core/inline.hpp>
#include <totograph/core/random.hpp>
#include <totograph/core/random_block.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>

namespace totograph {

TOTOGRAPH_INLINE std::unique_ptr<const TensorReader> UntrainedSource::reader(const std::string& name,
                                                                             const Shape& shape) const {
    if (is_norm_scale(name, shape)) {
        return std::make_unique<const Ones>();
    }
    std::uint64_t key = seed_;
    for (const char character : name) {
        key = key * 1099511628211ULL + static_cast<unsigned char>(character);
    }
    // As PyTorch initializes a linear layer: uniform within 1 / sqrt(in_features).
    const double bound = 1.0 / std::sqrt(static_cast<double>(shape.rank > 1 ? shape[-1] : Index{64}));
    return std::make_unique<const Uniform>(key, bound);
}

TOTOGRAPH_INLINE void UntrainedSource::Uniform::read(std::size_t first, std::span<float> values) const {
    std::array<float, size> block{};
    while (!values.empty()) {
        const std::size_t skipped = first % 4;
        const std::size_t count = std::min(values.size(), size - skipped);
        const auto time = static_cast<std::uint32_t>(first / 4);
        if (count == size) {
            draw(time, values.data());
        } else {
            draw(time, block.data());
            std::copy_n(block.data() + skipped, count, values.data());
        }
        values = values.subspan(count);
        first += count;
    }
}

TOTOGRAPH_INLINE void UntrainedSource::Uniform::draw(std::uint32_t time, float* to) const noexcept {
    SampleKey key;
    key.seed = key_;
    key.time = time;
    const RandomBlock block = random_block(key);
    std::array<std::array<float, RandomBlock::draws>, 4> values{};
    for (std::size_t word = 0; word < 4; ++word) {
        for (std::size_t i = 0; i < RandomBlock::draws; ++i) {
            // With u = (w + 1/2) / 2^32, 2 u - 1 is (w - 2^31 + 1/2) / 2^31, exactly.
            const auto centred = static_cast<std::int32_t>(block.word[word][i] ^ 0x80000000U);
            values[word][i] = static_cast<float>((static_cast<double>(centred) + 0.5) * step_);
        }
    }
    for (std::size_t i = 0; i < RandomBlock::draws; ++i) {
        for (std::size_t word = 0; word < 4; ++word) {
            to[4 * i + word] = values[word][i];
        }
    }
}

}  // namespace totograph
