// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the model records an operation of its own that its `operations` do not list
#include <totograph/graph/record/custom.hpp>
#include <type_traits>

using namespace totograph;

struct Listed {
    static constexpr std::string_view name = "listed";
    template <class T>
    static T apply(T x) {
        return x;
    }
};
struct Forgotten {
    static constexpr std::string_view name = "forgotten";
    template <class T>
    static T apply(T x) {
        return x + x;
    }
};

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
using Recorded = Listed;
#else
using Recorded = Forgotten;
#endif

using Found = FindOperation<OperationSet<Listed>, &custom_operation<Recorded>>::type;
static_assert(std::is_same_v<Found, Recorded>);
