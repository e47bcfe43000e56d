// SPDX-License-Identifier: Apache-2.0
#include "compile_model.hpp"

namespace examples::vlm_models {

extern constinit const CompiledVlm vlm_222m = compile_vlm<totograph::nanovlm::vlm_222m, 320, 256>("vlm_222m");

}  // namespace examples::vlm_models
