// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>

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
/// bf16 or f32 by the precision, everything else f32, but for sums that another kernel goes on with.
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

/// Bytes of workspace that a product may use.
inline constexpr std::size_t product_workspace_bytes = std::size_t{32} << 20;

/// Names a product among all products, the same in each process.
inline std::string product_key(const ProductShape& shape) {
    // A field that is added to the shape must be added here: this does not compile until it is.
    const auto& [rows, columns, depth, input_stride, output_stride, precision, has_bias, residual_stride, alignment,
                 stores_bf16_sums] = shape;
    return std::to_string(rows) + "x" + std::to_string(depth) + " (stride " + std::to_string(input_stride) + ") by " +
           std::to_string(columns) + " (stride " + std::to_string(output_stride) + ") in " + name(precision) +
           (has_bias ? ", bias" : "") +
           (residual_stride > 0 ? ", residual (stride " + std::to_string(residual_stride) + ")" : "") +
           (stores_bf16_sums ? ", bf16 sums" : "") + ", aligned to " + std::to_string(alignment) + ", workspace " +
           std::to_string(product_workspace_bytes);
}

/// Algorithms that are asked for at most.
inline constexpr int most_candidates = 32;

/// A way to compute a product. A class of ours: nvcc 13.0 breaks on vectors of the library's unnamed structs.
struct ProductAlgorithm {
    cublasLtMatmulAlgo_t value;
};

/// A description that cuBLASLt has made, and takes back at the end.
template <class Pointer, cublasStatus_t (*destroy)(Pointer)>
class LibraryObject {
public:
    explicit LibraryObject(Pointer made) : pointer_(made) {}
    LibraryObject(LibraryObject&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
    LibraryObject& operator=(LibraryObject&&) = delete;
    ~LibraryObject() {
        if (pointer_ != nullptr) {
            destroy(pointer_);
        }
    }
    [[nodiscard]] Pointer get() const noexcept { return pointer_; }

private:
    Pointer pointer_;
};
using ProductDescription = LibraryObject<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;
using MatrixDescription = LibraryObject<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
using ProductPreference = LibraryObject<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

/// A product that is ready to launch: descriptions and the chosen algorithm.
class LibraryProduct {
public:
    /// cuBLASLt counts columns first: its A is our W, its B our x, its C our residual, its D our result.
    LibraryProduct(cublasLtHandle_t handle, const ProductShape& shape)
        : handle_(handle),
          shape_(shape),
          operation_(describe_product(shape)),
          weight_(describe_matrix(input_type(shape), shape.depth, shape.columns, shape.depth)),
          input_(describe_matrix(input_type(shape), shape.depth, shape.rows, shape.input_stride)),
          output_(describe_matrix(output_type(shape), shape.columns, shape.rows, shape.output_stride)),
          residual_(describe_matrix(output_type(shape), shape.columns, shape.rows,
                                    shape.residual_stride == 0 ? shape.output_stride : shape.residual_stride)) {}

    /// Algorithms that cuBLASLt expects to be fast, best first, each once. Throws `Error` when there are none.
    [[nodiscard]] std::vector<ProductAlgorithm> candidates(int most) const {
        cublasLtMatmulPreference_t made = nullptr;
        check(cublasLtMatmulPreferenceCreate(&made), "asking for algorithms");
        const ProductPreference preference(made);
        const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
            check(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
                  "asking for algorithms");
        };
        prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, product_workspace_bytes);
        for (const auto attribute :
             {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
            prefer(attribute, shape_.alignment);
        }
        cublasLtMatmulHeuristicResult_t found[most_candidates];
        int count = 0;
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
            handle_, operation_.get(), weight_.get(), input_.get(), residual_.get(), output_.get(), preference.get(),
            std::min(most, most_candidates), found, &count);
        if (status != CUBLAS_STATUS_SUCCESS || count == 0) {
            throw Error(ErrorCode::device_failure,
                        "cuda: cuBLASLt has no algorithm for a product of " + std::to_string(shape_.rows) + "x" +
                            std::to_string(shape_.depth) + " by " + std::to_string(shape_.columns) + " in " +
                            name(shape_.precision) + "; use another precision, or other sizes.");
        }
        std::vector<ProductAlgorithm> algorithms;
        for (int i = 0; i < count; ++i) {
            const auto is_it = [&](const ProductAlgorithm& other) {
                return std::memcmp(&other.value, &found[i].algo, sizeof other.value) == 0;
            };
            if (std::none_of(algorithms.begin(), algorithms.end(), is_it)) {  // cuBLASLt may name one twice
                algorithms.push_back({found[i].algo});
            }
        }
        return algorithms;
    }

    /// Whether cuBLASLt can run an algorithm for this product on the current device, with the workspace that there is.
    [[nodiscard]] bool accepts(const ProductAlgorithm& algorithm) const {
        cublasLtMatmulHeuristicResult_t result{};
        const cublasStatus_t status =
            cublasLtMatmulAlgoCheck(handle_, operation_.get(), weight_.get(), input_.get(), residual_.get(),
                                    output_.get(), &algorithm.value, &result);
        return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= product_workspace_bytes;
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
            cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
        }
        const float one = 1;
        const float residual_factor = shape_.residual_stride == 0 ? 0.0F : 1.0F;
        return cublasLtMatmul(handle_, operation_.get(), &one, weight, weight_.get(), input, input_.get(),
                              &residual_factor, residual == nullptr ? output : residual, residual_.get(), output,
                              output_.get(), &algorithm.value, workspace, product_workspace_bytes, stream);
    }

private:
    static cudaDataType_t input_type(const ProductShape& shape) {
        return shape.precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
    }
    static cudaDataType_t output_type(const ProductShape& shape) {
        return shape.stores_bf16_sums ? CUDA_R_16BF : CUDA_R_32F;
    }

    static ProductDescription describe_product(const ProductShape& shape) {
        cublasLtMatmulDesc_t made = nullptr;
        check(cublasLtMatmulDescCreate(
                  &made, shape.precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                  CUDA_R_32F),
              "describing a product");
        ProductDescription description(made);
        const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
            check(cublasLtMatmulDescSetAttribute(made, attribute, &value, sizeof value), "describing a product");
        };
        set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
        if (shape.has_bias) {
            set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
            set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
        }
        return description;
    }
    static MatrixDescription describe_matrix(cudaDataType_t type, Index first, Index second, Index stride) {
        cublasLtMatrixLayout_t made = nullptr;
        check(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(first),
                                         static_cast<std::uint64_t>(second), stride),
              "describing a matrix");
        return MatrixDescription(made);
    }

    cublasLtHandle_t handle_;
    ProductShape shape_;
    ProductDescription operation_;
    MatrixDescription weight_;
    MatrixDescription input_;
    MatrixDescription output_;
    MatrixDescription residual_;
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
