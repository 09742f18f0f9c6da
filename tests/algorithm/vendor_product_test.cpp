// Matrix products by the vendor's library, where there is one, against nested loops on the host. cuBLAS and
// CLBlast without hardware: failures/vendor_library_test.cpp.

#include <gtest/gtest.h>

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "array/vector_state.hpp"
#include "balm/balm.hpp"
#include "balm/interop.hpp"
#include "host_contraction.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;
using testing::Not;

constexpr multiply_by library = multiply_by::vendor_library;

runtime::matrix_library library_of(const device& on) { return on.state()->driver().vendor_library(); }

/// Runs the body on every context whose devices all have a library; skipped if there is none.
template <class Body>
void on_contexts_with_library(Body&& body) {
    bool has_run = false;
    std::string reasons;
    on_all_contexts([&](const context& ctx) {
        for (const device& each : ctx.devices())
            if (!library_of(each).is_found) {
                reasons += " " + words(each) + ": " + std::string(library_of(each).words);
                return;
            }
        has_run = true;
        body(ctx);
    });
    if (!has_run && !testing::Test::IsSkipped()) GTEST_SKIP() << "no library:" << reasons;
}

template <class T>
class V18_vendor_products_of : public testing::Test {};
using library_types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(V18_vendor_products_of, library_types);

TYPED_TEST(V18_vendor_products_of, any_extents_and_transposes) {
    using T = TypeParam;
    auto random = seeded_random();
    on_contexts_with_library([&](const context& ctx) {
        for (int turn = 0; turn < 6; ++turn) {
            const std::size_t m = 8 + below(random, 60), n = 8 + below(random, 60), k = 1 + below(random, 70);
            SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n));
            const auto a = small_numbers<T>(random, m * k), b = small_numbers<T>(random, k * n);
            const vector<T> x(ctx, a), y(ctx, b);
            const bool turn_a = below(random, 2) != 0, turn_b = below(random, 2) != 0;
            const shape box_a = turn_a ? shape(k, m) : shape(m, k),
                        box_b = turn_b ? shape(n, k) : shape(k, n);
            const view<const T> A(x, box_a), B(y, box_b);
            const auto product = matmul(turn_a ? A.transpose() : A, turn_b ? B.transpose() : B, library);
            EXPECT_EQ(product.tape().produced.size(), 1u) << "complex numbers are multiplied in one product";
            EXPECT_EQ(values_of<T>(product),
                      looped<T>(turn_a ? "ki" : "ik", box_a, a, turn_b ? "jk" : "kj", box_b, b, "ij"));
        }
    });
}

TYPED_TEST(V18_vendor_products_of, parts_of_matrices) {
    using T = TypeParam;
    auto random = seeded_random();
    const std::size_t m = 21, n = 18, k = 13;
    const auto a = small_numbers<T>(random, 40 * 50), b = small_numbers<T>(random, 40 * 50);
    on_contexts_with_library([&](const context& ctx) {
        const vector<T> x(ctx, a), y(ctx, b);
        const view<const T> A(x, {40, 50}), B(y, {40, 50});
        const auto part = [&](const std::vector<T>& from, std::size_t row, std::size_t column,
                              std::size_t rows, std::size_t columns, std::size_t step) {
            std::vector<T> made;
            for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t j = 0; j < columns; ++j)
                    made.push_back(from[(row + i) * 50 + column + j * step]);
            return made;
        };
        // Rows apart from each other; then elements of a row, too, which is copied first.
        for (const std::size_t step : {1, 2, 3}) {
            SCOPED_TRACE(step);
            const auto P = A(slice(3, 3 + 21), slice(5, static_cast<std::int64_t>(5 + step * k), step));
            const auto Q = B(slice(7, 7 + 13), slice(2, 2 + 18));
            EXPECT_EQ(values_of<T>(matmul(P, Q, library)),
                      looped<T>("ik", {m, k}, part(a, 3, 5, m, k, step), "kj", {k, n}, part(b, 7, 2, k, n, 1),
                                "ij"));
        }
        // Overlapping rows, repeated ones, and rows in reverse.
        for (const std::int64_t stride : {1, 0, -2}) {
            SCOPED_TRACE(stride);
            const auto P = view<const T>(x, {m, k}, {stride, 1}, 60);
            std::vector<T> rows;
            for (std::size_t i = 0; i < m; ++i)
                for (std::size_t j = 0; j < k; ++j)
                    rows.push_back(a[static_cast<std::size_t>(60 + stride * static_cast<int>(i)) + j]);
            EXPECT_EQ(values_of<T>(matmul(P, B(slice(0, 13), slice(0, 18)), library)),
                      looped<T>("ik", {m, k}, rows, "kj", {k, n}, part(b, 0, 0, k, n, 1), "ij"));
        }
    });
}

