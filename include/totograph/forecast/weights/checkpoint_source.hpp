// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/forecast/weights/named_shape.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/file_identity.hpp>
#include <totograph/io/text.hpp>

namespace totograph {

/// A checkpoint in one or several safetensors files.
class CheckpointSource final : public TensorSource {
public:
    /// Opens the files and checks them against the list: each tensor of the list is there, once, with its shape and a
    /// dtype that can be read, and no other; and each is in the file that the index says, where there is one. What
    /// wraps a model in training may be in the names (`unwrapped_name`). Throws `Error`.
    CheckpointSource(const io::CheckpointFiles& files, const std::vector<NamedShape>& wanted,
                     const CheckpointRules& rules);

    TOTOGRAPH_INLINE void read(const std::string& name, const Shape& shape, std::span<float> values) const override;

    [[nodiscard]] TOTOGRAPH_INLINE std::unique_ptr<const TensorReader> reader(const std::string& name,
                                                                              const Shape& shape) const override;

    /// The files and their headers; none for files of which one was changed just now, or since it was opened.
    [[nodiscard]] TOTOGRAPH_INLINE std::string identity() const override;

private:
    struct File {
        io::FileIdentity before;  // looked at before the file is opened: the same afterwards is the same file
        io::SafetensorsFile opened;
    };

    /// A tensor of one of the files.
    struct Place {
        const io::SafetensorsFile& file;
        const io::TensorInfo& info;
    };

    class Reader final : public TensorReader {
    public:
        Reader(const io::SafetensorsFile& file, const io::TensorInfo& info) : file_(file), info_(info) {}

        void read(std::size_t first, std::span<float> values) const override {
            file_.read_floats(info_, first, values);
        }

    private:
        const io::SafetensorsFile& file_;
        const io::TensorInfo& info_;
    };

    /// Each tensor of the index is in the file that it names, and each file holds those tensors alone: so none is there
    /// twice.
    void check_index(const io::CheckpointFiles& files) const;

    static std::string quoted(const std::string& path) { return io::in_quotes(path, io::longest_quote); }

    /// Fills `unwrapped_`. A tensor that is wanted under the name it has in the file stands for no other one.
    void unwrap_names(const std::vector<NamedShape>& wanted);

    /// Whether a file holds a tensor of just this name, or else one that has it inside of what wraps a model.
    [[nodiscard]] std::optional<Place> find_spelled(const std::string& name) const;

    /// The tensor of a name, or of its other name.
    [[nodiscard]] std::optional<Place> find_any(const std::string& name) const;

    [[nodiscard]] Place find(const std::string& name) const;

    /// Tensors of the files that are neither among `known` nor ignored.
    [[nodiscard]] std::vector<Place> unknown_beside(const std::set<const io::TensorInfo*>& known) const;

    /// Whether a tensor may be there that nobody reads: by its name; by its name without what wraps a model, where it
    /// is the only one that this name can mean; or as `n_averaged`, which torch's `AveragedModel` saves beside
    /// `module.`.
    [[nodiscard]] bool is_ignored(const Place& place) const;

    /// The first of an adapter, such as LoRA; the end where there is none.
    static std::vector<Place>::const_iterator first_of_adapter(const std::vector<Place>& places);

    /// @param others   that are missing as well
    /// @param unknown  that the files hold instead
    [[noreturn]] void refuse_missing(const std::string& name, const std::vector<std::string>& others = {},
                                     const std::vector<Place>& unknown = {}) const;

    /// @param unknown  at least one
    [[noreturn]] void refuse_unknown(const std::vector<Place>& unknown) const;

    /// A tensor that is stored under both of its names must have the same numbers under each.
    void check_other_name(const Place& place, const NamedShape& tensor) const;

    static void check_shape(const Place& place, const Shape& expected);

    static void check_dtype(const Place& place);

    CheckpointRules rules_;
    std::vector<std::size_t> parts_;
    std::vector<File> files_;
    std::map<std::string, std::vector<Place>> unwrapped_;  // wrapped tensors by their unwrapped names
};

}  // namespace totograph

#ifndef TOTOGRAPH_SEPARATE_COMPILATION  // nvcc wants virtual inline functions defined for devices, too
#include <totograph/forecast/weights/impl/checkpoint_source.hpp>
#endif
