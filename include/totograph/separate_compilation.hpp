// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The definitions of all functions that headers only declare when TOTOGRAPH_SEPARATE_COMPILATION is defined. One file
/// of the program includes this, compiled with the same flags as the others; `totograph::compiled` in CMake is a
/// library of such a file.

#ifndef TOTOGRAPH_SEPARATE_COMPILATION
#error "totograph: separate_compilation.hpp is for programs all of whose files define TOTOGRAPH_SEPARATE_COMPILATION."
#endif

#include <totograph/exec/cpu/optimize_warning.hpp>

#include <totograph/core/arena_inl.hpp>
#include <totograph/core/cache_counts_inl.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/log_inl.hpp>
#include <totograph/core/machine_memory_inl.hpp>
#include <totograph/core/processors_inl.hpp>
#include <totograph/core/shape_inl.hpp>
#include <totograph/diagnostics/drift_file_inl.hpp>
#include <totograph/diagnostics/drift_inl.hpp>
#include <totograph/diagnostics/levels_text_inl.hpp>
#include <totograph/diagnostics/verify/backends_inl.hpp>
#include <totograph/diagnostics/verify/caches_inl.hpp>
#include <totograph/diagnostics/verify/check_inl.hpp>
#include <totograph/diagnostics/verify/environment_inl.hpp>
#include <totograph/diagnostics/verify/machine_inl.hpp>
#include <totograph/diagnostics/verify/permissions_inl.hpp>
#include <totograph/diagnostics/verify_inl.hpp>
#include <totograph/exec/cpu/attention/attention_inl.hpp>
#include <totograph/exec/cpu/attention/masked_attention_inl.hpp>
#include <totograph/exec/cpu/evaluate/check_positions_inl.hpp>
#include <totograph/exec/cpu/evaluate/evaluate_inl.hpp>
#include <totograph/exec/cpu/evaluate/interpreter_inl.hpp>
#include <totograph/exec/cpu/gemm/gemm_inl.hpp>
#include <totograph/exec/cpu/gemm/matmul_in_double_inl.hpp>
#include <totograph/exec/cpu/kernels/movement_kernels_inl.hpp>
#include <totograph/exec/cpu/kernels/student_t_inl.hpp>
#include <totograph/exec/cpu/prepared_weights_inl.hpp>
#include <totograph/exec/cpu/shared_tensors_inl.hpp>
#include <totograph/exec/cpu/thread_pool_inl.hpp>
#include <totograph/exec/finite_weights_inl.hpp>
#include <totograph/exec/position_error_inl.hpp>
#include <totograph/exec/prepared_cache_inl.hpp>
#include <totograph/exec/team_inl.hpp>
#include <totograph/exec/tuning_cache_inl.hpp>
#include <totograph/exec/weight_expression_inl.hpp>
#include <totograph/exec/weights_inl.hpp>
#include <totograph/forecast/bucket_choice_inl.hpp>
#include <totograph/forecast/bucket_inl.hpp>
#include <totograph/forecast/forecast_inl.hpp>
#include <totograph/forecast/input_states_inl.hpp>
#include <totograph/forecast/out_of_memory_inl.hpp>
#include <totograph/forecast/request_inl.hpp>
#include <totograph/forecast/request_parts_inl.hpp>
#include <totograph/forecast/results/collect_inl.hpp>
#include <totograph/forecast/results/quantile_samples_inl.hpp>
#include <totograph/forecast/results/result_memory_inl.hpp>
#include <totograph/forecast/state_access_inl.hpp>
#include <totograph/forecast/weights/checkpoint_source_inl.hpp>
#include <totograph/forecast/weights/untrained_source_inl.hpp>
#include <totograph/graph/explain/attention_inl.hpp>
#include <totograph/graph/explain/chain_inl.hpp>
#include <totograph/graph/explain/dot_inl.hpp>
#include <totograph/graph/explain/group_lines_inl.hpp>
#include <totograph/graph/explain/names_inl.hpp>
#include <totograph/graph/explain/steps_inl.hpp>
#include <totograph/graph/explain/text_inl.hpp>
#include <totograph/graph/explain_inl.hpp>
#include <totograph/graph/unroll_inl.hpp>
#include <totograph/io/atomic_file_inl.hpp>
#include <totograph/io/cache/block_checksum_inl.hpp>
#include <totograph/io/cache/cache_file_inl.hpp>
#include <totograph/io/cache/cache_folder_inl.hpp>
#include <totograph/io/cache/trusted_file_inl.hpp>
#include <totograph/io/cache/weight_file_inl.hpp>
#include <totograph/io/cache/weight_folder_inl.hpp>
#include <totograph/io/checkpoint/checkpoint_files_inl.hpp>
#include <totograph/io/checkpoint/foreign_file_inl.hpp>
#include <totograph/io/checkpoint/model_config_inl.hpp>
#include <totograph/io/checkpoint/safetensors_header_inl.hpp>
#include <totograph/io/checkpoint/safetensors_inl.hpp>
#include <totograph/io/checkpoint/safetensors_writer_inl.hpp>
#include <totograph/io/checkpoint/shard_index_inl.hpp>
#include <totograph/io/csv/cells_inl.hpp>
#include <totograph/io/csv/columns_inl.hpp>
#include <totograph/io/csv/csv_inl.hpp>
#include <totograph/io/csv/decimal_inl.hpp>
#include <totograph/io/csv/gap_words_inl.hpp>
#include <totograph/io/csv/layout_inl.hpp>
#include <totograph/io/csv/long_form_inl.hpp>
#include <totograph/io/csv/names_inl.hpp>
#include <totograph/io/csv/number_cell_inl.hpp>
#include <totograph/io/csv/profile_inl.hpp>
#include <totograph/io/csv/records_inl.hpp>
#include <totograph/io/csv/source_inl.hpp>
#include <totograph/io/csv/table_inl.hpp>
#include <totograph/io/csv/text_encoding_inl.hpp>
#include <totograph/io/csv/units_inl.hpp>
#include <totograph/io/csv/writer_inl.hpp>
#include <totograph/io/file_descriptor_inl.hpp>
#include <totograph/io/file_identity_inl.hpp>
#include <totograph/io/file_lock_inl.hpp>
#include <totograph/io/file_system_inl.hpp>
#include <totograph/io/json_inl.hpp>
#include <totograph/io/json_text_inl.hpp>
#include <totograph/io/json_value_inl.hpp>
#include <totograph/io/mapped_file_inl.hpp>
#include <totograph/io/random_access_file_inl.hpp>
#include <totograph/io/text_file_inl.hpp>
#include <totograph/io/text_inl.hpp>
#include <totograph/io/time/clock_inl.hpp>
#include <totograph/io/time/clock_parts_inl.hpp>
#include <totograph/io/time/month_rule_inl.hpp>
#include <totograph/io/time/named_date_inl.hpp>
#include <totograph/io/time/regular_rows_inl.hpp>
#include <totograph/io/time/time_step_inl.hpp>
#include <totograph/io/time/timestamp_inl.hpp>
#include <totograph/serve/backends/backend_registry_inl.hpp>
#include <totograph/serve/backends/cpu_backend_inl.hpp>
#include <totograph/serve/builder_inl.hpp>
#include <totograph/serve/explain/cpu_explanation_inl.hpp>
#include <totograph/serve/explain/explain_text_inl.hpp>
#include <totograph/serve/explain/explanation_inl.hpp>
#include <totograph/serve/explain/measure_cpu_speed_inl.hpp>
#include <totograph/serve/metrics/expect_forecast_inl.hpp>
#include <totograph/serve/metrics/forecast_counters_inl.hpp>
#include <totograph/serve/metrics/json_parts_inl.hpp>
#include <totograph/serve/metrics/latency_histogram_inl.hpp>
#include <totograph/serve/metrics/metrics_inl.hpp>
#include <totograph/serve/metrics/online_accuracy_inl.hpp>
#include <totograph/serve/metrics/snapshot_inl.hpp>
#include <totograph/serve/metrics/snapshot_json_inl.hpp>
#include <totograph/serve/metrics/snapshot_prometheus_inl.hpp>
#include <totograph/serve/mode_inl.hpp>
#include <totograph/serve/result_pool_inl.hpp>
#include <totograph/serve/routing_inl.hpp>
#include <totograph/serve/served_backend_inl.hpp>
#include <totograph/serve/service_inl.hpp>
#include <totograph/serve/synthetic_request_inl.hpp>
#include <totograph/serve/tuning/tune_threads_inl.hpp>
#include <totograph/serve/tuning/tuned_threads_inl.hpp>
#include <totograph/serve/turn_lock_inl.hpp>
#include <totograph/serve/warm_up_report_inl.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

template class PreparedWeights<float>;
template class PreparedWeights<BFloat16>;
template void gemm_into<float>(ThreadPool&, const float*, Index, Index, const PackedMatrix<float>&, GemmSink) noexcept;
template void gemm_into<BFloat16>(ThreadPool&, const float*, Index, Index, const PackedMatrix<BFloat16>&,
                                  GemmSink) noexcept;

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