TEST(V18_vendor_products, of_batches) {
    auto random = seeded_random();
    struct batch {
        std::string a, b, output;
    };
    // One loop over the batch, two that cannot be fused, and results in another order.
    const std::vector<batch> all{{"bik", "bkj", "bij"},
                                 {"bki", "bjk", "bij"},
                                 {"cbik", "bcjk", "cbij"},
                                 {"bik", "bkj", "ibj"},
                                 {"bik", "bkj", "jib"}};
    const std::map<char, std::size_t> extents{{'b', 3}, {'c', 5}, {'i', 12}, {'j', 16}, {'k', 9}};
    const auto box_of = [&](const std::string& letters) {
        std::vector<std::size_t> sizes;
        for (const char c : letters) sizes.push_back(extents.at(c));
        return shape(std::span<const std::size_t>(sizes));
    };
    on_contexts_with_library([&](const context& ctx) {
        for (const batch& each : all) {
            const std::string subscripts = each.a + "," + each.b + "->" + each.output;
            SCOPED_TRACE(subscripts);
            const shape box_a = box_of(each.a), box_b = box_of(each.b);
            const auto a = small_numbers<double>(random, box_a.count()),
                       b = small_numbers<double>(random, box_b.count());
            const vector<double> x(ctx, a), y(ctx, b);
            const view<const double> A(x, box_a), B(y, box_b);
            EXPECT_EQ(values_of<double>(einsum(subscripts, A, B, library)),
                      looped<double>(each.a, box_a, a, each.b, box_b, b, each.output));
            EXPECT_THAT(describe_einsum(subscripts, A, B, library),
                        HasSubstr(std::string(library_of(ctx.device(0)).words)));
        }
        // The same matrix for every product of a batch.
        const auto a = small_numbers<double>(random, 3 * 12 * 9), b = small_numbers<double>(random, 9 * 16);
        const vector<double> x(ctx, a), y(ctx, b);
        std::vector<double> thrice;
        for (int turn = 0; turn < 3; ++turn) thrice.insert(thrice.end(), b.begin(), b.end());
        EXPECT_EQ(values_of<double>(einsum("bik,bkj->bij", view<const double>(x, {3, 12, 9}),
                                           view<const double>(y, {3, 9, 16}, {0, 16, 1}), library)),
                  looped<double>("bik", {3, 12, 9}, a, "bkj", {3, 9, 16}, thrice, "bij"));
    });
}

TEST(V18_vendor_products, stand_in_expressions_and_read_them) {
    auto random = seeded_random();
    const shape box(24, 24);
    const auto a = small_numbers<double>(random, box.count()), b = small_numbers<double>(random, box.count());
    const auto product = looped<double>("ik", box, a, "kj", box, b, "ij");
    on_contexts_with_library([&](const context& ctx) {
        expect_products_in_expressions(ctx, random, library);
        const vector<double> x(ctx, a), y(ctx, b);
        const auto A = balm::view(x, box), B = balm::view(y, box);
        const vector<float> narrow(ctx, std::vector<float>(b.begin(), b.end()));
        EXPECT_EQ(values_of<double>(matmul(A, balm::view(narrow, box), library)), product);
        EXPECT_EQ(values_of<double>(contract(A, {1}, B, {0}, library)), product);
    });
}

TEST(V18_vendor_products, write_vectors_in_parts_of_buffers) {
    auto random = seeded_random();
    const std::size_t n = 16;
    const auto a = small_numbers<float>(random, n * n);
    const auto expected = looped<float>("ik", {n, n}, a, "kj", {n, n}, a, "ij");
    on_contexts_with_library([&](const context& ctx) {
        const device on = ctx.device(0);
        const std::size_t first = on.info().memory_alignment;  // in elements: more than aligned
        auto memory = on.mixed_buffer<float>(first + 2 * n * n + 8);
        memory.fill(-9);
        const vector<float> x = as_vector(memory.range(first, first + n * n));
        vector<float> y = as_vector(memory.range(first + n * n, first + 2 * n * n));
        memory.range(first, first + n * n).write(std::span<const float>(a)).wait();
        const auto A = balm::view(x, {n, n});
        y = matmul(A, A, library);
        const auto got = memory.read();
        for (std::size_t k = 0; k < got.size(); ++k) {
            const float here = k < first || k >= first + 2 * n * n ? -9.f
                               : k < first + n * n                 ? a[k - first]
                                                                   : expected[k - first - n * n];
            ASSERT_EQ(got[k], here) << k;
        }
    });
}

