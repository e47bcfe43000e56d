// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/toto1/case_list.hpp"
#include "models/toto1/fixture.hpp"
