// SPDX-License-Identifier: Apache-2.0
// expect: totograph: one state name is declared with two shapes, dtypes or bounds; use one declaration or two names.
// expect of g++: and would be one memory
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/kv_cache.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        using Cache = nn::KvCache<nn::KvCacheSize{.capacity = 4, .width = 8}>;
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        Cache cache(r, {.keys = "keys", .values = "values", .length = "length"});
#else
        Cache cache(r, {.keys = "cache", .values = "cache", .length = "length"});
#endif
        const Tensor x = r.state("x", {1, 1, 1, 1, 8});
        cache.append(0, x, x * 2.0);
        cache.advance(1);
    }
};

static_assert(Program<Model>::steps.size() > 0);
