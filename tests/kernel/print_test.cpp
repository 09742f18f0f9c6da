// Printing from kernels: the text is that of {fmt} on the host, and the same on every device.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "emit/printer.hpp"
#include "kernel/print/print_records.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

/// What is printed on a device while this lives.
class listener {
public:
    explicit listener(const device& on) : context_(std::vector<device>{on}) { context_.print_to(text_); }
    context& told() { return context_; }
    /// Once all that was launched is done.
    std::string text() {
        context_.device().finish();
        return text_.str();
    }

private:
    std::ostringstream text_;
    context context_;
};

/// The text of n work-items of a kernel.
template <class Kernel, class... A>
std::string output_of(const device& on, const Kernel& kernel, std::size_t n, const A&... arguments) {
    listener heard(on);
    on.execute(kernel(arguments...), {n});
    return heard.text();
}

/// Every specification for every value, in the device's words and the host's.
template <class T>
void expect_formats(const device& on, const std::vector<std::string>& specifications, std::vector<T> values) {
    std::mt19937_64 random = seeded_random();
    for (int k = 0; k < 20; ++k) values.push_back(random_value<T>(random));
    const auto kernel = balm::kernel<1>("formats(values)", [&](In<T> in) {
        Var<T> x = in[global_id(0)];
        for (const std::string& each : specifications) print("[{:" + each + "}]", x);
        print("\n");
    });
    host_array<T> host{shape(values.size())};
    std::copy(values.begin(), values.end(), host.begin());
    std::string expected;
    for (const T value : values) {
        for (const std::string& each : specifications)
            expected += fmt::format(fmt::runtime("[{:" + each + "}]"), value);
        expected += "\n";
    }
    EXPECT_EQ(output_of(on, kernel, values.size(), test::in(on, host)), expected);
}

template <class T>
void expect_integer_formats(const device& on) {
    using limits = std::numeric_limits<T>;
    std::vector<std::string> specifications{"",   "d", "6",  "<6", "^7", "*>9",
                                            "08", "x", "#X", "#b", "o",  "#010x"};
    if (std::is_signed_v<T>) specifications.insert(specifications.end(), {"+", " ", "+5d"});
    expect_formats<T>(on, specifications, {0, 1, limits::max(), limits::lowest()});
}
template <class T>
void expect_floating_formats(const device& on) {
    using limits = std::numeric_limits<T>;
    expect_formats<T>(on,
                      {"", "f", "F", "e", "E", "g", "G", ".3e", ".3E", "10.2f", "+.1f", "08.3f", "a", "#g"},
                      {T(0), -T(0), limits::max(), limits::min(), limits::denorm_min(), limits::infinity(),
                       -limits::infinity(), limits::quiet_NaN()});
}

struct tag {
    std::int32_t id;
    bool is_set;
};
BALM_STRUCT(tag, id, is_set)

struct body {
    float3 pos;
    std::int8_t kind;
    double mass;
    half small;
    tag tags[2];
    float matrix[2][2];
    std::uint64_t last;
};
BALM_STRUCT(body, pos, kind, mass, small, tags, matrix, last)

std::string text_of(const tag& t) { return fmt::format("{{id: {}, is_set: {}}}", t.id, t.is_set); }
std::string text_of(const body& b) {
    return fmt::format(
        "{{pos: ({}, {}, {}), kind: {}, mass: {}, small: {}, tags: [{}, {}], matrix: [{}, {}, {}, {}], "
        "last: {}}}",
        b.pos.x, b.pos.y, b.pos.z, b.kind, b.mass, static_cast<float>(b.small), text_of(b.tags[0]),
        text_of(b.tags[1]), b.matrix[0][0], b.matrix[0][1], b.matrix[1][0], b.matrix[1][1], b.last);
}
body random_body(std::mt19937_64& random) {
    body b{};
    for (int k = 0; k < 3; ++k) b.pos[k] = random_value<float>(random);
    b.kind = random_value<std::int8_t>(random);
    b.mass = random_value<double>(random);
    b.small = half(std::uniform_real_distribution<float>(-100, 100)(random));
    for (tag& t : b.tags) t = {random_value<std::int32_t>(random), random_value<bool>(random)};
    for (auto& row : b.matrix)
        for (float& x : row) x = random_value<float>(random);
    b.last = random();
    return b;
}

