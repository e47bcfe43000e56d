// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/check.hpp>
#include <totograph/exec/cuda/device.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/library_product.hpp>
#include <totograph/exec/cuda/lowering.hpp>
#include <totograph/exec/cuda/memory.hpp>
#include <totograph/exec/cuda/placement.hpp>
#include <totograph/exec/cuda/step_kernels.hpp>
#include <totograph/exec/cuda/stream.hpp>
#include <totograph/exec/cuda/weights.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// Puts planned programs onto streams of a device. States, intermediates and workspace are one allocation; after
/// construction nothing is allocated and nothing waits.
template <Precision precision, class... Programs>
class Executor {
public:
    using Layout = StateLayout<Programs...>;
    using States = Placement<Programs...>;
    using Storage = std::conditional_t<precision == Precision::bf16, BFloat16, float>;
    template <std::size_t which>
    using ProgramAt = std::tuple_element_t<which, std::tuple<Programs...>>;

    Executor(const Weights& weights, const Device& device) : device_(device), memory_(memory_bytes_planned) {
        auto store = weights.prepared<DeviceWeights<Storage>>();
        std::size_t program = 0;
        ((prepared_[program++] = store->get(Programs::graph, Programs::weights, weights.source())), ...);
        (add_products<Programs>(), ...);
    }

    /// Launches one of the programs. The host does not wait; within a capture, nothing runs.
    template <std::size_t which>
    void launch(cudaStream_t stream) const {
        using Lowered = Lowering<ProgramAt<which>, precision == Precision::bf16>;
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            (launch_one<which, Lowered::at(i), i>(stream), ...);
        }
        (std::make_index_sequence<Lowered::count>());
    }

    /// The device memory of a state; null when no program has one of this name.
    [[nodiscard]] std::byte* state(std::string_view name, int layer = -1) const noexcept {
        const auto* entry = Layout::find(name, layer);
        return entry == nullptr
                   ? nullptr
                   : memory_.data() + States::offset(static_cast<std::size_t>(entry - &Layout::entries[0]));
    }

    /// The states that no program writes, which lie together: `States::input_bytes` bytes.
    [[nodiscard]] std::byte* inputs() const noexcept { return memory_.data(); }
    /// The offset of an input state among the inputs; -1 when no program has one of this name.
    static std::ptrdiff_t input_offset(std::string_view name) noexcept {
        const auto* entry = Layout::find(name);
        return entry == nullptr
                   ? -1
                   : static_cast<std::ptrdiff_t>(States::offset(static_cast<std::size_t>(entry - &Layout::entries[0])));
    }

    /// Fills all memory with a pattern that is NaN as f32 and f64: what is read before it is written shows.
    void poison(cudaStream_t stream) const {
        check(cudaMemsetAsync(memory_.data(), 0xff, memory_.size(), stream), "poisoning memory");
    }

    /// Bytes of states, intermediates and workspace together: known when the program is compiled.
    static constexpr std::size_t memory_bytes() noexcept { return memory_bytes_planned; }
    /// Kernels and library calls of one run.
    template <std::size_t which>
    static constexpr std::size_t launches() {
        return Lowering<ProgramAt<which>, precision == Precision::bf16>::count;
    }

