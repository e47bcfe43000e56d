// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a vision encoder with a class token gives one row an image
#include <totograph/models/nanovlm/config.hpp>

using namespace totograph::nanovlm;

struct Model {
    static constexpr NanoVlmConfig config = [] {
        NanoVlmConfig result = vlm_222m::config;
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        result.vit.vit_cls_flag = false;
#else
        result.vit.vit_cls_flag = true;
#endif
        return result;
    }();
};

static_assert(check_config<Model>());