template <class T, int N>
std::string lanes_words(const vec<T, N>& v, const std::string& specification) {
    std::string text = "(";
    for (int k = 0; k < N; ++k)
        text += (k == 0 ? "" : ", ") + fmt::format(fmt::runtime("{:" + specification + "}"), v[k]);
    return text + ")";
}
template <class T, int N>
void expect_printed_lanes(const device& on, const std::string& specification) {
    std::mt19937_64 random = seeded_random();
    host_array<vec<T, N>> values{shape(3)};
    for (auto& v : values)
        for (int k = 0; k < N; ++k) v[k] = random_value<T>(random);
    const auto kernel = balm::kernel<1>("lanes(values)", [&](In<vec<T, N>> in) {
        Var<vec<T, N>> v = in[global_id(0)];
        print("{} {:" + specification + "}\n", v, in[global_id(0)]);
    });
    std::string expected;
    for (const auto& v : values) expected += lanes_words(v, "") + " " + lanes_words(v, specification) + "\n";
    EXPECT_EQ(output_of(on, kernel, 3, test::in(on, values)), expected);
}

/// The message with which a print in a kernel is refused; `line` is where it stood.
template <class Body>
std::string refusal_of_print(Body&& body) {
    return message_of<trace_error>([&] {
        balm::kernel<1>("refused",
                        [&](In<float> x, In<int> n, In<float4> v, In<tag> t) { body(x, n, v, t); });
    });
}

}  // namespace

TEST(A6_printing, formats_integers_as_fmt_does) {
    on_all_devices([](const device& on) {
        expect_integer_formats<std::int8_t>(on);
        expect_integer_formats<std::uint8_t>(on);
        expect_integer_formats<std::int16_t>(on);
        expect_integer_formats<std::uint16_t>(on);
        expect_integer_formats<std::int32_t>(on);
        expect_integer_formats<std::uint32_t>(on);
        expect_integer_formats<std::int64_t>(on);
        expect_integer_formats<std::uint64_t>(on);
        expect_formats<std::int8_t>(on, {"c"}, {'a', 'Z', '~'});
    });
}

TEST(A6_printing, formats_floating_values_and_booleans_as_fmt_does) {
    on_all_devices([](const device& on) {
        expect_floating_formats<float>(on);
        if (on.info().has_double) expect_floating_formats<double>(on);
        expect_formats<bool>(on, {"", "s", "d", ">7", "#x"}, {true, false});
    });
}

TEST(A6_printing, formats_half_as_the_float_it_is_computed_with) {
    on_all_devices([](const device& on) {
        const float values[] = {0.f, 1.5f, -65504.f, 0.1f};
        host_array<half> host{shape(4)};
        std::string expected;
        for (std::size_t k = 0; k < 4; ++k) {
            host[k] = half(values[k]);
            expected += fmt::format("{:.4f};", static_cast<float>(host[k]));
        }
        const auto kernel =
            balm::kernel<1>("halves", [](In<half> in) { print("{:.4f};", in[global_id(0)]); });
        EXPECT_EQ(output_of(on, kernel, 4, test::in(on, host)), expected);
    });
}

TEST(A6_printing, takes_positions_widths_from_arguments_and_braces) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("fields", [] {
            Int i = cast<int>(global_id(0));
            print("{1} {0} {1:>{2}} {{{0}}} }}{{ ", i, i * 10, i + 3);
            print("{:>{}.{}f}\n", cast<float>(i) / 3.f, i + 6, 2);
        });
        std::string expected;
        for (int i = 0; i < 5; ++i)
            expected += fmt::format("{1} {0} {1:>{2}} {{{0}}} }}{{ ", i, i * 10, i + 3) +
                        fmt::format("{:>{}.{}f}\n", static_cast<float>(i) / 3.f, i + 6, 2);
        EXPECT_EQ(output_of(on, kernel, 5), expected);
    });
}

