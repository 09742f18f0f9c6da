// Memory indexed by a position for each dimension: a(row, column). How long a row is the launch says.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

using int_list = host_array<std::int32_t>;

int_list counted(std::size_t n) {
    int_list values(n);
    std::iota(values.begin(), values.end(), 1);
    return values;
}

TEST(C8_dimensions, index_memory_by_row_and_column) {
    const auto transpose = balm::kernel<2>("transpose", [](In<std::int32_t, 2> a, Out<std::int32_t, 2> out) {
        const Index column = global_id(0), row = global_id(1);
        out(column, row) = a(row, column);
    });
    const std::size_t rows = 5, columns = 7;
    on_all_devices([&](const device& on) {
        auto a = on.in_buffer<std::int32_t>(rows, columns);
        auto out = on.out_buffer<std::int32_t>(columns, rows);
        a.write(std::span<const std::int32_t>(counted(rows * columns)));
        on.execute(transpose(a, out), {columns, rows});
        expect_each(out.read(), [&](std::size_t i) { return i % rows * columns + i / rows + 1; });
    });
}

TEST(C8_dimensions, index_memory_of_three_dimensions_and_of_all_elements) {
    const auto add = balm::kernel<3>("add(numbers, vectors, z)", [](Mixed<std::int32_t, 3> numbers,
                                                                    Mixed<balm::int2, 3> vectors,
                                                                    Mixed<std::complex<float>, 2> z) {
        const Int x = cast<int>(global_id(0)), y = cast<int>(global_id(1)), plane = cast<int>(global_id(2));
        numbers(plane, y, x) += 100 * plane + 10 * y + x;
        vectors(plane, y, x).y = numbers(plane, y, x);
        IF (plane == 0) {
            z(y, x) *= CFloat(0.f, 1.f);
        }
#ifdef __cpp_multidimensional_subscript
        numbers[plane, y, x] += 0;
#endif
    });
    const std::size_t planes = 2, rows = 3, columns = 4, n = planes * rows * columns;
    on_all_devices([&](const device& on) {
        auto numbers = on.mixed_buffer<std::int32_t>(planes, rows, columns);
        auto vectors = on.mixed_buffer<balm::int2>(planes, rows, columns);
        auto z = on.mixed_buffer<std::complex<float>>(rows, columns);
        numbers.fill(7);
        vectors.fill({3, 4});
        z.fill({2, 1});
        on.execute(add(numbers, vectors, z), {columns, rows, planes});
        const auto number = [&](std::size_t i) {
            return 7 + 100 * (i / (rows * columns)) + 10 * (i / columns % rows) + i % columns;
        };
        expect_each(numbers.read(), number);
        const auto got = vectors.read();
        for (std::size_t i = 0; i < n; ++i)
            EXPECT_TRUE(got[i].x == 3 && got[i].y == static_cast<int>(number(i))) << i;
        for (const std::complex<float>& each : z.read()) EXPECT_EQ(each, std::complex<float>(-1, 2));
    });
}

TEST(C8_dimensions, pass_the_rows_of_memory_to_functions_and_kernels_that_they_call) {
    const auto corner = balm::function("corner", [](In<std::int32_t, 2> a, Index row, Index column) {
        return a(row, column) + a(row + 1, 0);
    });
    const auto both = balm::function("both", [=](In<std::int32_t, 2> b, In<std::int32_t, 2> a, Index i) {
        return corner(a, i, 2) * 1000 + corner(b, i, 1);
    });
    const auto store = balm::kernel<1>(
        "store", [](Out<std::int32_t, 2> out, Int value, Int column) { out(global_id(0), column) = value; });
    const auto all = balm::kernel<1>(
        "all(a, b, out)", [=](In<std::int32_t, 2> a, In<std::int32_t, 2> b, Out<std::int32_t, 2> out) {
            const Index i = global_id(0);
            const Int found = both(b, a, i);
            store(out, found, 0);
            IF (i > 0 && a(i, 0) > 0) {
                out(i, 1) = a(i, 0) - b(i, 0);
            }
            ELSE { store(out, -1, 1); }
        });
    const std::size_t n = 6, width_a = 5, width_b = 3;
    on_all_devices([&](const device& on) {
        auto a = on.in_buffer<std::int32_t>(n + 1, width_a), b = on.in_buffer<std::int32_t>(n + 1, width_b);
        auto out = on.out_buffer<std::int32_t>(n, std::size_t{2});
        a.write(std::span<const std::int32_t>(counted((n + 1) * width_a)));
        b.write(std::span<const std::int32_t>(counted((n + 1) * width_b)));
        on.execute(all(a, b, out), {n});
        const auto at = [](std::size_t width, std::size_t row, std::size_t column) {
            return static_cast<int>(row * width + column) + 1;
        };
        expect_each(out.read(), [&](std::size_t k) {
            const std::size_t i = k / 2;
            if (k % 2 == 1) return i > 0 ? at(width_a, i, 0) - at(width_b, i, 0) : -1;
            return (at(width_a, i, 2) + at(width_a, i + 1, 0)) * 1000 + at(width_b, i, 1) +
                   at(width_b, i + 1, 0);
        });
    });
}

TEST(C8_dimensions, index_parts_of_buffers_and_of_vectors_by_row_and_column) {
    const auto mark = balm::kernel<1>("mark", [](Mixed<float, 2> m) { m(global_id(0), 1) = 5.f; });
    on_all_devices([&](const device& on) {
        vector<float> x(context(std::vector{on}), 20, 0.f);
        on.execute(mark(x.elements().range(2, 14).reshaped({4, 3})), {4});
        on.execute(mark(x.elements().range(14, 20).reshaped({3, 2})), {3});
        expect_each(x.to_host(), [](std::size_t i) {
            return i >= 14 ? 5 * (i % 2) : i >= 2 ? 5 * ((i - 2) % 3 == 1) : 0;
        });
    });
}

