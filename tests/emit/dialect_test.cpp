// A dialect is a table: one is added here from outside of the library, and what is printed in it is compiled
// by the host's compiler and run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "balm/error.hpp"
#include "balm/kernel.hpp"
#include "balm/short_vector.hpp"
#include "balm/text_kernel.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "support/c_serial/batch.hpp"
#include "support/c_serial/dialect.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

ir::function lowered(const ir::function& kernel) { return ir::lower(kernel, {}).kernel; }

std::string printed_as_c(const ir::function& kernel) { return emit::print(lowered(kernel), c_serial()); }

TEST(EMIT_dialects, are_tables_that_the_printer_reads) {
    const auto twice = balm::kernel<1>(
        "twice(in, out)", [](In<float> in, Out<float> out) { out[global_id(0)] = 2.f * in[global_id(0)]; });
    EXPECT_THAT(printed_as_c(*twice.function()),
                HasSubstr("static void twice(const float* __restrict__ in, float* __restrict__ out) {\n"
                          "    const long long gid = (long long)balm_serial::here.global_id[0];\n"
                          "    out[gid] = 2.0f * in[gid];\n}\n"));
}

TEST(EMIT_dialects, refuse_what_they_have_no_word_for) {
    const auto text = balm::source_function<float(float)>("same", "float same(float x) { return x; }");
    const auto calls = balm::kernel<1>("calls", [&](Mixed<float> x) { x[0] = text(x[0]); });
    EXPECT_THAT(message_of<build_error>([&] { printed_as_c(*calls.function()); }),
                HasSubstr("'calls' cannot be compiled for plain C++: it does not accept OpenCL C"));
    const auto bytes = balm::kernel<2>("bytes", [](InImage<std::uint8_t, 2> image, Out<bool> out) {
        out[0] = image(global_id(1), global_id(0)) > 0;
    });
    EXPECT_THAT(message_of<std::runtime_error>([&] { printed_as_c(*bytes.function()); }),
                HasSubstr("cannot be printed serially"));
}

/// Half precision as IEEE 754 has it, in numbers.
float number_of(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const float size = exponent == 31  ? (bits & 1023 ? NAN : INFINITY)
                       : exponent == 0 ? std::ldexp(static_cast<float>(bits & 1023), -24)
                                       : std::ldexp(static_cast<float>((bits & 1023) | 1024), exponent - 25);
    return bits >> 15 ? -size : size;
}

TEST(EMIT_dialects, have_work_items_take_turns_at_barriers) {
    if (!has_serial_compiler()) GTEST_SKIP() << "The compiler that Balm was built with is not here";
    const auto turned = balm::kernel<1>("turned", [](In<half> in, Out<float> out, Local<float> shared) {
        Index i = local_id(0), last = local_size(0) - 1;
        shared[i] = in[global_id(0)];
        barrier();
        out[global_id(0)] = shared[last - i];
    });
    constexpr std::size_t halves = 1 << 16, group = 64;
    std::vector<std::uint16_t> in(halves);
    for (std::size_t k = 0; k < halves; ++k) in[k] = static_cast<std::uint16_t>(k);
    std::vector<float> out(halves), shared(group);
    serial_batch batch;
    const std::size_t number = batch.add(lowered(*turned.function()));
    batch.compile();
    batch.run(number, {{halves, 1, 1}, {group, 1, 1}},
              std::vector{memory_of(in), memory_of(out), memory_of(shared)});
    for (std::size_t k = 0; k < halves; ++k) {
        const float expected = number_of(in[k / group * group + (group - 1 - k % group)]);
        if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(out[k])) << k;
            continue;
        }
        EXPECT_EQ(std::bit_cast<std::uint32_t>(out[k]), std::bit_cast<std::uint32_t>(expected)) << k;
    }
}

}  // namespace

}  // namespace balm::test
