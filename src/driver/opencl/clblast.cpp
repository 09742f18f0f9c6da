#include "driver/opencl/clblast.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "balm/error.hpp"
#include "base/system.hpp"
#include "driver/opencl/check.hpp"

namespace balm::opencl {

namespace {

// CLBlast's C interface (clblast_c.h, 1.5). Enumerations are passed as int, which C's are.
constexpr int row_major = 101, as_stored = 111, transposed = 112;

template <class T>
using gemm = int(int layout, int transpose_a, int transpose_b, std::size_t m, std::size_t n, std::size_t k,
                 T alpha, cl_mem a, std::size_t a_offset, std::size_t a_stride, cl_mem b,
                 std::size_t b_offset, std::size_t b_stride, T beta, cl_mem c, std::size_t c_offset,
                 std::size_t c_stride, cl_command_queue*, cl_event*);
template <class T>
using batched_gemm = int(int layout, int transpose_a, int transpose_b, std::size_t m, std::size_t n,
                         std::size_t k, T alpha, cl_mem a, std::size_t a_offset, std::size_t a_stride,
                         std::size_t a_next, cl_mem b, std::size_t b_offset, std::size_t b_stride,
                         std::size_t b_next, T beta, cl_mem c, std::size_t c_offset, std::size_t c_stride,
                         std::size_t c_next, std::size_t count, cl_command_queue*, cl_event*);

struct operand {
    explicit operand(const runtime::batched_matrix& m, runtime::product_element element)
        : memory(std::bit_cast<cl_mem>(m.native.handle)),
          offset(m.offset / size_of(element)),
          stride(m.stride),
          next(m.next),
          transpose(m.is_transposed ? transposed : as_stored) {}

    cl_mem memory;
    std::size_t offset, stride, next;
    int transpose;
};

/// A function of the library, whose type depends on the elements.
using any_function = void();

/// `one` is a gemm<T>, `batched` a batched_gemm<T>.
template <class T>
int multiply(any_function* one, any_function* batched, const runtime::matrix_product& of,
             cl_command_queue queue) {
    const operand a(of.a, of.element), b(of.b, of.element), c(of.result, of.element);
    T alpha{}, beta{};
    if constexpr (requires { alpha.s; })
        alpha.s[0] = 1;
    else
        alpha = 1;
    if (of.count == 1)
        return reinterpret_cast<gemm<T>*>(one)(
            row_major, a.transpose, b.transpose, of.rows, of.columns, of.inner, alpha, a.memory, a.offset,
            a.stride, b.memory, b.offset, b.stride, beta, c.memory, c.offset, c.stride, &queue, nullptr);
    return reinterpret_cast<batched_gemm<T>*>(batched)(
        row_major, a.transpose, b.transpose, of.rows, of.columns, of.inner, alpha, a.memory, a.offset,
        a.stride, a.next, b.memory, b.offset, b.stride, b.next, beta, c.memory, c.offset, c.stride, c.next,
        of.count, &queue, nullptr);
}

struct clblast_row {
    const char *one, *batched;
    int (*multiply)(any_function* one, any_function* batched, const runtime::matrix_product&,
                    cl_command_queue);
};
constexpr std::size_t row_count = static_cast<std::size_t>(runtime::product_element::count);
constexpr std::array<clblast_row, row_count> clblast_rows{{
    {"CLBlastSgemm", "CLBlastSgemmStridedBatched", multiply<float>},
    {"CLBlastDgemm", "CLBlastDgemmStridedBatched", multiply<double>},
    {"CLBlastCgemm", "CLBlastCgemmStridedBatched", multiply<cl_float2>},
    {"CLBlastZgemm", "CLBlastZgemmStridedBatched", multiply<cl_double2>},
}};

struct clblast_found {
    struct functions {
        any_function *one = nullptr, *batched = nullptr;
    };
    std::array<functions, row_count> of_rows;
    bool is_ready = false;
    std::string words;  // "CLBlast (name)", or why there is none
};

clblast_found search_for_clblast() {
    const std::array<std::string, 2> names{"libclblast.so.1", "libclblast.so"};
    auto library = runtime::shared_library::open_first(names);
    clblast_found result;
    if (!library) {
        result.words = "CLBlast was not found: " + library.describe_failures();
        return result;
    }
    std::string missing;
    for (std::size_t k = 0; k < row_count; ++k)
        result.of_rows[k] = {library.function<any_function>(clblast_rows[k].one, missing),
                             library.function<any_function>(clblast_rows[k].batched, missing)};
    result.is_ready = missing.empty();
    result.words = result.is_ready
                       ? fmt::format("CLBlast ({})", library.name())
                       : fmt::format("CLBlast cannot be used: {} (lacks {})", library.name(), missing);
    if (result.is_ready) library.keep_loaded();
    return result;
}

// Never destroyed: products may be enqueued while static objects are destroyed.
const clblast_found& clblast() {
    static const auto* const found = new clblast_found(search_for_clblast());
    return *found;
}

}  // namespace

runtime::matrix_library clblast_library() {
    const clblast_found& found = clblast();
    runtime::matrix_library made{found.is_ready, found.words, {}};
    for (std::size_t k = 0; k < row_count; ++k) made.commands[k] = clblast_rows[k].one;
    return made;
}

void multiply_with_clblast(const runtime::matrix_product& of, cl_command_queue queue,
                           const std::string& device_name) {
    const auto k = static_cast<std::size_t>(of.element);
    const clblast_row& row = clblast_rows[k];
    const clblast_found::functions& functions = clblast().of_rows[k];
    const int status = row.multiply(functions.one, functions.batched, of, queue);
    if (status == CL_SUCCESS) return;
    const std::string text = fmt::format(
        "{} of {} failed with {} ({}) for {} products of {} x {} and {} x {} on device '{}'; "
        "balm::multiply_by::own_kernels multiplies without the library.",
        of.count == 1 ? row.one : row.batched, clblast().words, error_name(status), status, of.count, of.rows,
        of.inner, of.inner, of.columns, device_name);
    if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY)
        throw out_of_memory_error(text);
    throw device_error(text);
}

}  // namespace balm::opencl
