// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/model_weights.hpp>
#include <totograph/models/toto1/family.hpp>

namespace fixture {

/// A checkpoint whose tensors are changed on their way to the model.
class ChangedTensors final : public totograph::TensorSource {
public:
    /// Is told a tensor's name and shape, and changes its values.
    using Change = std::function<void(const std::string&, const totograph::Shape&, std::span<float>)>;

    ChangedTensors(totograph::Weights weights, Change change)
        : weights_(std::move(weights)), change_(std::move(change)) {}

    void read(const std::string& name, const totograph::Shape& shape, std::span<float> values) const override {
        weights_.source().read(name, shape, values);
        change_(name, shape, values);
    }

private:
    totograph::Weights weights_;
    Change change_;
};

template <class Model>
totograph::ModelWeights<Model> changed_weights(const totograph::ModelWeights<Model>& weights,
                                               ChangedTensors::Change change) {
    return {totograph::Weights(std::make_shared<ChangedTensors>(weights.weights, std::move(change)))};
}

}  // namespace fixture
