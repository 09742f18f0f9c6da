// Volatile access: each is done where the kernel says, as often as it says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "emit/printer.hpp"
#include "ir/ir.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/run.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using runtime::dialect;
using testing::HasSubstr;

std::string text_of(const ir::function& f, dialect language) {
    if (language == dialect::cuda_cpp) also_compile_with_nvrtc(f, {});
    const std::string text = emit::print(ir::lower(f, {}).kernel, language);
    return text.substr(text.find("void "));
}

auto occurrences(const ir::function& f, ir::opcode op) {
    std::ptrdiff_t n = 0;
    for (const ir::block& b : f.blocks)
        n += std::count_if(b.begin(), b.end(), [&](ir::value_id v) { return f.code[v].op == op; });
    return n;
}

/// Twice the same load, one that nobody uses, one of what was just written.
template <class View>
auto loads(View view) {
    return balm::kernel<1>("loads(x, out)", [=](Mixed<std::int32_t> x, Out<std::int32_t> out) {
        auto seen = view(x);
        out[0] = seen[1] - seen[1];
        seen[2] = 5;
        Int unused = seen[3];
        static_cast<void>(unused);
        seen[2] = 6;
        out[1] = seen[2];
        IF (seen[4] > 0 && seen[4] < 9) {
            out[2] = seen[4] + 1;
        }
    });
}

TEST(A2_volatile, accesses_are_neither_shared_nor_dropped) {
    const auto plain = loads([](Mixed<std::int32_t>& x) { return x.data(); });
    const auto kept = loads([](Mixed<std::int32_t>& x) { return as_volatile(x); });
    EXPECT_LT(occurrences(*plain.function(), ir::opcode::load), 7);
    EXPECT_EQ(occurrences(*kept.function(), ir::opcode::load), 7) << ir::dump(*kept.function());
    EXPECT_EQ(occurrences(*kept.function(), ir::opcode::store), 5);
}

TEST(A2_volatile, accesses_are_printed_where_they_stand) {
    const auto kernel = loads([](Mixed<std::int32_t>& x) { return as_volatile(x); });
    EXPECT_EQ(text_of(*kernel.function(), dialect::cuda_cpp),
              R"(void loads(int* x, int* out) {
    const int x_i = *(volatile int*)&x[1];
    const int x_i2 = *(volatile int*)&x[1];
    out[0] = x_i - x_i2;
    *(volatile int*)&x[2] = 5;
    *(volatile int*)&x[3];
    *(volatile int*)&x[2] = 6;
    const int x_i3 = *(volatile int*)&x[2];
    out[1] = x_i3;
    const int x_i4 = *(volatile int*)&x[4];
    bool holds = x_i4 > 0;
    if (holds) {
        const int x_i5 = *(volatile int*)&x[4];
        holds = x_i5 < 9;
    }
    if (holds) {
        const int x_i6 = *(volatile int*)&x[4];
        out[2] = x_i6 + 1;
    }
}
)");
    EXPECT_THAT(text_of(*kernel.function(), dialect::opencl_c),
                HasSubstr("const int x_i2 = *(volatile global int*)&x[1];\n"));
}

TEST(A2_volatile, memory_holds_what_was_written) {
    const auto kernel = balm::kernel<1>(
        "rotate(input, sums, out)", [](In<double> input, Local<double> sums, Out<double> out) {
            LocalArray<std::int16_t, 8, 8> small;
            Array<bool, 64> flags;
            Int i = cast<std::int32_t>(local_id(0)), size = cast<std::int32_t>(local_size(0));
            auto shared = as_volatile(sums), behind = shared + 1;
            auto numbers = as_volatile(small);
            auto own = as_volatile(flags);
            auto given = as_volatile(input);
            shared[i] = given[global_id(0)];
            numbers[i] = cast<std::int16_t>(i);
            barrier();
            own[i] = *as_volatile(address_of(small[0][0])) == numbers[0] && numbers[i] == i;
            Double next = select(i + 1 < size, behind[select(i + 1 < size, i, -1)], shared[0]);
            barrier();
            shared[i] += next;
            Double twice;
            IF (own[i]) {
                twice = shared[i];
            }
            out[global_id(0)] = twice;
        });
    std::mt19937_64 random = seeded_random();
    on_all_devices([&](const device& on) {
        const auto values = random_values<double>(random, 256);
        auto out = on.out_buffer<double>(256);
        on.execute(kernel(in(on, values), balm::local<double>(64), out), {256}, {64});
        expect_each(out.read(),
                    [&](std::size_t i) { return values[i] + values[i % 64 == 63 ? i - 63 : i + 1]; });
    });
}

TEST(A2_volatile, loops_read_their_condition_anew) {
    const auto kernel =
        balm::kernel<1>("count(left, turns)", [](Mixed<std::int32_t> left, Out<std::int32_t> turns) {
            auto remaining = as_volatile(left);
            Int done;
            WHILE (remaining[0] > 0) {
                remaining[0] -= 3;
                ++done;
            }
            turns[0] = done;
        });
    EXPECT_THAT(text_of(*kernel.function(), dialect::opencl_c),
                HasSubstr("    while (true) {\n"
                          "        const int left_i = *(volatile global int*)&left[0];\n"
                          "        if (!(left_i > 0)) break;\n"));
    on_all_devices([&](const device& on) {
        auto left = on.mixed_buffer<std::int32_t>(1);
        left.write({100});
        auto turns = on.out_buffer<std::int32_t>(1);
        on.execute(kernel(left, turns), {1});
        EXPECT_EQ(turns.read()[0], 34);
        EXPECT_EQ(left.read()[0], -2);
    });
}

TEST(A2_volatile, a_load_may_differ_between_work_items) {
    EXPECT_THROW(balm::kernel<1>("stuck",
                                 [](Mixed<std::int32_t> x) {
                                     IF (as_volatile(x)[0] > 0) {
                                         barrier();
                                     }
                                 }),
                 trace_error);
}

}  // namespace
}  // namespace balm::test
