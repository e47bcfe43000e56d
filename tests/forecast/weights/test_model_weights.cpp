// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/forecast/weights/name_prefix.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>

#include "io/support.hpp"

// Weights of programs that no family has.

using namespace totograph;
using test::check_error;

namespace {

/// Two programs that share a table.
struct Prefill {
    static constexpr void record(Recorder& r) {
        const Tensor table = r.weight("table", {3, 2});
        const Tensor x = repeat(2, r.state("x", {3, 2}), [&](Tensor given, LayerIndex layer) {
            return given * r.weight("layers.{}.scale", {2}, layer);
        });
        r.store(r.state("x", {3, 2}), x + table);
    }
};
struct Decode {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, 2});
        r.store(x, linear(x, r.weight("head", {2, 2})) + r.weight("table", {3, 2}));
    }
};

struct Table {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, 2});
        r.store(x, x + r.weight("table", {3, 2}));
    }
};
/// Two tensors, one with a name that is the other's in what wraps a model.
struct TwoHeads {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {2, 2});
        r.store(x, x + r.weight("head", {2, 2}) + r.weight("module.head", {2, 2}));
    }
};

/// A table of another shape.
struct Wide {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {2, 3});
        r.store(x, x + r.weight("table", {2, 3}));
    }
};

/// A file of these tensors. All numbers of one are its place in the list.
std::string write(const test::ScratchFolder& folder,
                  const std::vector<std::pair<std::string, std::vector<Index>>>& of) {
    std::vector<std::vector<float>> values;
    std::vector<io::TensorToWrite> tensors;
    values.reserve(of.size());
    for (const auto& [name, shape] : of) {
        Index size = 1;
        for (const Index extent : shape) {
            size *= extent;
        }
        values.emplace_back(static_cast<std::size_t>(size), static_cast<float>(values.size()));
        tensors.push_back({.name = name, .shape = shape, .values = values.back()});
    }
    const std::string path = (folder.path() / "model.safetensors").string();
    io::write_safetensors(path, tensors);
    return path;
}

}  // namespace

TEST_CASE("programs of no family load a checkpoint of what they read together") {
    const test::ScratchFolder folder;
    const Weights weights = load_weights<Prefill, Decode>(
        write(folder, {{"table", {3, 2}}, {"layers.0.scale", {2}}, {"layers.1.scale", {2}}, {"head", {2, 2}}}));
    std::vector<float> head(4);
    weights.source().read("head", {2, 2}, head);
    CHECK(head == std::vector<float>{3, 3, 3, 3});
}

TEST_CASE("programs of no family are told of all names that differ, and of a shape that does") {
    const test::ScratchFolder folder;
    const std::string path =
        write(folder, {{"table", {3, 2}}, {"layer.0.scale", {2}}, {"layers.1.scale", {2}}, {"head", {2, 2}}});
    check_error(ErrorCode::missing_tensor,
                {"lacks the tensor 'layers.0.scale'; check that the file is a checkpoint",
                 "One is there that the model does not read: 'layer.0.scale'."},
                [&] { (void)load_weights<Prefill, Decode>(path); });
    check_error(ErrorCode::missing_tensor,
                {"'layers.0.scale'", "2 are there that the model does not read: 'layer.0.scale', 'head'."},
                [&] { (void)load_weights<Prefill>(path); });
    const std::string other = write(folder, {{"table", {3, 2}}, {"head", {2, 3}}});
    check_error(ErrorCode::tensor_mismatch, {"'head' should have shape [2, 2], found [2, 3]"},
                [&] { (void)load_weights<Decode>(other); });
    CHECK_NOTHROW((void)load_weights<Decode>(write(folder, {{"table", {3, 2}}, {"head", {2, 2}}, {"more", {1}}}),
                                             {.is_ignored = [](std::string_view name) { return name == "more"; }}));
}

