// Programs drawn at random give on every device, bit for bit, what the interpreter gives on the host; and
// lowering, whatever it is told of the launch, does not change what they compute.

#include "support/random_program.hpp"

#include <cmath>
#include <concepts>
#include <cstring>
#include <iostream>
#include <optional>

#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "support/c_serial/batch.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"
#include "support/interpreter.hpp"

namespace balm::test {

namespace {

constexpr std::size_t program_items = 16, program_group = 8;
constexpr auto memory_size = program_items * static_cast<std::size_t>(random_program::slots);

template <class T>
std::vector<T> drawn(std::mt19937_64& random, std::size_t count) {
    std::vector<T> values(count);
    for (T& each : values) each = random_value<T>(random);
    return values;
}

/// Any but NaN: subnormal numbers and infinities, too.
half random_half(std::mt19937_64& random) {
    half x;
    x.bits = static_cast<std::uint16_t>(random());
    if ((x.bits & 0x7fff) > 0x7c00) x.bits &= 0xfc00;
    return x;
}

constexpr interpreter_grid grid{{program_items, 1, 1}, {program_group, 1, 1}};

/// What a program is run on, and what it leaves.
struct program_data {
    std::int32_t s;
    std::uint32_t u;
    float t = 1.25f;
    std::vector<std::int32_t> in_int, mixed;
    std::vector<std::uint32_t> in_uint;
    std::vector<float> in_float;
    std::vector<half> in_half;
    std::vector<std::int32_t> out_int = std::vector<std::int32_t>(memory_size);
    std::vector<std::uint32_t> out_uint = std::vector<std::uint32_t>(memory_size);
    std::vector<std::int64_t> out_long = std::vector<std::int64_t>(memory_size);
    std::vector<float> out_float = std::vector<float>(memory_size);
    std::vector<half> out_half = std::vector<half>(memory_size);

    explicit program_data(std::mt19937_64& random)
        : s(random_value<std::int32_t>(random)),
          u(random_value<std::uint32_t>(random)),
          in_int(drawn<std::int32_t>(random, random_program::input_size)),
          mixed(drawn<std::int32_t>(random, memory_size)),
          in_uint(drawn<std::uint32_t>(random, random_program::input_size)),
          in_float(random_program::input_size),
          in_half(random_program::input_size) {
        for (float& x : in_float) x = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 8;
        for (half& x : in_half) x = random_half(random);
    }

    std::vector<interpreter_argument> arguments() {
        return {value_of(s),        value_of(u),         value_of(t),         memory_of(in_int),
                memory_of(in_uint), memory_of(in_float), memory_of(in_half),  memory_of(mixed),
                memory_of(out_int), memory_of(out_uint), memory_of(out_long), memory_of(out_float),
                memory_of(out_half)};
    }
    void interpret_here(const ir::function& kernel) { interpret(kernel, grid, arguments()); }

