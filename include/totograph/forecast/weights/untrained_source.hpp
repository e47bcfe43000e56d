// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/random.hpp>
#include <totograph/core/random_block.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>

namespace totograph {

/// Weights of plausible size but no training, reproducible from a seed. Their forecasts mean nothing.
class UntrainedSource final : public TensorSource {
public:
    explicit UntrainedSource(std::uint64_t seed) : seed_(seed) {}

    void read(const std::string& name, const Shape& shape, std::span<float> values) const override {
        reader(name, shape)->read(0, values);
    }

    [[nodiscard]] std::unique_ptr<const TensorReader> reader(const std::string& name,
                                                             const Shape& shape) const override {
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

private:
    /// Layers of norms start at 1, whatever a model calls their scale.
    static bool is_norm_scale(std::string_view name, const Shape& shape) {
        return shape.rank == 1 && name.find("norm") != std::string_view::npos &&
               (name.ends_with(".scale") || name.ends_with(".weight"));
    }

    class Ones final : public TensorReader {
    public:
        void read(std::size_t /*first*/, std::span<float> values) const override {
            std::fill(values.begin(), values.end(), 1.0F);
        }
    };

    /// Each draw gives four values, `(2 u - 1) bound` of a uniform number for each word.
    class Uniform final : public TensorReader {
    public:
        Uniform(std::uint64_t key, double bound) : key_(key), step_(bound * 0x1p-31) {}

        void read(std::size_t first, std::span<float> values) const override {
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

    private:
        static constexpr std::size_t size = 4 * RandomBlock::draws;

        void draw(std::uint32_t time, float* to) const noexcept {
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

        std::uint64_t key_;
        double step_;
    };

    std::uint64_t seed_;
};

}  // namespace totograph
