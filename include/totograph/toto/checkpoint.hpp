// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/finite_weights.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/io/block_checksum.hpp>
#include <totograph/io/file_identity.hpp>
#include <totograph/io/model_config.hpp>
#include <totograph/io/safetensors.hpp>
#include <totograph/toto/config.hpp>
#include <totograph/toto/programs.hpp>
#include <totograph/toto/untrained_source.hpp>

namespace totograph::toto {

/// The weights of one architecture. Copies share everything; safe to use from many threads.
template <Toto1Model Model>
struct ModelWeights {
    Weights weights;
};

/// A tensor that the model reads from its checkpoint.
struct NamedShape {
    std::string name;
    Shape shape;
};

/// Every tensor of an architecture, in the order in which the model reads them. The list is read off a recorded
/// program.
template <Toto1Model Model>
std::vector<NamedShape> checkpoint_tensors() {
    constexpr Bucket smallest{.batch = 1, .variates = 2, .context = 1, .horizon = 1, .samples = 0};
    static_assert(check_bucket<Model, smallest>());
    const Graph graph = record<Prefill<Model, smallest, Rewrites{}>>();
    std::map<std::string, bool> seen;
    std::vector<NamedShape> tensors;
    for (const Node& node : graph.nodes) {
        if (node.op == Op::weight && !std::exchange(seen[full_name(node)], true)) {
            tensors.push_back({full_name(node), node.shape});
        }
    }
    return tensors;
}

/// The name under which the other of the two checkpoint layouts keeps a tensor: fused layers call the products of the
/// feed-forward `mlp.0.w12` and `mlp.0.w3`, plain ones `mlp.0` and `mlp.2`.
inline std::string name_in_fused_layout(std::string name) {
    const std::pair<std::string_view, std::string_view> spellings[] = {{".mlp.0.", ".mlp.0.w12."},
                                                                       {".mlp.2.", ".mlp.0.w3."}};
    for (const auto& [plain, fused] : spellings) {
        if (const auto at = name.find(plain); at != std::string::npos) {
            name.replace(at, plain.size(), fused);
            break;
        }
    }
    return name;
}

/// A checkpoint in a safetensors file.
class CheckpointFile final : public TensorSource {
public:
    /// Opens the file and checks it against the list: each tensor of the list is there with its shape and a dtype that
    /// can be read, and no other.
    /// Throws `Error`.
    CheckpointFile(const std::filesystem::path& path, const std::vector<NamedShape>& wanted)
        : opened_(io::file_identity(path)), file_(path) {
        std::map<std::string, bool> known;
        for (const NamedShape& tensor : wanted) {
            const io::TensorInfo& info = find(tensor.name);
            known[info.name] = true;
            check_shape(info, tensor.shape);
            check_dtype(info);
        }
        for (const io::TensorInfo& info : file_.tensors()) {
            // Rotary frequencies are a constant of the architecture that older checkpoints stored.
            const bool is_constant = info.name.ends_with("rotary_emb.freqs");
            if (!known.contains(info.name) && !is_constant) {
                throw Error(
                    ErrorCode::unexpected_tensor,
                    "'" + file_.path().string() + "' holds a tensor '" + info.name +
                        "' that this architecture does not have; check that the configuration that was compiled "
                        "is the checkpoint's.");
            }
        }
    }

    void read(const std::string& name, const Shape& shape, std::span<float> values) const override {
        const io::TensorInfo& info = find(name);
        check_shape(info, shape);
        file_.copy_to_float(info, values);
        file_.release(info);
    }

    [[nodiscard]] std::unique_ptr<const TensorReader> reader(const std::string& name,
                                                             const Shape& shape) const override {
        const io::TensorInfo& info = find(name);
        check_shape(info, shape);
        check_dtype(info);
        return std::make_unique<const Reader>(file_, info);
    }

    /// The file and its header; none for a file that was changed just now, or since it was opened.
    [[nodiscard]] std::string identity() const override {
        if (opened_.path.empty() || !opened_.is_settled() || io::file_identity(file_.path()) != opened_) {
            return {};
        }
        io::TensorInfo header;  // what stands before the tensors
        header.end = file_.tensors().empty() ? 0 : file_.tensors().front().begin;
        return opened_.text() + "header " + std::to_string(io::fast_checksum(file_.bytes(header))) + "\n";
    }

private:
    class Reader final : public TensorReader {
    public:
        Reader(const io::SafetensorsFile& file, const io::TensorInfo& info)
            : file_(file), info_(info), bytes_(file.bytes(info)) {}
        Reader(const Reader&) = delete;
        Reader& operator=(const Reader&) = delete;
        ~Reader() override { file_.release(info_); }

        void read(std::size_t first, std::span<float> values) const override {
            const std::size_t size = size_in_bytes(*info_.dtype);
            io::decode_to_float(*info_.dtype, bytes_.subspan(first * size, values.size() * size), values);
        }

