// SPDX-License-Identifier: Apache-2.0
// expect: totograph: `write_config` writes one object of JSON: it begins with `json.begin_object()` and ends with
#include <totograph/io/constant_json.hpp>
#include <totograph/package/compile_package.hpp>

#include "forecast/smallest_family.hpp"

using namespace totograph;

struct OwnConfig : smallest_family::Config {};
constexpr void write_config(io::ConstantJson& json, const OwnConfig&) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    json.begin_object().member("patch_size", 1).end_object();
#else
    json.member("patch_size", 1);
#endif
}
struct Model {
    static constexpr OwnConfig config{};
};

inline constexpr char model_name[] = "smallest";
using Document = package::ModelDocument<Model, model_name, Bucket{.context = 8, .horizon = 8}>;
static_assert(io::constant_json<Document>().size() > 0);
