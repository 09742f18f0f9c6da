// Custom functions, kernels and code recorded from generic C++.

#include <cmath>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "vexcl/contexts.hpp"

namespace balm::test {

struct ball {
    double mass, speed;
};
BALM_STRUCT(ball, mass, speed)

}  // namespace balm::test

template <>
struct vex::type_name_impl<balm::test::ball> {
    static std::string get() { return "ball"; }
};

namespace balm::test {

namespace {

VEX_FUNCTION(double, squares, (double, a)(double, b), return a * a + b * b;);
VEX_FUNCTION_D(double, cubed, (double, a), (squares), return a * squares(a, 0););
VEX_FUNCTION_D(double, of_both, (double, a)(int, k), (squares)(cubed), return cubed(a) + squares(k, 1););
VEX_FUNCTION_S(int, next, (int, i), "return i + 1;");
VEX_FUNCTION_DS(double, half_of, (double, a), (cubed), "return cubed(a) / 2;");
VEX_FUNCTION_V1(old_form, double(double, int), "return prm1 * prm2;");
VEX_FUNCTION_V1_WITH_PREAMBLE(with_preamble, double(double),
                              "double helper_of_with_preamble(double x) { return 2 * x; }",
                              "return helper_of_with_preamble(prm1);");
struct is_less {
    VEX_DUAL_FUNCTOR(bool, (double, a)(double, b), return a < b;)
};

TEST(B9_vexcl_functions, are_called_for_each_element) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 2000;
        const std::vector<double> a = numbers<double>(random, n), b = numbers<double>(random, n);
        const vex::vector<double> x(ctx, a), y(ctx, b);
        vex::vector<double> z(ctx, n);
        const auto expect = [&](const auto& wanted) {
            const std::vector<double> got = on_host(z);
            for (std::size_t i = 0; i < n; ++i) ASSERT_DOUBLE_EQ(got[i], wanted(i)) << i;
        };
        const auto cube = [](double v) { return v * (v * v + 0 * 0.0); };
        z = squares(x, 2 * y) + cubed(y);
        expect([&](std::size_t i) { return a[i] * a[i] + 2 * b[i] * (2 * b[i]) + cube(b[i]); });
        z = of_both(x, vex::element_index()) - half_of(y);
        expect([&](std::size_t i) { return cube(a[i]) + (double(i) * double(i) + 1) - cube(b[i]) / 2; });
        z = next(next(vex::element_index())) + old_form(x, 3) + with_preamble(y);
        expect([&](std::size_t i) { return int(i) + 2 + a[i] * 3 + 2 * b[i]; });
        z = squares(3, 4.0);
        expect([](std::size_t) { return 25.0; });
        const is_less less;
        z = less.device(x, y);
        expect([&](std::size_t i) { return less(a[i], b[i]) ? 1.0 : 0.0; });
    });
}

TEST(B9_vexcl_functions, take_memory_of_one_device) {
    auto random = seeded_random();
    const vex::Context ctx(vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!ctx) GTEST_SKIP() << "no device";
    const std::size_t n = 500;
    const std::vector<double> a = numbers<double>(random, n);
    vex::vector<double> x(ctx, a), y(ctx, n);
    VEX_FUNCTION(double, left_of, (double*, values)(size_t, i), return i > 0 ? values[i - 1] : 0;);
    VEX_FUNCTION(double, from_constant, (size_t, i)(vex::constant_ptr<double>, values),
                 return values[i % 3];);
    y = left_of(vex::raw_pointer(x), vex::element_index());
    EXPECT_THROW(y = left_of(vex::raw_pointer(x) + 1, vex::element_index()), std::runtime_error);
    const vex::Reductor<double, vex::SUM> sum(ctx);
    double wanted = 0;
    for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(y[i], i > 0 ? a[i - 1] : 0);
        wanted += i > 0 ? a[i - 1] : 0;
    }
    // Pointers may be written through, so that it is computed before it is reduced.
    EXPECT_NEAR(sum(left_of(vex::raw_pointer(x), vex::element_index(0, n))), wanted, 1e-10);
    const vex::vector<double> table(ctx, std::vector<double>{3, 5, 7});
    y = from_constant(vex::element_index(), vex::constant_pointer(table));
    for (const std::size_t i : {0u, 1u, 2u, 3u, 499u}) EXPECT_EQ(y[i], 3 + 2 * double(i % 3));
    VEX_FUNCTION(int, count_up, (int*, bins)(size_t, i), return atomic_add(&bins[i % 4], 1););
    vex::vector<int> bins(ctx, 4);
    bins = 0;
    vex::eval(count_up(vex::raw_pointer(bins), vex::element_index(0, n)));
    EXPECT_EQ(on_host(bins), std::vector<int>(4, 125));
}

