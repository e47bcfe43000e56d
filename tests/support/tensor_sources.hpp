// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>

namespace totograph::test {

/// A number in [-1, 1) that depends on its key alone.
inline double uniform(std::uint64_t key) {
    key += 0x9E3779B97F4A7C15ULL;
    key = (key ^ (key >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    key = (key ^ (key >> 27U)) * 0x94D049BB133111EBULL;
    return static_cast<double>((key ^ (key >> 31U)) >> 11U) * 0x1p-52 - 1.0;
}

/// A number for a text, the same on every machine.
inline std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const char character : text) {
        hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001B3ULL;
    }
    return hash;
}

/// Makes up every tensor that is asked for: uniform in [-1, 1), by its name.
class MadeUpTensors : public TensorSource {
public:
    static float value(const std::string& name, std::size_t at) {
        return static_cast<float>(uniform(hash_of(name) + at));
    }

    void read(const std::string& name, const Shape&, std::span<float> values) const override {
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = value(name, i);
        }
    }
};

/// Tensors given by name.
class TensorMap : public TensorSource {
public:
    explicit TensorMap(std::map<std::string, std::vector<float>> tensors) : tensors_(std::move(tensors)) {}

    void read(const std::string& name, const Shape& shape, std::span<float> values) const override {
        const auto found = tensors_.find(name);
        if (found == tensors_.end()) {
            throw Error(ErrorCode::missing_tensor, "There is no tensor '" + name + "' in this test.");
        }
        if (found->second.size() != values.size()) {
            throw Error(ErrorCode::tensor_mismatch, "Tensor '" + name + "' of this test holds " +
                                                        std::to_string(found->second.size()) +
                                                        " values, which do not fill " + to_string(shape) + ".");
        }
        std::copy(found->second.begin(), found->second.end(), values.begin());
    }

private:
    std::map<std::string, std::vector<float>> tensors_;
};

inline Weights made_up_weights() {
    return Weights(std::make_shared<MadeUpTensors>());
}

inline Weights weights_of(std::map<std::string, std::vector<float>> tensors) {
    return Weights(std::make_shared<TensorMap>(std::move(tensors)));
}

}  // namespace totograph::test
