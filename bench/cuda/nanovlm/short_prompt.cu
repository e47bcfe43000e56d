// SPDX-License-Identifier: Apache-2.0
#include "nanovlm_measure.hpp"

void bench::nanovlm::short_prompt(const Arguments& arguments) {
    measure<Text, tg::nanovlm::token_bucket(1, 128, new_tokens)>("short", arguments);
}
