// SPDX-License-Identifier: Apache-2.0
// Graphs of random operations on a few states: what their plans compute is what the recorded nodes compute.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

#include "support/interpreters.hpp"
#include "support/plans.hpp"
#include "support/sanitized.hpp"
#include "support/tensor_sources.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// Records whatever a seed says. Values are f32 `[4, 6]`; what has another shape or type is inside one operation.
class Author {
public:
    explicit Author(std::uint64_t seed) : seed_(seed) {
        for (int i = 0; i < 3; ++i) {
            states_.push_back(r_.state("x", {4, 6}, DType::f32, i));
        }
        factor_ = r_.state("factor", {4, 1});
        caches_ = r_.state("cache", {4, 5, 6});
        position_ = r_.state("at", {1}, DType::i32);
        each_ = r_.state("at.each", {4}, DType::i32);
        values_ = states_;
    }

    Graph write(int operations) {
        for (int i = 0; i < operations; ++i) {
            if (draw(4) == 0) {
                add_effect();
            } else {
                values_.push_back(make_value());
            }
        }
        for (int i = 0; i < 3; ++i) {
            r_.store(r_.state("out", {4, 6}, DType::f32, i), any());
        }
        return r_.take_graph();
    }

private:
    std::size_t draw(std::size_t below) {
        const double uniform_draw = 0.5 * (uniform(seed_ * 1315423911 + draws_++) + 1.0);
        return std::min(below - 1, static_cast<std::size_t>(uniform_draw * static_cast<double>(below)));
    }
    Index index(std::size_t below) { return static_cast<Index>(draw(below)); }

    /// Mostly a recent value, at times a state as it is now.
    Tensor any() {
        if (draw(4) == 0) {
            return states_[draw(states_.size())];
        }
        const std::size_t recent = std::min<std::size_t>(values_.size(), 6);
        return values_[values_.size() - 1 - draw(recent)];
    }
    Tensor row_of_weights() { return r_.weight("row{}", {6}, static_cast<int>(draw(3))); }
    Tensor layer(Tensor x, Index columns) {
        const int number =
            static_cast<int>(draw(2)) + 10 * static_cast<int>(columns) + 1000 * static_cast<int>(x.extent(-1));
        return linear(x, r_.weight("w{}", {columns, x.extent(-1)}, number), r_.weight("b{}", {columns}, number));
    }
    Tensor squash(Tensor x) { return tanh(x); }
    /// A number from 0 to 8 for each row.
    Tensor sum_of_ids(Tensor x) {
        const Tensor place = reshape(argmax(x), {4});
        return minimum(place + each_, 8.0);
    }

