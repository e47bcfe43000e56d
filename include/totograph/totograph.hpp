// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What forecasts on the CPU need. Beside it, for whoever wants them: `exec/cpu/eager_executor.hpp`, which runs graphs
/// node by node, `io/checkpoint/safetensors_writer.hpp`, `io/csv/csv.hpp`, and `serve.hpp`.

#include <totograph/exec/cpu/optimize_warning.hpp>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_set.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/kv_cache.hpp>
#include <totograph/forecast/results/quantile_samples.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/models/kronos/candle_forecaster.hpp>
#include <totograph/models/kronos/load.hpp>
#include <totograph/models/nanovlm/generator.hpp>
#include <totograph/models/toto1/family.hpp>
#include <totograph/models/toto2/family.hpp>
#include <totograph/models/toto2/session.hpp>
#include <totograph/version.hpp>