    /// `launch`: what enqueues the kernel with its arguments behind the writes.
    template <class Launch>
    void run_on(const device& on, const random_program::kernel_type& kernel, const Launch& launch) {
        auto a = on.in_buffer<std::int32_t>(in_int.size());
        auto b = on.in_buffer<std::uint32_t>(in_uint.size());
        auto c = on.in_buffer<float>(in_float.size());
        auto d = on.in_buffer<half>(in_half.size());
        auto m = on.mixed_buffer<std::int32_t>(memory_size);
        auto i = on.out_buffer<std::int32_t>(memory_size);
        auto v = on.out_buffer<std::uint32_t>(memory_size);
        auto l = on.out_buffer<std::int64_t>(memory_size);
        auto f = on.out_buffer<float>(memory_size);
        auto h = on.out_buffer<half>(memory_size);
        const wait_list written{a.write(in_int), b.write(in_uint), c.write(in_float), d.write(in_half),
                                m.write(mixed)};
        const event done = launch(kernel(s, u, t, a, b, c, d, m, i, v, l, f, h), written);
        m.read_into(mixed, done);
        i.read_into(out_int, done);
        v.read_into(out_uint, done);
        l.read_into(out_long, done);
        f.read_into(out_float, done);
        h.read_into(out_half, done);
    }
    void run_on(const device& on, const random_program& program) {
        run_on(on, program.kernel, [&](const bound_kernel<1>& bound, const wait_list& after) {
            return event(on.execute(bound, {program_items}, {program_group}, after));
        });
    }
    void run_unoptimised_on(const device& on, const random_program& program) {
        std::optional<random_program::kernel_type> kernel;
        const balm::module<event(const bound_kernel<1>&, const wait_list&)> m([&](module_builder& made) {
            made.options({.optimise = false});
            kernel = made.add(program.kernel);
            return made.entry([](balm::program& here, const bound_kernel<1>& bound, const wait_list& after) {
                return event(here.execute(bound, {program_items}, {program_group}, after));
            });
        });
        run_on(on, *kernel, m.on(on));
    }
};

/// The first element of another value, in words; "" for none. All NaN are one.
template <class T>
std::string first_number_that_differs(const char* name, const std::vector<T>& got,
                                      const std::vector<T>& expected) {
    for (std::size_t k = 0; k < got.size(); ++k) {
        if (std::memcmp(&got[k], &expected[k], sizeof(T)) == 0) continue;
        if constexpr (!std::integral<T>)
            if (std::isnan(static_cast<float>(got[k])) && std::isnan(static_cast<float>(expected[k])))
                continue;
        const auto number = [](const T& x) {
            if constexpr (std::integral<T>) return std::to_string(x);
            return std::to_string(static_cast<float>(x));
        };
        return std::string(name) + '[' + std::to_string(k) + "] is " + number(got[k]) + ", not " +
               number(expected[k]);
    }
    return "";
}
std::string difference(const program_data& got, const program_data& expected) {
    for (const std::string& each : {first_number_that_differs("mixed", got.mixed, expected.mixed),
                                    first_number_that_differs("out_int", got.out_int, expected.out_int),
                                    first_number_that_differs("out_uint", got.out_uint, expected.out_uint),
                                    first_number_that_differs("out_long", got.out_long, expected.out_long),
                                    first_number_that_differs("out_float", got.out_float, expected.out_float),
                                    first_number_that_differs("out_half", got.out_half, expected.out_half)})
        if (!each.empty()) return each;
    return "";
}
void expect_same(const program_data& got, const program_data& expected) {
    EXPECT_EQ(difference(got, expected), "");
}

/// Case k has the seed BALM_TEST_SEED + k.
const std::size_t program_cases = case_count(4), serial_programs = case_count(30);

/// One call of the compiler for `count` programs.
void run_programs_serially(std::uint64_t first_seed, std::size_t count) {
    serial_batch batch;
    std::vector<random_program> programs;
    for (std::size_t k = 0; k < count; ++k) {
        programs.push_back(draw_program(first_seed + k));
        const ir::function& traced = *programs.back().kernel.function();
        batch.add(ir::lower(traced, {}).kernel);
    }
    batch.compile();
    for (std::size_t k = 0; k < count; ++k) {
        SCOPED_TRACE("BALM_TEST_CASES=1 BALM_TEST_SEED=" + std::to_string(first_seed + k));
        std::mt19937_64 random(first_seed + k);
        program_data expected(random);
        program_data got = expected;
        expected.interpret_here(*programs[k].kernel.function());
        batch.run(k, grid, got.arguments());
        expect_same(got, expected);
    }
}

}  // namespace

TEST(C14_random_programs, mean_the_same_however_they_are_lowered) {
    auto random = seeded_random();
    for (int k = 0; k < 100; ++k) {
        const random_program program = draw_program(random());
        SCOPED_TRACE("program of seed " + std::to_string(program.seed));
        program_data expected(random);
        const program_data before = expected;
        expected.interpret_here(*program.kernel.function());
        for (unsigned facts = 0; facts < 8; ++facts) {
            program_data got = before;
            got.interpret_here(
                ir::lower(*program.kernel.function(), {(facts & 1) != 0, (facts & 2) != 0, (facts & 4) != 0})
                    .kernel);
            expect_same(got, expected);
        }
        if (testing::Test::HasFailure()) break;
    }
}

TEST(C14_random_programs, mean_the_same_as_plain_cpp) {
    if (!has_serial_compiler()) GTEST_SKIP() << "The compiler that Balm was built with is not here";
    constexpr std::size_t together = 50;
    for (std::size_t k = 0; k < serial_programs; k += together) {
        run_programs_serially(seed() + k, std::min(together, serial_programs - k));
        if (testing::Test::HasFailure()) break;
    }
}

TEST(C14_random_programs, are_the_same_program_when_drawn_again) {
    auto random = seeded_random();
    for (int k = 0; k < 50; ++k) {
        const std::uint64_t program_seed = random();
        EXPECT_EQ(draw_program(program_seed).kernel.function()->identity,
                  draw_program(program_seed).kernel.function()->identity)
            << "program of seed " << program_seed;
    }
}

TEST(C14_random_programs, agree_with_the_interpreter_on_every_device) {
    on_all_devices([](const device& on) {
        random_program_options options;
        options.divides_floats = on.info().has_correctly_rounded_divide;
        for_each_case(program_cases, [&](std::size_t k) {
            const std::uint64_t case_seed = seed() + static_cast<std::uint64_t>(k);
            std::mt19937_64 random(case_seed);
            const random_program program = draw_program(case_seed, options);
            program_data expected(random);
            const program_data before = expected;
            program_data got = before;
            expected.interpret_here(*program.kernel.function());
            got.run_on(on, program);
            const std::string found = difference(got, expected);
            if (found.empty()) return;
            got = before;
            got.run_unoptimised_on(on, program);
            ADD_FAILURE() << "BALM_TEST_CASES=1 BALM_TEST_SEED=" << case_seed << ": " << found
                          << optimiser_words(difference(got, expected).empty());
            if (program_cases == 1)
                std::cout << ir::dump(*program.kernel.function())
                          << emit::print(ir::lower(*program.kernel.function(), {}).kernel,
                                         runtime::dialect::opencl_c);
        });
    });
}

}  // namespace balm::test