TEST(V18_vendor_products, of_complex_and_real_numbers) {
    auto random = seeded_random();
    using complex = std::complex<double>;
    const auto a = small_numbers<complex>(random, 9 * 12);
    const auto b = small_numbers<double>(random, 12 * 11);
    on_contexts_with_library([&](const context& ctx) {
        const vector<complex> x(ctx, a);
        const vector<double> y(ctx, b);
        const auto A = view<const complex>(x, {9, 12});
        const auto B = view<const double>(y, {12, 11});
        EXPECT_EQ(values_of<complex>(matmul(A, B, library)),
                  looped<complex>("ik", {9, 12}, a, "kj", {12, 11}, b, "ij"));
    });
}

TEST(V18_vendor_products, of_nothing) {
    on_contexts_with_library([](const context& ctx) {
        const vector<double> none(ctx, 0);
        const view<const double> A(none, {30, 0}), B(none, {0, 40});
        EXPECT_EQ(values_of<double>(matmul(A, B, library)), std::vector<double>(1200, 0.0));
        EXPECT_TRUE(values_of<double>(matmul(B, view<const double>(none, {40, 0}), library)).empty());
        const vector<std::complex<double>> no_complex(ctx, 0);
        const view<const std::complex<double>> C(no_complex, {30, 0}), D(no_complex, {0, 40});
        EXPECT_EQ(values_of<std::complex<double>>(matmul(C, D, library)),
                  std::vector<std::complex<double>>(1200));
    });
}

TEST(V18_vendor_products, are_commands_with_names_among_those_of_all_queues) {
    auto random = seeded_random();
    const std::size_t n = 40;
    const auto a = small_numbers<double>(random, n * n);
    const auto square = looped<double>("ik", {n, n}, a, "kj", {n, n}, a, "ij");
    const auto fourth = looped<double>("ik", {n, n}, square, "kj", {n, n}, square, "ij");
    on_contexts_with_library([&](const context& all) {
        const device on = all.device(0);
        const context ctx({on});
        const vector<double> x(ctx, a);
        vector<double> y(ctx, n * n), z(ctx, n * n);
        const auto A = balm::view(x, {n, n});
        const queue other = on.make_queue();
        profiler prof(on);
        for (int turn = 0; turn < 3; ++turn) {
            y = matmul(A, A, library);
            const queue_scope there(other);  // its commands wait for those above, and those for its own
            z = matmul(balm::view(y, {n, n}), balm::view(y, {n, n}), library);
        }
        EXPECT_EQ(values_of<double>(z), fourth);
        std::optional<profiled_command> products;
        for (const profiled_command& each : prof.commands())
            if (each.name == library_of(on).commands[1]) products = each;
        ASSERT_TRUE(products.has_value());
        EXPECT_EQ(products->count, 6u);
        EXPECT_GT(products->device, 0u);
    });
}

TEST(V18_vendor_products, wait_for_what_is_deferred) {
    auto random = seeded_random();
    const std::size_t n = 20;
    const auto a = small_numbers<double>(random, n * n);
    on_contexts_with_library([&](const context& all) {
        const device on = all.device(0);
        auto memory = on.mixed_buffer<double>(n * n);
        vector<double> x = as_vector(memory.range(0, n * n)), y(context({on}), n * n);
        user_event go;
        const event written = memory.write(std::span<const double>(a), event(go));
        y = matmul(balm::view(x, {n, n}), balm::view(x, {n, n}), library);
        go.complete();
        EXPECT_EQ(values_of<double>(y), looped<double>("ik", {n, n}, a, "kj", {n, n}, a, "ij"));
    });
}

