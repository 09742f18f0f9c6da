// Modules: constants on the device, instances, options, links; and what is refused.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "driver/cuda/nvrtc.hpp"
#include "emit/printer.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "null_driver/device.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/fake_device.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

struct oscillator {
    balm::float4 phases;
    double weight;
    int steps[3];
};
BALM_STRUCT(oscillator, phases, weight, steps)

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

std::vector<int> random_ints(std::mt19937_64& random, std::size_t n) {
    std::vector<int> values(n);
    for (int& v : values) v = static_cast<int>(random() % 2'000'001) - 1'000'000;
    return values;
}

/// out[i] = table[in[i] mod size], in any number of launches.
template <class Read>
auto gather(std::size_t size, Read read) {
    return [=](In<int> in, Out<int> out) {
        Index i = global_id(0);
        out[i] = read(in[i] % static_cast<int>(size));
    };
}

using look_up = balm::module<balm::host_array<int>(std::span<const int>, std::span<const int>)>;

/// A module that sets its table to the first argument and gathers from it by the second.
look_up make_look_up(std::size_t size) {
    return look_up([=](balm::module_builder& m) {
        const auto table = m.constant<int>(size);
        const auto k = m.kernel<1>("look_up(in, out)", gather(size, [=](const Int& i) { return table[i]; }));
        return m.entry([=](balm::program& p, std::span<const int> values, std::span<const int> at) {
            if (!values.empty()) p.set(table, values);
            auto in = p.device().in_buffer<int>(at.size());
            auto out = p.device().out_buffer<int>(at.size());
            in.write(at);
            p.execute(k(in, out), {at.size()});
            return out.read();
        });
    });
}

std::vector<int> random_places(std::mt19937_64& random, std::size_t n, std::size_t below) {
    std::vector<int> at(n);
    for (int& v : at) v = static_cast<int>(random() % below);
    return at;
}

void expect_looked_up(const host_array<int>& got, const std::vector<int>& table, const std::vector<int>& at) {
    expect_each(got, [&](std::size_t i) { return table[static_cast<std::size_t>(at[i])]; });
}

// ---- constants --------------------------------------------------------------------------------------

TEST(A1_modules, read_their_constants_and_zeros_before_they_are_set) {
    auto random = seeded_random();
    const std::size_t size = 1 + random() % 300, n = 1 + random() % 1000;
    const std::vector<int> table = random_ints(random, size), at = random_places(random, n, size);
    const look_up module = make_look_up(size);
    on_all_devices([&](const device& on) {
        expect_each(module.on(on)({}, at), [](std::size_t) { return 0; });
        expect_looked_up(module.on(on)(table, at), table, at);
        expect_looked_up(module.on(on)({}, at), table, at);  // kept
    });
}

TEST(A1_modules, hold_other_contents_on_every_device) {
    auto random = seeded_random();
    const std::size_t size = 100;
    const std::vector<int> at = random_places(random, 500, size);
    const look_up module = make_look_up(size);
    std::vector<std::vector<int>> tables;
    for (const device& each : present_devices()) {
        tables.push_back(random_ints(random, size));
        module.on(each)(tables.back(), at);
    }
    for (std::size_t k = 0; k < present_devices().size(); ++k) {
        SCOPED_TRACE(words(present_devices()[k]));
        expect_looked_up(module.on(present_devices()[k])({}, at), tables[k], at);
    }
}

template <class T>
T random_element(std::mt19937_64& random) {
    if constexpr (std::same_as<T, bool>)
        return random() % 2 == 0;
    else if constexpr (std::same_as<T, half>)
        return half(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 8);
    else if constexpr (complex_type<T>)
        return {random_element<typename T::value_type>(random),
                random_element<typename T::value_type>(random)};
    else if constexpr (vector_type<T>) {
        T v{};
        for (int k = 0; k < balm::detail::lanes_of<T>; ++k)
            v[k] = random_element<typename T::value_type>(random);
        return v;
    } else if constexpr (std::floating_point<T>)
        return static_cast<T>(static_cast<double>(random() >> 11) / 1e3);
    else
        return static_cast<T>(random());
}

template <class T>
class A1_module_elements : public testing::Test {};
using element_types =
    testing::Types<bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
                   unsigned long, float, double, half, balm::float2, balm::char3, balm::double4,
                   balm::ushort8, balm::long16, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(A1_module_elements, element_types);

/// The same bytes, but for those that no lane of three has.
template <class T>
bool same_element(const T& a, const T& b) {
    if constexpr (vector_type<T>) {
        for (int k = 0; k < balm::detail::lanes_of<T>; ++k)
            if (!(a[k] == b[k])) return false;
        return true;
    } else {
        return std::memcmp(&a, &b, sizeof a) == 0;
    }
}

TYPED_TEST(A1_module_elements, come_over_as_they_are) {
    using T = TypeParam;
    auto random = seeded_random();
    const std::size_t n = 1 + random() % 100;
    host_array<T> values{balm::shape(n)};
    for (T& each : values) each = random_element<T>(random);
    const T one = random_element<T>(random);
    const balm::module<void()> module([&](balm::module_builder& m) {
        const auto table = m.constant<T>("table", n);
        const auto single = m.constant<T>("single");
        const auto k = m.kernel<1>("copy", [=](Out<T> all, Out<T> alone) {
            Index i = global_id(0);
            all[i] = table[i];
            alone[i] = single.value();
        });
        return m.entry([=](balm::program& p) {
            p.set(table, std::span<const T>(values));
            p.set(single, one);
            auto all = p.device().template out_buffer<T>(n), alone = p.device().template out_buffer<T>(n);
            p.execute(k(all, alone), {n});
            const auto got = all.read(), got_alone = alone.read(), kept = p.get(table);
            for (std::size_t i = 0; i < n; ++i) {
                EXPECT_TRUE(same_element(got[i], values[i])) << i;
                EXPECT_TRUE(same_element(got_alone[i], one)) << i;
                EXPECT_TRUE(same_element(kept[i], values[i])) << i;
            }
            EXPECT_TRUE(same_element(p.get(single), one));
        });
    });
    on_all_devices([&](const device& on) {
        if (std::same_as<T, double> || std::same_as<T, balm::double4> ||
            std::same_as<T, std::complex<double>>)
            if (!on.info().has_double) GTEST_SKIP() << "no double precision";
        module.on(on)();
    });
}

