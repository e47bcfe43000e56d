// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/packed_projection.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index heads = 2;
constexpr Index head_dim = 6;
constexpr Index width = heads * head_dim;

struct Projections {
    static constexpr void record(Recorder& r) {
        const Shape shape{1, 1, 1, 3, width};
        const auto projected = toto1::project_query_key_value(r.state("x", shape), r.weight("w", {3 * width, width}),
                                                             r.weight("b", {3 * width}), heads);
        r.store(r.state("out", shape, DType::f32, 0), projected.query);
        r.store(r.state("out", shape, DType::f32, 1), projected.key);
        r.store(r.state("out", shape, DType::f32, 2), projected.value);
    }
};

}  // namespace

TEST_CASE("a packed projection has its heads innermost, its results outermost") {
    run_on_both<Projections>(
        [](auto&) {},
        [](auto& executor) {
            const auto x = state_of<float>(executor, "x");
            for (int part = 0; part < 3; ++part) {
                const auto out = state_of<float>(executor, "out", part);
                for (Index row = 0; row < 3; ++row) {
                    for (Index head = 0; head < heads; ++head) {
                        for (Index in_head = 0; in_head < head_dim; ++in_head) {
                            const Index packed = (part * head_dim + in_head) * heads + head;
                            double sum = weight("b", packed);
                            for (Index k = 0; k < width; ++k) {
                                sum += static_cast<double>(x[static_cast<std::size_t>(row * width + k)]) *
                                       weight("w", packed * width + k);
                            }
                            CHECK(out[static_cast<std::size_t>(row * width + head * head_dim + in_head)] == near(sum));
                        }
                    }
                }
            }
        });
}
