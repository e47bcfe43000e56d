// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The definitions of all functions that headers only declare when TOTOGRAPH_SEPARATE_COMPILATION is defined. One file
/// of the program includes this, compiled with the same flags as the others; `totograph::compiled` in CMake is a
/// library of such a file.

#ifndef TOTOGRAPH_SEPARATE_COMPILATION
#error "totograph: separate_compilation.hpp is for programs all of whose files define TOTOGRAPH_SEPARATE_COMPILATION."
#endif

#include <totograph/exec/cpu/optimize_warning.hpp>

#include <totograph/core/dtype.hpp>
#include <totograph/core/impl/arena.hpp>
#include <totograph/core/impl/cache_counts.hpp>
#include <totograph/core/impl/log.hpp>
#include <totograph/core/impl/machine_memory.hpp>
#include <totograph/core/impl/processors.hpp>
#include <totograph/core/impl/shape.hpp>
#include <totograph/diagnostics/grid/impl/grid_checks.hpp>
#include <totograph/diagnostics/grid/impl/grid_json.hpp>
#include <totograph/diagnostics/grid/impl/grid_markdown.hpp>
#include <totograph/diagnostics/grid/impl/measure_grid.hpp>
#include <totograph/diagnostics/impl/drift.hpp>
#include <totograph/diagnostics/impl/drift_file.hpp>
#include <totograph/diagnostics/impl/levels_text.hpp>
#include <totograph/diagnostics/impl/verify.hpp>
#include <totograph/diagnostics/stress/impl/batch_costs.hpp>
#include <totograph/diagnostics/stress/impl/report_json.hpp>
#include <totograph/diagnostics/verify/impl/backends.hpp>
#include <totograph/diagnostics/verify/impl/caches.hpp>
#include <totograph/diagnostics/verify/impl/check.hpp>
#include <totograph/diagnostics/verify/impl/environment.hpp>
#include <totograph/diagnostics/verify/impl/machine.hpp>
#include <totograph/diagnostics/verify/impl/permissions.hpp>
#include <totograph/exec/cpu/attention/impl/attention.hpp>
#include <totograph/exec/cpu/attention/impl/masked_attention.hpp>
#include <totograph/exec/cpu/evaluate/impl/check_positions.hpp>
#include <totograph/exec/cpu/evaluate/impl/evaluate.hpp>
#include <totograph/exec/cpu/evaluate/impl/evaluate_with_eigen.hpp>
#include <totograph/exec/cpu/evaluate/impl/interpreter.hpp>
#include <totograph/exec/cpu/gemm/impl/gemm.hpp>
#include <totograph/exec/cpu/gemm/impl/matmul_in_double.hpp>
#include <totograph/exec/cpu/impl/prepared_weights.hpp>
#include <totograph/exec/cpu/impl/shared_tensors.hpp>
#include <totograph/exec/cpu/impl/thread_pool.hpp>
#include <totograph/exec/cpu/kernels/impl/movement_kernels.hpp>
#include <totograph/exec/cpu/kernels/impl/rows.hpp>
#include <totograph/exec/cpu/kernels/impl/student_t.hpp>
#include <totograph/exec/impl/finite_weights.hpp>
#include <totograph/exec/impl/forks.hpp>
#include <totograph/exec/impl/position_error.hpp>
#include <totograph/exec/impl/prepared_cache.hpp>
#include <totograph/exec/impl/prepared_cache_report.hpp>
#include <totograph/exec/impl/team.hpp>
#include <totograph/exec/impl/tuning_cache.hpp>
#include <totograph/exec/impl/tuning_cache_report.hpp>
#include <totograph/exec/impl/weight_expression.hpp>
#include <totograph/exec/impl/weights.hpp>
#include <totograph/forecast/impl/bucket.hpp>
#include <totograph/forecast/impl/bucket_choice.hpp>
#include <totograph/forecast/impl/forecast.hpp>
#include <totograph/forecast/impl/input_states.hpp>
#include <totograph/forecast/impl/out_of_memory.hpp>
#include <totograph/forecast/impl/request.hpp>
#include <totograph/forecast/impl/request_parts.hpp>
#include <totograph/forecast/impl/state_access.hpp>
#include <totograph/forecast/results/impl/collect.hpp>
#include <totograph/forecast/results/impl/quantile_samples.hpp>
#include <totograph/forecast/results/impl/result_memory.hpp>
#include <totograph/forecast/weights/impl/checkpoint_source.hpp>
#include <totograph/forecast/weights/impl/open_checkpoint.hpp>
#include <totograph/forecast/weights/impl/untrained_source.hpp>
#include <totograph/graph/explain/impl/attention.hpp>
#include <totograph/graph/explain/impl/chain.hpp>
#include <totograph/graph/explain/impl/dot.hpp>
#include <totograph/graph/explain/impl/group_lines.hpp>
#include <totograph/graph/explain/impl/names.hpp>
#include <totograph/graph/explain/impl/steps.hpp>
#include <totograph/graph/explain/impl/text.hpp>
#include <totograph/graph/impl/explain.hpp>
#include <totograph/graph/impl/facts.hpp>
#include <totograph/graph/impl/unroll.hpp>
#include <totograph/io/cache/impl/block_checksum.hpp>
#include <totograph/io/cache/impl/cache_file.hpp>
#include <totograph/io/cache/impl/cache_folder.hpp>
#include <totograph/io/cache/impl/trusted_file.hpp>
#include <totograph/io/cache/impl/weight_file.hpp>
#include <totograph/io/cache/impl/weight_folder.hpp>
#include <totograph/io/checkpoint/impl/checkpoint_files.hpp>
#include <totograph/io/checkpoint/impl/foreign_file.hpp>
#include <totograph/io/checkpoint/impl/model_config.hpp>
#include <totograph/io/checkpoint/impl/safetensors.hpp>
#include <totograph/io/checkpoint/impl/safetensors_header.hpp>
#include <totograph/io/checkpoint/impl/safetensors_writer.hpp>
#include <totograph/io/checkpoint/impl/shard_index.hpp>
#include <totograph/io/csv/impl/cells.hpp>
#include <totograph/io/csv/impl/columns.hpp>
#include <totograph/io/csv/impl/csv.hpp>
#include <totograph/io/csv/impl/decimal.hpp>
#include <totograph/io/csv/impl/digits.hpp>
#include <totograph/io/csv/impl/gap_words.hpp>
#include <totograph/io/csv/impl/layout.hpp>
#include <totograph/io/csv/impl/long_form.hpp>
#include <totograph/io/csv/impl/names.hpp>
#include <totograph/io/csv/impl/number_cell.hpp>
#include <totograph/io/csv/impl/profile.hpp>
#include <totograph/io/csv/impl/records.hpp>
#include <totograph/io/csv/impl/series_labels.hpp>
#include <totograph/io/csv/impl/source.hpp>
#include <totograph/io/csv/impl/split.hpp>
#include <totograph/io/csv/impl/stacked_rows.hpp>
#include <totograph/io/csv/impl/table.hpp>
#include <totograph/io/csv/impl/text_encoding.hpp>
#include <totograph/io/csv/impl/units.hpp>
#include <totograph/io/csv/impl/writer.hpp>
#include <totograph/io/impl/atomic_file.hpp>
#include <totograph/io/impl/file_descriptor.hpp>
#include <totograph/io/impl/file_identity.hpp>
#include <totograph/io/impl/file_lock.hpp>
#include <totograph/io/impl/file_system.hpp>
#include <totograph/io/impl/json.hpp>
#include <totograph/io/impl/json_text.hpp>
#include <totograph/io/impl/json_value.hpp>
#include <totograph/io/impl/mapped_file.hpp>
#include <totograph/io/impl/random_access_file.hpp>
#include <totograph/io/impl/text.hpp>
#include <totograph/io/impl/text_file.hpp>
#include <totograph/io/time/impl/clock.hpp>
#include <totograph/io/time/impl/clock_parts.hpp>
#include <totograph/io/time/impl/field_reader.hpp>
#include <totograph/io/time/impl/half_months.hpp>
#include <totograph/io/time/impl/letters.hpp>
#include <totograph/io/time/impl/month_names.hpp>
#include <totograph/io/time/impl/month_rule.hpp>
#include <totograph/io/time/impl/month_step.hpp>
#include <totograph/io/time/impl/named_date.hpp>
#include <totograph/io/time/impl/regular_rows.hpp>
#include <totograph/io/time/impl/time_of_day.hpp>
#include <totograph/io/time/impl/time_step.hpp>
#include <totograph/io/time/impl/timestamp.hpp>
#include <totograph/io/time/impl/week_date.hpp>
#include <totograph/io/time/impl/worded_date.hpp>
#include <totograph/models/nanovlm/impl/prompts.hpp>
#include <totograph/serve/backends/impl/backend_registry.hpp>
#include <totograph/serve/backends/impl/cpu_backend.hpp>
#include <totograph/serve/explain/impl/cpu_explanation.hpp>
#include <totograph/serve/explain/impl/explain_html.hpp>
#include <totograph/serve/explain/impl/explain_text.hpp>
#include <totograph/serve/explain/impl/explanation.hpp>
#include <totograph/serve/explain/impl/measure_cpu_speed.hpp>
#include <totograph/serve/impl/background_captures.hpp>
#include <totograph/serve/impl/builder.hpp>
#include <totograph/serve/impl/mode.hpp>
#include <totograph/serve/impl/result_pool.hpp>
#include <totograph/serve/impl/routing.hpp>
#include <totograph/serve/impl/served_backend.hpp>
#include <totograph/serve/impl/served_slots.hpp>
#include <totograph/serve/impl/service.hpp>
#include <totograph/serve/impl/synthetic_request.hpp>
#include <totograph/serve/impl/turn_lock.hpp>
#include <totograph/serve/impl/warm_up_report.hpp>
#include <totograph/serve/metrics/impl/expect_forecast.hpp>
#include <totograph/serve/metrics/impl/forecast_counters.hpp>
#include <totograph/serve/metrics/impl/json_parts.hpp>
#include <totograph/serve/metrics/impl/latency_histogram.hpp>
#include <totograph/serve/metrics/impl/metrics.hpp>
#include <totograph/serve/metrics/impl/online_accuracy.hpp>
#include <totograph/serve/metrics/impl/snapshot.hpp>
#include <totograph/serve/metrics/impl/snapshot_json.hpp>
#include <totograph/serve/metrics/impl/snapshot_prometheus.hpp>
#include <totograph/serve/tuning/impl/backend_timer.hpp>
#include <totograph/serve/tuning/impl/route_crossover.hpp>
#include <totograph/serve/tuning/impl/tune_threads.hpp>
#include <totograph/serve/tuning/impl/tuned_threads.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

template void linear_with_eigen<float>(const TensorData&, const TensorData&, const TensorData&);

template class PreparedWeights<float>;
template class PreparedWeights<BFloat16>;
template void gemm_into<float>(ThreadPool&, const GemmInput&, const PackedMatrix<float>&, GemmSink) noexcept;
template void gemm_into<BFloat16>(ThreadPool&, const GemmInput&, const PackedMatrix<BFloat16>&, GemmSink) noexcept;

template void fused_detail::run_gemm_tiles<float>(const Kernel&, const KernelCall&,
                                                  fused_detail::TileFunction) noexcept;
template void fused_detail::run_gemm_tiles<BFloat16>(const Kernel&, const KernelCall&,
                                                     fused_detail::TileFunction) noexcept;

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