TEST(A1_modules, have_structures_for_constants) {
    auto random = seeded_random();
    const auto make = [&] {
        oscillator o{};
        for (int k = 0; k < 4; ++k) o.phases[k] = static_cast<float>(random() % 1000);
        o.weight = static_cast<double>(random() % 1000) / 16;
        for (int& step : o.steps) step = static_cast<int>(random() % 100);
        return o;
    };
    std::vector<oscillator> many(10);
    for (oscillator& each : many) each = make();
    const oscillator one = make();
    const balm::module<balm::host_array<double>(const std::vector<oscillator>&, const oscillator&)> module(
        [](balm::module_builder& m) {
            const auto all = m.constant<oscillator>("all", 10);
            const auto alone = m.constant<oscillator>("alone");
            const auto k = m.kernel<1>("combine", [=](Out<double> out) {
                Index i = global_id(0);
                Var<oscillator> copy = alone.value();
                copy.weight += all[i].weight;
                out[i] =
                    copy.weight * all[i].steps[i % 3] + all[i].phases.w - alone->phases.y + alone->steps[1];
            });
            return m.entry([=](balm::program& p, const std::vector<oscillator>& values, const oscillator& o) {
                p.set(all, values);
                p.set(alone, o);
                auto out = p.device().out_buffer<double>(10);
                p.execute(k(out), {10});
                EXPECT_EQ(p.get(alone).steps[2], o.steps[2]);
                return out.read();
            });
        });
    on_all_devices([&](const device& on) {
        if (!on.info().has_double) GTEST_SKIP() << "no double precision";
        expect_each(module.on(on)(many, one), [&](std::size_t i) {
            return (one.weight + many[i].weight) * many[i].steps[i % 3] + many[i].phases[3] - one.phases[1] +
                   one.steps[1];
        });
    });
}

TEST(A1_modules, are_read_by_functions_that_functions_call) {
    auto random = seeded_random();
    const std::vector<int> table = random_ints(random, 64), other = random_ints(random, 16);
    const int factor = static_cast<int>(random() % 1000), n = 777;
    const balm::module<balm::host_array<int>(std::span<const int>, std::span<const int>, int)> module(
        [](balm::module_builder& m) {
            const auto a = m.constant<int>("a", 64), b = m.constant<int>("b", 16);
            const auto by = m.constant<int>("by");
            const auto inner = m.function("inner(i)", [=](Int i) { return a[i % 64] * by; });
            const auto middle = m.function("middle(i)", [=](Int i) {
                Int sum = 0;
                for (Int k : range(3)) sum += inner(i + k) ^ b[(i + k) % 16];
                return sum;
            });
            const auto store = m.function("store", [=](Int i, Out<int> out) { out[i] = middle(i) + by; });
            const auto k = m.kernel<1>("nested", [=](Out<int> out) {
                Int i = cast<int>(global_id(0));
                IF (i % 2 == 0) {
                    store(i, out);
                }
                ELSE { out[i] = inner(i) - b[i % 16]; }
            });
            return m.entry([=](balm::program& p, std::span<const int> x, std::span<const int> y, int f) {
                p.set(a, x);
                p.set(b, y);
                p.set(by, f);
                auto out = p.device().out_buffer<int>(n);
                p.execute(k(out), {n});
                return out.read();
            });
        });
    const auto inner = [&](int i) { return int(unsigned(table[std::size_t(i % 64)]) * unsigned(factor)); };
    on_all_devices([&](const device& on) {
        expect_each(module.on(on)(table, other, factor), [&](std::size_t k) {
            const int i = static_cast<int>(k);
            if (i % 2 == 1) return int(unsigned(inner(i)) - unsigned(other[k % 16]));
            unsigned sum = 0;
            for (int j = 0; j < 3; ++j) sum += unsigned(inner(i + j) ^ other[std::size_t(i + j) % 16]);
            return int(sum + unsigned(factor));
        });
    });
}

TEST(A1_modules, need_no_constants_of_functions_whose_calls_are_left_out) {
    const balm::module<balm::host_array<int>()> module([](balm::module_builder& m) {
        const auto table = m.constant<int>("table", 4);
        const auto factor = m.constant<int>("factor");
        const auto entry = m.function("look_up(i)", [=](Int i) { return table[i & 3]; });
        const auto k = m.kernel<1>("needs_nothing", [=](Out<int> out) {
            Index i = global_id(0);
            [[maybe_unused]] const Int nobody_needs_it = entry(cast<int>(i));
            out[i] = cast<int>(i) * factor;
        });
        return m.entry([=](balm::program& p) {
            p.set(factor, 3);
            auto out = p.device().out_buffer<int>(40);
            p.execute(k(out), {40});
            return out.read();
        });
    });
    on_all_devices([&](const device& on) {
        expect_each(module.on(on)(), [](std::size_t i) { return 3 * static_cast<int>(i); });
    });
}

