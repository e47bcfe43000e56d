// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>

#include "../../examples/stress/grid_columns.hpp"

// Which columns stand beside eager, and which of them have to agree with it.

namespace {

namespace tg = totograph;
namespace serve = tg::serve;
using serve::Mode;

class NamedBackend final : public serve::Backend {
public:
    NamedBackend(std::string name, std::string precision, std::string reason = {})
        : name_(std::move(name)), precision_(std::move(precision)), reason_(std::move(reason)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::string_view precision() const override { return precision_; }
    [[nodiscard]] std::vector<tg::Bucket> buckets() const override { return {{.context = 4, .horizon = 2}}; }
    [[nodiscard]] std::string describe(Mode) const override { return "has a name"; }
    [[nodiscard]] std::string unavailable(const serve::BackendResources&) const override { return reason_; }
    [[nodiscard]] std::unique_ptr<serve::BucketForecaster> make(const tg::Bucket&, Mode,
                                                                const serve::BackendResources&) const override {
        return nullptr;
    }
    [[nodiscard]] serve::Explanation explain(const tg::Bucket&, Mode) const override { return {}; }

private:
    std::string name_;
    std::string precision_;
    std::string reason_;
};

serve::BackendRegistry backends() {
    serve::BackendRegistry registry;
    registry.add(std::make_shared<const NamedBackend>("cpu", "f32"));
    registry.add(std::make_shared<const NamedBackend>("cuda", "bf16"));
    registry.add(std::make_shared<const NamedBackend>("cuda-regional", "bf16"));
    registry.add(std::make_shared<const NamedBackend>("cuda-f32", "f32"));
    registry.add(std::make_shared<const NamedBackend>("broken", "f32", "There is no device."));
    return registry;
}

/// Each column as `backend mode`, with a star where it has to agree with the first one.
std::vector<std::string> columns(const std::string& backend, Mode mode, const std::string& baseline = {}) {
    std::vector<std::string> texts;
    for (const serve::GridColumn& column : examples::detail::grid_columns(backends(), {backend, baseline, mode}, {})) {
        texts.push_back(std::string(column.backend->name()) + " " + std::string(name(column.mode)) +
                        (column.same_arithmetic ? " *" : ""));
    }
    return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("on the CPU all modes compute in f32, and have to agree") {
    CHECK(columns("", Mode::max_autotune) == Texts{"cpu eager *", "cpu default *", "cpu max-autotune *"});
    CHECK(columns("cpu", Mode::standard) == Texts{"cpu eager *", "cpu default *"});
}

TEST_CASE("on a device in bf16 what tunes may round otherwise, and captures stand beside regional ones") {
    CHECK(columns("cuda", Mode::max_autotune) ==
          Texts{"cuda eager *", "cuda default *", "cuda max-autotune", "cuda-regional max-autotune"});
    CHECK(columns("cuda", Mode::reduce_overhead) ==
          Texts{"cuda eager *", "cuda default *", "cuda reduce-overhead *", "cuda-regional reduce-overhead *"});
    // Nothing is captured there.
    CHECK(columns("cuda", Mode::max_autotune_no_cudagraphs) ==
          Texts{"cuda eager *", "cuda default *", "cuda max-autotune-no-cudagraphs"});
}

TEST_CASE("a device beside the processor has to agree where both compute in f32") {
    CHECK(columns("cuda", Mode::reduce_overhead, "cpu") ==
          Texts{"cpu eager *", "cuda default", "cuda reduce-overhead", "cuda-regional reduce-overhead"});
    CHECK(columns("cuda-f32", Mode::max_autotune, "cpu") ==
          Texts{"cpu eager *", "cuda-f32 default *", "cuda-f32 max-autotune *"});
    CHECK(columns("cuda", Mode::reduce_overhead, "cuda-f32") ==
          Texts{"cuda-f32 eager *", "cuda default", "cuda reduce-overhead", "cuda-regional reduce-overhead"});
}

TEST_CASE("a backend that cannot be used here is refused") {
    CHECK_THROWS_WITH_AS((void)columns("broken", Mode::standard), "There is no device.", tg::Error);
    CHECK_THROWS_AS((void)columns("tpu", Mode::standard), tg::Error);
}
