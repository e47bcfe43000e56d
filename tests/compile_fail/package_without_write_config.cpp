// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a package tells the configuration of its models; declare `constexpr void
#include <totograph/io/constant_json.hpp>
#include <totograph/package/compile_package.hpp>

#include "forecast/smallest_family.hpp"

using namespace totograph;

struct OwnConfig : smallest_family::Config {};
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr void write_config(io::ConstantJson& json, const OwnConfig&) {
    json.begin_object().end_object();
}
#endif
struct Model {
    static constexpr OwnConfig config{};
};

inline constexpr char model_name[] = "smallest";
using Document = package::ModelDocument<Model, model_name, Bucket{.context = 8, .horizon = 8}>;
static_assert(io::constant_json<Document>().size() > 0);
