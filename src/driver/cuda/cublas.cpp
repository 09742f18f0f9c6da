#include "driver/cuda/cublas.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <utility>

#include "balm/error.hpp"
#include "base/compiler_use.hpp"
#include "base/forked.hpp"
#include "base/system.hpp"
#include "driver/cuda/toolkit.hpp"

namespace balm::cuda {

namespace {

using cublasHandle_t = struct cublasContext*;
enum cublasOperation_t : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cudaDataType : int { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_C_32F = 4, CUDA_C_64F = 5 };
enum cublasComputeType_t : int { CUBLAS_COMPUTE_32F_PEDANTIC = 69, CUBLAS_COMPUTE_64F_PEDANTIC = 71 };
constexpr int CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_ALLOC_FAILED = 3;
constexpr int CUBLAS_GEMM_DEFAULT = -1, MAJOR_VERSION = 0, MINOR_VERSION = 1;

// Enumerations are passed as int, which C's are.
#define BALM_CUBLAS_TABLE(ROW)                                                                               \
    ROW(cublasCreate_v2, cublasHandle_t*)                                                                    \
    ROW(cublasDestroy_v2, cublasHandle_t)                                                                    \
    ROW(cublasSetStream_v2, cublasHandle_t, CUstream)                                                        \
    ROW(cublasGetProperty, int, int*)                                                                        \
    ROW(cublasGemmEx, cublasHandle_t, int, int, int, int, int, const void*, const void*, int, int,           \
        const void*, int, int, const void*, void*, int, int, int, int)                                       \
    ROW(cublasGemmStridedBatchedEx, cublasHandle_t, int, int, int, int, int, const void*, const void*, int,  \
        int, long long, const void*, int, int, long long, const void*, void*, int, int, long long, int, int, \
        int)

struct cublas_api {
#define BALM_CUBLAS_MEMBER(name, ...) int (*name)(__VA_ARGS__) = nullptr;
    BALM_CUBLAS_TABLE(BALM_CUBLAS_MEMBER)
#undef BALM_CUBLAS_MEMBER
    const char* (*cublasGetStatusName)(int) = nullptr;  // from 11.4.2 on
};

struct cublas_found {
    cublas_api api;
    bool is_ready = false;
    std::string words;  // "cuBLAS 13.0 (name)", or "name (reason); name (reason)"
};

constexpr std::string_view cublas_names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                             "libcublas.so"};

// The names of entry points that the library lacks; empty if the table is complete.
std::string fill(cublas_api& api, const runtime::shared_library& library) {
    std::string missing;
#define BALM_CUBLAS_FIND(name, ...) api.name = library.function<int(__VA_ARGS__)>(#name, missing);
    BALM_CUBLAS_TABLE(BALM_CUBLAS_FIND)
#undef BALM_CUBLAS_FIND
    api.cublasGetStatusName = library.function<const char*(int)>("cublasGetStatusName");
    return missing;
}

// Why this cuBLAS cannot be used; empty if it can.
std::string fault_of_cublas(const cublas_api& api, int& major, int& minor) {
    if (api.cublasGetProperty(MAJOR_VERSION, &major) != CUBLAS_STATUS_SUCCESS ||
        api.cublasGetProperty(MINOR_VERSION, &minor) != CUBLAS_STATUS_SUCCESS)
        return "does not report its version";
    if (major < 11) return fmt::format("version {}.{}, older than 11", major, minor);
    if (const int driver_major = load_driver().version / 1000; major > driver_major)
        return fmt::format("version {}.{}, newer than the driver, which supports CUDA {}", major, minor,
                           driver_major);
    return {};
}

cublas_found search_for_cublas() {
    cublas_found result;
    for (const std::string& name : toolkit_paths(cublas_names)) {
        if (!result.words.empty()) result.words += "; ";
        auto library = runtime::shared_library::open_first({&name, 1});
        if (!library) {
            result.words += library.describe_failures();
            continue;
        }
        library.keep_loaded();  // unloaded, it would leak what it allocates when it is loaded
        const auto note = [&](const std::string& reason) {
            result.words += fmt::format("{} ({})", name, reason);
        };
        cublas_api api;
        int major = 0, minor = 0;
        if (const std::string missing = fill(api, library); !missing.empty()) {
            note("lacks " + missing);
            continue;
        }
        if (const std::string fault = fault_of_cublas(api, major, minor); !fault.empty()) {
            note(fault);
            continue;
        }
        return {api, true, fmt::format("cuBLAS {}.{} ({})", major, minor, name)};
    }
    result.words = "cuBLAS was not found: " + result.words;
    return result;
}

// Never destroyed: products may be enqueued while static objects are destroyed.
const cublas_found& cublas() {
    static const auto* const found = new cublas_found(search_for_cublas());
    return *found;
}

// The same compute types as in bench/peer_cuda_contract.cu. The default ones would let the environment choose
// TF32 or emulation.
struct cublas_row {
    std::string_view command;
    cudaDataType type;
    cublasComputeType_t compute;
};
constexpr std::array<cublas_row, static_cast<std::size_t>(runtime::product_element::count)> cublas_rows{{
    {"cublasGemmEx f32", CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC},
    {"cublasGemmEx f64", CUDA_R_64F, CUBLAS_COMPUTE_64F_PEDANTIC},
    {"cublasGemmEx complex f32", CUDA_C_32F, CUBLAS_COMPUTE_32F_PEDANTIC},
    {"cublasGemmEx complex f64", CUDA_C_64F, CUBLAS_COMPUTE_64F_PEDANTIC},
}};

// The numbers 1 and 0 in every element type: parts that a type lacks are not read.
constexpr std::array<float, 2> one_f32{1, 0}, zero_f32{0, 0};
constexpr std::array<double, 2> one_f64{1, 0}, zero_f64{0, 0};

}  // namespace

