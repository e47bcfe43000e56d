// SPDX-License-Identifier: Apache-2.0
// Toto 2.0 of 4 million parameters, compiled for CUDA devices.
#include <totograph/models/toto2/family.hpp>

#include "cuda_backends.hpp"
#include "sizes.hpp"

namespace examples::models {

void toto2_4m_cuda(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
    constexpr totograph::cuda::ForecasterOptions in_bf16{};
#ifdef TOTOGRAPH_DEVICE_BATCHES
    add_cuda_backends<totograph::toto2::toto2_4m, in_bf16, toto2_lone, toto2_short, toto2_long, toto2_batch_8,
                      toto2_batch_32, toto2_batch_128>(registry, checkpoint);
#else
    add_cuda_backends<totograph::toto2::toto2_4m, in_bf16, toto2_lone, toto2_short, toto2_long>(registry, checkpoint);
#endif
}

}  // namespace examples::models