TEST(B9_vexcl_pointers, lead_to_elements) {
    auto random = seeded_random();
    const vex::Context ctx(vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!ctx) GTEST_SKIP() << "no device";
    const std::size_t n = 500;
    const std::vector<double> a = numbers<double>(random, n);
    vex::vector<double> x(ctx, a), y(ctx, n), z(ctx, n);
    const auto p = vex::raw_pointer(x);
    const auto i = vex::element_index();
    y = *(p + i) * 2 - p[vex::if_else(i > 0, i - 1, i)] - *p;
    for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(y[k], a[k] * 2 - a[k > 0 ? k - 1 : k] - a[0]);
    y = *(vex::tag<1>(p) + i);
    EXPECT_EQ(on_host(y), a);
    y = 0;
    z = 0;
    *vex::if_else(x < 0.5, &y, &z) = x + 1;
    for (std::size_t k = 0; k < n; ++k) {
        ASSERT_EQ(y[k], a[k] < 0.5 ? a[k] + 1 : 0);
        ASSERT_EQ(z[k], a[k] < 0.5 ? 0 : a[k] + 1);
    }
    vex::vector<int> bins(ctx, 3);
    bins = 0;
    vex::eval(atomic_add(vex::raw_pointer(bins) + vex::element_index(0, n) % 3, 2));
    EXPECT_EQ(on_host(bins), (std::vector<int>{334, 334, 332}));
    // The address of an element at a position leads back to it.
    vex::vector<int> where(ctx, n), counts(ctx, 8);
    where = vex::element_index() % 8;
    counts = 0;
    vex::eval(atomic_add(&vex::permutation(where)(counts), 1));
    vex::eval(atomic_sub(&vex::raw_pointer(counts)[where], 2));
    EXPECT_EQ(on_host(counts), (std::vector<int>{-63, -63, -63, -63, -62, -62, -62, -62}));
    const vex::vector<int>* const host_pointer = &bins;
    EXPECT_EQ(host_pointer->size(), 3u);
}

TEST(B9_vexcl_functions, see_headers_and_options) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<int> x(ctx, 100);
        VEX_FUNCTION(int, answer, (int, i), return i * THE_ANSWER + MORE;);
        vex::push_program_header(ctx, "#define THE_ANSWER 42\n");
        vex::push_compile_options(ctx, "-cl-fast-relaxed-math -D MORE=5 -DUNUSED");
        x = answer(vex::element_index());
        EXPECT_EQ(x[3], 131);
        vex::pop_compile_options(ctx);
        vex::push_compile_options(ctx, "-DMORE=6");
        x = answer(vex::element_index());
        EXPECT_EQ(x[3], 132);
        vex::pop_compile_options(ctx);
        vex::pop_program_header(ctx);
    });
}

TEST(B9_vexcl_functions, take_and_return_structures_that_balm_knows) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::push_program_header(ctx, "typedef struct { double mass, speed; } ball;\n");
        VEX_FUNCTION(ball, pushed, (ball, b)(double, by), b.speed += by / b.mass; return b;);
        VEX_FUNCTION(double, energy, (ball, b), return b.mass * b.speed * b.speed / 2;);
        std::vector<ball> host(1000);
        for (std::size_t i = 0; i < host.size(); ++i) host[i] = {2, double(i)};
        vex::vector<ball> x(ctx, host);
        vex::vector<double> y(ctx, host.size());
        x = pushed(x, 4.0);
        y = energy(x) + x.size();
        vex::copy(x, host);
        EXPECT_EQ(host[999].speed, 1001);
        EXPECT_EQ(y[999], 1001. * 1001 + 1000);
        vex::pop_program_header(ctx);
    });
}

