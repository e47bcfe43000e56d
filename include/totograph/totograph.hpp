// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything but the CUDA executor.

#include <totograph/exec/cpu/optimize_warning.hpp>

#include <totograph/core/arena.hpp>
#include <totograph/core/bucket.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/forecast.hpp>
#include <totograph/core/random.hpp>
#include <totograph/core/series.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/io/csv.hpp>
#include <totograph/io/model_config.hpp>
#include <totograph/io/safetensors.hpp>
#include <totograph/io/safetensors_writer.hpp>
#include <totograph/toto/bucket_set.hpp>
#include <totograph/toto/checkpoint.hpp>
#include <totograph/toto/forecaster.hpp>
#include <totograph/version.hpp>