TEST(A6_printing, says_where_a_width_from_an_argument_cannot_be) {
    on_all_devices([](const device& on) {
        const auto kernel =
            balm::kernel<1>("widths", [] { print("{:{}};", 7, cast<int>(global_id(0)) - 1); });
        const std::string text = output_of(on, kernel, 2);
        EXPECT_THAT(text,
                    AllOf(HasSubstr("cannot be formatted"), HasSubstr("negative width"), HasSubstr("7;")));
    });
}

TEST(A6_printing, widths_and_precisions_end_at_4096) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("sizes", [] {
            Int i = cast<int>(global_id(0));
            print("{:{}}{:.{}f};", 7, 4095 + i, 1.f, 4095 + i);
        });
        EXPECT_EQ(output_of(on, kernel, 2),
                  fmt::format("{:4095}{:.4095f};", 7, 1.f) + fmt::format("{:4096}{:.4096f};", 7, 1.f));
        const auto beyond = balm::kernel<1>("beyond", [](Int width, Long precision) {
            print("{:{}}", 7, width);
            print("{:.{}f}", 1.f, precision);
        });
        EXPECT_THAT(output_of(on, beyond, 1, 1000000000, std::int64_t{1} << 40),
                    AllOf(HasSubstr("a width or precision of 1000000000 is more than 4096"),
                          HasSubstr("a width or precision of 1099511627776 is more than 4096")));
    });
}

TEST(A6_printing, takes_strings_and_numbers_of_the_host_at_their_word) {
    on_all_devices([](const device& on) {
        std::string word = "kept";
        const char* const letters = "letters";
        const auto kernel = balm::kernel<1>("host_values", [&] {
            print("{} {:>8} {} {:*^6} {} {} {:.2f} {} {}\n", word, letters, std::string_view("view"), "in",
                  'c', true, 2.5, 1.25f, std::uint64_t{1} << 63);
        });
        word = "changed";
        EXPECT_EQ(output_of(on, kernel, 1),
                  fmt::format("{} {:>8} {} {:*^6} {} {} {:.2f} {} {}\n", "kept", letters, "view", "in", 'c',
                              true, 2.5, 1.25f, std::uint64_t{1} << 63));
    });
}

TEST(A6_printing, prints_all_lanes_of_vectors) {
    on_all_devices([](const device& on) {
        expect_printed_lanes<float, 2>(on, ".2f");
        expect_printed_lanes<float, 3>(on, "+.1e");
        expect_printed_lanes<float, 4>(on, "10.3f");
        expect_printed_lanes<std::int32_t, 8>(on, "#x");
        expect_printed_lanes<std::uint8_t, 16>(on, "03");
        expect_printed_lanes<std::int64_t, 4>(on, "^22");
        expect_printed_lanes<std::uint16_t, 2>(on, "o");
        const auto kernel = balm::kernel<1>("some_lanes", [] {
            Float4 v(1.f, 2.f, 3.f, 4.f);
            v.w = 0.5f;
            print("{} {} {}", v.zyx, v.w, float2{7, 8});
        });
        EXPECT_EQ(output_of(on, kernel, 1), "(3, 2, 1) 0.5 (7, 8)");
    });
}

TEST(A6_printing, prints_structures_by_their_members) {
    on_all_devices([](const device& on) {
        if (!on.info().has_double) GTEST_SKIP() << "no f64";
        std::mt19937_64 random = seeded_random();
        host_array<body> bodies{shape(4)};
        for (body& b : bodies) b = random_body(random);
        const auto kernel = balm::kernel<1>("structures", [](In<body> in) {
            Index i = global_id(0);
            Var<body> b = in[i];
            print("{}\n{} {}\n", b, in[i], b.tags[1]);
        });
        std::string expected;
        for (const body& b : bodies)
            expected += text_of(b) + "\n" + text_of(b) + " " + text_of(b.tags[1]) + "\n";
        EXPECT_EQ(output_of(on, kernel, 4, test::in(on, bodies)), expected);
    });
}

