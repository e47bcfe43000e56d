// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>
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

    [[nodiscard]] TOTOGRAPH_INLINE std::unique_ptr<const TensorReader> reader(const std::string& name,
                                                                              const Shape& shape) const override;

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

        TOTOGRAPH_INLINE void read(std::size_t first, std::span<float> values) const override;

    private:
        static constexpr std::size_t size = 4 * RandomBlock::draws;

        void draw(std::uint32_t time, float* to) const noexcept;

        std::uint64_t key_;
        double step_;
    };

    std::uint64_t seed_;
};

}  // namespace totograph

#ifndef TOTOGRAPH_SEPARATE_COMPILATION  // nvcc wants virtual inline functions defined for devices, too
#include <totograph/forecast/weights/impl/untrained_source.hpp>
#endif
