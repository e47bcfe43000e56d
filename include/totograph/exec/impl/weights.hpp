// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/weights.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>

namespace totograph {

TOTOGRAPH_INLINE std::string full_name(const Node& node) {
    std::string name(node.name);
    if (const auto brace = name.find("{}"); brace != std::string::npos) {
        name.replace(brace, 2, std::to_string(node.layer));
    }
    return name;
}

struct Weights::Shared {
    std::shared_ptr<const TensorSource> source;
    std::mutex mutex;
    std::unordered_map<const char*, std::shared_ptr<void>> prepared;  ///< By the key of its type.
};

TOTOGRAPH_INLINE Weights::Weights(std::shared_ptr<const TensorSource> source) : shared_(std::make_shared<Shared>()) {
    if (!source) {
        throw Error(ErrorCode::invalid_argument,
                    "Weights: there is no source of tensors, but a null pointer. Pass one, or take load<Model>().");
    }
    shared_->source = std::move(source);
}

TOTOGRAPH_INLINE Weights::Shared& Weights::shared() const {
    if (!shared_) {
        throw Error(
            ErrorCode::invalid_argument,
            "Weights were used that had been moved from; use those that they were moved to, or copy them, which "
            "shares everything.");
    }
    return *shared_;
}

TOTOGRAPH_INLINE const TensorSource& Weights::source() const {
    return *shared().source;
}

TOTOGRAPH_INLINE std::shared_ptr<void> Weights::prepared(const char* store, std::shared_ptr<void> (*make)()) const {
    Shared& shared = this->shared();
    const std::scoped_lock lock(shared.mutex);
    std::shared_ptr<void>& slot = shared.prepared[store];
    if (!slot) {
        slot = make();
    }
    return slot;
}

}  // namespace totograph