TEST(A1_modules, see_the_contents_that_were_set_ahead_of_each_launch) {
    auto random = seeded_random();
    constexpr std::size_t size = 5000, launches = 60;
    std::vector<std::vector<int>> contents(launches);
    for (auto& each : contents) each = random_ints(random, size);
    const balm::module<void()> module([&](balm::module_builder& m) {
        const auto table = m.constant<int>(size);
        const auto sign = m.constant<int>("sign");
        const auto k = m.kernel<1>("copy", [=](Out<int> out) {
            Index i = global_id(0);
            out[i] = table[i] * sign;
        });
        return m.entry([=, &contents](balm::program& p) {
            std::vector<balm::out_buffer<int>> results;
            std::vector<balm::event> done;
            std::vector<int> values;
            for (std::size_t k_th = 0; k_th < launches; ++k_th) {
                values = contents[k_th];
                p.set(table, values);
                values.assign(size, -1);  // may be reused at once
                p.set(sign, k_th % 2 == 0 ? 1 : -1);
                results.push_back(p.device().out_buffer<int>(size));
                done.push_back(p.execute(k(results.back()), {size}));
            }
            for (std::size_t k_th = 0; k_th < launches; ++k_th)
                expect_each(results[k_th].read(),
                            [&](std::size_t i) { return contents[k_th][i] * (k_th % 2 == 0 ? 1 : -1); });
        });
    });
    on_all_devices([&](const device& on) { module.on(on)(); });
}

TEST(A1_modules, have_constants_of_any_size_and_number) {
    auto random = seeded_random();
    constexpr std::size_t arrays = 12;
    on_all_devices([&](const device& on) {
        // More than the device's constant memory holds, and more arguments than it takes there.
        const std::size_t most = std::min<std::size_t>(on.info().constant_memory, 4 << 20);
        const std::size_t large = most / sizeof(int) + 1 + random() % 100;
        std::vector<std::vector<int>> contents(arrays);
        for (std::size_t a = 0; a < arrays; ++a) contents[a] = random_ints(random, a == 3 ? large : 10 + a);
        const balm::module<balm::host_array<int>()> module([&](balm::module_builder& m) {
            std::vector<balm::module_array<int>> tables;
            for (const auto& each : contents) tables.push_back(m.constant<int>(each.size()));
            const auto pick = m.function("pick(i)", [=](Long i) {
                Int sum = tables[3][i];
                for (const auto& each : tables) sum += each[i % static_cast<long>(each.size())];
                return sum;
            });
            const auto k = m.kernel<1>("sums", [=](Out<int> out) { out[global_id(0)] = pick(global_id(0)); });
            return m.entry([=](balm::program& p) {
                for (std::size_t a = 0; a < arrays; ++a) p.set(tables[a], contents[a]);
                auto out = p.device().out_buffer<int>(large);
                p.execute(k(out), {large});
                return out.read();
            });
        });
        expect_each(module.on(on)(), [&](std::size_t i) {
            int sum = contents[3][i];
            for (const auto& each : contents) sum += each[i % each.size()];
            return sum;
        });
    });
}

TEST(A1_modules, give_pointers_to_their_constants) {
    auto random = seeded_random();
    const std::vector<int> table = random_ints(random, 50);
    const auto sum_of = [](balm::module_builder& m, const balm::module_array<int>& values) {
        const auto sum =
            m.function("sum_of", [](Int n, Ptr<const std::int32_t, balm::space::constant> first) {
                Ptr<const std::int32_t, balm::space::constant> p = first;
                Int total = 0;
                for ([[maybe_unused]] Int k : range(n)) {
                    total += *p;
                    p += 1;
                }
                return total;
            });
        return m.kernel<1>("sums", [=](Out<int> out) {
            Int i = cast<int>(global_id(0));
            out[i] = sum(50 - i, values.data() + i);
        });
    };
    const balm::module<balm::host_array<int>(std::span<const int>)> module([&](balm::module_builder& m) {
        const auto values = m.constant<int>(50);
        const auto k = sum_of(m, values);
        return m.entry([=](balm::program& p, std::span<const int> x) {
            p.set(values, x);
            auto out = p.device().out_buffer<int>(50);
            p.execute(k(out), {50});
            return out.read();
        });
    });
    on_all_devices([&](const device& on) {
        expect_each(module.on(on)(table), [&](std::size_t i) {
            int sum = 0;
            for (std::size_t k = i; k < table.size(); ++k) sum += table[k];
            return sum;
        });
        // Where it has no room in constant memory, its pointer's type would say what is not so.
        const balm::module<void()> too_large([&](balm::module_builder& m) {
            sum_of(m, m.constant<int>("huge", on.info().constant_memory / 4 + 1));
            return m.entry([](balm::program&) {});
        });
        if (on.info().api == backend::opencl && on.info().constant_memory < (1 << 28)) {
            EXPECT_THAT(message_of<usage_error>([&] { too_large.on(on); }),
                        AllOf(HasSubstr("'huge'"), HasSubstr("huge[i]"), HasSubstr("module_test.cpp")));
        }
    });
}

TEST(A1_modules, refuse_another_number_of_elements) {
    const balm::module<void(const std::vector<float>&)> module([](balm::module_builder& m) {
        const auto table = m.constant<float>("weights", 256);
        return m.entry([=](balm::program& p, const std::vector<float>& values) { p.set(table, values); });
    });
    on_all_devices([&](const device& on) {
        for (const std::size_t wrong : {0u, 255u, 257u})
            EXPECT_THAT(message_of<usage_error>([&] { module.on(on)(std::vector<float>(wrong)); }),
                        AllOf(HasSubstr("'weights'"), HasSubstr("256"), HasSubstr(std::to_string(wrong))));
    });
    EXPECT_THAT(message_of<usage_error>([] {
                    balm::module<void()>([](balm::module_builder& m) {
                        m.constant<double>("none", 0);
                        return m.entry([](balm::program&) {});
                    });
                }),
                HasSubstr("'none' was requested with 0 elements"));
    EXPECT_THAT(message_of<usage_error>([] {
                    balm::module<void()>([](balm::module_builder& m) {
                        m.constant<double>("two words");
                        return m.entry([](balm::program&) {});
                    });
                }),
                HasSubstr("'two words'"));
}

