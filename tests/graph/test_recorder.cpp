// SPDX-License-Identifier: Apache-2.0
// Shapes and types that recording finds, and the first mistake that it keeps. That each mistake is a sentence of the
// compiler is shown by tests/compile_fail.
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/linear.hpp>
#include <totograph/nn/patch_embedding.hpp>
#include <totograph/nn/rms_norm.hpp>
#include <totograph/nn/rotary.hpp>
#include <totograph/nn/scalers.hpp>
#include <totograph/nn/student_t.hpp>

#include "io/support.hpp"

using namespace totograph;

namespace {

/// The first mistake of what a function records.
template <class Record>
ModelError mistake_of(Record&& record) {
    Recorder r;
    record(r);
    return r.graph().error;
}

std::string text_of(const ModelError& error) {
    return std::string(error.message());
}

}  // namespace

TEST_CASE("shapes of results") {
    Recorder r;
    const Tensor x = r.state("x", {4, 1, 6});
    const Tensor y = r.state("y", {3, 6});
    const Tensor at = r.state("at", {1}, DType::i32);
    CHECK((x + y).shape() == Shape{4, 3, 6});
    CHECK((2.0 - x).shape() == x.shape());
    CHECK(where(x, y, r.constant(0)).shape() == Shape{4, 3, 6});
    CHECK(reshape(x, {8, 3}).shape() == Shape{8, 3});
    CHECK(slice(x, -1, 1, 3, 2).shape() == Shape{4, 1, 3});
    CHECK(permute(x, {2, 0, 1}).shape() == Shape{6, 4, 1});
    CHECK(expand(y, {5, 3, 6}).shape() == Shape{5, 3, 6});
    CHECK(concatenate(y, y, 0).shape() == Shape{6, 6});
    CHECK(take(x, 2, at).shape() == Shape{4, 1, 1});
    CHECK(sum(x).shape() == Shape{4, 1, 1});
    CHECK(mean(y).shape() == Shape{3, 1});
    CHECK(softmax(y).shape() == y.shape());
    CHECK(linear(x, r.weight("w", {9, 6}), r.weight("b", {9})).shape() == Shape{4, 1, 9});
    CHECK(r.iota(5).shape() == Shape{5});
    CHECK(x.extent(-1) == 6);
    CHECK(r.graph().error.message() == "");
}

TEST_CASE("types of results") {
    Recorder r;
    const Tensor d = r.state("d", {4}, DType::f64);
    CHECK((d * 2.0).dtype() == DType::f64);
    CHECK(less(d, 0.0).dtype() == DType::f64);
    CHECK(cast(d, DType::i32).dtype() == DType::i32);
    CHECK(cast(d, DType::f64).id() == d.id());  // nothing to do
    CHECK(r.iota(3, DType::i32).dtype() == DType::i32);
    CHECK(r.graph().error.message() == "");
}

TEST_CASE("what is recorded runs in the order of its nodes") {
    Recorder r;
    const Tensor x = r.state("x", {4});
    r.store(x, exp(x) * 2.0);
    r.tap("seen", x, 3);
    const Graph& graph = r.graph();
    for (int id = 0; id < graph.size(); ++id) {
        for (int i = 0; i < graph[id].input_count; ++i) {
            CHECK(graph[id].inputs[static_cast<std::size_t>(i)] < id);
        }
    }
    CHECK(graph[graph.size() - 1].op == Op::store);
    CHECK(graph.input(graph[graph.size() - 1], 0).name == "seen");
    CHECK(graph.input(graph[graph.size() - 1], 0).layer == 3);
}

TEST_CASE("a state is one node, however often it is named, and each layer has its own") {
    Recorder r;
    const Tensor x = r.state("x", {4});
    CHECK(r.state("x", {4}).id() == x.id());
    CHECK(r.state("x", {4}, DType::f32, 0).id() != x.id());
    CHECK(r.state("x", {4}, DType::f32, 1).id() != r.state("x", {4}, DType::f32, 0).id());
    CHECK(r.graph().error.message() == "");
}

