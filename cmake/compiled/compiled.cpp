// SPDX-License-Identifier: Apache-2.0
#include <totograph/separate_compilation.hpp>
