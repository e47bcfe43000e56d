// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Serving: modes, backends, warm-up, counters, explanations. Everything but the CUDA backend, which files that nvcc
/// compiles include by itself (`serve/backends/cuda_backend.hpp`).

#include <totograph/core/log.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/backends/cpu_backend.hpp>
#include <totograph/serve/explain/explain_text.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/explain/measure_cpu_speed.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/metrics/snapshot.hpp>
#include <totograph/serve/metrics/snapshot_json.hpp>
#include <totograph/serve/metrics/snapshot_prometheus.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/service.hpp>
#include <totograph/serve/stance.hpp>
