// Sizes that no memory has, negative ones among them, wherever a user may give one: a sentence, and nothing
// done. And sizes of 0, which are like others.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "kernel/run.hpp"
#include "null_driver/device.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

/// Holds every product and sum of two numbers of 64 bits.
__extension__ using wide = __int128;

constexpr std::size_t beyond = (std::size_t{1} << 62) + 6, negative = SIZE_MAX;
constexpr std::size_t hostile[] = {0,
                                   1,
                                   2,
                                   4,
                                   24,
                                   (1u << 31) - 1,
                                   1u << 31,
                                   (std::size_t{1} << 31) + 1,
                                   std::size_t{1} << 32,
                                   std::size_t{1} << 61,
                                   std::size_t{1} << 62,
                                   beyond,
                                   std::size_t{1} << 63,
                                   SIZE_MAX - 1,
                                   SIZE_MAX};

device null_device() {
    return device(runtime::device_state::make(std::make_unique<null::device>(runtime::dialect::opencl_c)));
}

/// The number of elements in wide arithmetic, if a shape may have it.
std::optional<std::size_t> count_of(std::span<const std::size_t> sizes) {
    wide product = 1;
    bool is_empty = false;
    for (const std::size_t size : sizes) {
        if (size == 0)
            is_empty = true;
        else
            product *= size;
        if (product > shape::max_elements) return std::nullopt;
    }
    return is_empty ? 0 : static_cast<std::size_t>(product);
}

template <class F>
bool is_refused(F&& f) {
    try {
        f();
        return false;
    } catch (const usage_error&) {
        return true;
    }
}

TEST(V8_sizes, of_shapes_have_a_product_that_is_exact) {
    for (const std::size_t a : hostile)
        for (const std::size_t b : hostile) {
            for (const std::size_t c : hostile) {
                const std::array sizes{a, b, c};
                const std::optional<std::size_t> expected = count_of(sizes);
                EXPECT_EQ(is_refused([&] { shape(a, b, c); }), !expected) << a << ' ' << b << ' ' << c;
                EXPECT_EQ(is_refused([&] { shape{std::span<const std::size_t>(sizes)}; }), !expected);
                EXPECT_EQ(expected ? shape(a, b, c).count() : 0, expected.value_or(0));
            }
        }
    EXPECT_THAT(message_of<usage_error>([] { shape(beyond, 4); }),
                HasSubstr("An array of 4611686018427387910 x 4 elements was requested; the product"));
    EXPECT_THAT(message_of<usage_error>([] { shape(-1, -1); }),
                HasSubstr("An array of -1 x -1 elements was requested; a size cannot be negative"));
    EXPECT_THAT(message_of<usage_error>([] { shape(std::int8_t{-3}); }), HasSubstr("of -3 elements"));
    EXPECT_THAT(message_of<usage_error>([] { shape(0, -1); }), HasSubstr("0 x -1"));
    EXPECT_THAT(message_of<usage_error>([] { shape(std::span<const std::size_t>()); }),
                HasSubstr("0 dimensions"));
}

/// Whatever takes a size: called with each hostile one.
struct entry {
    const char* name;
    std::function<void(std::size_t)> take;
    std::function<bool(std::size_t)> is_right;  ///< whether it may be taken
};