TEST(V18_vendor_products, are_described) {
    on_all_devices([](const device& on) {
        const context ctx({on});
        const runtime::matrix_library found = library_of(on);
        const vector<double> x(ctx, 64 * 64);
        const vector<int> whole(ctx, 64 * 64);
        const vector<std::complex<float>> z(ctx, 64 * 64);
        const auto A = balm::view(x, {64, 64});
        const auto W = balm::view(whole, {64, 64});
        const auto Z = balm::view(z, {64, 64});
        EXPECT_THAT(describe_matmul(A, A), testing::StartsWith("64 x 64 by 64 x 64, f64: Balm's "));
        EXPECT_THAT(describe_matmul(A, A), Not(HasSubstr("library")));
        EXPECT_THAT(describe_matmul(W, W, library),
                    HasSubstr("; not the vendor's library: it does not multiply i32\n"));
        EXPECT_THAT(
            describe_matmul(A, x(slice(0, 64)), library),
            HasSubstr(
                "sums along dimensions; not the vendor's library: the result is empty or too narrow\n"));
        EXPECT_THAT(
            describe_einsum("ij,ij->ij", A, A, library),
            HasSubstr(
                "fused into the expression that contains it; not the vendor's library: nothing is summed\n"));
        EXPECT_EQ(describe_einsum("ij,ij->ij", A, A),
                  "4096 products of 1 x 1 by 1 x 1, f64: fused into the expression that contains it\n");
        const std::size_t beyond = (std::size_t{1} << 31) + 8;
        const auto tall = cast<double>(element_index(0, 64 * beyond)) * x(slice(0, 1));
        EXPECT_THAT(describe_matmul(balm::view(tall, {beyond, 64}), A, library),
                    HasSubstr("; not the vendor's library: a size exceeds 31 bits\n"));
        const std::string own = describe_matmul(Z, Z);
        EXPECT_EQ(std::count(own.begin(), own.end(), '\n'), 4) << own;
        if (!found.is_found) {
            EXPECT_THAT(describe_matmul(A, A, library), HasSubstr(std::string(found.words)));
            return;
        }
        const std::string by(found.words);
        EXPECT_EQ(describe_matmul(A, A, library), "64 x 64 by 64 x 64, f64: " + by + "\n");
        EXPECT_EQ(describe_contract(A, {1}, A, {1}, library), "64 x 64 by 64 x 64, f64: " + by + "\n");
        EXPECT_EQ(describe_matmul(Z, Z, library), "64 x 64 by 64 x 64, complex f32: " + by + "\n");
    });
}

TEST(V18_vendor_products, what_the_library_does_not_multiply_is_right) {
    auto random = seeded_random();
    const auto a = small_numbers<int>(random, 20 * 20);
    on_all_contexts([&](const context& ctx) {
        const vector<int> x(ctx, a);
        const view<const int> A(x, {20, 20});
        EXPECT_EQ(values_of<int>(matmul(A, A, library)),
                  looped<int>("ik", {20, 20}, a, "kj", {20, 20}, a, "ij"));
        EXPECT_EQ(values_of<int>(matmul(A, A(all, 3), library)), values_of<int>(matmul(A, A(all, 3))));
        EXPECT_EQ(values_of<int>(einsum("ij,ij->ij", A, A, library)), values_of<int>(A * A));
    });
}

TEST(V18_vendor_products, devices_compute_parts_of_the_result) {
    if (!devices_are_together()) GTEST_SKIP() << "one device: over_several_devices runs it";
    auto random = seeded_random();
    const context all(present_devices());
    std::vector<double> weights(all.size(), 3);
    weights[0] = 0;
    weights[1] = 2;
    const context ctx = all.weighted(weights);
    constexpr std::size_t rows = 37, inner = 21, columns = 18;
    const auto a = small_numbers<double>(random, rows * inner),
               b = small_numbers<double>(random, inner * columns);
    const vector<double> on_a(ctx, a), on_b(ctx, b);
    vector<double> y(ctx, rows * columns);
    y = matmul(view<const double>(on_a, {rows, inner}), view<const double>(on_b, {inner, columns}), library);
    EXPECT_EQ(values_of<double>(y), looped<double>("ik", {rows, inner}, a, "kj", {inner, columns}, b, "ij"));
}

TEST(V18_vendor_products, over_several_devices) {
    run_on_three_devices(
        "test_algorithm",
        "V18_vendor_products*.any_*:V18_vendor_products.stand_*:V18_vendor_products.devices_*");
}

}  // namespace
}  // namespace balm::test
