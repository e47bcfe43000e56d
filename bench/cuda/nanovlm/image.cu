// SPDX-License-Identifier: Apache-2.0
#include "nanovlm_measure.hpp"

void bench::nanovlm::image(const Arguments& arguments) {
    measure<tg::nanovlm::vlm_460m, tg::nanovlm::token_bucket(1, 128, new_tokens)>("image", arguments);
}