TEST(V8_sizes, are_refused_wherever_they_are_not_the_elements_own) {
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 24;
        vector<int> x(ctx, n, 3);
        const vector<int> fixed(ctx, n, 3);
        auto M = view(x, {4, 6});
        const auto of_index = element_index(0, n);
        const auto is_divisor = [](std::size_t size) { return size == 6; };
        const auto is_count = [](std::size_t size) { return size == 24; };
        const auto is_inside = [](std::size_t size) { return size < 4; };
        const entry entries[] = {
            {"view", [&](std::size_t s) { static_cast<void>(view(x, {s})); }, is_count},
            {"view by 4",
             [&](std::size_t s) {
                 static_cast<void>(view(x, {s, 4}));
             },
             is_divisor},
            {"view from 4",
             [&](std::size_t s) {
                 static_cast<void>(view(fixed, {4, s}));
             },
             is_divisor},
            {"view of an expression",
             [&](std::size_t s) {
                 static_cast<void>(view(x + 1, {s, 4}));
             },
             is_divisor},
            {"view of indices",
             [&](std::size_t s) {
                 static_cast<void>(view(of_index, {s, 4}));
             },
             is_divisor},
            {"reshape",
             [&](std::size_t s) {
                 (void)M.reshape({s, 4});
             },
             is_divisor},
            {"reshape of positions",
             [&](std::size_t s) {
                 (void)x[of_index].reshape({s, 4});
             },
             is_divisor},
            {"broadcast, kept",
             [&](std::size_t s) {
                 (void)M.broadcast({4, s});
             },
             is_divisor},
            {"broadcast",
             [&](std::size_t s) {
                 (void)M.broadcast({s, 4, 6});
             },
             [](std::size_t s) { return s <= shape::max_elements / 24; }},
            {"position", [&](std::size_t s) { (void)M(s, 0); }, is_inside},
            {"element", [&](std::size_t s) { static_cast<void>(fixed[s]); },
             [](std::size_t s) { return s < 24; }},
            {"set", [&](std::size_t s) { x.set(s, 3); }, [](std::size_t s) { return s < 24; }},
            {"along", [&](std::size_t s) { static_cast<void>(balm::sum(M, balm::along(s))); },
             [](std::size_t s) { return s < 2; }},
            {"along 32 bits", [&](std::size_t s) { static_cast<void>(balm::sum(M, balm::along(s << 32))); },
             [](std::size_t s) { return s << 32 == 0; }},
            {"indices", [&](std::size_t s) { static_cast<void>(element_index(0, s)); },
             [](std::size_t s) { return s <= shape::max_elements; }},
            {"late indices",
             [&](std::size_t s) {
                 static_cast<void>(element_index(std::numeric_limits<std::int64_t>::max() - 2, s));
             },
             [](std::size_t s) { return s <= 2; }},
        };
        for (const entry& each : entries)
            for (const std::size_t size : hostile)
                EXPECT_EQ(is_refused([&] { each.take(size); }), !each.is_right(size))
                    << each.name << ' ' << size;
        for (const int& value : x.to_host()) EXPECT_EQ(value, 3);
    });
}

TEST(V8_sizes, of_views_cannot_wrap_to_those_of_the_vector) {
    on_all_contexts([](const context& ctx) {
        vector<int> x(ctx, 24, 3);
        EXPECT_THAT(message_of<usage_error>([&] {
                        view(x, {beyond, std::size_t{4}}) = 7;
                    }),
                    HasSubstr("4611686018427387910 x 4"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(view(x, shape(-1, -1))); }),
                    HasSubstr("negative"));
        const vector<int> one(ctx, 1, 3);
        EXPECT_THROW(static_cast<void>(view(one, shape(-1, -1))), usage_error);
        EXPECT_EQ(balm::sum(x), 72);
    });
}

TEST(V8_sizes, of_vectors_that_no_device_has_are_refused) {
    on_all_contexts([](const context& ctx) {
        EXPECT_THAT(message_of<usage_error>([&] { vector<float>(ctx, negative); }),
                    HasSubstr("An array of -1 elements"));
        EXPECT_THAT(message_of<usage_error>([&] { vector<balm::double16>(ctx, std::size_t{1} << 60); }),
                    AllOf(HasSubstr("1152921504606846976 elements of 128 bytes"), HasSubstr("2^63")));
        EXPECT_THROW(vector<std::int8_t>(ctx, std::size_t{1} << 61), out_of_memory_error);
        EXPECT_THROW(vector<std::int64_t>(element_index(0, std::size_t{1} << 62)), usage_error);
        EXPECT_THAT(message_of<usage_error>([&] { multivector<float, 2>(ctx, negative); }),
                    HasSubstr("-1 elements"));
        const std::vector<float> list(3);
        EXPECT_THAT(message_of<usage_error>([&] { vector<float>(ctx, list.end(), list.begin()); }),
                    HasSubstr("-3 elements"));
    });
}

TEST(V8_sizes, of_host_arrays_do_not_wrap) {
    EXPECT_THROW(host_array<int>(shape(beyond, 4)), usage_error);
    EXPECT_THAT(message_of<usage_error>([] { host_array<double>(shape(std::size_t{1} << 61)); }),
                HasSubstr("elements of 8 bytes"));
    EXPECT_TRUE(host_array<double>(shape(0, std::size_t{1} << 61)).empty());
}