// ---- launches ---------------------------------------------------------------------------------------

TEST(A1_modules, launch_beside_everything_else_that_kernels_are_given) {
    auto random = seeded_random();
    const std::vector<int> table = random_ints(random, 32);
    const std::size_t before = 1 + random() % 50, n = 32 * (1 + random() % 20), from = random() % 100;
    const balm::module<balm::host_array<int>(std::span<const int>)> module([=](balm::module_builder& m) {
        const auto values = m.constant<int>("values", 32);
        const auto k = m.kernel<1>("all_at_once", [=](Mixed<int> out, Local<int> room) {
            Index lane = local_id(0);
            room[lane] = values[lane % 32];
            barrier();
            Int sum = sub_group_reduce_add(Int(room[(lane + 1) % 32]));
            Index at = global_id(0) - static_cast<long>(from);
            check(at < static_cast<long>(n), "{} is beyond", at);
            out[at] = sum + room[lane];
        });
        return m.entry([=](balm::program& p, std::span<const int> x) {
            p.set(values, x);
            auto out = p.device().mixed_buffer<int>(before + n);
            out.fill(-7);
            p.execute(k(out.from(before), balm::local<int>(32)), {n}, {32},
                      balm::offset(static_cast<long>(from)));
            return out.read();
        });
    });
    int sum = 0;
    for (const int v : table) sum += v;
    on_all_devices([&](const device& on) {
        expect_each(module.on(on)(table),
                    [&](std::size_t i) { return i < before ? -7 : sum + table[(i - before) % 32]; });
    });
}

TEST(A1_modules, launch_by_groups_in_two_dimensions_and_after_events) {
    const balm::module<balm::host_array<int>(int)> module([](balm::module_builder& m) {
        const auto add = m.constant<int>("add");
        const auto k = m.kernel<2>("grid", [=](Mixed<int, 2> out) {
            Index i = global_id(1) * global_size(0) + global_id(0);
            out[i] += cast<int>(i) + add;
        });
        return m.entry([=](balm::program& p, int by) {
            auto out = p.device().mixed_buffer<int>(6, 8);
            p.set(add, by);
            balm::event filled = out.fill(1);
            balm::event first = p.execute(k(out), {8, 6}, filled);
            balm::event second = p.execute(k(out), {8, 6}, {4, 3}, first);
            p.execute(k(out), balm::groups({2, 2}, {4, 3}), second);
            return out.read();
        });
    });
    const int by = static_cast<int>(seeded_random()() % 1000);
    on_all_devices([&](const device& on) {
        const auto got = module.on(on)(by);
        EXPECT_EQ(got.shape(), balm::shape(6, 8));
        expect_each(got, [&](std::size_t i) { return 1 + 3 * (static_cast<int>(i) + by); });
    });
}

TEST(A1_modules, tell_kernels_that_share_a_constant_from_those_that_do_not) {
    // The same code but for which constants the two functions, or the two kernels, read.
    const auto make = [](bool shared) {
        return balm::module<balm::host_array<int>(int, int)>([=](balm::module_builder& m) {
            const auto a = m.constant<int>("c"), b = m.constant<int>("c");
            const auto reader = [&](const balm::module_constant<int>& c) {
                return m.function("read", [=](Int x) { return x + c; });
            };
            const auto part = [&](const balm::module_constant<int>& c) {
                return m.kernel<1>("part", [=](Mixed<int> out) { out[0] = out[0] * 2 + c; });
            };
            const auto first = reader(a), second = reader(shared ? a : b);
            const auto one = part(a), two = part(shared ? a : b);
            const auto k = m.kernel<1>("both", [=](Mixed<int> out) {
                out[0] = first(Int(1)) * 1000 + second(Int(1));
                one(out);
                two(out);
            });
            return m.entry([=](balm::program& p, int x, int y) {
                p.set(a, x);
                p.set(b, y);
                auto out = p.device().mixed_buffer<int>(1);
                p.execute(k(out), {1});
                return out.read();
            });
        });
    };
    const auto with_one = make(true), with_two = make(false);
    auto random = seeded_random();
    const int x = static_cast<int>(random() % 100), y = static_cast<int>(random() % 100);
    const auto expected = [](int a, int b) { return (((a + 1) * 1000 + b + 1) * 2 + a) * 2 + b; };
    on_all_devices([&](const device& on) {
        EXPECT_EQ(with_one.on(on)(x, y)[0], expected(x, x));
        EXPECT_EQ(with_two.on(on)(x, y)[0], expected(x, y));
    });
}

