// Large functions that a kernel calls often are not inlined by the compilers of GPUs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "balm/device_function.hpp"
#include "balm/kernel.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using runtime::dialect;
using testing::HasSubstr;
using testing::Not;

/// A function of so many elements in an array, whose sines are added up.
template <int elements>
auto sum_of_sines() {
    return function("sum_of_sines", [](Float a, Float b) {
        const Array<float, elements> all;
        for (Int k : range(elements)) all[k] = sin(a * cast<float>(k));
        Float sum = b;
        for (Int k : range(elements)) sum += all[k];
        return Float(sum);
    });
}
/// The text of a kernel that calls a function so many times.
template <class F>
std::string text_of_calls(dialect language, const F& f, int calls) {
    const auto kernel = balm::kernel<1>("calls(a, out)", [&](In<float> a, Out<float> out) {
        Index i = global_id(0);
        Float sum = a[i];
        for (int k = 0; k < calls; ++k) sum = f(sum, a[i + k]);
        out[i] = sum;
    });
    if (language == dialect::cuda_cpp) also_compile_with_nvrtc(*kernel.function(), {});
    return emit::print(ir::lower(*kernel.function(), {}).kernel, language);
}

TEST(EMIT_texts, do_not_inline_large_functions_that_are_called_often) {
    const auto large = sum_of_sines<48>(), small = sum_of_sines<4>();
    const auto tiny = function("tiny", [](Float a, Float b) { return Float(a * b + 1.f); });
    constexpr const char* cuda = "static __device__ __noinline__ float sum_of_sines(";
    constexpr const char* opencl = "__attribute__((noinline)) float sum_of_sines(";
    EXPECT_THAT(text_of_calls(dialect::cuda_cpp, large, 64), HasSubstr(cuda));
    EXPECT_THAT(text_of_calls(dialect::opencl_ptx, large, 64), HasSubstr(opencl));
    EXPECT_THAT(text_of_calls(dialect::opencl_c, large, 64), Not(HasSubstr("noinline")));
    for (const dialect language : {dialect::cuda_cpp, dialect::opencl_ptx}) {
        EXPECT_THAT(text_of_calls(language, large, 1), Not(HasSubstr("noinline")));
        EXPECT_THAT(text_of_calls(language, small, 64), Not(HasSubstr("noinline")));
        EXPECT_THAT(text_of_calls(language, tiny, 64), Not(HasSubstr("noinline")));
        // A function that calls it is itself small.
        const auto around = function("around", [&](Float a, Float b) { return Float(large(a, b) + 1.f); });
        const std::string text = text_of_calls(language, around, 64);
        EXPECT_THAT(text, HasSubstr("noinline"));
    }
}

}  // namespace

}  // namespace balm::test
