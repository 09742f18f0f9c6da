// Names of parameters that are taken from the text of a lambda.

#include "balm/kernel/parameter_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/printed.hpp"
#include "kernel/run.hpp"

namespace balm::test {

using namespace balm::dsl;
using testing::HasSubstr;

namespace {

std::string words_of(std::string_view lambda) { return balm::detail::with_parameter_names("f", lambda); }

}  // namespace

TEST(C7_parameter_names, are_those_of_the_lambda) {
    EXPECT_EQ(words_of("[](Float a, In<float> x, Mixed<float> y) { y[0] = a; }"), "f(a, x, y)");
    EXPECT_EQ(
        words_of("[&, n = g(1, 2)] (const Float& a,\n  In<float, 2>x) mutable { return h([](Int b) {}); }"),
        "f(a, x)");
    EXPECT_EQ(words_of("[k = p->size()](balm::dsl::Array<Float, (3 + 1)> many, [[maybe_unused]] Int _1) {}"),
              "f(many, _1)");
    EXPECT_EQ(words_of("[](Grid<2> g, Out<int> out) {}"), "f(out)");
    EXPECT_EQ(words_of("[](balm::dsl::Grid<1>, Out<int> out) -> void {}"), "f(out)");
}

TEST(C7_parameter_names, are_left_out_where_one_is_missing) {
    for (const char* each :
         {"", "g", "g(a, b)", "[]", "[] {}", "[]() {}", "[](void) {}", "[](Float a, In<float>) {}",
          "[](Float a, ", "[](balm::dsl::Float) {}", "[](const Float) {}", "[n = a < b](Float x) {}",
          "[n = a > b](Float x) {}", "[]<class T>(T x) {}", "](", "[)", "[(])"})
        EXPECT_EQ(words_of(each), "f") << each;
}

TEST(C7_parameter_names, are_in_the_printed_source) {
    const auto square = balm::function(BALM_NAMED(square, [](Float value) { return value * value; }));
    const auto saxpy = balm::kernel<1>(BALM_NAMED(saxpy, [&](Float a, In<float> x, Mixed<float> y) {
        Index i = global_id(0);
        y[i] = a * square(x[i]) + y[i];
    }));
    EXPECT_THAT(printed(saxpy.function()), HasSubstr("y[gid] = fma(a, square(x[gid]), y[gid]);"));
    EXPECT_THAT(printed(square.function()), HasSubstr("float square(float value)"));
    on_all_devices([&](const device& on) {
        auto y = on.mixed_buffer<float>(4);
        y.fill(1);
        on.execute(saxpy(2.f, in(on, host_array<float>{1, 2, 3, 4}), y), {4});
        EXPECT_THAT(y.read(), testing::ElementsAre(3, 9, 19, 33));
    });
}

}  // namespace balm::test