TEST(A1_modules, are_refused_outside_of_their_program) {
    std::optional<typed_kernel<1, Out<float>>> kernel;
    device_function<Float, Float> function;
    const balm::module<void()> module([&](balm::module_builder& m) {
        const auto table = m.constant<float>("weights", 4);
        function = m.function("weigh", [=](Float x) { return x * table[1]; });
        kernel = m.kernel<1>("weighed", [=](Out<float> out) { out[global_id(0)] = table[0]; });
        return m.entry([](balm::program&) {});
    });
    on_all_contexts([&](const context& ctx) {
        const device on = ctx.device(0);
        auto out = on.out_buffer<float>(4);
        EXPECT_THAT(message_of<usage_error>([&] { on.execute((*kernel)(out), {4}); }),
                    AllOf(HasSubstr("'weighed'"), HasSubstr("'weights'"), HasSubstr("p.execute(weighed")));
        auto queue = on.make_queue();
        EXPECT_THROW(queue.execute((*kernel)(out), {4}, {2}), usage_error);
        balm::vector<float> x(ctx, 4), y(ctx, 4);
        EXPECT_THAT(message_of<usage_error>([&] { y = function(x); }),
                    AllOf(HasSubstr("'weights'"), HasSubstr("ector expressions")));
        const balm::module<void()> other([&](balm::module_builder& m) {
            return m.entry([&](balm::program& p) { p.execute((*kernel)(out), {4}); });
        });
        EXPECT_THAT(message_of<usage_error>([&] { other.on(on)(); }),
                    AllOf(HasSubstr("'weights'"), HasSubstr("m.link")));
    });
}

// ---- entries ----------------------------------------------------------------------------------------

TEST(A1_modules, have_entries_of_any_signature) {
    const balm::module<void(int&, std::unique_ptr<int>)> nothing([](balm::module_builder& m) {
        return m.entry([](balm::program&, int& to, std::unique_ptr<int> from) { to = *from; });
    });
    const balm::module<double(float)> value([](balm::module_builder& m) {
        return m.entry([](const balm::program&, float x) { return x / 2; });  // converts
    });
    std::vector<int> kept{1, 2, 3};
    const balm::module<int&(std::size_t)> reference([&](balm::module_builder& m) {
        return m.entry([&](balm::program&, std::size_t i) -> int& { return kept[i]; });
    });
    const balm::module<void()> failing([](balm::module_builder& m) {
        return m.entry([](balm::program&) { throw std::runtime_error("the entry's own"); });
    });
    on_all_devices([&](const device& on) {
        int got = 0;
        nothing.on(on)(got, std::make_unique<int>(42));
        EXPECT_EQ(got, 42);
        EXPECT_EQ(value.on(on)(3.f), 1.5);
        reference.on(on)(1) = 20;
        EXPECT_EQ(kept[1], 20);
        EXPECT_THAT(message_of<std::runtime_error>([&] { failing.on(on)(); }), HasSubstr("the entry's own"));
        EXPECT_TRUE(value.on(on).device() == on);
    });
}

TEST(A1_modules, serve_many_threads_and_are_made_once) {
    constexpr int threads = 16, rounds = 20;
    auto random = seeded_random();
    const std::size_t size = 200;
    const std::vector<int> table = random_ints(random, size);
    std::vector<std::vector<int>> at(threads);
    for (auto& each : at) each = random_places(random, 300, size);
    on_all_devices([&](const device& on) {
        std::atomic<int> compiled{0};
        kernels::observe_compilations([&](const ir::function& f, const ir::launch_facts&) {
            if (f.name == "look_up") ++compiled;
        });
        const look_up module = make_look_up(size);
        std::vector<std::optional<decltype(module.on(on))>> instances(threads);
        std::vector<host_array<int>> last(threads);
        std::atomic<int> ready{0};
        const auto together = [&](auto&& body) {
            ready = 0;
            std::vector<std::jthread> all;
            for (int t = 0; t < threads; ++t)
                all.emplace_back([&, t] {
                    ++ready;
                    while (ready < threads) std::this_thread::yield();
                    body(static_cast<std::size_t>(t));
                });
        };
        together([&](std::size_t t) { instances[t] = module.on(on); });
        EXPECT_LE(compiled, 1);  // 0: another test compiled the same kernel
        for (const auto& each : instances) EXPECT_TRUE(*each == *instances[0]);
        module.on(on)(table, at[0]);
        together([&](std::size_t t) {
            for (int r = 0; r < rounds; ++r) last[t] = (*instances[t])({}, at[t]);
        });
        for (std::size_t t = 0; t < threads; ++t) expect_looked_up(last[t], table, at[t]);
        compile_kernels_with_nvrtc_again();
    });
}

TEST(A1_modules, go_in_any_order_with_devices_and_instances) {
    auto random = seeded_random();
    const std::vector<int> table = random_ints(random, 10), at = random_places(random, 20, 10);
    on_all_devices([&](const device& on) {
        std::optional<look_up> module = make_look_up(10);
        const std::size_t before = on.memory().in_use;
        std::optional instance = module->on(on);
        (*instance)(table, at);
        module.reset();
        expect_looked_up((*instance)({}, at), table, at);
        EXPECT_GT(on.memory().in_use, before);
        instance.reset();
        EXPECT_EQ(on.memory().in_use, before);
    });
}

TEST(A1_modules, let_go_of_devices_that_were_freed_and_of_their_own_memory) {
    const auto driver = null::make_null_device(runtime::dialect::opencl_c);
    std::weak_ptr<runtime::device_state> first;
    {
        const look_up module = make_look_up(1000);
        {
            const device on(runtime::device_state::make(driver));
            first = on.state();
            std::optional instance = module.on(on);
            (*instance)({}, std::vector<int>(3));
            EXPECT_EQ(driver->counts().compiles + driver->counts().loads, 1u);
            on.free();
            EXPECT_EQ(driver->counts().live_allocations, 0u);
            EXPECT_THAT(message_of<usage_error>([&] { (*instance)({}, std::vector<int>(3)); }),
                        HasSubstr("freed"));
            EXPECT_THAT(message_of<usage_error>([&] { module.on(on); }), HasSubstr("freed"));
        }
        const device again(runtime::device_state::make(driver));
        module.on(again)({}, std::vector<int>(3));
        EXPECT_TRUE(first.expired());
        EXPECT_EQ(again.memory().in_use, runtime::memory_pool::block_bytes(4000));
    }
    EXPECT_EQ(driver->counts().live_allocations, 0u);
}

