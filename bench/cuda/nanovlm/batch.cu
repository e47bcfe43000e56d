// SPDX-License-Identifier: Apache-2.0
#include "nanovlm_measure.hpp"

void bench::nanovlm::batch(const Arguments& arguments) {
    measure<Text, tg::nanovlm::token_bucket(8, 256, new_tokens)>("batch", arguments);
}
