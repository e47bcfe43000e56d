// SPDX-License-Identifier: Apache-2.0
// What reads a state must see it as it was where the reading was recorded, however nodes are fused, moved and merged:
// the fused executor against the eager one, which runs every node in its place.
#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/recorder.hpp>

#include "support/executors.hpp"
#include "support/outputs.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// Reads before a store, whose users come after it or between the stored value and the store.
struct ReadThenStore {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 8});
        const Tensor y = r.state("y", {4, 8});
        const Tensor before = x * 2.0;
        const Tensor value = y + 1.0;
        const Tensor user = before + y;  // runs after `value`, reads x as it was
        r.store(x, value);
        out(user);
        out(before - x);

        const Tensor z = r.state("z", {4, 8});
        const Tensor early = z * 2.0 + 1.0;
        r.store(z, y * 3.0);
        const Tensor late = z * 2.0 + 1.0;  // equal to `early` but for the store
        out(early);
        out(late);
        out(early * late);

        const Tensor reduced = r.state("reduced", {4, 8});
        const Tensor total = sum(reduced * reduced);
        r.store(reduced, y * 0.5);
        out(total + sum(reduced * reduced));
        const Tensor spread = softmax(reduced);
        r.store(reduced, softmax(y));
        out(spread + reduced);
    }
};

struct ViewThenStore {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 8});
        const Tensor y = r.state("y", {4, 8});
        const Tensor reshaped = reshape(x, {8, 4});
        const Tensor sliced = slice(x, 1, 2, 3) + 0.0;
        const Tensor part = slice(x, 1, 2, 3);
        const Tensor turned = permute(slice(x, 0, 1, 2), {1, 0});
        const Tensor repeated = expand(slice(x, 0, 1, 1), {2, 3, 8});
        const Tensor joined = concatenate(part, slice(x, 1, 0, 1), 1);
        r.store(x, y * 2.0);
        out(part + slice(x, 1, 2, 3));
        out(turned);
        out(repeated * 2.0);
        out(joined);
        out(reshaped);
        out(reshape(reshaped, {2, 16}) + reshape(x, {2, 16}));
        out(sliced);
        const Tensor parts = slice(reshape(x, {2, 2, 8}), 1, 1, 1);  // no store after it
        out(parts + 1.0);
    }
};

/// Parts of a state written from other parts of it, in all directions.
template <DType dtype>
struct Shifts {
    static constexpr void record(Recorder& r) {
        const auto state = [&](int number) { return r.state("x", {5, 6}, dtype, number); };
        r.store(state(0), slice(state(0), 0, 0, 4), 0, 1);
        r.store(state(1), slice(state(1), 0, 1, 4), 0, 0);
        r.store(state(2), slice(state(2), 1, 0, 5), 1, 1);
        r.store(state(3), slice(state(3), 1, 1, 5), 1, 0);
        r.store(state(4), slice(state(4), 0, 2, 1), 0, 3);
        r.store(state(5), expand(slice(state(5), 0, 2, 1), {4, 6}), 0, 1);
        r.store(state(6), slice(state(6), 0, 0, 4) + slice(state(6), 0, 1, 4), 0, 1);
        r.store(state(7), slice(state(7), 1, 0, 1));  // repeats its only column
        const Tensor square = r.state("square", {4, 4}, dtype);
        r.store(square, permute(square, {1, 0}));
        const Tensor position = r.state("at", {1}, DType::i32);
        r.store_at(state(8), take(state(8), 0, position), 0, minimum(position + 1.0, 4.0));
        r.store_at(state(9), slice(state(9), 0, 0, 2), 0, position);
    }
};

/// Positions that move between their uses.
struct Positions {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {2, 9, 3});
        const Tensor y = r.state("y", {2, 1, 3});
        const Tensor p = r.state("at", {1}, DType::i32);
        const Tensor taken = take(x, 1, p);
        r.store_at(x, y * 2.0, 1, p);
        r.store(p, p + 1.0);
        out(taken);
        out(take(x, 1, p));
        r.store_at(x, y * 3.0, 1, p);
        r.store(p, p + 1.0);
        const Tensor value = y * 4.0;
        r.store(p, p + 1.0);
        r.store_at(x, value, 1, p);  // where p is now
        out(x * 1.0);

        // The new position is known before what reads the old one runs.
        const Tensor q = r.state("at.other", {1}, DType::i32);
        const Tensor seen = take(x, 1, q);
        const Tensor next = r.state("at.next", {1}, DType::i32) + 0.0;
        out(seen * 2.0);
        const Tensor used = seen + 1.0;
        r.store(q, next);
        out(used);

        const Tensor each = r.state("at.each", {2}, DType::i32);
        const Tensor own = take(x, 1, each);
        r.store_at(x, y * 5.0, 1, each);
        r.store(each, each + 1.0);
        out(own);
        out(take(x, 1, each));
    }
};

/// GEMMs are rewritten to read what their inputs were computed from.
struct Gemms {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor weight = r.weight("w", {6, 8});
        const Tensor bias = r.weight("b", {6});
        const Tensor y = r.state("y", {4, 8});
        const auto state = [&](int number) { return r.state("x", {4, 8}, DType::f32, number); };