TEST_CASE("the first mistake is kept, with its figures") {
    const ModelError error = mistake_of([](Recorder& r) {
        const Tensor x = r.state("x", {4, 6});
        const Tensor wrong = x + r.state("y", {4, 5});
        [[maybe_unused]] const Tensor later = reshape(wrong, {7});
    });
    CHECK(error.kind == ModelErrorKind::shapes_do_not_broadcast);
    CHECK(text_of(error) == "add: [4, 6] and [4, 5]");
}

TEST_CASE("mistakes say what was found") {
    const auto text = [](auto&& record) { return text_of(mistake_of(record)); };
    CHECK(text([](Recorder& r) {
              reshape(r.state("x", {4, 6}), {5, 5});
          }) == "reshape: from [4, 6] (24 elements) to [5, 5] (25 elements)");
    CHECK(text([](Recorder& r) {
              slice(r.state("x", {4, 6}), 1, 4, 3);
          }) == "slice: indices 4 to 6 of axis 1 of shape [4, 6]");
    CHECK(text([](Recorder& r) { sum(reshape(r.state("x", {1}), {})); }) == "axis -1 of a tensor of shape []");
    CHECK(text([](Recorder& r) {
              r.store(r.state("cache", {4, 6}), r.state("x", {3, 6}), 0, 2);
          }) == "store into 'cache': writing 3 positions from 2 into a capacity of 4");
    CHECK(text([](Recorder& r) {
              [[maybe_unused]] const Tensor x = r.state("x", {4}) * r.state("n", {4}, DType::i32);
          }) == "multiply: f32 and i32; cast one of them");
}

TEST_CASE("shapes, dtypes and weights that executors cannot run are refused") {
    const auto kind = [](auto&& record) { return mistake_of(record).kind; };
    const auto text = [](auto&& record) { return text_of(mistake_of(record)); };
    using enum ModelErrorKind;
    CHECK(kind([](Recorder& r) { r.state("x", {4}, DType::bf16); }) == dtype_is_storage_only);
    CHECK(kind([](Recorder& r) { r.state("x", {4}, DType::f16); }) == dtype_is_storage_only);
    CHECK(kind([](Recorder& r) { cast(r.state("x", {4}), DType::bf16); }) == dtype_is_storage_only);
    CHECK(text([](Recorder& r) { r.state("x", {1, 1, 1, 1, 1, 1, 1}); }) == "state: a shape of 7 axes; the most is 6");
    CHECK(text([](Recorder& r) {
              nn::patchify(r.state("x", {1, 1, 1, 1, 1, 8}), 4);
          }) == "reshape: a shape of 7 axes; the most is 6");
    CHECK(kind([](Recorder& r) { expand(r.state("x", {4}), {1, 1, 1, 1, 1, 1, 4}); }) == shape_is_not_usable);
    CHECK(text([](Recorder& r) { r.state("x", {4, 0}); }) == "state: axis 1 of shape [4, 0] is empty");
    CHECK(kind([](Recorder& r) { r.iota(0); }) == shape_is_not_usable);
    CHECK(kind([](Recorder& r) { reshape(r.state("x", {4}), {-2, -2}); }) == shape_is_not_usable);
    constexpr Index many = Index{1} << 24;
    CHECK(kind([](Recorder& r) { r.store(r.state("x", {many, many}), r.state("x", {many, many})); }) == none);
    CHECK(kind([](Recorder& r) { r.state("x", {many, many + 1}); }) == shape_is_not_usable);
    CHECK(kind([](Recorder& r) { r.state("x", {many, many, many}) * 2.0; }) == shape_is_not_usable);
    CHECK(kind([](Recorder& r) { r.iota(std::numeric_limits<Index>::max()); }) == shape_is_not_usable);
    CHECK(kind([](Recorder& r) { expand(r.constant(1), {many, many, 2}); }) == shape_is_not_usable);

    CHECK(kind([](Recorder& r) {
              linear(r.state("x", {4}, DType::f64), r.weight("w", {2, 4}), r.weight("b", {2}));
          }) == dtypes_differ);
    CHECK(kind([](Recorder& r) {
              linear(r.state("x", {4}), cast(r.weight("w", {2, 4}), DType::f64), r.weight("b", {2}));
          }) == dtypes_differ);
    CHECK(kind([](Recorder& r) {
              linear(r.state("x", {4}), r.weight("w", {2, 4}) * r.state("s", {1}), r.weight("b", {2}));
          }) == linear_weight_varies);
    CHECK(kind([](Recorder& r) {
              linear(r.state("x", {4}), r.weight("w", {2, 4}) * r.weight("s", {1}), r.weight("b", {2}));
          }) == none);
}

