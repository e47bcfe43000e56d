// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "toto/case_list.hpp"
#include "toto/fixture.hpp"
