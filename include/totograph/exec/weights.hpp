// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>

namespace totograph {

/// Reads one tensor part by part, from any number of threads at a time. What it holds for that goes with it.
class TensorReader {
public:
    TensorReader() = default;
    TensorReader(const TensorReader&) = delete;
    TensorReader& operator=(const TensorReader&) = delete;
    virtual ~TensorReader() = default;

    /// Fills `values` with the elements from `first` on, row-major; all of them lie inside the tensor.
    virtual void read(std::size_t first, std::span<float> values) const = 0;
};

/// Where the tensors of a checkpoint come from.
class TensorSource {
public:
    TensorSource() = default;
    TensorSource(const TensorSource&) = delete;
    TensorSource& operator=(const TensorSource&) = delete;
    virtual ~TensorSource() = default;

    /// Fills `values` with the tensor of this name. Throws `Error` when there is none or it has another shape.
    virtual void read(const std::string& name, const Shape& shape, std::span<float> values) const = 0;

    /// A reader of parts of a tensor, which lives no longer than the source, so that all cores can prepare weights. Its
    /// values are those of `read`. Null, which is the default: tensors are read whole, one after the other. Throws as
    /// `read` does.
    [[nodiscard]] virtual std::unique_ptr<const TensorReader> reader(const std::string& /*name*/,
                                                                     const Shape& /*shape*/) const {
        return nullptr;
    }

    /// Text that no source of other values has, such as a file's name, size and time of change: what is prepared from
    /// this source may then be kept on disk for other processes. Empty, which is the default: nothing is.
    [[nodiscard]] virtual std::string identity() const { return {}; }
};

/// The name of a weight node, with its layer in place of `{}`.
std::string full_name(const Node& node);

/// The weights of a model: shared, immutable, safe to use from many threads. Copies are cheap and share everything.
///
/// Executors keep what they prepare from a checkpoint (folded, packed, converted) with it, so that a second forecaster
/// of the same weights finds it ready.
class Weights {
public:
    /// Throws `Error` (`invalid_argument`) for a null pointer.
    explicit Weights(std::shared_ptr<const TensorSource> source);

    [[nodiscard]] const TensorSource& source() const;

    /// The store of prepared tensors of type `Store`, made on first use.
    template <class Store>
    [[nodiscard]] std::shared_ptr<Store> prepared() const {
        return std::static_pointer_cast<Store>(
            prepared(&key<Store>, []() -> std::shared_ptr<void> { return std::make_shared<Store>(); }));
    }

private:
    struct Shared;

    /// Throws `Error` (`invalid_argument`) where it has been moved to others.
    [[nodiscard]] Shared& shared() const;

    /// A type's key is its address: a `typeid` would not compile with -fno-rtti. No constant, which a linker may merge.
    /// A shared library with hidden symbols has keys of its own, and so prepares what weights have for others once
    /// more.
    template <class Store>
    static inline char key = 0;

    [[nodiscard]] std::shared_ptr<void> prepared(const char* store, std::shared_ptr<void> (*make)()) const;

    std::shared_ptr<Shared> shared_;
};

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/weights.hpp>
#endif