TEST_CASE("numbers beside i32 are whole, for they become i32") {
    const auto text = [](auto&& record) { return text_of(mistake_of(record)); };
    const auto with = [&](double number) {
        return text([=](Recorder& r) { (void)less(r.state("i", {4}, DType::i32), number); });
    };
    for (const double whole :
         {0.0, -3.0, 2147483647.5, 3e9 + 0.5, -2147483648.5, -1e300, std::numeric_limits<double>::infinity()}) {
        CHECK(with(whole) == "");  // beyond i32 the nearest one
    }
    CHECK(with(2.5) == "constant: i32 from a number near 2, which is not whole");
    CHECK(with(-0.5) == "constant: i32 from a number near 0, which is not whole");
    CHECK(with(std::numeric_limits<double>::quiet_NaN()) == "constant: i32 from NaN");
    CHECK(text([](Recorder& r) { (void)(cast(r.state("i", {4}, DType::i32), DType::f64) * 0.5); }) == "");
}

TEST_CASE("views that no tensor has are refused") {
    const auto kind = [](auto&& record) { return mistake_of(record).kind; };
    using enum ModelErrorKind;
    CHECK(kind([](Recorder& r) { slice(r.state("x", {8}), 0, 4, 2, -1); }) == slice_out_of_range);
    CHECK(kind([](Recorder& r) { slice(r.state("x", {8}), 0, 4, 2, 0); }) == slice_out_of_range);
    CHECK(kind([](Recorder& r) { slice(r.state("x", {8}), 0, -1, 2); }) == slice_out_of_range);
    CHECK(kind([](Recorder& r) { slice(r.state("x", {8}), 0, 4, 0); }) == slice_out_of_range);
    constexpr Index most = std::numeric_limits<Index>::max();
    CHECK(kind([](Recorder& r) { slice(r.state("x", {8}), 0, 0, most, 2); }) == slice_out_of_range);
    CHECK(kind([](Recorder& r) { slice(r.state("x", {8}), 0, most, 2); }) == slice_out_of_range);
    CHECK(kind([](Recorder& r) { permute(r.state("x", {4, 4}), {1, 1}); }) == axis_out_of_range);
    CHECK(kind([](Recorder& r) { permute(r.state("x", {4, 4}), {0, -1}); }) == axis_out_of_range);
    CHECK(kind([](Recorder& r) { permute(r.state("x", {4, 4}), {0}); }) == axis_out_of_range);
    CHECK(kind([](Recorder& r) { permute(r.state("x", {4, 4}), {}); }) == axis_out_of_range);
    CHECK(kind([](Recorder& r) { permute(r.state("x", {4, 4}), {0, 1, 0, 1, 0, 1, 0, 1}); }) == axis_out_of_range);
    CHECK(kind([](Recorder& r) {
              take(r.state("x", {4, 8}), 1, r.state("at", {1, 4}, DType::i32));
          }) == position_is_not_an_integer_state);
    CHECK(kind([](Recorder& r) {
              take(r.state("x", {4, 8}), 1, r.state("at", {4, 1}, DType::i32));
          }) == position_is_not_an_integer_state);
    CHECK(kind([](Recorder& r) { take(r.state("x", {4, 8}), 1, r.state("at", {4}, DType::i32)); }) == none);
    // Of the axis of the series there is one index for all.
    CHECK(kind([](Recorder& r) { take(r.state("x", {4, 8}), 0, r.state("at", {1}, DType::i32)); }) == none);
    CHECK(text_of(mistake_of([](Recorder& r) {
              take(r.state("x", {4, 8}), -2, r.state("at", {4}, DType::i32));
          })) == "take: the position on axis 0 must be i32 with one element, found i32 of shape [4]");
    CHECK(kind([](Recorder& r) {
              r.store_at(r.state("x", {4, 8}), r.state("y", {1, 8}), 0, r.state("at", {4}, DType::i32));
          }) == position_is_not_an_integer_state);
}