    Tensor make_value() {
        const Tensor x = any();
        const Tensor y = any();
        switch (draw(33)) {
            case 0: return x + y;
            case 1: return squash(x * y);
            case 2: return maximum(x, y) * 0.5;
            case 3: return x * row_of_weights();
            case 4: return squash(x * sum(y * y));
            case 5: return x - mean(y);
            case 6: return x * rsqrt(mean(x * x) + 0.1) * row_of_weights();
            case 7: return layer(x, 6) * 0.3;
            case 8: return squash(silu(layer(x, 6)) * layer(x, 6));
            case 9: return squash(sum(layer(layer(x, 20), 2)) * y) + 0.1 * sum(layer(y, 12));
            case 10: return reshape(permute(reshape(x, {2, 2, 6}), {1, 2, 0}), {4, 6});
            case 11: return reshape(permute(x, {1, 0}), {4, 6});
            case 12: {
                const Tensor rows = slice(x, 0, 2, 2);
                return concatenate(draw(2) == 0 ? rows : squash(rows), slice(y, 0, index(3), 2), 0);
            }
            case 13: {
                const Tensor columns = draw(2) == 0 ? slice(y, 1, index(4), 3) : layer(y, 3) * 0.3;
                return concatenate(slice(x, 1, 0, 3, 2), columns, 1);
            }
            case 14: return expand(slice(x, 0, index(4), 1), {4, 6}) - y;
            case 15: return x + slice(y, 1, index(6), 1);
            case 16: return softmax(x);
            case 17: return rotate_pairs(x) + y;
            case 18: return expand(take(x, 0, position_), {4, 6});
            case 19: return x + take(y, 1, draw(2) == 0 ? position_ : each_);
            case 20: return reshape(take(caches_, 1, draw(2) == 0 ? position_ : each_), {4, 6}) * 0.5;
            case 21: return reshape(slice(caches_, 1, index(5), 1), {4, 6});
            case 22: return split_and_rotate(x, y);
            case 23: return cast(cast(x, DType::f64) * cast(y, DType::f64) - 0.5, DType::f32);
            case 24: return x * 0.5 + slice(reshape(sum(reshape(layer(y, 12), {4, 3, 4}) * 0.2), {4, 3}), 1, 2, 1);
            case 25: return x * 0.1 + squash(reshape(layer(reshape(slice(caches_, 1, 1, 3), {12, 6}), 2), {4, 6}));
            case 26: return asinh(x) + gelu(y) * 0.3;
            case 27: return squash(sinh(squash(x)) - y);
            case 28: return x * 0.5 + embedding(r_.weight("table", {9, 6}), sum_of_ids(y));
            case 29: return x * cast(argmax(y), DType::f32) * 0.2;
            case 30: return attended(x, y);
            case 31: return x * 0.5 - amax(squash(y) * row_of_weights());
            default: return cumsum(x) * 0.2;
        }
    }

    /// Attention of 4 positions or 2 variates, to those of others or to a cache; its options are drawn.
    Tensor attended(Tensor x, Tensor y) {
        nn::AttentionOptions options{.heads = 2, .kv_heads = 1 + static_cast<Index>(draw(2))};
        const Index keys_width = 3 * options.kv_heads;
        const auto rows = [&](Tensor of, Index variates, Index columns) {
            return reshape(slice(of, 1, 0, columns), {1, 1, variates, 4 / variates, columns});
        };
        options.scale = draw(2) == 0 ? 0 : 0.25;
        if (draw(3) == 0) {
            return reshape(
                nn::variate_attention(rows(x, 2, 6), rows(y, 2, keys_width), rows(x, 2, keys_width), options), {4, 6});
        }
        options.is_causal = draw(2) == 0;
        options.queries = draw(2) == 0 ? QueryPlaces::first : QueryPlaces::last;
        return reshape(
            nn::attention(rows(x, 1, 6), {rows(y, 1, keys_width), rows(x, 1, keys_width), position_}, options), {4, 6});
    }

    /// A rotary embedding, on a GEMM or not, as heads of 4 or 2, and back to six columns.
    Tensor split_and_rotate(Tensor x, Tensor y) {
        const Tensor wide = draw(2) == 0 ? layer(x, 12) : concatenate(squash(x), y, 1) * 0.5;
        const Shape shape = draw(2) == 0 ? Shape{4, 3, 4} : Shape{4, 6, 2};
        const Tensor heads = reshape(wide, shape);
        const Tensor cosines = r_.weight("cosines", {shape[2]});
        const Tensor sines =
            draw(2) == 0 ? r_.weight("sines", {shape[2]}) : reshape(slice(x, 1, 0, shape[2]), {4, 1, shape[2]});
        const Tensor rotated = reshape(heads * cosines + rotate_pairs(heads) * sines, {4, 12});
        return draw(2) == 0 ? slice(rotated, 1, index(6), 6) : layer(rotated, 6) * 0.2;
    }

