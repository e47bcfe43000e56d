// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/packed_projections.hpp>
#include <totograph/models/toto1/transformer.hpp>
#include <totograph/nn/attention_block.hpp>

#include "models/toto1/case_list.hpp"
#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;
using namespace fixture::models;

namespace {

constexpr Index heads = 2;
constexpr Index head_dim = 6;
constexpr Index width = heads * head_dim;

struct Projections {
    static constexpr void record(Recorder& r) {
        const Shape shape{1, 1, 1, 3, width};
        const toto1::PackedProjections<nn::AttentionSize{.width = width, .heads = heads}> packed{{r, "qkv"_name}};
        const nn::QueryKeyValue projected = packed.record(r.state("x", shape));
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
                            double sum = weight("qkv.bias", packed);
                            for (Index k = 0; k < width; ++k) {
                                sum += static_cast<double>(x[static_cast<std::size_t>(row * width + k)]) *
                                       weight("qkv.weight", packed * width + k);
                            }
                            CHECK(out[static_cast<std::size_t>(row * width + head * head_dim + in_head)] == near(sum));
                        }
                    }
                }
            }
        });
}

TEST_CASE("the parts of an architecture have the parameters of its checkpoint") {
    // The sum of `parameters()` of toto-ts 0.2.0's `TotoBackbone` with the published config.json: 605,224,320 bytes.
    using Base = toto1::Transformer<toto1::open_base_1_0>;
    static_assert(Base::parameters == 151306080 && Base::parameter_bytes == 605224320);
    static_assert(Base::Layer::parameters == 9448704);

    const auto check = [](const std::string& name, Index parameters) {
        CAPTURE(name);
        const io::SafetensorsFile checkpoint(TOTOGRAPH_TEST_DATA "/toto1/" + name + "/model.safetensors");
        Index numbers = 0;
        for (const io::TensorInfo& tensor : checkpoint.tensors()) {
            numbers += std::accumulate(tensor.shape.begin(), tensor.shape.end(), Index{1}, std::multiplies<>());
        }
        CHECK(parameters == numbers);
    };
    check("mixture", toto1::Transformer<Small>::parameters);
    check("student_t", toto1::Transformer<SingleStudentT>::parameters);
    check("exogenous", toto1::Transformer<Exogenous>::parameters);
    check("wide_heads", toto1::Transformer<WideHeads>::parameters);
}