TEST_CASE("stores that do not fit are refused, also of scalars") {
    const auto kind = [](auto&& record) { return mistake_of(record).kind; };
    using enum ModelErrorKind;
    CHECK(kind([](Recorder& r) { r.store(r.state("y", {4}), r.state("x", {2}), 0, -1); }) == cache_overflows);
    constexpr Index last = std::numeric_limits<Index>::max();
    CHECK(kind([](Recorder& r) { r.store(r.state("y", {4}), r.state("x", {2}), 0, last); }) == cache_overflows);
    CHECK(kind([](Recorder& r) { r.store(r.state("y", {}), r.constant(1)); }) == none);
    CHECK(kind([](Recorder& r) { r.store(r.state("y", {}), r.constant(1), 0, 1); }) == cache_overflows);
    CHECK(kind([](Recorder& r) { r.store(r.state("y", {}), r.constant(1), 0, -1); }) == cache_overflows);
    CHECK(kind([](Recorder& r) { r.store(r.state("y", {}), r.constant(1), 1); }) == axis_out_of_range);
    CHECK(kind([](Recorder& r) { r.store(r.state("y", {}), r.state("x", {4})); }) == store_does_not_fit);
    CHECK(kind([](Recorder& r) { r.store(r.state("y", {4}), r.constant(1)); }) == store_does_not_fit);
    CHECK(kind([](Recorder& r) { r.store_at(r.state("y", {}), r.constant(1), 0, r.state("at", {1}, DType::i32)); }) ==
          axis_out_of_range);
}

TEST_CASE("a state has a name") {
    const ModelError mistake = mistake_of([](Recorder& r) { r.tap("", r.state("x", {4, 8})); });
    CHECK(mistake.kind == ModelErrorKind::state_has_no_name);
    CHECK(mistake.message() == "state: one of [4, 8] has an empty name");
}

TEST_CASE("bounds that name nothing, or differ, are refused") {
    const auto kind = [](std::int8_t of_state, std::int8_t again, std::int8_t of_tensor) {
        return mistake_of([=](Recorder& r) {
                   r.state("request", {2}, DType::i32, {}, StateUse::bounds);
                   r.state("x", {4, 3}, DType::f32, {}, StateUse::any, {0, of_state});
                   r.bound(r.state("x", {4, 3}, DType::f32, {}, StateUse::any, {0, again}), 0, of_tensor);
               })
            .kind;
    };
    using enum ModelErrorKind;
    CHECK(kind(2, 2, 1) == none);
    CHECK(kind(2, 0, 2) == none);
    CHECK(kind(0, 2, 2) == none);
    CHECK(kind(1, 2, 1) == state_declared_twice);
    CHECK(kind(3, 0, 1) == bound_is_unknown);
    CHECK(kind(-1, 0, 1) == bound_is_unknown);
    CHECK(kind(1, 1, 3) == bound_is_unknown);
    CHECK(kind(1, 1, 0) == bound_is_unknown);
    CHECK(mistake_of([](Recorder& r) { r.bound(r.state("x", {4}), 0, -2); }).kind == bound_is_unknown);
    const auto declared_late = [](Recorder& r) {
        r.bound(r.state("x", {4}), 0, 3);
        r.state("request", {2}, DType::i32, {}, StateUse::bounds);
    };
    CHECK(mistake_of(declared_late).kind == bound_is_unknown);
}

TEST_CASE("there is one state of bounds, of integers") {
    const auto mistake = [](const char* name, DType dtype) {
        return mistake_of([=](Recorder& r) {
            r.state("request", {2}, DType::i32, {}, StateUse::bounds);
            r.state(name, {2}, dtype, {}, StateUse::bounds);
        });
    };
    using enum ModelErrorKind;
    CHECK(mistake("request", DType::i32).kind == none);
    CHECK(mistake("used", DType::i32).kind == bound_is_unknown);
    CHECK(mistake("used", DType::i32).message() == "state 'used': it has bounds, and so has the state 'request'");
    const ModelError of_floats =
        mistake_of([](Recorder& r) { r.state("used", {2}, DType::f32, {}, StateUse::bounds); });
    CHECK(of_floats.kind == bound_is_unknown);
    CHECK(of_floats.message() == "state 'used': bounds of f32, expected i32");
}