TEST_CASE("names that all differ by one prefix are told in one sentence") {
    const test::ScratchFolder folder;
    const auto with = [&](const std::string& prefix, const std::string& last) {
        return write(folder, {{prefix + "table", {3, 2}},
                              {prefix + "layers.0.scale", {2}},
                              {prefix + "layers.1.scale", {2}},
                              {prefix + last, {2, 2}}});
    };
    check_error(ErrorCode::missing_tensor,
                {"lacks the tensor 'table', and has all 4 that are missing with 'student.' before the name"},
                [&] { (void)load_weights<Prefill, Decode>(with("student.", "head")); });
    check_error(ErrorCode::missing_tensor, {"lacks the tensor 'table'; check that", "4 are there"},
                [&] { (void)load_weights<Prefill, Decode>(with("student.", "tail")); });
    check_error(ErrorCode::missing_tensor,
                {"lacks the tensor 'head'; check that", "One is there that the model does not read: 'ahead'."},
                [&] { (void)load_weights<Prefill, Decode>(with("", "ahead")); });

    using forecast_detail::name_prefix;
    const auto other = [](std::string name) { return name == "m.b" ? std::string("m.c") : name; };
    CHECK(name_prefix({"m.a", "m.b"}, {"a", "b"}, nullptr).too_little == "m.");
    CHECK(name_prefix({"m.a", "m.b"}, {"a", "c"}, other).too_little == "m.");
    CHECK(name_prefix({"m.a", "m.b"}, {"x.m.c", "x.m.a"}, other).too_much == "x.");
    CHECK_FALSE(name_prefix({"m.a", "n.b"}, {"a", "b"}, nullptr).is_there());
    CHECK_FALSE(name_prefix({"m.a", "m.b"}, {"x.m.a", "y.m.b"}, nullptr).is_there());
    CHECK_FALSE(name_prefix({"m.a", "m.b"}, {}, nullptr).is_there());
    // One tensor may be like another by chance, and what does not end in a dot is a part of a word.
    CHECK_FALSE(name_prefix({"m.a"}, {"a"}, nullptr).is_there());
    CHECK_FALSE(name_prefix({"a"}, {"m.a"}, nullptr).is_there());
    CHECK_FALSE(name_prefix({"unembed.weight", "unembed.bias"}, {"embed.weight", "embed.bias"}, nullptr).is_there());
    CHECK_FALSE(name_prefix({"embed.weight", "embed.bias"}, {"unembed.weight", "unembed.bias"}, nullptr).is_there());
}

TEST_CASE("what wraps a model in training may be in the names") {
    const test::ScratchFolder folder;
    const auto head_of = [&](const std::string& path) {
        const Weights weights = load_weights<Prefill, Decode>(path);
        std::vector<float> head(4);
        weights.source().read("head", {2, 2}, head);
        std::vector<float> scale(2);
        weights.source().reader("layers.1.scale", {2})->read(0, scale);
        CHECK(scale == std::vector<float>{2, 2});
        return head;
    };
    const std::vector<float> threes(4, 3.F);
    for (const std::string wrapper : {"_orig_mod.", "module.", "module._orig_mod.", "_fsdp_wrapped_module."}) {
        CAPTURE(wrapper);
        CHECK(head_of(write(folder, {{wrapper + "table", {3, 2}},
                                     {wrapper + "layers.0.scale", {2}},
                                     {wrapper + "layers.1.scale", {2}},
                                     {wrapper + "head", {2, 2}}})) == threes);
    }
    // Layers that are wrapped one by one.
    CHECK(head_of(write(folder, {{"table", {3, 2}},
                                 {"layers.0._checkpoint_wrapped_module._orig_mod.scale", {2}},
                                 {"layers.1._orig_mod.scale", {2}},
                                 {"head", {2, 2}}})) == threes);
    // The model's own name goes first, what stands beside it is one too many, and of two none is taken.
    const auto refuses = [&](ErrorCode code, std::initializer_list<std::string_view> parts, const std::string& path) {
        check_error(code, parts, [&] { (void)load_weights<Decode>(path); });
    };
    refuses(ErrorCode::unexpected_tensor, {"'module.head'"},
            write(folder, {{"table", {3, 2}}, {"head", {2, 2}}, {"module.head", {2, 2}}}));
    refuses(ErrorCode::missing_tensor,
            {"lacks the tensor 'head' by this name, but 2 of their names mean it, such as 'module.head' and "
             "'_orig_mod.head'; leave out all but"},
            write(folder, {{"table", {3, 2}}, {"module.head", {2, 2}}, {"_orig_mod.head", {2, 2}}}));
    refuses(ErrorCode::tensor_mismatch, {"'module.head' should have shape [2, 2], found [2, 3]"},
            write(folder, {{"table", {3, 2}}, {"module.head", {2, 3}}}));
    CHECK_NOTHROW((void)load_weights<Decode>(
        write(folder, {{"module.table", {3, 2}}, {"module.head", {2, 2}}, {"module.more", {1}}}),
        {.is_ignored = [](std::string_view name) { return name == "more"; }}));
    // A model and its average, each of them whole.
    refuses(ErrorCode::missing_tensor,
            {" by this name, but 2 of their names mean it, such as 'module.", "' and '_orig_mod."},
            write(folder, {{"module.table", {3, 2}},
                           {"module.head", {2, 2}},
                           {"_orig_mod.table", {3, 2}},
                           {"_orig_mod.head", {2, 2}}}));
    // torch counts what it averaged.
    CHECK_NOTHROW((void)load_weights<Decode>(
        write(folder, {{"n_averaged", {}}, {"module.table", {3, 2}}, {"module.head", {2, 2}}})));
    refuses(ErrorCode::unexpected_tensor, {"'n_averaged'"},
            write(folder, {{"n_averaged", {}}, {"table", {3, 2}}, {"head", {2, 2}}}));

    using forecast_detail::unwrapped_name;
    CHECK(unwrapped_name("model._orig_mod.a.b") == "model.a.b");
    CHECK(unwrapped_name("module.module.a") == "a");
    CHECK(unwrapped_name("a.module") == "a.module");
    CHECK(unwrapped_name("submodule.a") == "submodule.a");
    CHECK(unwrapped_name("a..b.") == "a..b.");
    CHECK(unwrapped_name("").empty());
}