TEST(B9_vexcl_kernels, are_text) {
    const vex::Context ctx(vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!ctx) GTEST_SKIP() << "no device";
    const auto program = vex::backend::build_sources(
        ctx.queue(0), VEX_STRINGIZE_SOURCE(
                          kernel void fill(ulong n, global int* x, int value) {
                              for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) x[i] = value;
                          } kernel void turn(global const double* in, global double* out, local double* own) {
                              own[get_local_id(0)] = in[get_global_id(0)];
                              barrier(CLK_LOCAL_MEM_FENCE);
                              out[get_global_id(0)] = own[get_local_size(0) - 1 - get_local_id(0)];
                          }));
    vex::backend::kernel fill(ctx.queue(0), program, "fill");
    vex::vector<int> x(ctx, 1000);
    fill(ctx.queue(0), cl_ulong{1000}, x(0), 7);
    EXPECT_EQ(on_host(x), std::vector<int>(1000, 7));
    fill.push_arg(cl_ulong{10});
    fill.push_arg(x(0));
    fill.push_arg(8);
    fill(ctx.queue(0));
    EXPECT_EQ(x[9], 8);
    EXPECT_EQ(x[10], 7);
    vex::backend::kernel turn(ctx.queue(0), program, "turn");
    vex::vector<double> from(ctx, 64), to(ctx, 64);
    from = vex::element_index();
    turn.config(4, 16);
    turn.push_arg(from(0));
    turn.push_arg(to(0));
    turn.set_smem([](std::size_t items) { return items * sizeof(double); });
    turn(ctx.queue(0));
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(to[i], double(i / 16 * 16 + 15 - i % 16));
}

TEST(B9_vexcl_kernels, are_made_with_a_source_generator) {
    const vex::Context ctx(vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!ctx) GTEST_SKIP() << "no device";
    vex::backend::source_generator src(ctx.queue(0));
    src.begin_function<double>("thrice").begin_function_parameters();
    src.parameter<double>("x");
    src.end_function_parameters().new_line() << "return 3 * x;";
    src.end_function();
    src.begin_kernel("scale").begin_kernel_parameters();
    src.parameter<std::size_t>("n").parameter<vex::global_ptr<double>>("x");
    src.end_kernel_parameters().grid_stride_loop().open("{").new_line() << "x[idx] = thrice(x[idx]);";
    src.close("}").end_kernel();
    vex::vector<double> x(ctx, 100);
    x = vex::element_index();
    vex::backend::kernel(ctx.queue(0), src.str(), "scale")(ctx.queue(0), x.size(), x(0));
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(x[i], 3 * double(i));
}

template <class State>
State heun(const State& x, double dt) {
    using std::cos;
    const State slope = cos(x);
    State y = x + dt * slope;
    y = x + dt / 2 * (slope + cos(y));
    return y;
}

TEST(B9_vexcl_symbolic_numbers, record_kernels) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> a = numbers<double>(random, 3000);
        vex::vector<double> x(ctx, a), y(ctx, a.size());
        typedef vex::symbolic<double> number;
        std::ostringstream body;
        vex::generator::set_recorder(body);
        const number of_x(number::VectorParameter, number::Const), of_y(number::VectorParameter),
            dt(number::ScalarParameter);
        of_y = heun(of_x, 0.125) * dt;
        of_y += vex::generator::index();
        of_y = vex::if_else(of_x < 0.5, of_y, squares(of_x, -of_y));
        auto step = vex::generator::build_kernel(ctx, "heun_step", body.str(), of_x, of_y, dt);
        y = -1;
        step(x, y, 3.0);
        const std::vector<double> got = on_host(y);
        for (std::size_t i = 0; i < a.size(); ++i) {
            std::size_t index = i;  // of the part
            for (unsigned d = 0; d < ctx.size(); ++d)
                if (i >= y.part_start(d) && y.part_size(d) > 0) index = i - y.part_start(d);
            const double once = heun(a[i], 0.125) * 3 + double(index);
            ASSERT_NEAR(got[i], a[i] < 0.5 ? once : a[i] * a[i] + once * once, 1e-12 * (1 + once * once))
                << i;
        }
        EXPECT_EQ(on_host(x), a);
    });
}