TEST_CASE("attentions and draws whose inputs do not go together are refused") {
    const auto kind = [](auto&& record) { return mistake_of(record).kind; };
    using enum ModelErrorKind;
    const auto causal = [&](const Shape& query, const Shape& key, DType dtype, const Shape& valid) {
        return kind([&](Recorder& r) {
            const Tensor keys = r.state("k", key, dtype);
            nn::causal_attention(r.state("q", query, dtype), keys, keys, r.state("valid", valid, DType::i32),
                                 {.heads = 2});
        });
    };
    CHECK(causal({2, 3, 1, 4, 8}, {2, 3, 1, 4, 8}, DType::f32, {2}) == none);
    CHECK(causal({2, 3, 1, 4, 8}, {2, 1, 1, 6, 8}, DType::f32, {1}) == none);
    CHECK(causal({2, 3, 1, 4, 8}, {2, 3, 1, 4, 8}, DType::f64, {2}) == attention_shapes_differ);
    CHECK(causal({2, 3, 1, 4, 8}, {2, 2, 1, 4, 8}, DType::f32, {2}) == attention_shapes_differ);
    CHECK(causal({2, 3, 1, 4, 8}, {2, 3, 1, 3, 8}, DType::f32, {2}) == attention_shapes_differ);
    CHECK(causal({2, 3, 1, 4, 8}, {2, 3, 1, 4, 8}, DType::f32, {1, 2}) == position_is_not_an_integer_state);
    CHECK(causal({3, 1, 4, 8}, {3, 1, 4, 8}, DType::f32, {3}) == attention_shapes_differ);
    CHECK(causal({}, {}, DType::f32, {1}) == attention_shapes_differ);

    CHECK(text_of(mistake_of([](Recorder& r) {
              const Tensor x = r.state("x", {2, 1, 1, 4, 8});
              nn::attention(x, {.key = x, .value = x, .length = {}}, {.heads = 2});
          })) == "attention: the position is missing");
    CHECK(text_of(mistake_of([](Recorder& r) {
              const Tensor x = r.state("x", {2, 1, 1, 4, 8});
              nn::cached_attention(x, {x, x, r.state("length", {1}, DType::i32)}, {x, x, {}}, {.heads = 2});
          })) == "attention: the length of the suffix is missing");

    const auto cached = [&](Index positions, const Shape& suffix, const Shape& suffix_length, DType length_dtype) {
        return kind([&](Recorder& r) {
            const Tensor prefix = r.state("prefix", {2, 1, 1, 5, 8});
            const Tensor own = r.state("suffix", suffix);
            nn::cached_attention(r.state("q", {2, 3, 1, positions, 8}),
                                 {prefix, prefix, r.state("prefix_length", {2}, DType::i32)},
                                 {own, own, r.state("suffix_length", suffix_length, length_dtype)}, {.heads = 2});
        });
    };
    CHECK(cached(1, {2, 3, 1, 6, 8}, {1}, DType::i32) == none);
    CHECK(cached(2, {2, 3, 1, 6, 8}, {1}, DType::i32) == none);
    CHECK(cached(1, {2, 1, 1, 6, 8}, {1}, DType::i32) == attention_shapes_differ);
    CHECK(cached(1, {2, 3, 1, 6, 8}, {2}, DType::i32) == position_is_not_an_integer_state);
    CHECK(cached(1, {2, 3, 1, 6, 8}, {1}, DType::f32) == position_is_not_an_integer_state);

    const auto asked = [&](auto&& change) {
        return kind([&](Recorder& r) {
            nn::AttentionOptions options{.heads = 6, .kv_heads = 2};
            change(r, options);
            nn::attention(r.state("q", {2, 1, 3, 4, 24}),
                          {r.state("k", {2, 1, 3, 5, 8}), r.state("v", {2, 1, 3, 5, 6}), r.state("n", {2}, DType::i32)},
                          options);
        });
    };
    CHECK(asked([](Recorder&, nn::AttentionOptions&) {}) == none);
    CHECK(asked([](Recorder&, auto& options) { options.heads = 5; }) == heads_do_not_divide);
    for (const Index kv_heads : {-2, 0, 1, 3, 4, 6}) {
        CHECK(asked([&](Recorder&, auto& options) { options.kv_heads = kv_heads; }) == kv_heads_do_not_divide);
    }
    for (const double scale : {-0.5, std::numeric_limits<double>::infinity(), std::nan("")}) {
        CHECK(asked([&](Recorder&, auto& options) { options.scale = scale; }) == attention_scale_is_wrong);
    }
    const auto scaled = [&](const Shape& shape, DType dtype) {
        return asked([&](Recorder& r, auto& options) { options.scale_data = r.state("scale", shape, dtype); });
    };
    CHECK(scaled({1}, DType::f32) == none);
    CHECK(scaled({2}, DType::f32) == attention_scale_is_wrong);
    CHECK(scaled({1}, DType::f64) == attention_scale_is_wrong);
    const auto masked = [&](KeyMask mask, const Shape& shape, DType dtype) {
        return asked([&](Recorder& r, auto& options) {
            options.mask = mask;
            options.ids = r.state("ids", shape, dtype);
        });
    };
    CHECK(masked(KeyMask::by_key, {2, 3, 5}, DType::i32) == none);
    CHECK(masked(KeyMask::by_group, {1, 1, 5}, DType::i32) == none);
    CHECK(masked(KeyMask::by_key, {2, 3, 4}, DType::i32) == attention_mask_differs);
    CHECK(masked(KeyMask::by_key, {2, 2, 5}, DType::i32) == attention_mask_differs);
    CHECK(masked(KeyMask::by_key, {2, 3, 5}, DType::f32) == attention_mask_differs);
    CHECK(masked(KeyMask::none, {2, 3, 5}, DType::i32) == attention_mask_differs);

    const auto drawn = [&](const Shape& location, const Shape& scale, Index samples, Index seeds) {
        return kind([&](Recorder& r) {
            const Tensor other = r.state("other", location);
            nn::sample({other, other, r.state("scale", scale), other}, samples, r.state("seed", {seeds}, DType::i32),
                       r.state("first", {2}, DType::i32), r.state("patch", {1}, DType::i32));
        });
    };
    CHECK(drawn({2, 1, 3, 1, 4, 5}, {2, 1, 3, 1, 4, 5}, 7, 2) == none);
    CHECK(drawn({2, 7, 3, 1, 4, 5}, {2, 7, 3, 1, 4, 5}, 7, 2) == none);
    CHECK(drawn({2, 3, 3, 1, 4, 5}, {2, 3, 3, 1, 4, 5}, 7, 2) == sampled_shapes_differ);
    CHECK(drawn({2, 1, 3, 1, 4, 5}, {2, 1, 3, 1, 4, 1}, 7, 2) == sampled_shapes_differ);
    CHECK(drawn({3, 1, 4, 5}, {3, 1, 4, 5}, 7, 2) == sampled_shapes_differ);
    CHECK(drawn({2, 1, 3, 1, 4, 5}, {2, 1, 3, 1, 4, 5}, 7, 1) == position_is_not_an_integer_state);
    CHECK(drawn({2, 1, 3, 1, 4, 5}, {2, 1, 3, 1, 4, 5}, 0, 2) == shape_is_not_usable);

    const auto drawn_of = [&](Index vocabulary) {
        return mistake_of([&](Recorder& r) {
            const auto integers = [&](std::string_view name, Index count) {
                return r.state(name, {count}, DType::i32);
            };
            sample_categorical(r.state("logits", {1, 1, 1, 1, vocabulary}), 1,
                               {r.state("temperature", {1}), integers("top_k", 1), r.state("top_p", {1})},
                               {integers("seed", 2), integers("first", 2), integers("time", 1)});
        });
    };
    CHECK(drawn_of(Index{1} << 27).kind == none);
    CHECK(drawn_of((Index{1} << 27) + 1).kind == sampled_shapes_differ);
}

