// SPDX-License-Identifier: Apache-2.0
#include <totograph/cuda_separate_compilation.hpp>
