// SPDX-License-Identifier: Apache-2.0
#include "nanovlm_measure.hpp"

void bench::nanovlm::long_prompt(const Arguments& arguments) {
    measure<Text, tg::nanovlm::token_bucket(1, 1024, new_tokens)>("long", arguments);
}