TEST(B9_vexcl_symbolic_numbers, of_several_types_make_kernels_step_by_step) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        std::ostringstream body;
        vex::generator::set_recorder(body);
        const vex::symbolic<double> x(vex::symbolic<double>::VectorParameter);
        const vex::symbolic<double> factor(vex::symbolic<double>::ScalarParameter);
        const vex::symbolic<int> i(vex::symbolic<int>::VectorParameter);
        const auto before = i++;
        x = factor * x + before;
        ++i;
        --x;
        x--;
        vex::generator::kernel scale(ctx, "scale");
        EXPECT_THROW(scale(), std::runtime_error) << "it is not built";
        EXPECT_THROW(scale.push_arg(1.0), std::runtime_error);
        scale.add_param(x);
        scale.add_param(factor);
        scale.add_param(i);
        scale.build(body.str());
        vex::vector<double> values(ctx, 1000);
        vex::vector<int> counts(ctx, 1000);
        values = vex::element_index();
        counts = 10 * vex::element_index();
        scale(values, 2.0, counts);
        const std::vector<int> host = on_host(counts);
        expect_elements(values, [](std::size_t k) { return 12 * static_cast<double>(k) - 2; });
        for (std::size_t k = 0; k < host.size(); ++k) ASSERT_EQ(host[k], 10 * static_cast<int>(k) + 2);
    });
}

TEST(B9_vexcl_symbolic_numbers, record_functions) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> a = numbers<double>(random, 1000);
        const vex::vector<double> x(ctx, a);
        vex::vector<double> y(ctx, a.size());
        for (const double dt : {0.5, 0.25}) {  // one type, two functions
            const auto step =
                vex::generator::make_function<double(double)>([dt](auto v) { return heun(v, dt); });
            y = step(step(x));
            const std::vector<double> got = on_host(y);
            for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(got[i], heun(heun(a[i], dt), dt), 1e-14);
        }
        std::ostringstream around;
        vex::generator::set_recorder(around);
        vex::symbolic<double> of_x(vex::symbolic<double>::VectorParameter);
        auto kernel = vex::generator::make_kernel(
            ctx, "grow", [](auto& v) { v = v * v + 1; }, of_x);
        EXPECT_EQ(&vex::generator::get_recorder(), &around);
        const auto fails = [](auto&) { throw std::domain_error("not recorded"); };
        EXPECT_THROW((void)vex::generator::make_kernel(ctx, "none", fails, of_x), std::domain_error);
        EXPECT_EQ(&vex::generator::get_recorder(), &around);
        vex::generator::set_recorder(std::cout);
        y = x;
        kernel(y);
        for (const std::size_t i : {0u, 500u, 999u}) EXPECT_EQ(y[i], a[i] * a[i] + 1);
    });
}

TEST(B9_vexcl_symbolic_numbers, record_functions_of_several_signatures) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> a = numbers<double>(random, 1000);
        const vex::vector<double> x(ctx, a);
        vex::vector<double> y(ctx, a.size());
        const auto more = vex::generator::make_function<double(double)>([](auto v) { return v + 1; });
        const auto times =
            vex::generator::make_function<double(double, double)>([](auto v, auto w) { return v * w; });
        const auto both =
            vex::generator::make_function<double(double)>([&](auto v) { return more(times(v, v)); });
        y = more(x) + times(x, both(x));
        expect_elements(y, [&](std::size_t i) { return a[i] + 1 + a[i] * (a[i] * a[i] + 1); });
    });
}

TEST(B9_vexcl_symbolic_numbers, are_zero_at_first) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        typedef vex::symbolic<double> number;
        typedef vex::symbolic<cl_double2> pair;
        std::ostringstream body;
        vex::generator::set_recorder(body);
        const number of_x(number::VectorParameter);
        const pair of_y(pair::VectorParameter);
        const number sum;
        for (int k = 1; k <= 3; ++k) sum += k * of_x;
        const pair sums;
        sums += of_y;
        sums += of_y;
        of_x = sum + std::integral_constant<int, 5>();
        of_y = sums;
        auto kernel = vex::generator::build_kernel(ctx, "add_up", body.str(), of_x, of_y);
        vex::generator::set_recorder(std::cout);
        vex::vector<double> x(ctx, 1000);
        vex::vector<cl_double2> y(ctx, 1000);
        x = 2;
        y = cl_double2{{3, 4}};
        kernel(x, y);
        for (const std::size_t i : {0u, 499u, 500u, 999u}) {
            EXPECT_EQ(x[i], 17);
            const cl_double2 got = y[i];
            EXPECT_EQ(got.s[0], 6);
            EXPECT_EQ(got.s[1], 8);
        }
    });
}