private:
    struct Workspace {
        std::size_t accumulators = 0;  ///< Bytes for the sums of one library product.
        std::size_t inputs = 0;        ///< Bytes for its input as bf16.
        bool has_library = false;
    };

    template <class Program>
    static constexpr void add_workspace(Workspace& workspace) {
        using Lowered = Lowering<Program, precision == Precision::bf16>;
        for (std::size_t i = 0; i < Lowered::count; ++i) {
            if (Lowered::at(i).kind == LaunchKind::library) {
                const Kernel& kernel = lowering_detail::kernel_of<Program>(Lowered::at(i).first);
                const auto sums =
                    static_cast<std::size_t>(kernel.rows() * kernel.columns() * kernel.accumulators) * sizeof(float);
                const auto inputs = static_cast<std::size_t>(kernel.rows() * kernel.depth) * sizeof(BFloat16);
                workspace.accumulators = std::max(workspace.accumulators, aligned_size(sums));
                workspace.inputs = std::max(workspace.inputs, aligned_size(inputs));
                workspace.has_library = true;
            }
        }
    }
    static constexpr Workspace workspace = [] {
        Workspace result;
        (add_workspace<Programs>(result), ...);
        return result;
    }();
    static constexpr std::size_t accumulators_offset = States::bytes + aligned_size(Layout::arena_bytes);
    static constexpr std::size_t inputs_offset = accumulators_offset + workspace.accumulators;
    static constexpr std::size_t library_offset = (inputs_offset + workspace.inputs + 255) / 256 * 256;
    static constexpr std::size_t memory_bytes_planned =
        library_offset + (workspace.has_library ? product_workspace_bytes : 0);

    static constexpr ProductShape product_shape(const Kernel& kernel) {
        ProductShape shape;
        shape.rows = kernel.rows();
        shape.columns = kernel.columns() * kernel.accumulators;
        shape.depth = kernel.depth;
        shape.input_stride = precision == Precision::bf16 || kernel.rows() == 1 ? kernel.depth : kernel.input_stride;
        shape.output_stride = shape.columns;
        shape.precision = precision;
        return shape;
    }

    /// Prepares what a program needs of the library, so that nothing is looked up or built while launching.
    template <class Program>
    void add_products() {
        using Lowered = Lowering<Program, precision == Precision::bf16>;
        for (std::size_t i = 0; i < Lowered::count; ++i) {
            if (Lowered::at(i).kind != LaunchKind::library) {
                continue;
            }
            const ProductShape shape = product_shape(lowering_detail::kernel_of<Program>(Lowered::at(i).first));
            if (find_product(shape) == nullptr) {
                LibraryProduct product(library_.get(), shape);
                product.choose(product.candidates(1).front());
                products_.push_back(std::move(product));
            }
        }
    }

    [[nodiscard]] const LibraryProduct* find_product(const ProductShape& shape) const {
        for (const LibraryProduct& product : products_) {
            if (product.shape() == shape) {
                return &product;
            }
        }
        return nullptr;
    }

    template <std::size_t which>
    [[nodiscard]] Address address(const Reference& reference, DType dtype) const {
        using Program = ProgramAt<which>;
        const auto index = static_cast<std::size_t>(reference.index);
        std::byte* base = nullptr;
        switch (reference.space) {
            case Space::weight: base = const_cast<std::byte*>(prepared_[which][index].data); break;
            case Space::state: base = memory_.data() + States::template offsets<Program>[index]; break;
            case Space::arena: base = memory_.data() + States::bytes + Program::buffers[index].offset; break;
            case Space::none: return {};
        }
        Address address;
        address.base = base + reference.offset * static_cast<Index>(size_in_bytes(dtype));
        if (reference.position >= 0) {
            address.position = reinterpret_cast<const std::int32_t*>(
                memory_.data() + States::template offsets<Program>[static_cast<std::size_t>(reference.position)]);
            address.position_stride = reference.position_stride;
        }
        return address;
    }

    template <std::size_t which>
    [[nodiscard]] KernelCall call_of(int index) const {
        using Program = ProgramAt<which>;
        const Step& step = lowering_detail::step_of<Program>(index);
        const Kernel& kernel = lowering_detail::kernel_of<Program>(index);
        KernelCall call;
        call.output = address<which>(step.output, kernel.dtype);
        if (kernel.kind == KernelKind::product) {
            call.input = address<which>(step.input, DType::f32);
            call.weight = prepared_[which][static_cast<std::size_t>(step.weight.index)].data;
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
            call.operands[i] = address<which>(step.operands[i], kernel.operands[i].dtype);
        }
        return call;
    }

    /// Launches a kernel that may begin before the one before it has ended.
    template <class... Parameters, class... Arguments>
    void launch_kernel(void (*kernel)(Parameters...), Index blocks, int cluster, cudaStream_t stream,
                       Arguments&&... arguments) const {
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(static_cast<unsigned>(blocks));
        config.blockDim = dim3(block_threads);
        config.stream = stream;
        cudaLaunchAttribute attributes[2];
        unsigned count = 0;
        if (device_.has_clusters()) {
            attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
            attributes[count++].val.programmaticStreamSerializationAllowed = 1;
            if (cluster > 1) {
                attributes[count].id = cudaLaunchAttributeClusterDimension;
                attributes[count].val.clusterDim.x = static_cast<unsigned>(cluster);
                attributes[count].val.clusterDim.y = 1;
                attributes[count++].val.clusterDim.z = 1;
            }
        }
        config.attrs = attributes;
        config.numAttrs = count;
        check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), "launching a kernel");
    }

    [[nodiscard]] Index blocks_for(Index wanted) const {
        return std::min<Index>(wanted, static_cast<Index>(device_.multiprocessors) * 16);
    }

    template <std::size_t which, int step>
    using KernelAt = KernelOf<ProgramAt<which>,
                              static_cast<std::size_t>(ProgramAt<which>::steps[static_cast<std::size_t>(step)].kernel)>;

    template <std::size_t which, Launch launch, std::size_t index>
    void launch_one(cudaStream_t stream) const {
        if constexpr (launch.kind == LaunchKind::step) {
            using K = KernelAt<which, launch.first>;
            launch_kernel(&step_kernel<K>, blocks_for(blocks_wanted<K>()), 1, stream, call_of<which>(launch.first));
        } else if constexpr (launch.kind == LaunchKind::segment) {
            launch_segment<which, launch.first>(stream, std::make_integer_sequence<int, launch.count>());
        } else if constexpr (launch.kind == LaunchKind::streamed) {
            constexpr int products = launch.has_reduction ? 1 : 0;
            launch_streamed<which, launch.first, launch.has_reduction>(
                stream, std::make_integer_sequence<int, launch.count - products>());
        } else {
            launch_library<which, launch.first>(stream);
        }
    }

    template <std::size_t which, int first, int... i>
    void launch_segment(cudaStream_t stream, std::integer_sequence<int, i...>) const {
        using Steps = Segment<KernelAt<which, first + i>...>;
        const typename Steps::Calls calls{{call_of<which>(first + i)...}};
        const int blocks = device_.has_clusters() ? cluster_blocks : 1;
        launch_kernel(&segment_kernel<Steps>, blocks, blocks, stream, calls);
    }

    template <std::size_t which, int first, bool has_reduction, int... i>
    void launch_streamed(cudaStream_t stream, std::integer_sequence<int, i...>) const {
        using Program = ProgramAt<which>;
        constexpr int product = first + (has_reduction ? 1 : 0);
        using Reduction =
            typename std::conditional_t<has_reduction, LazyKernel<which, first>, std::type_identity<NoReduction>>::type;
        using Group = StreamingGroup<
            Reduction, StreamedProduct<KernelAt<which, product + i>,
                                       has_reduction ? lowering_detail::scale_operand<Program>(
                                                           product + i, lowering_detail::step_of<Program>(first).output)
                                                     : -1>...>;
        const typename Group::Calls calls{{call_of<which>(product + i)...}};
        launch_kernel(&streaming_kernel<Group>, Group::blocks, 1, stream, calls);
    }
    template <std::size_t which, int step>
    struct LazyKernel {
        using type = KernelAt<which, step>;
    };

    template <std::size_t which, int step>
    void launch_library(cudaStream_t stream) const {
        using K = KernelAt<which, step>;
        const KernelCall call = call_of<which>(step);
        const void* input = call.input.base;
        auto* accumulators = reinterpret_cast<float*>(memory_.data() + accumulators_offset);
        constexpr bool moves = ProgramAt<which>::steps[static_cast<std::size_t>(step)].input.position >= 0;
        static_assert(!moves || precision == Precision::bf16,
                      "totograph: the input of a product lies at a place that is known before the run.");
        if constexpr (precision == Precision::bf16) {
            auto* inputs = reinterpret_cast<__nv_bfloat16*>(memory_.data() + inputs_offset);
            launch_kernel(&convert_kernel<static_cast<int>(K::kernel.depth)>,
                          blocks_for(divide_rounding_up(K::kernel.rows() * K::kernel.depth, 4 * block_threads)), 1,
                          stream, call.input, K::kernel.input_stride, K::kernel.rows(), inputs);
            input = inputs;
        }
        find_product(product_shape(K::kernel))
            ->launch(input, call.weight, accumulators, nullptr, nullptr, memory_.data() + library_offset, stream);
        launch_kernel(&epilogue_kernel<K>, blocks_for(blocks_wanted<K>()), 1, stream, call,
                      static_cast<const float*>(accumulators));
    }

    Device device_;
    DeviceMemory memory_;
    LibraryHandle library_;
    std::vector<LibraryProduct> products_;
    std::array<std::vector<DeviceTensor<Storage>>, sizeof...(Programs)> prepared_;
};

}  // namespace totograph::cuda
