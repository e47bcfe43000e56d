// SPDX-License-Identifier: Apache-2.0
#include "compile_model.hpp"

namespace examples::vlm_models {

extern constinit const CompiledVlm vlm_460m = compile_vlm<totograph::nanovlm::vlm_460m, 320, 256>("vlm_460m");

}  // namespace examples::vlm_models
