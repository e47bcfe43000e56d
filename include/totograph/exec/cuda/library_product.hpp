// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/check.hpp>

namespace totograph::cuda {

/// How products store their weights and multiply. Sums are f32 in each.
enum class Precision : std::uint8_t {
    f32,   ///< f32 weights and arithmetic.
    tf32,  ///< f32 weights, rounded to tf32 by the tensor cores.
    bf16,  ///< bf16 weights and inputs.
};

constexpr const char* name(Precision precision) {
    return precision == Precision::f32 ? "f32" : precision == Precision::tf32 ? "tf32" : "bf16";
}

/// The sizes of a product as cuBLASLt computes it: out = x W^T [+ residual] [+ bias], all row-major. `x` and `W` are
/// bf16 or f32 by the precision, everything else f32, but for sums that
/// another kernel goes on with.
struct ProductShape {
    Index rows = 0;
    Index columns = 0;
    Index depth = 0;
    Index input_stride = 0;   ///< Elements from one row of x to the next.
    Index output_stride = 0;  ///< Likewise of the result.
    Precision precision = Precision::f32;
    bool has_bias = false;
    Index residual_stride = 0;      ///< 0: no residual.
    std::uint32_t alignment = 16;   ///< Bytes to which every pointer is aligned.
    bool stores_bf16_sums = false;  ///< The result is bf16; without bias and residual only.

    friend constexpr bool operator==(const ProductShape&, const ProductShape&) = default;
};

/// Algorithms that are asked for at most.
inline constexpr int most_candidates = 32;

/// Bytes of workspace that a product may use.
inline constexpr std::size_t product_workspace_bytes = std::size_t{32} << 20;

/// A way to compute a product. A class of ours: nvcc 13.0 breaks on vectors of the library's unnamed structs.
struct ProductAlgorithm {
    cublasLtMatmulAlgo_t value;
};

/// A product that is ready to launch: descriptors and the chosen algorithm.
class LibraryProduct {
public:
    LibraryProduct(cublasLtHandle_t handle, const ProductShape& shape) : handle_(handle), shape_(shape) {
        const cudaDataType_t type = shape.precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
        check(cublasLtMatmulDescCreate(
                  &operation_, shape.precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                  CUDA_R_32F),
              "describing a product");
        const cublasOperation_t transposed = CUBLAS_OP_T;
        set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
        if (shape.has_bias) {
            set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
            set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
        }
        // cuBLASLt counts columns first: its A is our W, its B our x, its D our result.
        layout(weight_, type, shape.depth, shape.columns, shape.depth);
        layout(input_, type, shape.depth, shape.rows, shape.input_stride);
        const cudaDataType_t result = shape.stores_bf16_sums ? CUDA_R_16BF : CUDA_R_32F;
        layout(output_, result, shape.columns, shape.rows, shape.output_stride);
        layout(residual_, result, shape.columns, shape.rows,
               shape.residual_stride == 0 ? shape.output_stride : shape.residual_stride);
    }
    LibraryProduct(LibraryProduct&& other) noexcept
        : handle_(other.handle_),
          shape_(other.shape_),
          operation_(std::exchange(other.operation_, nullptr)),
          weight_(std::exchange(other.weight_, nullptr)),
          input_(std::exchange(other.input_, nullptr)),
          output_(std::exchange(other.output_, nullptr)),
          residual_(std::exchange(other.residual_, nullptr)),
          algorithm_(other.algorithm_) {}
    LibraryProduct& operator=(LibraryProduct&&) = delete;
    ~LibraryProduct() {
        for (const auto each : {weight_, input_, output_, residual_}) {
            if (each != nullptr) {
                cublasLtMatrixLayoutDestroy(each);
            }
        }
        if (operation_ != nullptr) {
            cublasLtMatmulDescDestroy(operation_);
        }
    }