TEST(B9_vexcl_symbolic_numbers, kernels_take_arguments_one_by_one_and_one_for_each_queue) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        typedef vex::symbolic<double> number;
        std::ostringstream body;
        vex::generator::set_recorder(body);
        const number of_x(number::VectorParameter), by(number::ScalarParameter);
        of_x = of_x * by;
        auto kernel = vex::generator::build_kernel(ctx, "scale_by", body.str(), of_x, by);
        vex::generator::set_recorder(std::cout);
        vex::vector<double> x(ctx, 1000);
        x = 1;
        kernel.push_arg(x);
        kernel.push_arg(2.0);
        kernel();
        std::vector<double> each(ctx.size());
        for (std::size_t d = 0; d < each.size(); ++d) each[d] = 3.0 + static_cast<double>(d);
        kernel(x, each);
        expect_elements(
            x, [&](std::size_t i) { return 2 * each[each.size() > 1 && i >= x.part_start(1) ? 1 : 0]; });
        EXPECT_THROW(kernel.push_arg(std::vector<double>(ctx.size() + 1)), std::runtime_error);
        EXPECT_THROW(kernel(x, 2.0, 3.0), balm::error);  // loses nothing:
        x = 1;
        kernel(x, 2.0);
        EXPECT_EQ(x[999], 2);
    });
}

VEX_FUNCTION(double, scoped, (double, a), return a * SCOPED_FACTOR;);

TEST(B9_vexcl_functions, see_headers_and_options_while_they_are_in_scope) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<double> x(ctx, 100);
        x = 2;
        {
            const vex::scoped_program_header header(ctx.queue(), "#define SCOPED_FACTOR (SCOPED_PART + 1)\n");
            const vex::scoped_compile_options options(ctx.queue(), "-DSCOPED_PART=4");
            EXPECT_NE(vex::get_program_header(ctx.queue(0)).find("SCOPED_FACTOR"), std::string::npos);
            EXPECT_NE(vex::get_compile_options(ctx.queue(0)).find("SCOPED_PART"), std::string::npos);
            x = scoped(x);
        }
        EXPECT_EQ(x[50], 10);
        EXPECT_EQ(vex::get_program_header(ctx.queue(0)).find("SCOPED_FACTOR"), std::string::npos);
        EXPECT_EQ(vex::get_compile_options(ctx.queue(0)).find("SCOPED_PART"), std::string::npos);
    });
}

VEX_FUNCTION(double, hypotenuse, (double, a)(double, b), return sqrt(a * a + b * b););

// VexCL compares numbers of elements alone.
TEST(B9_vexcl_functions, take_a_row_and_a_column) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 30;
        const std::vector<double> a = numbers<double>(random, n * n);
        const vex::vector<double> x(ctx, a);
        vex::vector<double> y(ctx, n), z(ctx, n);
        const vex::slicer<2> square(vex::extents[n][n]);
        const auto row = [&](std::size_t i) { return a[5 * n + i]; };
        const auto column = [&](std::size_t i) { return a[i * n + 7]; };
        y = hypotenuse(square[5](x), square[vex::_][7](x));
        expect_elements(y, [&](std::size_t i) { return std::hypot(row(i), column(i)); });
        vex::tie(y, z) = std::make_tuple(square[vex::_][7](x), 2 * square[5](x));
        expect_elements(y, column);
        expect_elements(z, [&](std::size_t i) { return 2 * row(i); });
        vex::vector<double> w(ctx, n * n);
        w = 0;
        vex::tie(square[vex::_][3](w), square[0][vex::_](y)) = std::make_tuple(1, 2);
        expect_elements(w, [&](std::size_t k) { return k % n == 3 ? 1.0 : 0.0; });
        expect_elements(y, [](std::size_t) { return 2.0; });
    });
}

}  // namespace

}  // namespace balm::test
