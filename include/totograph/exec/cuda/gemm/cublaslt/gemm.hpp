// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/cublaslt/check.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm_shape.hpp>

namespace totograph::cuda {

/// Names a GEMM among all GEMMs, the same in each process.
std::string gemm_key(const GemmShape& shape);

/// Algorithms that are asked for at most.
inline constexpr int most_candidates = 32;

/// A way to compute a GEMM. A class of ours: nvcc 13.0 breaks on vectors of cuBLASLt's unnamed structs.
struct GemmAlgorithm {
    cublasLtMatmulAlgo_t value;
};

/// A description that cuBLASLt has made, and takes back at the end.
template <class Pointer, cublasStatus_t (*destroy)(Pointer)>
class CublasLtObject {
public:
    explicit CublasLtObject(Pointer made) : pointer_(made) {}
    CublasLtObject(CublasLtObject&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
    CublasLtObject& operator=(CublasLtObject&&) = delete;
    ~CublasLtObject() {
        if (pointer_ != nullptr) {
            destroy(pointer_);
        }
    }
    [[nodiscard]] Pointer get() const noexcept { return pointer_; }

private:
    Pointer pointer_;
};
using MatmulDescription = CublasLtObject<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;
using MatrixDescription = CublasLtObject<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
using MatmulPreference = CublasLtObject<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

/// A GEMM that is ready to launch: descriptions and the chosen algorithm.
class CublasLtGemm {
public:
    /// cuBLASLt counts columns first: its A is our W, its B our x, its C our residual, its D our result.
    CublasLtGemm(cublasLtHandle_t handle, const GemmShape& shape);

    /// Algorithms that cuBLASLt expects to be fast, best first, each once. Throws `Error` when there are none.
    [[nodiscard]] std::vector<GemmAlgorithm> candidates(int most) const;

    /// Whether cuBLASLt can run an algorithm for this GEMM on the current device, with the workspace that there is.
    [[nodiscard]] bool accepts(const GemmAlgorithm& algorithm) const;

    [[nodiscard]] const GemmShape& shape() const { return shape_; }
    void choose(const GemmAlgorithm& algorithm) { algorithm_ = algorithm; }

    /// out = x W^T [+ residual] [+ bias].
    void launch(const void* input, const void* weight, void* output, const float* residual, const float* bias,
                void* workspace, cudaStream_t stream) const;

    [[nodiscard]] cublasStatus_t try_launch(const GemmAlgorithm& algorithm, const void* input, const void* weight,
                                            void* output, const float* residual, const float* bias, void* workspace,
                                            cudaStream_t stream) const;

private:
    cublasLtHandle_t handle_;
    GemmShape shape_;
    MatmulDescription operation_;
    MatrixDescription weight_;
    MatrixDescription input_;
    MatrixDescription output_;
    MatrixDescription residual_;
    GemmAlgorithm algorithm_{};
};

/// A handle of cuBLASLt.
class CublasLtHandle {
public:
    CublasLtHandle() { check(cublasLtCreate(&handle_), "starting cuBLASLt"); }
    CublasLtHandle(CublasLtHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    CublasLtHandle& operator=(CublasLtHandle&&) = delete;
    ~CublasLtHandle() {
        if (handle_ != nullptr) {
            cublasLtDestroy(handle_);
        }
    }
    [[nodiscard]] cublasLtHandle_t get() const { return handle_; }

private:
    cublasLtHandle_t handle_ = nullptr;
};

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/gemm/cublaslt/impl/gemm.hpp>
#endif