    private:
        const io::SafetensorsFile& file_;
        const io::TensorInfo& info_;
        std::span<const std::byte> bytes_;
    };

    [[nodiscard]] const io::TensorInfo& find(const std::string& name) const {
        const io::TensorInfo* info = file_.find(name);
        if (info == nullptr) {
            info = file_.find(name_in_fused_layout(name));
        }
        if (info == nullptr) {
            throw Error(ErrorCode::missing_tensor,
                        "'" + file_.path().string() + "' lacks the tensor '" + name +
                            "'; check that the file is a Toto 1.0 checkpoint and that the configuration that was "
                            "compiled is the checkpoint's.");
        }
        return *info;
    }

    void check_shape(const io::TensorInfo& info, const Shape& expected) const {
        bool same = info.shape.size() == static_cast<std::size_t>(expected.rank);
        std::string found = "[";
        for (std::size_t axis = 0; axis < info.shape.size(); ++axis) {
            same = same && info.shape[axis] == expected[static_cast<int>(axis)];
            found += (axis == 0 ? "" : ", ") + std::to_string(info.shape[axis]);
        }
        if (!same) {
            throw Error(ErrorCode::tensor_mismatch, "'" + file_.path().string() + "': tensor '" + info.name +
                                                        "' should have shape " + to_string(expected) + ", found " +
                                                        found + "]; use the configuration of this checkpoint.");
        }
    }

    void check_dtype(const io::TensorInfo& info) const {
        if (!info.dtype || !io::converts_to_float(*info.dtype)) {
            throw Error(ErrorCode::tensor_mismatch,
                        "'" + file_.path().string() + "': tensor '" + info.name + "' has the dtype " + info.dtype_name +
                            ", but F32, F64, BF16 or F16 was expected; convert the checkpoint to one of these.");
        }
    }

    io::FileIdentity opened_;  // looked at before the file is opened: the same afterwards is the same file
    io::SafetensorsFile file_;
};

/// Compares `config.json` with the compiled configuration. Throws one `Error` that lists each field that differs.
template <Toto1Model Model>
void check_config_file(const std::filesystem::path& path) {
    constexpr Toto1Config config = Model::config;
    const io::ModelConfig file(path);
    io::ConfigCheck check(file);
    check.integer("patch_size", config.patch_size);
    check.integer("stride", config.patch_size);
    check.integer("embed_dim", config.embed_dim);
    check.integer("num_layers", config.num_layers);
    check.integer("num_heads", config.num_heads);
    check.integer("mlp_hidden_dim", config.mlp_hidden_dim);
    check.integer("spacewise_every_n_layers", config.spacewise_every_n_layers);
    check.boolean("spacewise_first", config.spacewise_first, true);
    const char* scaler = config.scaler == Scaler::global   ? "<class 'model.scaler.StdMeanScaler'>"
                         : config.scaler == Scaler::causal ? "<class 'model.scaler.CausalStdMeanScaler'>"
                                                           : "<class 'model.scaler.CausalPatchStdMeanScaler'>";
    check.text("scaler_cls", scaler);
    if (config.scaler == Scaler::causal_patch) {
        check.boolean("stabilize_with_global", config.stabilize_with_global, true);
        if (config.stabilize_with_global && file.contains("scale_factor_exponent")) {
            check.number("scale_factor_exponent", config.scale_factor_exponent);
        }
    }
    const bool is_mixture = config.head == Head::mixture_of_student_t;
    check.text("output_distribution_classes.0", is_mixture ? "<class 'model.distribution.MixtureOfStudentTsOutput'>"
                                                           : "<class 'model.distribution.StudentTOutput'>");
    if (is_mixture) {
        check.integer("output_distribution_kwargs.k_components", config.k_components);
    }
    check.finish();
}

/// Opens a checkpoint: a folder with `model.safetensors` and, if it has one, `config.json`. Both are checked against
/// the architecture. Throws `Error`.
template <Toto1Model Model>
ModelWeights<Model> load(const std::filesystem::path& folder) {
    if (const auto config = folder / "config.json"; std::filesystem::exists(config)) {
        check_config_file<Model>(config);
    }
    return {Weights(std::make_shared<CheckpointFile>(folder / "model.safetensors", checkpoint_tensors<Model>()))};
}

/// Reads every tensor of a model. Throws `Error` (`tensor_mismatch`), which names the tensor and the first bad index,
/// for a value that is not finite; and what reading throws. Forecasters check what they prepare by themselves: this is
/// for those who want to know before.
template <Toto1Model Model>
void check_weights(const ModelWeights<Model>& weights) {
    for (const NamedShape& tensor : checkpoint_tensors<Model>()) {
        require_finite(weights.weights.source(), tensor.name, tensor.shape);
    }
}

/// Untrained weights, for tests, benchmarks and demonstrations.
template <Toto1Model Model>
ModelWeights<Model> untrained(std::uint64_t seed = 0) {
    return {Weights(std::make_shared<UntrainedSource>(seed))};
}

}  // namespace totograph::toto