TEST_CASE("tensors of another recorder are refused, wherever they come in") {
    using enum ModelErrorKind;
    Recorder other;
    for (int i = 0; i < 50; ++i) {
        other.iota(4);
    }
    const Tensor foreign = other.state("foreign", {4, 4});
    const Tensor position = other.state("position", {1}, DType::i32);
    const auto kind = [](auto&& record) { return mistake_of(record).kind; };
    CHECK(kind([&](Recorder& r) { r.state("x", {4, 4}) + foreign; }) == different_recorders);
    CHECK(kind([&](Recorder& r) { r.store(r.state("x", {4, 4}), foreign); }) == different_recorders);
    CHECK(kind([&](Recorder& r) { r.store(foreign, r.state("x", {4, 4})); }) == different_recorders);
    CHECK(kind([&](Recorder& r) { r.store_at(r.state("y", {4}), r.state("x", {1}), 0, position); }) ==
          different_recorders);
    CHECK(kind([&](Recorder& r) {
              linear(r.state("x", {4}), other.weight("w", {4, 4}), other.weight("b", {4}));
          }) == different_recorders);
    CHECK(kind([](Recorder& r) {
              Node node;
              node.op = Op::negative;
              node.inputs[0] = 7;
              node.input_count = 1;
              r.add(node);
          }) == different_recorders);
}