    void add_effect() {
        const Tensor x = any();
        const Tensor state = states_[draw(states_.size())];
        switch (draw(13)) {
            case 0: r_.store(state, x); break;
            case 1: r_.store(state, slice(x, 0, 1, 3), 0, index(2)); break;
            case 2: r_.store(state, slice(x, 1, index(3), 3) * 0.5, 1, index(4)); break;
            case 3: r_.store_at(state, slice(x, 0, 3, 1), 0, position_); break;
            case 4: r_.store_at(caches_, reshape(x, {4, 1, 6}), 1, draw(2) == 0 ? position_ : each_); break;
            case 5: r_.store_at(caches_, layer(reshape(x, {4, 1, 6}), 6) * 0.2, 1, position_); break;
            case 6: r_.store(position_, minimum(position_ + 1.0, 3.0)); break;
            case 7: r_.store(each_, maximum(each_ - position_, 0.0)); break;
            case 8: {  // the new position is known before the old one is used
                const Tensor taken = take(caches_, 1, position_);
                const Tensor next = minimum(slice(each_, 0, index(4), 1), 3.0);
                values_.push_back(squash(reshape(taken, {4, 6}) + x));
                r_.store(position_, next);
                break;
            }
            case 9: {  // the position moves between a value and where it is stored
                const Tensor taken = take(caches_, 1, position_);
                const Tensor value = layer(reshape(x, {4, 1, 6}), 6) * 0.2;
                const Tensor next = maximum(position_ - 1.0, 0.0);
                r_.store(position_, next);
                r_.store_at(caches_, value, 1, position_);
                values_.push_back(reshape(taken, {4, 6}) * 0.5);
                break;
            }
            case 10: {  // a value that is known long before it is stored
                const Tensor value = squash(x + any());
                const Tensor reader = squash(state + any());
                values_.push_back(make_value());
                r_.store(state, value);
                values_.push_back(reader);
                break;
            }
            case 11: {  // the factor of a layer's input is stored before the layer
                const Tensor scaled = (draw(2) == 0 ? softmax(x) : x) * factor_;
                r_.store(factor_, mean(any()));
                values_.push_back(layer(scaled, 6) * 0.3);
                break;
            }
            default: r_.store(caches_, slice(caches_, 1, 0, 4), 1, 1); break;
        }
    }

    Recorder r_;
    std::uint64_t seed_;
    std::uint64_t draws_ = 0;
    std::vector<Tensor> states_;
    std::vector<Tensor> values_;
    Tensor factor_;
    Tensor caches_;
    Tensor position_;
    Tensor each_;
};

States first_states(const Graph& graph, std::uint64_t seed) {
    States states;
    for (const Node& node : graph.nodes) {
        if (node.op == Op::state) {
            auto& values = states[name_of(node)];
            for (Index at = 0; at < node.shape.size(); ++at) {
                const double number = uniform(seed + hash_of(name_of(node)) + static_cast<std::uint64_t>(at));
                values.push_back(node.dtype == DType::i32 ? std::floor(2.0 * number + 2.0)
                                                          : static_cast<double>(static_cast<float>(number)));
            }
        }
    }
    return states;
}

}  // namespace

TEST_CASE("plans of made-up graphs compute what the graphs compute") {
    const MadeUpTensors weights;
    int failures = 0;
    for (std::uint64_t seed = 0; seed < repetitions(1500U) && failures < 5; ++seed) {
        CAPTURE(seed);
        const Graph graph = Author(seed).write(8 + static_cast<int>(seed % 40));
        require_recorded(graph);
        const States before = first_states(graph, seed);
        States expected = before;
        run_graph(graph, weights, expected);
        for (const Passes& passes : {Passes{}, Passes{false, false, false, false, true}}) {
            const Planned planned = plan_of(graph, passes);
            check_plan(planned);
            States found = before;
            PlanInterpreter(planned, weights, found);
            for (const auto& entry : expected) {
                const std::string& name = entry.first;
                const std::vector<double>& values = entry.second;
                double largest = 1;
                double difference = 0;
                for (std::size_t at = 0; at < values.size(); ++at) {
                    largest = std::max(largest, std::abs(values[at]));
                    const double distance = std::abs(values[at] - found.at(name)[at]);
                    difference = std::isnan(distance) ? INFINITY : std::max(difference, distance);
                }
                // Values are of the size of the largest; rewrites round elsewhere, and a few dozen operations follow.
                failures += difference <= 1e-3 * largest ? 0 : 1;
                CHECK_MESSAGE(difference <= 1e-3 * largest, "state ", name);
            }
        }
    }
}
