// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <totograph/core/arena.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/version.hpp>

namespace tg = totograph;

int main() {
    using View = tg::TensorView<float, tg::Extents<2, 3>>;
    const tg::Arena arena(static_cast<std::size_t>(View::size) * sizeof(float));
    const View view(reinterpret_cast<float*>(arena.data()));
    view(1, 2) = 7.0F;
    std::printf("totograph %s\n", tg::version.data());
    return view.data()[5] == 7.0F ? 0 : 1;
}