TEST(C8_dimensions, may_be_of_any_size) {
    const auto turn =
        balm::kernel<3>("turn", [](In<std::int32_t, 3> in, Local<std::int32_t> tile, In<std::int32_t, 2> more,
                                   UInt shift, Mixed<std::int32_t, 3> out) {
            const UInt x = cast<std::uint32_t>(global_id(0));
            const Index y = global_id(1), z = global_id(2);
            tile[local_id(0)] = in(z, y, x) + more(y, shift + x);
            Int sum = 0;
            for (Int k : range(2)) sum += tile[local_id(0)] * (k + more(k, 0));
            out(x, z, y) += sum;
        });
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        for (int round = 0; round < 6; ++round) {
            const std::size_t planes = 1 + random() % 5, rows = 2 + random() % 6, columns = 1 + random() % 9,
                              shift = random() % 3, n = planes * rows * columns, width = columns + shift;
            int_list values(n), others(rows * width), before(n);
            for (int_list* list : {&values, &others, &before})
                for (std::int32_t& each : *list) each = static_cast<std::int32_t>(random() % 1000);
            auto in = on.in_buffer<std::int32_t>(planes, rows, columns);
            auto more = on.in_buffer<std::int32_t>(rows, width);
            auto out = on.mixed_buffer<std::int32_t>(columns, planes, rows);
            in.write(std::span<const std::int32_t>(values));
            more.write(std::span<const std::int32_t>(others));
            out.write(std::span<const std::int32_t>(before));
            on.execute(
                turn(in, balm::local<std::int32_t>(columns), more, static_cast<std::uint32_t>(shift), out),
                {columns, rows, planes}, {columns, 1, 1});
            expect_each(out.read(), [&](std::size_t i) {
                const std::size_t y = i % rows, z = i / rows % planes, x = i / rows / planes;
                const int got = values[(z * rows + y) * columns + x] + others[y * width + shift + x];
                return before[i] + got * (others[0] + 1 + others[width]);
            });
        }
    });
}

TEST(C8_dimensions, are_those_of_the_memory_whatever_the_parameters_on_the_way_to_the_function) {
    const auto at = balm::function("at", [](In<std::int32_t, 2> m, Index row) { return m(row, 1); });
    const auto flat = balm::function("flat", [](In<std::int32_t> m, Index i) { return m[i]; });
    const auto both =
        balm::kernel<1>("both", [=](In<std::int32_t> a, In<std::int32_t, 2> b, Out<std::int32_t> out) {
            const Index i = global_id(0);
            out[i] = at(a, i) * 100 + flat(b, i) + at(b, i);
        });
    on_all_devices([&](const device& on) {
        auto a = on.in_buffer<std::int32_t>(4, 3), b = on.in_buffer<std::int32_t>(4, 2);
        a.write(std::span<const std::int32_t>(counted(12)));
        b.write(std::span<const std::int32_t>(counted(8)));
        const auto got = run<std::int32_t>(on, both, 4, a, b);
        expect_each(got, [](std::size_t i) { return (3 * i + 2) * 100 + i + 1 + 2 * i + 2; });
    });
}

TEST(C8_dimensions, are_those_of_kernels_that_call_text) {
    const auto square = balm::source_function<int(int)>("square", "int square(int x) { return x * x; }");
    const auto sums = balm::kernel<1>("sums(m, columns, out)",
                                      [=](In<std::int32_t, 2> m, Int columns, Out<std::int32_t> out) {
                                          Int sum = 0;
                                          for (Int k : range(columns)) sum += square(m(global_id(0), k));
                                          out[global_id(0)] = sum;
                                      });
    on_all_devices([&](const device& on) {
        auto m = on.in_buffer<std::int32_t>(4, 3);
        auto out = on.out_buffer<std::int32_t>(4);
        m.write(std::span<const std::int32_t>(counted(12)));
        on.execute(sums(m, 3, out), {4});
        const auto sum = [](std::size_t i) {
            const std::size_t first = 3 * i + 1;
            return first * first + (first + 1) * (first + 1) + (first + 2) * (first + 2);
        };
        expect_each(out.read(), sum);
    });
}

TEST(C8_dimensions, refuse_memory_of_other_dimensions_than_they_index) {
    const auto mark = balm::kernel<1>("mark", [](Mixed<float, 2> m) { m(global_id(0), 1) = 5.f; });
    const auto flat = balm::kernel<1>("flat", [](Mixed<float, 2> m) { m[global_id(0)] = 5.f; });
    const context ctx;
    vector<float> x(ctx, 4, 0.f);
    const auto cube = ctx.device().mixed_buffer<float>(2, 2, 2);
    EXPECT_THAT([&] { ctx.device().execute(mark(x), {2}); },
                testing::ThrowsMessage<usage_error>(HasSubstr(
                    "argument 1 of kernel 'mark' has 1 dimension, but the kernel uses 2 indices for it")));
    EXPECT_THAT([&] { ctx.device().execute(mark(cube), {2}); },
                testing::ThrowsMessage<usage_error>(HasSubstr("has 3 dimensions")));
    ctx.device().execute(flat(x), {4});
    EXPECT_THAT(x.to_host(), testing::Each(5.f));

    const auto element = balm::function("element", [](Index i, In<float, 2> m) { return m(i, 0); });
    EXPECT_THAT(
        [&] { x = element(balm::element_index(), x); },
        testing::ThrowsMessage<usage_error>(HasSubstr("the vectors of an array expression have one")));
}

}  // namespace

}  // namespace balm::test
