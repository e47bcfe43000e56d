// SPDX-License-Identifier: Apache-2.0
// expect: give the cache a larger capacity.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/kv_cache.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        nn::KvCache<nn::KvCacheSize{.variates = 2, .capacity = 4, .width = 6}> cache(r, {"keys", "values", "length"});
        const Tensor keys = r.state("k", {1, 1, 2, 4, 6});
        cache.append(0, keys, keys);
        cache.advance(4);
#else
        nn::KvCache<nn::KvCacheSize{.variates = 2, .capacity = 4, .width = 6}> cache(r, {"keys", "values", "length"});
        const Tensor keys = r.state("k", {1, 1, 2, 5, 6});
        cache.append(0, keys, keys);
        cache.advance(5);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