TEST_CASE("a tensor under two names, of which one is wrapped, is compared or refused") {
    const test::ScratchFolder folder;
    const CheckpointRules tied{
        .other_name = [](std::string name) { return name == "head" ? std::string("embed") : name; },
        .is_ignored = [](std::string_view name) { return name == "embed"; }};
    using Names = std::vector<std::string>;
    const auto file = [&](const Names& names) {
        std::vector<std::pair<std::string, std::vector<Index>>> tensors{{"table", {3, 2}}};
        for (const std::string& name : names) {
            tensors.push_back({name, {2, 2}});
        }
        return write(folder, tensors);
    };
    for (const Names& names : {Names{"head", "module.embed", "_orig_mod.embed"}, Names{"embed", "module.embed"}}) {
        CAPTURE(names.size());
        check_error(ErrorCode::unexpected_tensor, {"a tensor 'module.embed' that this architecture does not have"},
                    [&] { (void)load_weights<Decode>(file(names), tied); });
    }
    check_error(ErrorCode::tensor_mismatch, {"'head' and 'module.embed' are one tensor under two names"}, [&] {
        (void)load_weights<Decode>(file({"head", "module.embed"}), tied);
    });
    check_error(ErrorCode::missing_tensor,
                {"'head' by this name, but 2 of their names mean it, such as 'module.embed'"}, [&] {
                    (void)load_weights<Decode>(file({"module.embed", "_orig_mod.embed"}), tied);
                });
    CHECK_NOTHROW((void)load_weights<Decode>(file({"module.embed"}), tied));
    // The same numbers under both names that the model has do not make up for a third one.
    const std::vector<float> six(6);
    const std::vector<float> ones(4, 1.F);
    const std::vector<float> nines(4, 9.F);
    const std::string path = (folder.path() / "model.safetensors").string();
    std::vector<io::TensorToWrite> tensors{{.name = "table", .shape = {3, 2}, .values = six},
                                           {.name = "head", .shape = {2, 2}, .values = ones},
                                           {.name = "embed", .shape = {2, 2}, .values = ones},
                                           {.name = "module.embed", .shape = {2, 2}, .values = nines}};
    io::write_safetensors(path, tensors);
    check_error(ErrorCode::unexpected_tensor, {"a tensor 'module.embed' that this architecture does not have"},
                [&] { (void)load_weights<Decode>(path, tied); });
    tensors.pop_back();
    io::write_safetensors(path, tensors);
    CHECK_NOTHROW((void)load_weights<Decode>(path, tied));
}