TEST(A1_modules, are_made_by_the_next_call_where_one_failed) {
    const auto driver = std::make_shared<fake_device>();
    const device on(runtime::device_state::make(driver));
    const look_up module = make_look_up(1000);
    const std::size_t room = std::exchange(driver->log->room, 1000);
    for (int twice = 0; twice < 2; ++twice)
        EXPECT_THAT(message_of<out_of_memory_error>([&] { module.on(on); }), HasSubstr("'table'"));
    driver->log->room = room;
    EXPECT_TRUE(module.on(on).device() == on);
}

// ---- options ----------------------------------------------------------------------------------------

/// A module whose kernel says whether NaN is known to be one, with these options.
balm::module<bool(float)> make_nan_test(const compile_options& options) {
    return balm::module<bool(float)>([&](balm::module_builder& m) {
        m.options(options);
        const auto k = m.kernel<1>("is_nan", [](Float x, Out<bool> out) { out[0] = x != x; });
        return m.entry([=](balm::program& p, float x) {
            auto out = p.device().out_buffer<bool>();
            p.execute(k(x, out), {1});
            return out.read();
        });
    });
}

TEST(A1_modules, compile_with_their_options) {
    const auto plain = make_nan_test({}), finite = make_nan_test({.opencl = "-cl-finite-math-only"}),
               fast = make_nan_test({.fast_math = true});
    on_all_devices([&](const device& on) {
        EXPECT_TRUE(plain.on(on)(std::nanf("")));
        // PoCL's compiler is known to take the promise at its word.
        if (on.info().platform == "Portable Computing Language") {
            EXPECT_FALSE(finite.on(on)(std::nanf("")));
            EXPECT_FALSE(fast.on(on)(std::nanf("")));
        }
        EXPECT_TRUE(plain.on(on)(std::nanf("")));  // a program of its own
        EXPECT_FALSE(fast.on(on)(1.f));
        for (const compile_options& each :
             {compile_options{.flush_denormals = true}, compile_options{.optimise = false},
              compile_options{.max_registers = 32}})
            EXPECT_FALSE(make_nan_test(each).on(on)(1.f));
    });
}

TEST(A1_modules, give_texts_their_definitions) {
    const auto make = [](const std::string& options) {
        return balm::module<int()>([&](balm::module_builder& m) {
            m.options({.opencl = options});
            const auto k = m.add(balm::source_kernel<1, void(Out<int>)>(
                "answer",
                "kernel void answer(global int* out) {\n#ifndef ANSWER\n#define ANSWER 7\n#endif\n"
                "    out[0] = ANSWER;\n}"));
            return m.entry([=](balm::program& p) {
                auto out = p.device().out_buffer<int>();
                p.execute(k(out), {1});
                return out.read();
            });
        });
    };
    const auto without = make(""), with = make("-DANSWER=42"), with_other = make("-D ANSWER=43");
    on_all_devices([&](const device& on) {
        if (on.info().api != backend::opencl) return;
        EXPECT_EQ(without.on(on)(), 7);
        EXPECT_EQ(with.on(on)(), 42);
        EXPECT_EQ(with_other.on(on)(), 43);
    });
}

TEST(A1_modules, tell_of_options_that_the_compiler_refuses) {
    const auto wrong = make_nan_test({.opencl = "-cl-no-such-option", .cuda = "--no-such-option"});
    on_all_devices([&](const device& on) {
        for (int twice = 0; twice < 2; ++twice)
            EXPECT_THAT(message_of<build_error>([&] { wrong.on(on); }),
                        AllOf(HasSubstr("no-such-option"), HasSubstr("is_nan")));
    });
}

TEST(A1_modules, limit_registers_themselves) {
    const auto next = balm::function("next(from, i)", [](In<float> from, Long i) { return from[i + 1]; });
    const auto shift = balm::kernel<1>("shift(n, from, to)", [&](Long n, In<float> from, Out<float> to) {
        for (Index i : grid_range(n)) to[i] = next(from, i);
    });
    on_all_devices([&](const device& on) {
        const runtime::device_state& state = *on.state();
        const runtime::launch_facts facts{.grid_covers_loop = true};
        const auto words_for = [&](std::uint32_t registers) {
            return state.driver().words_for({.max_registers = registers});
        };
        EXPECT_EQ(kernels::source_for(state, *shift.function(), facts).options, words_for(32));
        const std::string own = words_for(40) + "-w ";
        EXPECT_EQ(kernels::source_for(state, *shift.function(), facts, own).options, own);
    });
}

