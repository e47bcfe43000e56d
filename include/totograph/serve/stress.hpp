// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything that puts a service under load and says whether it holds: for tests and for programs, not for serving.
#include <totograph/serve/stress/compare_variants.hpp>
#include <totograph/serve/stress/measure_builds.hpp>
#include <totograph/serve/stress/report_json.hpp>
#include <totograph/serve/stress/report_markdown.hpp>
#include <totograph/serve/stress/run.hpp>
#include <totograph/serve/stress/sweep.hpp>