TEST(V8_sizes, of_buffers_and_their_parts_do_not_wrap) {
    const device dev = null_device();
    auto b = dev.mixed_buffer<float>(4, 6);
    const auto is_refused_anyhow = [](auto&& f) {
        try {
            f();
            return false;
        } catch (const error&) {
            return true;
        }
    };
    for (const std::size_t s : hostile) {
        EXPECT_EQ(is_refused_anyhow([&] { dev.in_buffer<double>(s, 1u << 31); }),
                  s > std::size_t{1} << 28);  // what the null device has
        EXPECT_EQ(is_refused([&] { b.range(0, s); }), s > 24) << s;
        EXPECT_EQ(is_refused([&] { b.range(s, 24); }), s > 24) << s;
        EXPECT_EQ(is_refused([&] { b.range(s, s + 1); }), s > 23) << s;
        EXPECT_EQ(is_refused([&] { b.from(s); }), s > 24) << s;
        EXPECT_EQ(is_refused([&] { b.reshaped({s, 4}); }), s != 6) << s;
        EXPECT_EQ(is_refused([&] { b.region({s, 0}, {1, 1}); }), s > 3) << s;
        EXPECT_EQ(is_refused([&] { b.region({0, 0}, {1, s}); }), s > 6) << s;
        EXPECT_EQ(is_refused([&] { b.region({1, s}, {2, 2}); }), s > 4) << s;
    }
    EXPECT_THAT(message_of<usage_error>([&] { dev.mixed_buffer<float>(-1, -1); }), HasSubstr("-1 x -1"));
    EXPECT_THAT(message_of<usage_error>([&] { dev.pinned_array<double>(std::size_t{1} << 61); }),
                HasSubstr("2^63 bytes"));
    EXPECT_THAT(message_of<usage_error>([&] { dev.image<float>(-1, 4); }), HasSubstr("-1 x 4"));
}

TEST(A2_device_pointers, to_elements_that_no_memory_has_are_refused) {
    const device dev = null_device();
    const device_pointer<float> p = dev.allocate<float>(24);
    EXPECT_EQ(p.range(24).size(), 24u);
    EXPECT_EQ((p + 24).range(0).size(), 0u);
    for (const std::size_t s : hostile) EXPECT_EQ(is_refused([&] { p.range(s); }), s > 24) << s;
    for (const std::size_t s : hostile) EXPECT_EQ(is_refused([&] { (p + 20).range(s); }), s > 4) << s;
    constexpr std::ptrdiff_t most = std::numeric_limits<std::ptrdiff_t>::max();
    for (const std::ptrdiff_t far : {most, -most, std::numeric_limits<std::ptrdiff_t>::min(), most / 4 + 1}) {
        EXPECT_THROW(p + far, usage_error) << far;
        EXPECT_THROW(p - far, usage_error) << far;
    }
    EXPECT_THAT(message_of<usage_error>([&] { p - most; }), HasSubstr("which is out of range"));
    EXPECT_THROW((p + (1 << 30)).range(1), usage_error);
}

TEST(V8_views, are_sliced_by_any_numbers) {
    using limits = std::numeric_limits<std::int64_t>;
    constexpr std::int64_t n = 6;
    constexpr std::int64_t numbers[] = {limits::min(), limits::min() + 1, -7, -2, -1, 0, 1, 3, 5, 6, 7,
                                        limits::max()};
    on_all_contexts([&](const context& ctx) {
        vector<int> x(ctx, {0, 1, 2, 3, 4, 5});
        for (const std::int64_t begin : numbers)
            for (const std::int64_t end : numbers)
                for (const std::int64_t stride : numbers) {
                    // The positions in wide arithmetic.
                    std::vector<std::int64_t> expected;
                    bool is_inside = stride != 0;
                    wide at = begin;
                    for (; is_inside && (stride > 0 ? at < end : at > end); at += stride) {
                        is_inside = at >= 0 && at < n;
                        expected.push_back(static_cast<std::int64_t>(at));
                    }
                    std::optional<view<int>> got;
                    EXPECT_EQ(is_refused([&] { got = x(balm::slice(begin, end, stride)); }), !is_inside)
                        << begin << ' ' << end << ' ' << stride;
                    if (!is_inside || !got) continue;
                    ASSERT_EQ(got->size(), expected.size());
                    // Sliced once more, since strides are multiplied then.
                    const auto again = (*got)(balm::reversed)
                                           .reshape({expected.size(), std::size_t{1}})(
                                               balm::all, balm::slice(0, 1, limits::max()));
                    if (stride != 1 || begin == end) {
                        const host_array<int> values = again.to_host();
                        for (std::size_t k = 0; k < expected.size(); ++k)
                            EXPECT_EQ(values[k], expected[expected.size() - 1 - k]);
                    }
                }
    });
}

TEST(V3_vectors, that_cannot_be_read_are_not_printed_in_part) {
    on_all_devices([](const device& dev) {
        const context ctx(std::vector<device>{dev});
        for (const std::size_t n : {3u, 100u}) {
            vector<int> x(ctx, n, 1);
            auto memory = x.elements();
            balm::detail::storage_free(*memory.storage());
            std::ostringstream to;
            EXPECT_THROW(to << x, error);
            EXPECT_EQ(to.str(), "");
        }
    });
}

