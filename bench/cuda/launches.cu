// SPDX-License-Identifier: Apache-2.0
//
// What a kernel of a graph costs that does nothing: of how many blocks, beside a graph that was brought to the device
// and not launched yet, and in a process that has launched kernels on many streams.
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

namespace {

using tg::cuda::check;
using tg::cuda::Stream;

constexpr int kernels = 500;  // of a graph
constexpr int threads = 128;

__global__ void empty_kernel() {
    tg::cuda::wait_for_predecessor();
    tg::cuda::launch_dependents();
}

tg::cuda::ReplayableGraph record_kernels(const Stream& stream, Index blocks, bool overlaps) {
    const tg::cuda::KernelLauncher launcher(true, overlaps);
    return {stream, [&](cudaStream_t to) {
                for (int i = 0; i < kernels; ++i) {
                    launcher.launch(&empty_kernel, {blocks, threads}, to);
                }
            }};
}

/// A graph of as many kernels that is on the device and has not been launched.
class UploadedGraph {
public:
    explicit UploadedGraph(const Stream& stream) {
        cudaGraph_t graph = nullptr;
        check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "beginning a capture");
        for (int i = 0; i < kernels; ++i) {
            empty_kernel<<<1, threads, 0, stream.get()>>>();
        }
        check(cudaStreamEndCapture(stream.get(), &graph), "ending a capture");
        const cudaError_t made = cudaGraphInstantiate(&graph_, graph, 0);
        cudaGraphDestroy(graph);
        check(made, "instantiating a graph");
        check(cudaGraphUpload(graph_, stream.get()), "uploading a graph");
        stream.synchronize();
    }
    UploadedGraph(const UploadedGraph&) = delete;
    UploadedGraph& operator=(const UploadedGraph&) = delete;
    ~UploadedGraph() { cudaGraphExecDestroy(graph_); }

    void launch(const Stream& stream) const {
        check(cudaGraphLaunch(graph_, stream.get()), "launching a graph");
        stream.synchronize();
    }

private:
    cudaGraphExec_t graph_ = nullptr;
};

void print_kernel(const char* when, Index blocks, bool overlaps, const Stream& stream, int repeats) {
    const tg::cuda::ReplayableGraph graph = record_kernels(stream, blocks, overlaps);
    const Spread spread = spread_of(repeats, [&] {
        graph.launch(stream.get());
        stream.synchronize();
    });
    std::printf("{\"launch\": \"%s\", \"blocks\": %lld, \"overlaps\": %s, \"median_us\": %.3f, \"min_us\": %.3f}\n",
                when, static_cast<long long>(blocks), overlaps ? "true" : "false", spread.median * 1e3 / kernels,
                spread.least * 1e3 / kernels);
    std::fflush(stdout);
}

}  // namespace

void print_launches(const Arguments& arguments) {
    const tg::cuda::Device device = tg::cuda::describe_device(0);
    const bool overlaps = device.has_clusters;
    const Stream stream(tg::cuda::StreamUse::graphs);
    for (const Index blocks : {Index{1}, Index{device.multiprocessors}, Index{device.multiprocessors} * 8}) {
        print_kernel("in a graph", blocks, false, stream, arguments.repeats);
        if (overlaps) {
            print_kernel("in a graph", blocks, true, stream, arguments.repeats);
        }
    }
    {
        const UploadedGraph other(stream);
        print_kernel("beside a graph that was uploaded", 1, overlaps, stream, arguments.repeats);
        other.launch(stream);
        print_kernel("when that has been launched", 1, overlaps, stream, arguments.repeats);
    }
    std::vector<Stream> streams;
    for (const std::size_t count : {std::size_t{8}, std::size_t{15}, std::size_t{20}}) {
        while (streams.size() < count) {
            streams.emplace_back();
            empty_kernel<<<1, threads, 0, streams.back().get()>>>();
            streams.back().synchronize();
        }
        const std::string when = "after kernels on " + std::to_string(count) + " streams";
        print_kernel(when.c_str(), 1, overlaps, stream, arguments.repeats);
    }
}

}  // namespace bench