TEST(A6_printing, applies_a_specification_to_each_number_of_a_structure) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("tags", [](In<tag> in) { print("{:#04x}", in[0]); });
        host_array<tag> one{shape(1)};
        one[0] = {10, true};
        EXPECT_EQ(output_of(on, kernel, 1, test::in(on, one)), "{id: 0x0a, is_set: 0x01}");
    });
}

TEST(A6_printing, prints_pointers_as_addresses) {
    on_all_devices([](const device& on) {
        auto memory = on.mixed_buffer<int>(8);
        auto addresses = on.out_buffer<std::uint64_t>(3);
        const auto kernel = balm::kernel<1>("pointers", [](Mixed<int> m, Out<std::uint64_t> out) {
            Ptr<int> p = address_of(m[2]);
            Int own = 5;
            PrivatePtr<int> q = address_of(own);
            out[0] = p.address();
            out[1] = (p + 3).address();
            out[2] = q.address();
            print("{} {:>24} {} {}", p, p + 3, q, m);
        });
        const std::string text = output_of(on, kernel, 1, memory, addresses);
        const auto got = addresses.read();
        const auto pointer = [&](std::size_t k) { return reinterpret_cast<const void*>(got[k]); };
        const auto* const start = static_cast<const int*>(pointer(0)) - 2;
        EXPECT_EQ(text, fmt::format("{} {:>24} {} {}", pointer(0), pointer(1), pointer(2),
                                    static_cast<const void*>(start)));
        EXPECT_EQ(got[1] - got[0], 3 * sizeof(int));
    });
}

TEST(A6_printing, goes_by_work_items_and_within_one_by_the_program) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<2>("order(turns)", [](In<int> turns) {
            Index row = global_id(1) * global_size(0) + global_id(0);
            for (Int k : range(turns[row])) print("{}.{} turn {}\n", global_id(0), global_id(1), k);
            IF (row % 3 == 0) {
                print("third\n");
            }
            ELSE { print("blk {:03} thd {:03}\n", group_id(0), local_id(0)); }
        });
        constexpr std::size_t width = 48, height = 20;
        std::mt19937_64 random = seeded_random();
        const auto turns = random_values<int>(random, width * height, 0, 5);
        std::string expected;
        for (std::size_t row = 0; row < width * height; ++row) {
            for (int k = 0; k < turns[row]; ++k)
                expected += fmt::format("{}.{} turn {}\n", row % width, row / width, k);
            expected += row % 3 == 0 ? "third\n"
                                     : fmt::format("blk {:03} thd {:03}\n", row % width / 8, row % width % 8);
        }
        listener heard(on);
        on.execute(kernel(test::in(on, turns)), {width, height}, {8, 4});
        EXPECT_EQ(heard.text(), expected);
    });
}

TEST(A6_printing, goes_by_indices_inside_grid_range) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("shared_out", [](Long n) {
            print("begin {}\n", global_id(0));
            for (Index i : grid_range(n)) {
                print("index {}\n", i);
                IF (i % 2 == 1) {
                    print("odd {}\n", i);
                }
            }
            print("end {}\n", global_id(0));
        });
        for (const std::size_t items : {1, 7, 64}) {
            std::string expected;
            for (std::size_t k = 0; k < std::max<std::size_t>(items, 100); ++k) {
                if (k < items) expected += fmt::format("begin {}\n", k);
                if (k < 100) expected += fmt::format("index {}\n", k);
                if (k < 100 && k % 2 == 1) expected += fmt::format("odd {}\n", k);
                if (k < items) expected += fmt::format("end {}\n", k);
            }
            EXPECT_EQ(output_of(on, kernel, items, 100), expected);
        }
    });
}

/// The place of a record in the order has a few bits for the number of the grid_range.
TEST(A6_printing, goes_through_many_grid_ranges_in_order) {
    on_all_devices([](const device& on) {
        constexpr int ranges = 140;
        const auto kernel = balm::kernel<1>("many_ranges", [](Long n) {
            for (int k = 0; k < ranges; ++k) {
                for (Index i : grid_range(n)) {
                    IF (i == n - 1) {
                        print("{} of range {}\n", i, k);
                    }
                }
            }
            IF (global_id(0) == 4) {
                print("end\n");
            }
        });
        std::string expected;
        for (int k = 0; k < ranges; ++k) expected += fmt::format("4 of range {}\n", k);
        EXPECT_EQ(output_of(on, kernel, 5, 5), expected + "end\n");
    });
}

