// SPDX-License-Identifier: Apache-2.0
// Toto Open Base 1.0, compiled for CUDA devices.
#include "cuda_backends.hpp"
#include "sizes.hpp"

namespace examples::models {

void open_base_cuda(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
    constexpr totograph::cuda::ForecasterOptions in_bf16{};
#ifdef TOTOGRAPH_DEVICE_BATCHES
    add_cuda_backends<totograph::toto1::open_base_1_0, in_bf16, open_base_short, open_base_long, open_base_mean,
                      open_base_batch_8, open_base_batch_32, open_base_batch_128, open_base_mean_batch>(registry,
                                                                                                        checkpoint);
#else
    add_cuda_backends<totograph::toto1::open_base_1_0, in_bf16, open_base_short, open_base_long, open_base_mean>(
        registry, checkpoint);
#endif
}

}  // namespace examples::models
