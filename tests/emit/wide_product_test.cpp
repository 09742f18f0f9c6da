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

struct link {
    std::int32_t to;
    float weights[2];
};
BALM_STRUCT(link, to, weights)
struct node {
    link links[3];
    std::int32_t counts[3];
};
BALM_STRUCT(node, links, counts)

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
        EXPECT_THAT(text, AllOf(HasSubstr("balm_ptx_neg_i32(a)"), HasSubstr("balm_ptx_neg_u32(b)"),
                                HasSubstr("balm_ptx_neg_i32(a.x)"), HasSubstr("-v"), HasSubstr("-w")));
        EXPECT_THAT(text, AllOf(Not(HasSubstr("-a")), Not(HasSubstr("-b")), Not(HasSubstr("0 - "))));
    }
    EXPECT_THAT(text_in(dialect::opencl_c, negations), AllOf(HasSubstr("-a"), HasSubstr("-b")));
}

// NVVM of CUDA 13.0 takes the store for independent of the copy's wide loads.
TEST(EMIT_texts, hide_the_patterns_of_truth_values) {
    const auto patterns = balm::kernel<1>("patterns(x, out)", [](In<int> x, Out<long> out) {
        Index i = global_id(0);
        for (Int k : range(2)) {
            out[4 * i + k] = cast<long>(bit_cast<float>(cast<int>(x[i] > k)));
            out[4 * i + k + 2] = cast<long>(bit_cast<float>(x[i] + k));
        }
        out[i] = bit_cast<long>(cast<double>(x[i] == 3));
    });
    for (const dialect language : {dialect::cuda_cpp, dialect::opencl_ptx}) {
        const std::string text = text_in(language, patterns);
        EXPECT_THAT(text,
                    AllOf(HasSubstr("balm_as_float_of_truth_i32((int)(x_i > k))"),
                          HasSubstr("balm_as_long_of_truth_f64((double)(x[gid] == 3))"),
                          Not(HasSubstr("of_truth_i32(x_i + k)")), HasSubstr("mov.u32 mask, %%lanemask_lt")))
            << text;
    }
    EXPECT_THAT(text_in(dialect::opencl_c, patterns), Not(HasSubstr("of_truth")));
}

TEST(EMIT_texts, tell_of_writes_to_members_in_arrays_of_structures) {
    const auto links = balm::kernel<1>("links(k, all)", [](Int k, Mixed<node> all) {
        Var<node> n;
        n.links[k].to = 7;
        PrivatePtr<int> end = address_of(n.links[k + 1].to);
        *end = 8;
        n.links[1].to = 9;
        n.counts[k] = 10;
        all[k] = n;
        all[k].links[0].to = 11;
    });
    for (const dialect language : {dialect::cuda_cpp, dialect::opencl_ptx}) {
        const std::string text = text_in(language, links);
        const std::string written = language == dialect::cuda_cpp ? "    balm_written((unsigned long long)"
                                                                  : "    balm_written((ulong)";
        EXPECT_THAT(text, AllOf(HasSubstr("v.links2[k].to = 7;\n" + written + "&v.links2[k].to);\n"),
                                HasSubstr("v.links2[k + 1].to = 8;\n" + written + "&v.links2[k + 1].to);\n"),
                                HasSubstr("v.links2[1].to = 9;\n    v.counts[k] = 10;\n    all_[k] = v;\n"),
                                HasSubstr("].links2[0].to = 11;\n}")))
            << text;
    }
    EXPECT_THAT(text_in(dialect::opencl_c, links), Not(HasSubstr("balm_written")));
}

TEST(EMIT_texts, tell_of_writes_through_pointers_that_may_point_to_such_members) {
    const auto set = balm::function("set(p, k)", [](PrivatePtr<link> p, Int k) { p[k].to = 7; });
    const auto copied = balm::function("copied(p, from)", [](PrivatePtr<int> p, PrivatePtr<node> from) {
        *p = 7;
        return Var<node>(*from);
    });
    const auto text = text_in(
        dialect::cuda_cpp, balm::kernel<1>("links(k, all, sums)", [&](Int k, Mixed<node> all, Out<int> sums) {
            Var<node> n;
            set(address_of(n.links[0]), k);
            PrivatePtr<int> p = address_of(n.links[k].to);
            IF (k > 3) {
                p = address_of(n.counts[0]);
            }
            *p = 8;
            sums[k] = 9;
            all[k] = copied(p, address_of(n));
        }));
    const std::string written = "    balm_written((unsigned long long)";
    EXPECT_THAT(text,
                AllOf(HasSubstr("    p[k].to = 7;\n}"), HasSubstr("    p[0] = 7;\n" + written + "&p[0]);\n"),
                      HasSubstr("    set(&v.links2[0], k);\n" + written + "&v.links2[0]);\n"),
                      HasSubstr("    *v2 = 8;\n" + written + "v2);\n    sums[k] = 9;\n")))
        << text;

    const auto no_node = text_in(dialect::cuda_cpp, balm::kernel<1>("sum(n, out)", [](Int n, Mixed<int> out) {
                                     Ptr<int> p = address_of(out[0]);
                                     for (Int k : range(n)) {
                                         *p = k;
                                         p = p + 1;
                                     }
                                 }));
    EXPECT_THAT(no_node, Not(HasSubstr("balm_written")));
}

}  // namespace

}  // namespace balm::test