TEST(A6_printing, knows_offsets) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("moved", [] { print("{} ", global_id(0)); });
        listener heard(on);
        on.execute(kernel(), {4}, balm::offset(-2));
        EXPECT_EQ(heard.text(), "-2 -1 0 1 ");
    });
}

TEST(A6_printing, works_in_functions_that_call_each_other) {
    on_all_devices([](const device& on) {
        auto inner = balm::function("inner(x)", [](Int x) {
            print("inner {}\n", x);
            return x + 1;
        });
        auto outer = balm::function("outer(x)", [&](Int x) {
            print("outer {}\n", x);
            Int y = inner(x * 10);
            IF (y > 20) {
                inner(y);
            }
            return y;
        });
        auto quiet = balm::function("quiet(x)", [](Int x) { return x * x; });
        const auto kernel = balm::kernel<1>("calls(out)", [&](Out<int> out) {
            Int i = cast<int>(global_id(0));
            Int y = outer(i);
            print("kernel {}\n", inner(quiet(y)));
            out[i] = y;
        });
        constexpr int n = 6;
        std::string expected;
        const auto host_inner = [&](int x) {
            expected += fmt::format("inner {}\n", x);
            return x + 1;
        };
        for (int i = 0; i < n; ++i) {
            expected += fmt::format("outer {}\n", i);
            const int y = host_inner(i * 10);
            if (y > 20) host_inner(y);
            const int last = host_inner(y * y);
            expected += fmt::format("kernel {}\n", last);
        }
        auto out = on.out_buffer<int>(n);
        EXPECT_EQ(output_of(on, kernel, n, out), expected);
        expect_each(out.read(), [](std::size_t i) { return static_cast<int>(i) * 10 + 1; });
    });
}

TEST(A6_printing, works_beside_other_hidden_parameters) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("hidden(in)", [](In<int> in) {
            Index i = global_id(0) - global_offset(0);
            UInt odd = ballot(in[i] % 2 == 1);
            print("{}: {:#x}\n", global_id(0), odd);
        });
        std::mt19937_64 random = seeded_random();
        const auto values = random_values<int>(random, 64, 0, 100);
        listener heard(on);
        on.execute(kernel(test::in(on, values)), {64}, {64}, balm::offset(1000));
        std::string expected;
        for (std::size_t i = 0; i < 64; ++i) {
            std::uint32_t odd = 0;
            for (std::size_t lane = 0; lane < 32; ++lane)
                odd |= static_cast<std::uint32_t>(values[i / 32 * 32 + lane] % 2) << lane;
            expected += fmt::format("{}: {:#x}\n", 1000 + i, odd);
        }
        EXPECT_EQ(heard.text(), expected);
    });
}

TEST(A6_printing, works_in_functions_of_array_expressions) {
    on_all_contexts([](const context& ctx) {
        listener heard(ctx.device());
        auto shown = balm::function("shown(x)", [](Int x) {
            print("{};", x);
            return x + 1;
        });
        const std::vector<int> numbers{5, 3, 9};
        balm::vector<int> a(ctx, numbers), b(ctx, 3);
        b = shown(a);
        EXPECT_EQ(heard.text(), "5;3;9;");
        b = shown(a);  // from the cache of kernels
        EXPECT_EQ(heard.text(), "5;3;9;5;3;9;");
        const auto got = b.to_host();
        EXPECT_EQ(std::vector<int>(got.begin(), got.end()), (std::vector<int>{6, 4, 10}));
        EXPECT_EQ(balm::sum(shown(a)), 20);
        std::string text = heard.text().substr(12);
        std::multiset<char> digits(text.begin(), text.end());
        EXPECT_EQ(digits, (std::multiset<char>{'3', '5', '9', ';', ';', ';'}));
    });
}