TEST(V3_vectors, without_elements_are_arguments_like_others) {
    const auto scale = kernel<1>("scale(n, in, out)", [](Int n, In<float> in, Out<float> out) {
        Index i = global_id(0);
        IF (i < n) {
            out[i] = 2.f * in[i];
        }
    });
    const auto text = source_kernel<1, void(int, In<float>, Out<float>)>(
        "copy",
        "kernel void copy(int n, global const float* in, global float* out) {\n"
        "    int i = get_global_id(0);\n"
        "    if (i < n) out[i] = in[i];\n"
        "}");
    const auto first_or_zero = balm::function("first_or_zero(i, n, x)", [](Index i, Int n, In<float> x) {
        Float found = 0.f;
        IF (i < n) {
            found = x[i];
        }
        return found;
    });
    on_all_devices([&](const device& dev) {
        const context ctx(std::vector<device>{dev});
        const vector<float> empty(ctx, 0);
        vector<float> written(ctx, 0), four(ctx, 4, 1.f);
        const auto buffer = dev.in_buffer<float>(0);
        dev.execute(scale(0, empty, four), {4});
        dev.execute(scale(4, four, written), {0});  // an empty grid
        dev.execute(scale(0, four, written), {4});
        dev.execute(scale(0, empty, written), {4});
        dev.execute(scale(0, buffer, written), {4});
        dev.execute(text(0, empty, four), {4});
        for (const float value : four.to_host()) EXPECT_EQ(value, 1.f);

        four = first_or_zero(balm::element_index(), 0, empty);
        for (const float value : four.to_host()) EXPECT_EQ(value, 0.f);
        written = first_or_zero(balm::element_index(), 0, empty);
        EXPECT_TRUE(written.empty());
        balm::eval(2 * empty);
    });
}

TEST(V3_vectors, without_a_device_are_refused_as_arguments) {
    const auto scale = kernel<1>("scale(in, out)", [](In<float> in, Out<float> out) {
        Index i = global_id(0);
        out[i] = 2.f * in[i];
    });
    on_all_devices([&](const device& dev) {
        const context ctx(std::vector<device>{dev});
        const vector<float> none;
        vector<float> four(ctx, 4, 1.f), unmade;
        EXPECT_THAT(message_of<usage_error>([&] { dev.execute(scale(none, four), {4}); }),
                    HasSubstr("argument 1 of kernel 'scale' is an empty vector without a device"));
        EXPECT_THAT(message_of<usage_error>([&] { dev.execute(scale(four, unmade), {4}); }),
                    HasSubstr("argument 2 of kernel 'scale'"));
        EXPECT_THAT(message_of<usage_error>([&] { four = four[balm::element_index()] + none; }),
                    HasSubstr("an expression of 0 elements is assigned to a vector of 4"));
        EXPECT_THAT(message_of<usage_error>([&] { balm::native(none); }), HasSubstr("without a device"));
    });
}

TEST(V10_reductions, of_no_elements_are_what_the_page_says) {
    on_all_contexts([](const context& ctx) {
        const vector<int> empty(ctx, 0);
        const auto join = balm::function("join", [](Int a, Int b) { return a | b; });
        EXPECT_EQ(balm::sum(empty), 0);
        EXPECT_EQ(balm::product(empty), 1);
        EXPECT_EQ(balm::count(empty > 0), 0);
        EXPECT_FALSE(balm::any(empty));
        EXPECT_TRUE(balm::all(empty));
        EXPECT_EQ(balm::fold(empty, 8, join), 8);
        EXPECT_EQ(balm::sum_compensated(balm::cast<float>(empty)), 0.f);
        EXPECT_THAT(message_of<usage_error>([&] { (void)balm::min(empty); }),
                    HasSubstr("the min of no elements"));
        EXPECT_THROW((void)balm::max(empty), usage_error);
        EXPECT_THROW((void)balm::arg_min(empty), usage_error);
        EXPECT_THROW((void)balm::arg_max(empty), usage_error);
        EXPECT_EQ(std::get<0>(balm::reduce(balm::sum_of(empty), balm::product_of(empty))), 0);
        EXPECT_THROW(static_cast<void>(balm::reduce(balm::sum_of(empty), balm::max_of(empty))), usage_error);

        const auto M = view(empty, {4, 0});
        const vector<int> sums = balm::sum(M, balm::along(1)), none = balm::sum(M, balm::along(0));
        EXPECT_EQ(sums.to_host(), std::vector<int>({0, 0, 0, 0}));
        EXPECT_TRUE(none.empty());
        EXPECT_THROW(static_cast<void>(balm::max(M, balm::along(1))), usage_error);
        EXPECT_TRUE(vector<int>(balm::max(M, balm::along(0))).empty());
        if (ctx.size() == 1)
            EXPECT_THAT(balm::generated_source(2 * empty), HasSubstr("elementwise"));
        else
            EXPECT_THROW(balm::generated_source(2 * empty), usage_error);
    });
}

}  // namespace

}  // namespace balm::test
