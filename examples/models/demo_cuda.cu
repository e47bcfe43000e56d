// SPDX-License-Identifier: Apache-2.0
// The model that comes with the library, compiled for CUDA devices.
#include <totograph/models/toto1/demo_1_0.hpp>

#include "cuda_backends.hpp"
#include "sizes.hpp"

namespace examples::models {

using Model = totograph::toto1::demo_1_0;

// GEMMs in bf16 would take 40 to 75% of the time, and move forecasts of so small a model by 1% of a series' scale.
constexpr totograph::cuda::ForecasterOptions in_tf32{.precision = totograph::cuda::Precision::tf32};

void demo_cuda(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
#ifdef TOTOGRAPH_DEVICE_BATCHES
    add_cuda_backends<Model, in_tf32, demo_short, demo_long, demo_mean, demo_batch_8, demo_batch_32, demo_batch_128,
                      demo_mean_batch>(registry, checkpoint);
#else
    add_cuda_backends<Model, in_tf32, demo_short, demo_long, demo_mean>(registry, checkpoint);
#endif
    add_exact_cuda_backend<Model, demo_short>(registry, checkpoint);
}

}  // namespace examples::models
