// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>

namespace totograph::test {

/// The tensors of a file that the public implementation wrote; one that is missing fails the test.
class StoredTensors {
public:
    explicit StoredTensors(const std::filesystem::path& file) : file_(file) {}

    [[nodiscard]] bool contains(const std::string& name) const { return file_.find(name) != nullptr; }
    [[nodiscard]] const std::vector<Index>& shape(const std::string& name) const { return info_of(name).shape; }
    /// The values as f32.
    [[nodiscard]] std::vector<float> operator[](const std::string& name) const {
        const io::TensorInfo& info = info_of(name);
        Index size = 1;
        for (const Index extent : info.shape) {
            size *= extent;
        }
        std::vector<float> values(static_cast<std::size_t>(size));
        file_.copy_to_float(info, values);
        return values;
    }
    /// Of elements of this very type.
    template <class T>
    [[nodiscard]] std::vector<T> read(const std::string& name) const {
        const io::TensorInfo& info = info_of(name);
        std::vector<T> values((info.end - info.begin) / sizeof(T));
        file_.read_bytes(info, 0, std::as_writable_bytes(std::span(values)));
        return values;
    }

private:
    [[nodiscard]] const io::TensorInfo& info_of(const std::string& name) const {
        const auto* info = file_.find(name);
        REQUIRE_MESSAGE(info != nullptr, "no tensor " << name);
        return *info;
    }

    io::SafetensorsFile file_;
};

}  // namespace totograph::test