    /// Algorithms that cuBLASLt expects to be fast, best first. Throws `Error` when there are none.
    [[nodiscard]] std::vector<ProductAlgorithm> candidates(int most) const {
        cublasLtMatmulPreference_t preference = nullptr;
        check(cublasLtMatmulPreferenceCreate(&preference), "asking for algorithms");
        const std::size_t workspace = product_workspace_bytes;
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                             sizeof workspace);
        const std::uint32_t alignment = shape_.alignment;
        for (const auto attribute :
             {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
            cublasLtMatmulPreferenceSetAttribute(preference, attribute, &alignment, sizeof alignment);
        }
        cublasLtMatmulHeuristicResult_t found[most_candidates];
        int count = 0;
        const cublasStatus_t status =
            cublasLtMatmulAlgoGetHeuristic(handle_, operation_, weight_, input_, residual_, output_, preference,
                                           std::min(most, most_candidates), found, &count);
        cublasLtMatmulPreferenceDestroy(preference);
        if (status != CUBLAS_STATUS_SUCCESS || count == 0) {
            throw Error(ErrorCode::device_failure,
                        "cuda: cuBLASLt has no algorithm for a product of " + std::to_string(shape_.rows) + "x" +
                            std::to_string(shape_.depth) + " by " + std::to_string(shape_.columns) + " in " +
                            name(shape_.precision) + "; use another precision or bucket.");
        }
        std::vector<ProductAlgorithm> algorithms;
        for (int i = 0; i < count; ++i) {
            algorithms.push_back({found[i].algo});
        }
        return algorithms;
    }

    [[nodiscard]] const ProductShape& shape() const { return shape_; }
    void choose(const ProductAlgorithm& algorithm) { algorithm_ = algorithm; }

    /// out = x W^T [+ residual] [+ bias].
    void launch(const void* input, const void* weight, void* output, const float* residual, const float* bias,
                void* workspace, cudaStream_t stream) const {
        check(try_launch(algorithm_, input, weight, output, residual, bias, workspace, stream), "launching a product");
    }

    [[nodiscard]] cublasStatus_t try_launch(const ProductAlgorithm& algorithm, const void* input, const void* weight,
                                            void* output, const float* residual, const float* bias, void* workspace,
                                            cudaStream_t stream) const {
        if (shape_.has_bias) {
            cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
        }
        const float one = 1;
        const float residual_factor = shape_.residual_stride == 0 ? 0.0F : 1.0F;
        return cublasLtMatmul(handle_, operation_, &one, weight, weight_, input, input_, &residual_factor,
                              residual == nullptr ? output : residual, residual_, output, output_, &algorithm.value,
                              workspace, product_workspace_bytes, stream);
    }

private:
    template <class Value>
    void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
        check(cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof value), "describing a product");
    }
    static void layout(cublasLtMatrixLayout_t& to, cudaDataType_t type, Index first, Index second, Index stride) {
        check(cublasLtMatrixLayoutCreate(&to, type, static_cast<std::uint64_t>(first),
                                         static_cast<std::uint64_t>(second), stride),
              "describing a matrix");
    }

    cublasLtHandle_t handle_;
    ProductShape shape_;
    cublasLtMatmulDesc_t operation_ = nullptr;
    cublasLtMatrixLayout_t weight_ = nullptr;
    cublasLtMatrixLayout_t input_ = nullptr;
    cublasLtMatrixLayout_t output_ = nullptr;
    cublasLtMatrixLayout_t residual_ = nullptr;
    ProductAlgorithm algorithm_{};
};

/// A handle of cuBLASLt.
class LibraryHandle {
public:
    LibraryHandle() { check(cublasLtCreate(&handle_), "starting cuBLASLt"); }
    LibraryHandle(LibraryHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    LibraryHandle& operator=(LibraryHandle&&) = delete;
    ~LibraryHandle() {
        if (handle_ != nullptr) {
            cublasLtDestroy(handle_);
        }
    }
    [[nodiscard]] cublasLtHandle_t get() const { return handle_; }

private:
    cublasLtHandle_t handle_ = nullptr;
};

}  // namespace totograph::cuda
