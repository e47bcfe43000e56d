// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything but the CUDA executor.

#include <totograph/exec/cpu/optimize_warning.hpp>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_set.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/quantile_samples.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>
#include <totograph/io/csv/csv.hpp>
#include <totograph/models/toto1/family.hpp>
#include <totograph/models/toto2/family.hpp>
#include <totograph/version.hpp>
