// SPDX-License-Identifier: Apache-2.0
#include "tiny.hpp"

#include "compile_model.hpp"

namespace examples::vlm_models {

extern constinit const CompiledVlm tiny = compile_vlm<Tiny, 32, 16>("tiny");

}  // namespace examples::vlm_models