TEST(A1_modules, have_options_in_the_words_of_each_compiler) {
    const compile_options all{.fast_math = true,
                              .flush_denormals = true,
                              .optimise = false,
                              .max_registers = 40,
                              .opencl = "-cl-mad-enable",
                              .cuda = "--extra-device-vectorization"};
    EXPECT_EQ(cuda::nvrtc_words_for(all),
              "--use_fast_math --ftz=true --ptxas-options=-O0 --maxrregcount=40 "
              "--extra-device-vectorization");
    EXPECT_EQ(cuda::nvrtc_words_for({}), "");
    EXPECT_EQ(cuda::nvrtc_options_with(""), cuda::nvrtc_options);
    for (const char* fast : {"--use_fast_math", "-use_fast_math"})
        EXPECT_EQ(cuda::nvrtc_options_with(fast),
                  "--std=c++17 --device-as-default-execution-space " + std::string(fast));
    EXPECT_EQ(cuda::nvrtc_options_with("--ftz=true -std=c++20"),
              "--fmad=false --prec-div=true --prec-sqrt=true --device-as-default-execution-space --ftz=true "
              "-std=c++20");
    on_all_devices([&](const device& on) {
        const std::string words = on.state()->driver().words_for(all);
        if (on.info().api == backend::opencl) {
            EXPECT_THAT(words, AllOf(HasSubstr("-cl-fast-relaxed-math -cl-denorms-are-zero -cl-opt-disable "),
                                     HasSubstr("-cl-mad-enable")));
        }
        EXPECT_EQ(on.state()->driver().words_for({}), "");
    });
    if (!cuda::nvrtc_available()) GTEST_SKIP() << cuda::describe_nvrtc();
    const std::string source =
        "extern \"C\" __global__ void k(float* a) { a[0] = a[1] * a[2] + a[3] / a[4]; }";
    const auto ptx = [&](const compile_options& options) {
        std::string log;
        const auto image = cuda::compile_with_nvrtc(
            source, cuda::nvrtc_options_with(cuda::nvrtc_words_for(options)), "compute_80", log);
        return std::string(reinterpret_cast<const char*>(image.data()));
    };
    EXPECT_THAT(ptx({}),
                AllOf(HasSubstr("div.rn.f32"), HasSubstr("mul.rn.f32"), testing::Not(HasSubstr("fma"))));
    EXPECT_THAT(ptx({.flush_denormals = true}), HasSubstr("div.rn.ftz.f32"));
    EXPECT_THAT(ptx({.fast_math = true}),
                AllOf(HasSubstr("div.approx.ftz.f32"), HasSubstr("fma.rn.ftz.f32")));
    std::string log;
    EXPECT_FALSE(
        cuda::compile_with_nvrtc(source, cuda::nvrtc_options_with(cuda::nvrtc_words_for(all)), "sm_80", log)
            .empty());
    EXPECT_THAT(message_of<build_error>([&] { ptx({.cuda = "--no-such-option"}); }),
                HasSubstr("unrecognized option --no-such-option"));
}

// ---- links ------------------------------------------------------------------------------------------

TEST(A1_modules, share_the_constants_of_modules_that_they_link) {
    balm::module_array<int> shared;
    device_function<Int, Int> weigh;
    const balm::module<void(std::span<const int>)> tables([&](balm::module_builder& m) {
        shared = m.constant<int>("shared", 8);
        weigh = m.function("weigh(i)", [=](Int i) { return shared[i] * 2; });
        return m.entry([=](balm::program& p, std::span<const int> values) { p.set(shared, values); });
    });
    const balm::module<host_array<int>(int)> sums([&](balm::module_builder& m) {
        m.link(tables);
        m.link(tables);  // once is enough
        const auto own = m.constant<int>("own");
        const auto k = m.kernel<1>("weighed_sums", [=](Out<int> out) {
            Int i = cast<int>(global_id(0));
            out[i] = weigh(i) + shared[7 - i] + own;
        });
        return m.entry([=](balm::program& p, int x) {
            p.set(own, x);
            auto out = p.device().out_buffer<int>(8);
            p.execute(k(out), {8});
            return out.read();
        });
    });
    const balm::module<host_array<int>(std::span<const int>, int)> both([&](balm::module_builder& m) {
        m.link(sums);
        const auto k = m.kernel<1>("plus", [=](Mixed<int> out) { out[global_id(0)] += shared[0]; });
        return m.entry([=](balm::program& p, std::span<const int> values, int x) {
            p.linked(tables)(values);  // linked through sums
            EXPECT_EQ(p.get(shared), values);
            const host_array<int> first = p.linked(sums)(x);
            auto out = p.device().mixed_buffer<int>(8);
            out.write(first);
            p.execute(k(out), {8});
            return out.read();
        });
    });
    auto random = seeded_random();
    const std::vector<int> values = random_ints(random, 8);
    const int x = static_cast<int>(random() % 1000);
    on_all_devices([&](const device& on) {
        expect_each(both.on(on)(values, x),
                    [&](std::size_t i) { return values[i] * 2 + values[7 - i] + x + values[0]; });
        std::vector<int> others = random_ints(random, 8);
        tables.on(on)(others);  // the one and only instance
        expect_each(sums.on(on)(x), [&](std::size_t i) { return others[i] * 2 + others[7 - i] + x; });
    });
    const balm::module<void()> unlinked([&](balm::module_builder& m) {
        return m.entry([&](balm::program& p) {
            EXPECT_THAT(message_of<usage_error>([&] { p.linked(tables); }), HasSubstr("m.link"));
            EXPECT_THAT(message_of<usage_error>([&] { p.get(shared); }), HasSubstr("'shared'"));
            EXPECT_THROW(p.set(shared, std::vector<int>(8)), usage_error);
        });
    });
    on_all_devices([&](const device& on) { unlinked.on(on)(); });
}

TEST(A1_modules, refuse_constants_of_modules_that_they_do_not_link) {
    balm::module_array<float> table;
    const balm::module<void()> tables([&](balm::module_builder& m) {
        table = m.constant<float>("table", 8);
        return m.entry([](balm::program&) {});
    });
    const auto faults = [&](auto&& define) {
        return message_of<usage_error>([&] { balm::module<void()> made(define); });
    };
    EXPECT_THAT(faults([&](balm::module_builder& m) {
                    m.kernel<1>("reader", [=](Out<float> out) { out[0] = table[0]; });
                    return m.entry([](balm::program&) {});
                }),
                AllOf(HasSubstr("'reader'"), HasSubstr("'table'"), HasSubstr("m.link")));
    EXPECT_THAT(faults([&](balm::module_builder& m) {
                    m.function("reading", [=](Int i) { return table[i]; });
                    return m.entry([](balm::program&) {});
                }),
                AllOf(HasSubstr("'reading'"), HasSubstr("m.link")));
    EXPECT_THAT(message_of<usage_error>([] {
                    const balm::module_array<int> nobodys;
                    balm::function("reading", [=](Int i) { return nobodys[i]; });
                }),
                HasSubstr("no module"));
}