TEST(A6_printing, takes_its_first_arguments_ahead_of_the_others) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("partial", [] {
            Int x = cast<int>(global_id(0));
            const auto line = printer("blk({:03}) thd({:03}) {} {}\n", group_id(0), x);
            x = 100;
            line("string1", x);
            line("string2", 2.5f);
            const auto nearly = line.with("string3");
            nearly(7);
            nearly(x + 1);
        });
        std::string expected;
        for (int i = 0; i < 2; ++i)
            for (const char* rest : {"string1 100", "string2 2.5", "string3 7", "string3 101"})
                expected += fmt::format("blk(000) thd({:03}) {}\n", i, rest);
        EXPECT_EQ(output_of(on, kernel, 2), expected);
    });
}

TEST(A6_printing, tells_programs_apart_by_their_words) {
    on_all_devices([](const device& on) {
        const auto saying = [](const std::string& word) {
            return balm::kernel<1>("say", [&] { print(word + " {}\n", global_id(0)); });
        };
        const auto one = saying("one"), two = saying("two");
        EXPECT_EQ(output_of(on, one, 1), "one 0\n");
        EXPECT_EQ(output_of(on, two, 1), "two 0\n");
        EXPECT_EQ(output_of(on, one, 1), "one 0\n");
    });
}

TEST(A6_printing, of_several_kernels_in_flight_comes_in_the_order_of_their_launches) {
    on_all_devices([](const device& on) {
        const auto first =
            balm::kernel<1>("first", [](Int k) { print("first {} of {}\n", global_id(0), k); });
        const auto second = balm::kernel<1>("second", [](Int k) { print("second {}\n", k); });
        listener heard(on);
        std::string expected;
        std::vector<event> events;
        for (int k = 0; k < 5; ++k) {
            events.push_back(on.execute(first(k), {2}));
            events.push_back(on.execute(second(k), {1}));
            expected += fmt::format("first 0 of {0}\nfirst 1 of {0}\nsecond {0}\n", k);
        }
        events.back().wait();
        EXPECT_EQ(heard.text(), expected);
    });
}

TEST(A6_printing, of_several_threads_keeps_launches_together) {
    on_all_devices([](const device& on) {
        constexpr int threads = 3, launches = 20, items = 8;
        const auto kernel = balm::kernel<1>(
            "threads", [](Int thread, Int launch) { print("{} {} {}\n", thread, launch, global_id(0)); });
        listener heard(on);
        std::vector<std::thread> running;
        for (int t = 0; t < threads; ++t)
            running.emplace_back([&, t] {
                balm::queue own = on.make_queue();
                for (int k = 0; k < launches; ++k) own.execute(kernel(t, k), {items});
            });
        for (std::thread& each : running) each.join();
        std::istringstream lines(heard.text());
        std::vector<int> next(threads, 0);
        for (int block = 0; block < threads * launches; ++block) {
            int thread = 0, launch = 0, item = 0;
            for (int i = 0; i < items; ++i) {
                int t = -1, k = -1;
                lines >> t >> k >> item;
                if (i == 0) {
                    thread = t;
                    launch = k;
                    ASSERT_TRUE(t >= 0 && t < threads);
                    EXPECT_EQ(k, next[static_cast<std::size_t>(t)]++);
                }
                ASSERT_TRUE(t == thread && k == launch && item == i);
            }
        }
    });
}

TEST(A6_printing, of_launches_that_nobody_waits_for_does_not_pile_up) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("again", [](Int k) { print("{};", k); });
        std::string text, expected;
        context ctx(std::vector<device>{on});
        ctx.print_to([&](std::string_view more) { text += more; });
        std::vector<event> kept;
        for (int k = 0; k < 200; ++k) {
            kept.push_back(on.execute(kernel(k), {1}));
            expected += std::to_string(k) + ";";
        }
        EXPECT_THAT(text, testing::StartsWith("0;1;2;"));
        on.finish();
        EXPECT_EQ(text, expected);
    });
}

