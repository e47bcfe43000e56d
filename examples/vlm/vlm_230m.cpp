// SPDX-License-Identifier: Apache-2.0
#include "compile_model.hpp"

namespace examples::vlm_models {

extern constinit const CompiledVlm vlm_230m = compile_vlm<totograph::nanovlm::vlm_230m, 320, 256>("vlm_230m");

}  // namespace examples::vlm_models
