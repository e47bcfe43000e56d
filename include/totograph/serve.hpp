// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Serving: modes, backends, warm-up, counters, explanations. Everything but the CUDA backend, which files that nvcc
/// compiles include by itself (`serve/cuda_backend.hpp`).

#include <totograph/core/log.hpp>
#include <totograph/serve/backend.hpp>
#include <totograph/serve/backend_registry.hpp>
#include <totograph/serve/cpu_backend.hpp>
#include <totograph/serve/explain_text.hpp>
#include <totograph/serve/explanation.hpp>
#include <totograph/serve/measure_cpu_speed.hpp>
#include <totograph/serve/metrics.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/service.hpp>
#include <totograph/serve/snapshot.hpp>
#include <totograph/serve/snapshot_json.hpp>
#include <totograph/serve/snapshot_prometheus.hpp>
#include <totograph/serve/stance.hpp>