TEST_CASE("a tensor that was never recorded is an error, or a mistake where the recorder is known") {
    const Tensor missing;
    test::check_error(ErrorCode::invalid_argument, {"never recorded", "without a name"},
                      [&] { (void)missing.shape(); });
    const ModelError mistake = mistake_of([&](Recorder& r) { r.add(Op::negative, DType::f32, {4}, {missing}); });
    CHECK(mistake.kind == ModelErrorKind::tensor_is_missing);
    CHECK(mistake.message() == "negative: an input is missing");
}

TEST_CASE("the name of a weight has a place for its layer, or there is none") {
    using enum ModelErrorKind;
    const auto mistake = [](std::string_view name, int layer) {
        return mistake_of([&](Recorder& r) { r.weight(name, {4}, layer); });
    };
    CHECK(mistake("layers.{}.scale", 0).kind == none);
    CHECK(mistake("{}", 3).kind == none);
    CHECK(mistake("scale", -1).kind == none);
    CHECK(mistake("{scale}", -1).kind == none);
    CHECK(mistake("", -1).kind == none);
    CHECK(mistake("layers.{}.scale", -1).kind == weight_name_lacks_its_layer);
    CHECK(mistake("layers.{}.scale", -1).message() == "weight 'layers.{}.scale': no layer is given");
    CHECK(mistake("layers.scale", 2).message() == "weight 'layers.scale': its layer has no place in the name");
    CHECK(mistake("blocks.{}.layers.{}.scale", 2).message() ==
          "weight 'blocks.{}.layers.{}.scale': its layer has several places in the name");
}

TEST_CASE("running moments are of whole groups, of f32, and go on from f64") {
    const auto kind = [](auto record) { return mistake_of(record).kind; };
    const auto of = [&](const Shape& marks, const Shape& before, Index group, DType dtype = DType::f64) {
        return kind([&](Recorder& r) {
            const Tensor observed = r.state("marks", marks);
            const RunningMoments sums{r.state("count", before, dtype), r.state("total", before, dtype),
                                      r.state("spread", before, dtype)};
            running_moments(r.state("x", {2, 3, 12}), &observed, group, 5, &sums);
        });
    };
    using enum ModelErrorKind;
    CHECK(of({2, 3, 12}, {2, 3, 1}, 4) == none);
    CHECK(of({2, 3, 12}, {2, 3, 1}, 5) == moments_shapes_differ);
    CHECK(of({2, 3, 12}, {2, 3, 1}, 0) == moments_shapes_differ);
    CHECK(of({2, 1, 12}, {2, 3, 1}, 4) == moments_shapes_differ);
    CHECK(of({2, 3, 12}, {2, 3}, 4) == moments_shapes_differ);
    CHECK(of({2, 3, 12}, {2, 3, 1}, 4, DType::f32) == dtypes_differ);
    CHECK(kind([](Recorder& r) { running_moments(r.state("x", {4}, DType::f64), nullptr, 2); }) == dtypes_differ);
    Recorder r;
    CHECK(running_moments(r.state("x", {2, 3, 12}), nullptr, 4).shape() == Shape{2, 3, 3, 3});
    CHECK(running_moments(r.state("x", {2, 3, 12}), nullptr, 4, 5).shape() == Shape{2, 3, 6, 3});
}

