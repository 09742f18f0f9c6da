// What compilers that take PTX are told in one instruction, which they do not find by themselves. No driver
// is started; the CUDA texts are compiled where NVRTC is found.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balm/kernel.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using runtime::dialect;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

template <class Kernel>
std::string text_in(dialect language, const Kernel& k) {
    if (language == dialect::cuda_cpp) also_compile_with_nvrtc(*k.function(), {});
    return emit::print(ir::lower(*k.function(), {}).kernel, language);
}

TEST(EMIT_texts, multiply_halves_of_64_bits_at_once) {
    const auto halves = balm::kernel<1>("halves(a, b, out)", [](UInt a, UInt b, Out<std::uint64_t> out) {
        out[0] = cast<std::uint64_t>(a) * cast<std::uint64_t>(b);
        out[1] = cast<std::uint64_t>(a) * std::uint64_t{0xffffffff};
    });
    for (const dialect language : {dialect::cuda_cpp, dialect::opencl_ptx}) {
        const std::string text = text_in(language, halves);
        EXPECT_THAT(text, AllOf(HasSubstr("mul.wide.u32"), HasSubstr("out[0] = balm_mul_wide("),
                                HasSubstr("out[1] = balm_mul_wide(")));
    }
    EXPECT_THAT(text_in(dialect::opencl_c, halves), Not(HasSubstr("mul.wide")));

    const auto wholes =
        balm::kernel<1>("wholes(a, b, c, out)", [](UInt a, ULong b, Int c, Out<std::uint64_t> out) {
            out[0] = cast<std::uint64_t>(a) * b;
            out[1] = cast<std::uint64_t>(a) * std::uint64_t{0x100000000};
            out[2] = cast<std::uint64_t>(a) * cast<std::uint64_t>(c);
        });
    EXPECT_THAT(text_in(dialect::cuda_cpp, wholes), Not(HasSubstr("mul.wide")));
}

TEST(EMIT_texts, take_roots_of_clamped_numbers_without_a_branch) {
    const auto clamped = balm::kernel<1>(
        "clamped(x, out)", [](Float x, Out<float> out) { out[0] = sqrt(clamp(x, 0x1p-100f, 0x1p126f)); });
    for (const dialect language : {dialect::cuda_cpp, dialect::opencl_ptx})
        EXPECT_THAT(text_in(language, clamped),
                    AllOf(HasSubstr("rsqrt.approx.ftz.f32"), HasSubstr("out[0] = balm_root_of_normal(")));
    EXPECT_THAT(text_in(dialect::opencl_c, clamped), Not(HasSubstr("rsqrt")));

    const auto others =
        balm::kernel<1>("others(x, low, y, out)", [](Float x, Float low, Double y, Out<float> out) {
            out[0] = sqrt(x);
            out[1] = sqrt(clamp(x, 0.f, 1.f));
            out[2] = sqrt(clamp(x, 1.f, 0x1p127f));
            out[3] = sqrt(clamp(x, low, 1.f));
            out[4] = cast<float>(sqrt(clamp(y, 0x1p-10, 1.0)));
        });
    EXPECT_THAT(text_in(dialect::cuda_cpp, others), Not(HasSubstr("rsqrt")));
}

// ptxas of CUDA 13.0 loses a negation of 32 bits among the operands of two minima or maxima.
TEST(EMIT_texts, hide_negations_of_32_bits_from_ptxas) {
    const auto negations =
        balm::kernel<1>("negations(a, b, v, w, lanes, out)",
                        [](Int a, UInt b, Long v, Float w, In<int4> lanes, Out<double> out) {
                            out[0] = cast<double>(-a);
                            out[1] = cast<double>(0 - a);
                            out[2] = cast<double>(a * -1);
                            out[3] = cast<double>(-b);
                            out[4] = cast<double>((-lanes[0]).x);
                            out[5] = cast<double>(-v);
                            out[6] = cast<double>(-w);
                        });
    for (const dialect language : {dialect::cuda_cpp, dialect::opencl_ptx}) {
        const std::string text = text_in(language, negations);
        EXPECT_THAT(text, AllOf(HasSubstr("balm_negated_i32(a)"), HasSubstr("balm_negated_u32(b)"),
                                HasSubstr("balm_negated_i32(a.x)"), HasSubstr("-v"), HasSubstr("-w")));
        EXPECT_THAT(text, AllOf(Not(HasSubstr("-a")), Not(HasSubstr("-b")), Not(HasSubstr("0 - "))));
    }
    EXPECT_THAT(text_in(dialect::opencl_c, negations), AllOf(HasSubstr("-a"), HasSubstr("-b")));
}

}  // namespace

}  // namespace balm::test