TEST(A6_printing, is_written_when_the_event_is_waited_for) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("said", [](Int k) { print("{};", k); });
        std::string text;
        context ctx(std::vector<device>{on});
        ctx.print_to([&](std::string_view more) { text += more; });
        event first = on.execute(kernel(1), {1});
        event second = on.execute(kernel(2), {1});
        first.wait();
        EXPECT_THAT(text, testing::StartsWith("1;"));
        second.wait();
        EXPECT_EQ(text, "1;2;");
        second.wait();
        on.finish();
        EXPECT_EQ(text, "1;2;");
        on.execute(kernel(3), {1});
        EXPECT_EQ(text, "1;2;3;") << "an event that nobody keeps is waited for";
        balm::queue other = on.make_queue();
        event last = other.execute(kernel(4), {1});
        other.finish();
        EXPECT_EQ(text, "1;2;3;4;");
    });
}

TEST(A6_printing, is_written_at_the_latest_when_the_context_goes) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("said", [](Int k) { print("{};", k); });
        std::ostringstream text, inner_text;
        event kept;
        {
            context ctx(std::vector<device>{on});
            ctx.print_to(text);
            {
                context inner(std::vector<device>{on});
                inner.print_to(inner_text);
                kept = on.execute(kernel(1), {1});
            }
            EXPECT_EQ(inner_text.str(), "1;");
            kept = on.execute(kernel(2), {1});
        }
        EXPECT_EQ(text.str(), "2;");
        EXPECT_EQ(inner_text.str(), "1;");
    });
}

TEST(A6_printing, calls_a_function_once_a_print) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("pairs", [] {
            print("{}", global_id(0));
            print(" and {}\n", global_id(0) * 2);
        });
        std::vector<std::string> calls, expected;
        context ctx(std::vector<device>{on});
        ctx.print_to([&](std::string_view text) { calls.emplace_back(text); });
        on.execute(kernel(), {300});
        for (int i = 0; i < 300; ++i) {
            expected.push_back(fmt::format("{}", i));
            expected.push_back(fmt::format(" and {}\n", i * 2));
        }
        EXPECT_EQ(calls, expected);
        EXPECT_THROW(ctx.print_to(std::function<void(std::string_view)>()), usage_error);
    });
}

TEST(A6_printing, counts_what_does_not_fit) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("verbose", [] { print("item {}\n", cast<int>(global_id(0))); });
        constexpr std::size_t n = 5000, fit = 100, bytes_each = 16;
        listener heard(on);
        heard.told().print_buffer_size(fit * bytes_each + 12);
        on.execute(kernel(), {n});
        std::istringstream lines(heard.text());
        std::string line;
        std::int64_t count = 0, before = -1;
        while (std::getline(lines, line) && line.starts_with("item ")) {
            const std::int64_t item = std::stoll(line.substr(5));
            EXPECT_GT(item, before);
            EXPECT_LT(item, static_cast<std::int64_t>(n));
            before = item;
            ++count;
        }
        EXPECT_EQ(count, static_cast<std::int64_t>(fit));
        EXPECT_EQ(line, fmt::format("… {} records of kernel 'verbose' were dropped: they do not fit into "
                                    "print_buffer_size, which is {} bytes",
                                    n - fit, fit * bytes_each + 12));
    });
}

TEST(A6_printing, fits_exactly_and_takes_any_size_of_buffer) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("exact", [] { print("{};", cast<int>(global_id(0))); });
        listener heard(on);
        heard.told().print_buffer_size(3 * 16);
        on.execute(kernel(), {3});
        EXPECT_EQ(heard.text(), "0;1;2;");
        heard.told().print_buffer_size(0);
        on.execute(kernel(), {3});
        EXPECT_THAT(heard.text(), HasSubstr("3 records of kernel 'exact' were dropped"));
        heard.told().print_buffer_size(8 << 20);
        constexpr std::size_t many = 100'000;  // more than 1 MiB
        listener all(on);
        all.told().print_buffer_size(8 << 20);
        std::string expected;
        for (std::size_t k = 0; k < many; ++k) expected += std::to_string(k) + ";";
        on.execute(kernel(), {many});
        EXPECT_TRUE(all.text() == expected);
        EXPECT_THROW(heard.told().print_buffer_size((std::size_t{1} << 32) + 1), usage_error);
    });
}

