// SPDX-License-Identifier: Apache-2.0
#pragma once

// Third-party and standard headers, and how doctest prints values. The library's own headers are compiled alone by the
// test `headers`, and a test must still include what it uses (the build with TOTOGRAPH_PRECOMPILE=OFF shows it).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <Eigen/Core>

#include "support/printers.hpp"