TEST_CASE("recording goes on after a mistake, whatever it was, without touching what is not there") {
    // Every operation on tensors of every rank, most of which it does not take: the sanitizers watch.
    constexpr std::array<std::string_view, max_rank + 1> names{"0", "1", "2", "3", "4", "5", "6"};
    std::array<Shape, max_rank + 1> shapes{};
    for (std::size_t rank = 1; rank < shapes.size(); ++rank) {
        shapes[rank] = with_last(shapes[rank - 1], static_cast<Index>(rank));
    }
    for (std::size_t rank = 0; rank < shapes.size(); ++rank) {
        CAPTURE(rank);
        for (int axis = -8; axis <= 8; ++axis) {
            CAPTURE(axis);
            Recorder r;
            const Tensor x = r.state(names[rank], shapes[rank]);
            const Tensor at = r.state("at", {1}, DType::i32);
            CHECK(x.extent(axis) >= 1);
            for (const Shape& shape : shapes) {
                const Tensor y = r.state(names[static_cast<std::size_t>(shape.rank)], shape);
                const auto use = [&](Tensor result) {
                    CHECK(result.shape().rank <= max_rank);
                    CHECK(result.shape().rows() >= 1);
                    sum(reshape(result, with_last(result.shape(), 1)));
                };
                use(x + y);
                use(slice(x, axis, 0, 1));
                use(slice(y, axis, -1, -1, -1));
                use(take(x, axis, at));
                use(take(x, axis, y));
                use(concatenate(x, y, axis));
                use(reshape(x, shape));
                use(expand(x, shape));
                use(permute(x, {axis, 0, 1}));
                use(where(x, y, x));
                use(rotate_pairs(x));
                use(softmax(cumsum(mean(y))));
                use(linear(x, y, x));
                use(linear(x, r.weight("w", shape), r.weight("b", shapes[rank])));
                use(nn::patchify(y, axis));
                use(nn::PatchEmbedding<nn::PatchEmbeddingSize{.patch_size = 4, .width = 3}>{{r, "embed"_name}}.record(
                    x));
                use(nn::rms_norm(x, y, 1e-5));
                using FeedForward = nn::SwiGlu<nn::SwiGluSize{.width = 4, .hidden = 3}>;
                use(FeedForward{{{r, "in"_name}}, {r, "out"_name}}.record(x));
                use(nn::RmsNorm<nn::RmsNormSize{.width = 4}>(r, "norm"_name, 1e-5).record(x));
                use(nn::rotary_tables(x, y, axis).key_sine);
                use(nn::rotate(x, y, y));
                use(nn::causal_attention(x, y, y, at, {.heads = axis}));
                use(nn::causal_attention(x, x, y, y, {.heads = 1}));
                use(nn::cached_attention(x, {y, y, at}, {x, x, y}, {.heads = 1}));
                use(nn::last_position_attention(x, y, y, at, {.heads = 1}));
                use(nn::variate_attention(x, y, y, x, {.heads = axis}));
                using Attention = nn::Attention<nn::AttentionSize{.width = 4, .heads = 2}>;
                const nn::Linear<nn::LinearSize{.in = 4, .out = 4}> square(r, "square"_name);
                use(Attention{{square, square, square}, square}.project(x).key);
                use(running_moments(x, &y, axis, axis));
                const RunningMoments sums{y, at, x};
                use(running_moments(x, nullptr, 2, 0, &sums));
                use(nn::global_statistics(x, y, 0.1).scale);
                use(nn::mixture_variance({x, y, x, y}));
                use(nn::mixture_mean(
                    nn::StudentTHead<nn::StudentTHeadSize{.width = 4, .components = 4}>{square, square, square, square}
                        .record(x)));
                use(nn::sample({x, y, x, y}, axis, at, at, y));
                nn::KvCache<nn::KvCacheSize{.capacity = 2, .width = 4}> cache(r, {"keys", "values", "length"});
                cache.append(0, x, y);
                cache.fill(0, y, x);
                cache.advance(1);
                r.store(x, y, axis, axis);
                r.store_at(y, x, axis, y);
                r.tap("seen", x + y);
                r.tap("seen", y);
            }
            CHECK(r.graph().error.kind != ModelErrorKind::none);
        }
    }
}

TEST_CASE("figures of a mistake that is long are cut, never more") {
    ModelError error;
    error << "n = " << Index{-9223372036854775807} << ", " << Index{0};
    CHECK(text_of(error) == "n = -9223372036854775807, 0");
    for (int i = 0; i < 100; ++i) {
        error << "0123456789";
    }
    CHECK(error.message().size() == error.text.size());
}