        const Tensor scaled = state(0) * r.weight("scale", {8});
        r.store(state(0), y);
        out(linear(scaled, weight, bias));

        const Tensor factor = r.state("factor", {4, 1});
        const Tensor by_rows = y * factor;
        r.store(factor, sum(y));
        out(linear(by_rows, weight, bias));

        const Tensor first = linear(state(1), r.weight("wide", {24, 8}), r.weight("wide.bias", {24}));
        r.store(state(1), y * 2.0);
        out(linear(first, r.weight("narrow", {2, 24}), r.weight("narrow.bias", {2})));

        const Tensor projected = linear(state(2), weight, bias);
        r.store(state(2), y * 3.0);
        out(projected * slice(state(2), 1, 0, 6));

        const Tensor gate = linear(state(3), weight, bias);
        r.store(state(3), y - 1.0);
        out(gate * linear(state(3), weight, bias));

        const Tensor rows = reshape(state(4), {2, 16});
        r.store(state(4), y - 2.0);
        out(linear(rows, r.weight("of.rows", {6, 16}), bias));
    }
};

/// Stores in a row, and values with more than one user.
struct Stores {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 6});
        const Tensor y = r.state("y", {4, 6});
        const Tensor a = r.state("a", {4, 6});
        const Tensor b = r.state("b", {4, 6});
        // The later store wins where both write, although its value was computed first.
        const Tensor later = slice(x, 0, 0, 2) * 2.0;
        const Tensor earlier = y * 3.0;
        r.store(a, earlier);
        r.store(a, later, 0, 1);
        out(a * 1.0);
        // Two stores of one value; one value stored and used.
        const Tensor shared = x - y;
        r.store(b, shared);
        r.store(r.state("out.again", {4, 6}), shared);
        out(shared * 2.0);
        // Stored, read, stored again.
        r.store(b, x * 5.0);
        const Tensor read = b + y;
        r.store(b, x * 7.0);
        out(read);
        // States handed on.
        r.store(a, b);
        r.store(b, y);
        r.store(y, a);
        // A state that is a function of itself, twice.
        r.store(x, x * 0.5 + 1.0);
        r.store(x, x * 0.5 + 1.0);
        const Tensor counter = r.state("counter", {1}, DType::i32);
        r.store(counter, counter + 1.0);
        r.store(counter, counter * 2.0);
        // Values broadcast into a state.
        r.store(r.state("out.row", {4, 6}), slice(x, 1, 0, 1) * 2.0, 0, 0);
        r.store(r.state("out.constant", {4, 6}), expand(r.constant(3), {4, 6}));
        r.store(r.state("out.plane", {2, 4, 6}), reshape(x * 2.0, {1, 4, 6}), 0, 1);
        r.store(r.state("out.flat", {3, 24}), reshape(x * y, {1, 24}), 0, 2);
        r.store(r.state("out.copied", {24}), reshape(permute(x, {1, 0}), {24}));
        r.store(r.state("out.column", {4, 9}), x - 1.0, 1, 2);
    }
};

/// Parts of concatenations beside what GEMMs make, of many rows: of a state that a fused store overwrites before the
/// GEMM, and of a norm that the GEMM reads, too.
struct PartsOfManyRows {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {128, 8});
        const Tensor scaled = x * 2.0;
        const Tensor made = linear(r.state("y", {128, 8}), r.weight("w", {8, 8}));
        const Tensor next = exp(r.state("z", {128, 8}));
        const Tensor joined = concatenate(scaled, made, 1);
        r.store(x, next);
        r.store(r.state("out", {128, 8}), linear(joined, r.weight("v", {8, 16})));

        const Tensor stream = r.state("stream", {128, 8});
        const Tensor normed = stream * rsqrt(mean(stream * stream) + 1e-5);
        const Tensor hidden = silu(linear(normed, r.weight("up", {8, 8})));
        const Tensor both = concatenate(normed, hidden, 1);
        r.store(stream, tanh(r.state("other", {128, 8})));
        r.store(r.state("out.norm", {128, 8}), linear(both, r.weight("down", {8, 16})));
    }
};

}  // namespace

TEST_CASE("what is read before a store is what was there") {
    check_against_eager<ReadThenStore>({4e-6, 4e-5});
}

TEST_CASE("views taken before a store show what was there") {
    check_against_eager<ViewThenStore>({0, 0});
}

TEST_CASE("parts of a state move within it") {
    check_against_eager<Shifts<DType::f32>>({0, 0});
    check_against_eager<Shifts<DType::f64>>({0, 0});
    check_against_eager<Shifts<DType::i32>>({0, 0});
}

TEST_CASE("positions are those of the moment") {
    check_against_eager<Positions>({0, 0});
    check_against_eager<Positions, Passes::none()>({0, 0});
}

TEST_CASE("rewritten GEMMs read what their inputs were") {
    check_against_eager<Gemms>({4e-6, 1e-4});
}

TEST_CASE("stores keep their order") {
    check_against_eager<Stores>({2e-7, 2e-6});  // a product and a sum in one rounding
    check_against_eager<Stores, Passes::none()>({2e-7, 2e-6});
}

TEST_CASE("parts of many rows read what was there") {
    check_against_eager<PartsOfManyRows>({4e-6, 1e-4});
}