TEST(A6_printing, refuses_formats_that_do_not_fit) {
#define EXPECT_REFUSED(words, ...)                                                                        \
    EXPECT_THAT(                                                                                          \
        refusal_of_print([]([[maybe_unused]] auto& x, [[maybe_unused]] auto& n, [[maybe_unused]] auto& v, \
                            [[maybe_unused]] auto& t) { print(__VA_ARGS__); }),                           \
        AllOf(HasSubstr("print_test.cpp:" + std::to_string(__LINE__) + ": "), HasSubstr(words)))
    EXPECT_REFUSED("width or precision of 1000000000 is more than 4096", "{:1000000000d}", n[0]);
    EXPECT_REFUSED("width or precision of 4097 is more than 4096", "{0:*<4097}", n[0]);
    EXPECT_REFUSED("is more than 4096", "{:.99999999999999999999999f}", x[0]);
    EXPECT_REFUSED("is more than 4096", "{:9>.5000}", v[0]);
    EXPECT_REFUSED("width or precision of 5000 is more than 4096", "{:{}}", n[0], 5000);
    EXPECT_REFUSED("is ambiguous", "{:}>{}}", x[0],
                   n[0]);  // a width from an argument, or three fields
    EXPECT_REFUSED("is ambiguous", "{:\xc7}>{}}", x[0], n[0]);
    EXPECT_REFUSED("more arguments than were given", "{99999999999999}", n[0]);
    EXPECT_REFUSED("arguments (f32)", "{:d}", x[0]);
    EXPECT_REFUSED("arguments (i32)", "{:f}", n[0]);
    EXPECT_REFUSED("arguments (i32)", "{:.2}", n[0]);
    EXPECT_REFUSED("arguments (i32x2)", "{:f}", Int2(n[0]));
    EXPECT_REFUSED("(f32x4)", "{:d}", v[0]);
    EXPECT_REFUSED("(tag)", "{:f}", t[0]);
    EXPECT_REFUSED("(text)", "{:d}", "word");
    EXPECT_REFUSED("more arguments than were given", "{} {}", x[0]);
    EXPECT_REFUSED("more arguments than were given", "{1}", x[0]);
    EXPECT_REFUSED("does not use argument 2", "{}", x[0], n[0]);
    EXPECT_REFUSED("does not use argument 1", "{1} {{0}}", x[0], n[0]);
    EXPECT_REFUSED("(none)", "{}");
    EXPECT_REFUSED("arguments (f32)", "{", x[0]);
    EXPECT_REFUSED("(none)", "}");
    EXPECT_REFUSED("more arguments than were given", "{name}", x[0]);
    EXPECT_REFUSED("arguments (f32, i32)", "{0} {}", x[0], n[0]);
    EXPECT_REFUSED("only for single numbers", "{:{}}", v[0], n[0]);
    EXPECT_REFUSED("split it", "{}{}{}{}{}{}{}{}{}{}{}{}{}", Float16(1.f), Float16(1.f), Float16(1.f),
                   Float16(1.f), Float16(1.f), Float16(1.f), Float16(1.f), Float16(1.f), Float16(1.f),
                   Float16(1.f), Float16(1.f), Float16(1.f), Float16(1.f));
#undef EXPECT_REFUSED
    EXPECT_THROW(print("{}", 1), trace_error) << "outside of a kernel";
}

TEST(A6_printing, costs_nothing_where_nothing_prints) {
    const auto quiet = balm::kernel<1>("quiet", [](Out<int> out) { out[global_id(0)] = 1; });
    const ir::function& same = *quiet.function();
    EXPECT_EQ(emit::print(kernels::write_out_prints(same), runtime::dialect::opencl_c),
              emit::print(same, runtime::dialect::opencl_c));
    const auto loud = balm::kernel<1>("loud", [](Out<int> out) {
        out[global_id(0)] = 1;
        print("done");
    });
    EXPECT_EQ(kernels::write_out_prints(*loud.function()).parameters.size(), 2u);
}

}  // namespace balm::test