TEST_CASE("no tensor stands for two that a model wants") {
    const test::ScratchFolder folder;
    check_error(ErrorCode::missing_tensor, {"lacks the tensor 'head'"}, [&] {
        (void)load_weights<TwoHeads>(write(folder, {{"module.head", {2, 2}}}));
    });
    check_error(ErrorCode::missing_tensor, {"lacks the tensor"}, [&] {
        (void)load_weights<TwoHeads>(write(folder, {{"_orig_mod.head", {2, 2}}}));
    });
    CHECK_NOTHROW((void)load_weights<TwoHeads>(write(folder, {{"head", {2, 2}}, {"module.head", {2, 2}}})));
    // Nor does the other name of one stand for another.
    const CheckpointRules rules{
        .other_name = [](std::string name) { return name == "module.head" ? std::string("module.head.0") : name; }};
    check_error(ErrorCode::missing_tensor, {"lacks the tensor 'head'"}, [&] {
        (void)load_weights<TwoHeads>(write(folder, {{"module.head.0", {2, 2}}}), rules);
    });
}

TEST_CASE("numbers of eight bits are told as such, whatever shape they were packed in") {
    const test::ScratchFolder folder;
    const auto file = [&](const std::string& dtype, const std::string& shape, std::size_t bytes) {
        const std::string header = R"({"table":{"dtype":")" + dtype + R"(","shape":)" + shape +
                                   R"(,"data_offsets":[0,)" + std::to_string(bytes) + "]}}";
        std::string content(sizeof(std::uint64_t), '\0');
        content[0] = static_cast<char>(header.size());
        return folder.file("model.safetensors", content + header + std::string(bytes, '\0')).string();
    };
    const auto refuses = [&](const std::string& path, std::string_view what) {
        check_error(ErrorCode::tensor_mismatch, {what}, [&] { (void)load_weights<Table>(path); });
    };
    const std::string_view quantized = "use the checkpoint as it was before it was quantized";
    refuses(file("U8", "[3, 1]", 3), quantized);
    refuses(file("I8", "[3, 2]", 6), quantized);
    refuses(file("F8_E4M3", "[6]", 6), quantized);
    refuses(file("F4", "[6]", 3), quantized);
    refuses(file("BOOL", "[6]", 6), "convert the checkpoint to one of these");
    refuses(file("I64", "[6]", 48), "convert the checkpoint to one of these");
    refuses(file("F32", "[6]", 24), "should have shape [3, 2], found [6]");
}

TEST_CASE("an adapter is told from a model") {
    const test::ScratchFolder folder;
    check_error(ErrorCode::missing_tensor,
                {"lacks the tensor '", "', and 'base_model.model.head.lora_A.weight' is a part of an adapter",
                 "merge it into its model"},
                [&] {
                    (void)load_weights<Decode>(write(folder, {{"base_model.model.head.lora_A.weight", {1, 2}},
                                                              {"base_model.model.head.lora_B.weight", {2, 1}}}));
                });
    check_error(ErrorCode::unexpected_tensor, {"model.safetensors', 'head.lora_A' is a part of an adapter", "merge"},
                [&] {
                    (void)load_weights<Decode>(
                        write(folder, {{"table", {3, 2}}, {"head", {2, 2}}, {"more", {1}}, {"head.lora_A", {1, 2}}}));
                });
    // Of several files, the one is named that holds a part of it.
    std::filesystem::rename(write(folder, {{"table", {3, 2}}, {"more", {1}}}), folder.path() / "one.safetensors");
    std::filesystem::rename(write(folder, {{"head", {2, 2}}, {"head.lora_A", {1, 2}}}),
                            folder.path() / "two.safetensors");
    const std::string index =
        folder
            .file("model.safetensors.index.json",
                  R"({"weight_map": {"table": "one.safetensors", "more": "one.safetensors", "head": "two.safetensors",)"
                  R"("head.lora_A": "two.safetensors"}})")
            .string();
    check_error(ErrorCode::unexpected_tensor, {"two.safetensors', 'head.lora_A' is a part of an adapter"},
                [&] { (void)load_weights<Decode>(index); });
}

TEST_CASE("a tensor that programs read as two shapes is an error of theirs, not of the checkpoint") {
    const test::ScratchFolder folder;
    const std::string path = write(folder, {{"table", {3, 2}}, {"head", {2, 2}}});
    check_error(ErrorCode::invalid_argument, {"reads the tensor 'table' as [3, 2] and as [2, 3]", "reshape it"},
                [&] { (void)load_weights<Decode, Wide>(path); });
}