TEST(A1_modules, refuse_to_be_linked_in_a_circle) {
    const auto define_linking = [](auto&& link) {
        return message_of<usage_error>([&] {
            std::optional<balm::module<void()>> other;
            struct self_linking {
                balm::module<void()> module;
            };
            link();
        });
    };
    EXPECT_THAT(define_linking([] {
                    // Its members are there before its definition runs.
                    balm::module<void()> itself([&](balm::module_builder& m) {
                        m.link(itself);
                        return m.entry([](balm::program&) {});
                    });
                }),
                HasSubstr("cycle"));
    EXPECT_THAT(define_linking([] {
                    balm::module<void()> outer([&](balm::module_builder& m) {
                        balm::module<void()> inner([&](balm::module_builder& n) {
                            n.link(outer);
                            return n.entry([](balm::program&) {});
                        });
                        m.link(inner);
                        return m.entry([](balm::program&) {});
                    });
                }),
                HasSubstr("cycle"));
}

// ---- static modules ---------------------------------------------------------------------------------

const balm::module<void()> faulty([](balm::module_builder& m) {
    m.kernel<1>("leaves", [](Out<int> out) {
        for (Int i : range(10)) {
            out[i] = 1;
            break;
        }
    });
    return m.entry([](balm::program&) {});
});
const balm::module<host_array<int>(std::span<const int>, std::span<const int>)> sound = make_look_up(16);

TEST(A1_modules, keep_the_fault_of_a_static_definition_for_their_first_use) {
    on_all_devices([&](const device& on) {
        for (int twice = 0; twice < 2; ++twice)
            EXPECT_THAT(message_of<trace_error>([&] { faulty.on(on); }), HasSubstr("break_()"));
        EXPECT_THROW(balm::module<void()>([](balm::module_builder& m) {
                         m.link(faulty);
                         return m.entry([](balm::program&) {});
                     }),
                     trace_error);
    });
}

TEST(A1_modules, may_be_static) {
    auto random = seeded_random();
    const std::vector<int> table = random_ints(random, 16), at = random_places(random, 40, 16);
    on_all_devices([&](const device& on) { expect_looked_up(sound.on(on)(table, at), table, at); });
}

// ---- what is printed --------------------------------------------------------------------------------

std::shared_ptr<const ir::function> printed_kernel() {
    std::shared_ptr<const ir::function> made;
    const balm::module<void()> module([&](balm::module_builder& m) {
        const auto factors = m.constant<float>("factors", 3);
        const auto bias = m.constant<float>("bias");
        const auto big = m.constant<std::int64_t>("big", 100'000);
        const auto square =
            m.function("square(x)", [=](Float x) { return (factors[2] * x + factors[1]) * x + factors[0]; });
        made = m.kernel<1>("fit(x, y)", [=](In<float> x, Out<float> y) {
                    Index i = global_id(0);
                    y[i] = square(x[i]) + bias * cast<float>(big[i]);
                }).function();
        return m.entry([](balm::program&) {});
    });
    return made;
}

std::string written_out_text(const ir::function& kernel, runtime::dialect language) {
    device_info device;
    device.constant_memory = 64 << 10;
    device.max_constant_arguments = 8;
    const std::string text = emit::print(
        ir::lower(kernels::written_out(kernel, emit::dialect_of(language).has, device), {}).kernel, language);
    return text.substr(text.find('\n') + 1);
}

TEST(A1_modules, print_constants_as_read_only_parameters) {
    const auto kernel = printed_kernel();
    EXPECT_EQ(written_out_text(*kernel, runtime::dialect::opencl_c), R"(#pragma OPENCL FP_CONTRACT OFF

float square(float x, constant float* factors) {
    return fma(fma(factors[2], x, factors[1]), x, factors[0]);
}

kernel void fit(
        global const float* restrict x,
        global float* restrict y,
        constant float* factors,
        constant float* bias,
        global const long* restrict big) {
    const long gid = (long)get_global_id(0);
    y[gid] = fma(*bias, (float)big[gid], square(x[gid], factors));
}
)");
    EXPECT_EQ(written_out_text(*kernel, runtime::dialect::cuda_cpp), R"(
static __device__ inline float square(float x, const float* __restrict__ factors) {
    return fmaf(fmaf(factors[2], x, factors[1]), x, factors[0]);
}

extern "C" __global__ void fit(
        const float* __restrict__ x,
        float* __restrict__ y,
        const float* __restrict__ factors,
        const float* __restrict__ bias,
        const long long* __restrict__ big) {
    const long long gid = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    y[gid] = fmaf(*bias, (float)big[gid], square(x[gid], factors));
}
)");
}

TEST(A1_modules, have_kernels_that_are_the_same_in_every_process) {
    const auto first = printed_kernel();
    const look_up between = make_look_up(5);
    const auto second = printed_kernel();
    EXPECT_EQ(first->identity, second->identity);
    for (const auto language : {runtime::dialect::opencl_c, runtime::dialect::cuda_cpp})
        EXPECT_EQ(written_out_text(*first, language), written_out_text(*second, language));
}

}  // namespace
}  // namespace balm::test
