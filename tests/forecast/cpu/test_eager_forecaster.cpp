// SPDX-License-Identifier: Apache-2.0
// What a compiler says of a family's mistakes, an eager forecaster says when it is made: nothing is compiled for it.
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/forecast/states.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/recorder.hpp>

#include "forecast/one_program_family.hpp"
#include "io/support.hpp"

using namespace totograph;
using test::check_error;

namespace {

constexpr Bucket bucket{.variates = 2, .context = 4, .horizon = 3};
constexpr Shape context{1, 1, 2, 4};
constexpr Shape result{1, 3, 2, 3, 1};

template <class Recorded>
EagerForecaster eager() {
    using Model = one_program_family::Model<Recorded>;
    return {untrained<Model>().weights, record_forecast<Model, bucket>()};
}

/// Reads a context and writes a result of these shapes.
template <Shape read, Shape written, DType dtype = DType::f32>
struct Declares {
    template <Bucket>
    static constexpr void record(Recorder& r) {
        (void)r.state(states::series, read);
        r.store(r.state(states::forecast, written, dtype), expand(r.constant(0.0, dtype), written));
    }
};
struct DeclaresNoResult {
    template <Bucket>
    static constexpr void record(Recorder& r) {
        r.store(r.state("forecasts", result), expand(r.constant(0.0), result));
    }
};

struct StoresNoResult {
    template <Bucket>
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state(states::series, context);
        (void)r.state(states::forecast, result);
        r.store(x, x * 2.0);
    }
};

struct AddsWhatDoesNotFit {
    template <Bucket>
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state(states::series, context);
        r.store(r.state(states::forecast, result), expand(r.constant(0.0), result));
        r.store(x, x + r.weight("bias", {3}));
    }
};

/// The newest steps, from the last one back.
struct Reversed {
    static constexpr std::string_view name = "reversed";
    static constexpr Shape shape(Shape input) { return input; }

    template <class Output, class Input>
    static void run(Output output, Input input) noexcept {
        for (Index i = 0; i < Input::size; ++i) {
            output.data()[i] = input.data()[i - i % 4 + 3 - i % 4];
        }
    }
};
struct GoesBack {
    using operations = OperationSet<Reversed>;

    template <Bucket>
    static constexpr void record(Recorder& r) {
        const Tensor back = opaque<Reversed>(r.state(states::series, context));
        r.store(r.state(states::forecast, result), expand(reshape(slice(back, 3, 0, 3), {1, 1, 2, 3, 1}), result));
    }
};
/// The same without saying so.
struct ListsNoOperations {
    template <Bucket bucket>
    static constexpr void record(Recorder& r) {
        GoesBack::record<bucket>(r);
    }
};

}  // namespace

TEST_CASE("an eager forecaster refuses an opaque operation that its model does not list") {
    check_error(ErrorCode::invalid_argument, {"opaque operation", "`operations` do not list", "OperationSet"},
                [] { (void)eager<ListsNoOperations>(); });
}

TEST_CASE("an eager forecaster refuses states of other shapes and dtypes than are written and read") {
    CHECK_NOTHROW((void)eager<Declares<context, result>>());
    check_error(ErrorCode::invalid_argument,
                {"'series' is declared as f32 [1, 1, 2, 2]", "expected f32 [1, 1, 2, 4]", "forecast/states.hpp"}, [] {
                    (void)eager<Declares<Shape{1, 1, 2, 2}, result>>();
                });
    check_error(ErrorCode::invalid_argument,
                {"'forecast' is declared as f32 [1, 2, 3, 3, 1]", "expected f32 [1, 3, 2, 3, 1]"}, [] {
                    (void)eager<Declares<context, Shape{1, 2, 3, 3, 1}>>();
                });
    check_error(ErrorCode::invalid_argument,
                {"'forecast' is declared as i32 [1, 3, 2, 3, 1]", "expected f32 [1, 3, 2, 3, 1]"},
                [] { (void)eager<Declares<context, result, DType::i32>>(); });
    check_error(ErrorCode::invalid_argument, {"No program", "the state 'forecast', f32 [1, 3, 2, 3, 1]"},
                [] { (void)eager<DeclaresNoResult>(); });
    check_error(ErrorCode::invalid_argument, {"No program of this family stores into the state 'forecast'"},
                [] { (void)eager<StoresNoResult>(); });
}

TEST_CASE("an eager forecaster refuses a program with a mistake") {
    check_error(ErrorCode::invalid_argument, {"mistake: add: [1, 1, 2, 4] and [3]"},
                [] { (void)eager<AddsWhatDoesNotFit>(); });
}

TEST_CASE("an eager forecaster runs opaque operations") {
    using Model = one_program_family::Model<GoesBack>;
    const std::vector<float> history{1, 2, 3, 4, 10, 20, 30, 40};
    const Series series{.variates = 2, .steps = 4, .values = history};
    const std::vector<float> expected{4, 3, 2, 40, 30, 20};
    EagerForecaster forecaster = eager<GoesBack>();
    CHECK(forecaster.forecast(series).quantile(0.5) == expected);
    Forecaster<Model, bucket> fused(untrained<Model>());
    CHECK(fused.forecast(series).median() == expected);
}