runtime::matrix_library cublas_library() {
    const cublas_found& found = cublas();
    runtime::matrix_library made{found.is_ready, found.words, {}};
    for (std::size_t k = 0; k < cublas_rows.size(); ++k) made.commands[k] = cublas_rows[k].command;
    return made;
}

cublas_handle::cublas_handle(CUstream stream, std::string device_name)
    : device_name_(std::move(device_name)) {
    const runtime::compiler_use loading("matrix products of cuBLAS");  // it registers static objects
    check(cublas().api.cublasCreate_v2(&handle_), "cublasCreate", "a handle");
    const int status = cublas().api.cublasSetStream_v2(handle_, stream);
    if (status != CUBLAS_STATUS_SUCCESS) cublas().api.cublasDestroy_v2(std::exchange(handle_, nullptr));
    check(status, "cublasSetStream", "a queue");
}

cublas_handle::~cublas_handle() {
    if (!runtime::is_forked() && !runtime::has_ended_compiling()) cublas().api.cublasDestroy_v2(handle_);
}

// cuBLAS stores columns. Row-major matrices are the transposes of column-major ones, so it computes the
// transpose of the result: that of b times that of a.
void cublas_handle::multiply(const runtime::matrix_product& of) {
    const cublas_row& row = cublas_rows[static_cast<std::size_t>(of.element)];
    const bool is_f32 = row.compute == CUBLAS_COMPUTE_32F_PEDANTIC;
    const void* const one = is_f32 ? static_cast<const void*>(one_f32.data()) : one_f64.data();
    const void* const zero = is_f32 ? static_cast<const void*>(zero_f32.data()) : zero_f64.data();
    const auto number = [](std::size_t n) { return static_cast<int>(n); };
    const auto next = [](const runtime::batched_matrix& m) { return static_cast<long long>(m.next); };
    const auto at = [](const runtime::batched_matrix& m) {
        return std::bit_cast<void*>(m.native.handle + m.offset);
    };
    const auto operation = [](const runtime::batched_matrix& m) {
        return m.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    const cublas_api& api = cublas().api;
    const int status =
        of.count == 1
            ? api.cublasGemmEx(handle_, operation(of.b), operation(of.a), number(of.columns), number(of.rows),
                               number(of.inner), one, at(of.b), row.type, number(of.b.stride), at(of.a),
                               row.type, number(of.a.stride), zero, at(of.result), row.type,
                               number(of.result.stride), row.compute, CUBLAS_GEMM_DEFAULT)
            : api.cublasGemmStridedBatchedEx(handle_, operation(of.b), operation(of.a), number(of.columns),
                                             number(of.rows), number(of.inner), one, at(of.b), row.type,
                                             number(of.b.stride), next(of.b), at(of.a), row.type,
                                             number(of.a.stride), next(of.a), zero, at(of.result), row.type,
                                             number(of.result.stride), next(of.result), number(of.count),
                                             row.compute, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS)
        check(status, of.count == 1 ? "cublasGemmEx" : "cublasGemmStridedBatchedEx",
              fmt::format("{} products of {} x {} and {} x {}", of.count, of.rows, of.inner, of.inner,
                          of.columns));
}

void cublas_handle::check(int status, const char* call, const std::string& object) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    const auto name_of = cublas().api.cublasGetStatusName;
    const char* const name = name_of != nullptr ? name_of(status) : nullptr;
    const std::string text = fmt::format(
        "{} of {} failed with {} ({}) for {} on device '{}'; "
        "balm::multiply_by::own_kernels multiplies without the library.",
        call, cublas().words, name != nullptr ? name : "an error", status, object, device_name_);
    if (status == CUBLAS_STATUS_ALLOC_FAILED) throw out_of_memory_error(text);
    throw device_error(text);
}

}  // namespace balm::cuda
