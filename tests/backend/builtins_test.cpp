// Every row of builtins.def, as it is spelt in each dialect, on every device against the host oracle; and
// compiled with NVRTC for CUDA where there is no GPU. One kernel a type computes all of its rows.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <optional>

#include "balm/error.hpp"
#include "devices.hpp"
#include "driver/cuda/nvrtc.hpp"
#include "emit/builtin_spelling.hpp"
#include "ir/ir.hpp"
#include "oracle.hpp"
#include "support/case_count.hpp"
#include "support/exact.hpp"

namespace balm::test {

namespace {

using runtime::dialect;

constexpr scalar all_integers[] = {scalar::i8,  scalar::u8,  scalar::i16, scalar::u16,
                                   scalar::i32, scalar::u32, scalar::i64, scalar::u64};
constexpr scalar floats[] = {scalar::f32, scalar::f64};

/// Something to compute from operands a, b, c of one type, and m, an int: an expression, and its oracle.
struct row {
    std::string name;
    std::string expression;
    scalar result = scalar::nothing;
    int ulp = 0;
    builtin what = builtin::count;  ///< count: a conversion to `result`
    int arity = 1;
    bool takes_int = false;  ///< the last operand is m
};

struct program_text {
    const emit::dialect& language;
    scalar type;
    std::vector<row> rows;
    std::map<std::string, std::string> helpers;

    std::string use(const emit::helper_function& h) {
        helpers[h.name] = h.text;
        return h.name;
    }
};

/// The pattern on a, b, c; the last operand is m, or is converted with `cast`.
std::string substituted(std::string_view pattern, bool takes_int, int arity, std::string_view cast) {
    std::string text;
    for (std::size_t k = 0; k < pattern.size(); ++k) {
        if (pattern[k] != '$')
            text += pattern[k];
        else {
            const int operand = pattern[++k] - '0';
            const bool is_last = operand > 0 && operand == arity - 1;
            if (is_last && !takes_int) text += cast;
            text += takes_int && is_last ? 'm' : "abc"[operand];
        }
    }
    return text;
}

void add_builtin(program_text& p, builtin what, bool has_double) {
    using balm::detail::rule;
    const ir::builtin_info& info = ir::info(what);
    const scalar operands[] = {p.type, info.takes == rule::scale ? scalar::i32 : p.type, p.type};
    const auto resolved = balm::detail::resolve(what, operands, info.arity);
    if (resolved.result == scalar::nothing || resolved.first != p.type) return;
    if (resolved.result == scalar::f64 && !has_double) return;
    const bool takes_int = info.takes == rule::scale;
    std::string expression;
    if (info.symbol) {
        if ((what == builtin::div || what == builtin::rem) && is_integer(p.type))
            expression = p.use(emit::guarded_division(p.language, what, p.type)) + "(a, b)";
        else if (info.arity == 1)
            expression = fmt::format("{}a", info.symbol);
        else if (info.takes == rule::shift)
            expression = fmt::format("a {} (b & {})", info.symbol, 8 * size_of(p.type) - 1);
        else
            expression = fmt::format("a {} b", info.symbol);
    } else {
        const emit::builtin_spelling s = p.language.row(p.language, what, p.type);
        for (const emit::helper_function& h : s.helpers) p.use(h);
        const bool converts = resolved.last != p.type;
        const std::string cast = converts ? "(" + emit::type_name(p.language, resolved.last) + ")" : "";
        expression = substituted(s.pattern, takes_int, info.arity, cast);
    }
    p.rows.push_back({info.name, expression, resolved.result, info.ulp, what, info.arity, takes_int});
}

program_text rows_of(dialect of_device, scalar type, bool has_double) {
    const emit::dialect& language = emit::dialect_of(of_device);
    program_text p{language, type, {}, {}};
    for (std::size_t k = 0; k < ir::builtin_count; ++k) {
        const auto what = static_cast<builtin>(k);
        if (ir::info(what).takes != balm::detail::rule::logic) add_builtin(p, what, has_double);
    }
    for (scalar to : all_integers)
        if (is_floating(type))
            p.rows.push_back({std::string("to_") + to_string(to),
                              p.use(emit::saturating_conversion(language, type, to)) + "(a)", to});
    return p;
}

/// The bits of an expression of this type, as 64.
std::string bits_words(const emit::dialect& language, scalar type, const std::string& expression) {
    const bool opencl = !language.has.is_cpp;
    const std::string u64 = emit::type_name(language, scalar::u64);
    switch (type) {
        case scalar::boolean: return fmt::format("({}) ? 1 : 0", expression);
        case scalar::f32: return fmt::format("{}({})", opencl ? "as_uint" : "__float_as_uint", expression);
        case scalar::f64:
            return opencl ? fmt::format("as_ulong({})", expression)
                          : fmt::format("({})__double_as_longlong({})", u64, expression);
        default: {
            const auto plain = is_signed(type) ? static_cast<scalar>(static_cast<int>(type) + 1) : type;
            return fmt::format("({})({})({})", u64, emit::type_name(language, plain), expression);
        }
    }
}

std::string source_of(const program_text& p) {
    const bool opencl = !p.language.has.is_cpp;
    const std::string T = emit::type_name(p.language, p.type);
    const std::string u64 = emit::type_name(p.language, scalar::u64);
    const char* space = opencl ? "global " : "";
    std::string text;
    const bool uses_f64 =
        p.type == scalar::f64 ||
        std::any_of(p.rows.begin(), p.rows.end(), [](const row& r) { return r.result == scalar::f64; });
    if (opencl && uses_f64) text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
    if (opencl) text += "#pragma OPENCL FP_CONTRACT OFF\n";
    for (const auto& [name, definition] : p.helpers) text += definition;
    text += fmt::format(
        "{0} void rows({1} n, {2}const {3}* as, {2}const {3}* bs, {2}const {3}* cs, "
        "{2}const int* ms, {2}{4}* out) {{\n",
        opencl ? "kernel" : "extern \"C\" __global__", emit::type_name(p.language, scalar::u32), space, T,
        u64);
    text += opencl ? "    uint i = get_global_id(0);\n"
                   : "    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
    text += "    if (i >= n) return;\n";
    text += fmt::format(
        "    const {} a = as[i], b = bs[i], c = cs[i];\n    const int m = ms[i];\n    (void)c; (void)m;\n",
        T);
    for (std::size_t k = 0; k < p.rows.size(); ++k)
        text += fmt::format("    out[{}u * n + i] = {};\n", k,
                            bits_words(p.language, p.rows[k].result, p.rows[k].expression));
    return text + "}\n";
}

// ---- operands

template <class T>
std::vector<T> special_values() {
    if constexpr (std::floating_point<T>) {
        using limits = std::numeric_limits<T>;
        std::vector<T> found = {0,
                                T(0.25),
                                T(0.5),
                                std::nextafter(T(0.5), T(0)),
                                std::nextafter(T(1), T(0)),
                                1,
                                std::nextafter(T(1), T(2)),
                                T(1.5),
                                2,
                                T(2.5),
                                3,
                                T(7.5),
                                10,
                                64,
                                100,
                                T(127.5),
                                T(1000003),
                                T(2147483648.0),
                                T(4294967296.0),
                                T(9223372036854775808.0),
                                T(18446744073709551616.0),
                                limits::denorm_min(),
                                3 * limits::denorm_min(),
                                limits::min(),
                                std::nextafter(limits::min(), T(0)),
                                limits::max(),
                                limits::infinity()};
        const std::size_t count = found.size();
        for (std::size_t k = 0; k < count; ++k) found.push_back(-found[k]);
        found.push_back(limits::quiet_NaN());
        return found;
    } else {
        using limits = std::numeric_limits<T>;
        return {0,
                1,
                2,
                3,
                static_cast<T>(-1),
                static_cast<T>(-2),
                7,
                31,
                32,
                33,
                63,
                64,
                static_cast<T>(-7),
                limits::max(),
                limits::min(),
                static_cast<T>(limits::max() - 1),
                static_cast<T>(limits::min() + 1),
                static_cast<T>(limits::max() / 2),
                static_cast<T>(limits::max() / 2 + 1)};
    }
}

template <class T>
T random_value(std::mt19937_64& random) {
    if constexpr (std::floating_point<T>) {
        switch (random() % 4) {
            case 0: return std::uniform_real_distribution<T>(-1, 1)(random);
            case 1: return std::uniform_real_distribution<T>(-100, 100)(random);
            case 2: return std::exp2(std::uniform_real_distribution<T>(-30, 30)(random));
            default: {  // any bit pattern but a signalling NaN, of which OpenCL promises nothing
                using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
                const T any = std::bit_cast<T>(static_cast<U>(random()));
                return std::isnan(any) ? std::numeric_limits<T>::quiet_NaN() : any;
            }
        }
    } else {
        const auto any = static_cast<T>(random());
        return random() % 2 ? any : static_cast<T>(any >> (random() % (8 * sizeof(T))));
    }
}

template <class T>
struct operand_lists {
    std::vector<T> a, b, c;
    std::vector<std::int32_t> m;

    operand_lists() = default;
    explicit operand_lists(std::mt19937_64& random) {
        const std::vector<T> special = special_values<T>();
        constexpr std::int32_t exponents[] = {0,
                                              1,
                                              -1,
                                              2,
                                              -2,
                                              3,
                                              -3,
                                              5,
                                              10,
                                              -7,
                                              127,
                                              149,
                                              -149,
                                              1074,
                                              -1074,
                                              std::numeric_limits<std::int32_t>::max(),
                                              std::numeric_limits<std::int32_t>::min()};
        for (const T& x : special)
            for (const T& y : special)
                add(x, y, special[random() % special.size()], exponents[a.size() % 17]);
        for (int k = 0; k < 20000; ++k)
            add(random_value<T>(random), random_value<T>(random), random_value<T>(random),
                static_cast<std::int32_t>(random() % 64) - 32);
    }

    void add(T x, T y, T z, std::int32_t n) {
        a.push_back(x);
        b.push_back(y);
        c.push_back(z);
        m.push_back(n);
    }
};

/// How many random operands each floating row is compared with MPFR on; BALM_TEST_CASES says another number,
/// and has the errors listed.
std::size_t random_cases() { return case_count(1000); }

/// Where elementary functions lose digits: beside multiples of pi / 2 of every size, beside 1, where results
/// overflow or are subnormal, powers near 1 with large exponents and others near the range's ends, poles of
/// gamma; and any bit pattern.
template <class T>
operand_lists<T> hard_operands(std::mt19937_64& random, std::size_t count) {
    using limits = std::numeric_limits<T>;
    operand_lists<T> list;
    const std::vector<T> special = special_values<T>();
    const auto uniform = [&](T low, T high) { return std::uniform_real_distribution<T>(low, high)(random); };
    const auto integer = [&] { return static_cast<std::int32_t>(random() % 64) - 32; };
    for (const T& x : special) list.add(x, special[random() % special.size()], 0, integer());
    const auto moved = [&](T x) {  // by up to two numbers
        for (std::uint64_t k = random() % 3; k > 0; --k)
            x = std::nextafter(x, random() % 2 == 0 ? limits::max() : T(0));
        return x;
    };
    for (std::size_t k = 0; k < count; ++k) {
        T x = 0, y = random_value<T>(random);
        switch (k % 8) {
            case 0: {  // k pi / 2, k up to 2^60
                const auto turns = static_cast<long double>(random() >> (4 + random() % 60));
                x = moved(static_cast<T>(turns * 1.57079632679489661923132169163975144L));
                break;
            }
            case 1:
                x = moved(static_cast<T>(
                    std::ldexp(uniform(1, 2), static_cast<int>(random() % limits::max_exponent))));
                break;
            case 2: {  // 1 + tiny, and an exponent that makes a number of it
                const T tiny = std::ldexp(uniform(1, 2), -static_cast<int>(random() % limits::digits));
                x = random() % 2 == 0 ? 1 + tiny : 1 - tiny / 2;
                y = uniform(-1, 1) * T(limits::max_exponent) /
                    std::max(std::abs(std::log2(x)), limits::min());
                break;
            }
            case 3: {  // x^y near the ends of the range
                x = std::exp2(uniform(T(limits::min_exponent), T(limits::max_exponent - 1)));
                const T end =
                    random() % 2 == 0 ? T(limits::max_exponent) : T(limits::min_exponent - limits::digits);
                y = moved(end / std::log2(x));
                break;
            }
            case 4: x = limits::denorm_min() * static_cast<T>(random() >> (11 + random() % 52)); break;
            case 5: x = moved(uniform(-180, 180)); break;
            case 6: x = moved(static_cast<T>(integer()) / 2); break;  // poles, halves
            default: x = random_value<T>(random); break;
        }
        if (k % 8 != 2 && k % 8 != 3 && random() % 2 == 0) x = -x;
        list.add(x, y, 0, integer());
    }
    return list;
}

template <class T>
std::uint64_t bits_of(T x) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<std::uint32_t>(x);
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<std::uint64_t>(x);
    else
        return static_cast<std::make_unsigned_t<T>>(x);
}

// ---- the run

template <class T>
std::vector<std::uint64_t> run_rows(runtime::driver_device& device, const program_text& p,
                                    const operand_lists<T>& in) {
    const auto n = static_cast<std::uint32_t>(in.a.size());
    const auto program = device.compile(source_of(p), "");
    const auto kernel = program->make_kernel("rows");
    const auto queue = device.make_queue({});
    const device_memory a(device, n * sizeof(T)), b(device, n * sizeof(T)), c(device, n * sizeof(T));
    const device_memory m(device, n * sizeof(std::int32_t)), out(device, n * p.rows.size() * 8);
    queue->write(a.get(), 0, in.a.data(), n * sizeof(T), {});
    queue->write(b.get(), 0, in.b.data(), n * sizeof(T), {});
    queue->write(c.get(), 0, in.c.data(), n * sizeof(T), {});
    queue->write(m.get(), 0, in.m.data(), n * sizeof(std::int32_t), {});
    const runtime::argument arguments[] = {value_argument(n),        memory_argument(a.get()),
                                           memory_argument(b.get()), memory_argument(c.get()),
                                           memory_argument(m.get()), memory_argument(out.get())};
    queue->launch(*kernel, line((n + 63) / 64 * 64, 64), arguments, {});
    std::vector<std::uint64_t> results(n * p.rows.size());
    queue->read(results.data(), out.get(), 0, results.size() * 8, {});
    queue->finish();
    return results;
}

std::string shown(scalar type, std::uint64_t bits) {
    if (type == scalar::f32)
        return fmt::format("{} ({:a})", std::bit_cast<float>(static_cast<std::uint32_t>(bits)),
                           std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    if (type == scalar::f64)
        return fmt::format("{} ({:a})", std::bit_cast<double>(bits), std::bit_cast<double>(bits));
    return fmt::format("{:#x}", bits);
}

template <class T>
void expect_rows(const program_text& p, const operand_lists<T>& in,
                 const std::vector<std::uint64_t>& results) {
    const std::size_t n = in.a.size();
    for (std::size_t k = 0; k < p.rows.size(); ++k) {
        const row& r = p.rows[k];
        const int ulp = r.ulp;
        std::size_t wrong = 0, judged = 0;
        double worst = 0;
        std::string examples;
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t operands[] = {bits_of(in.a[i]), bits_of(in.b[i]), bits_of(in.c[i])};
            if (r.takes_int) operands[r.arity - 1] = bits_of(in.m[i]);
            const std::uint64_t got = results[k * n + i];
            const std::span<const std::uint64_t> given(operands, static_cast<std::size_t>(r.arity));
            if (r.what != builtin::count && !oracle::is_specified(r.what, p.type, given)) continue;
            ++judged;
            const oracle::value expected =
                r.what == builtin::count ? oracle::value{oracle::convert(p.type, r.result, operands[0]), 0}
                                         : oracle::evaluate(r.what, p.type, given);
            if (is_floating(r.result))
                worst = std::max(worst, oracle::ulp_error(r.result, got, expected.wide));
            if (oracle::accepts(r.what, r.result, got, expected, ulp)) continue;
            if (++wrong > 4) continue;
            examples += fmt::format("\n    {}(", r.name);
            for (int o = 0; o < r.arity; ++o)
                examples += (o ? ", " : "") +
                            shown(r.takes_int && o == r.arity - 1 ? scalar::i32 : p.type, operands[o]);
            examples +=
                fmt::format(") gave {}, not {}", shown(r.result, got), shown(r.result, expected.bits));
        }
        EXPECT_GT(judged, n / 16) << r.name << " of " << to_string(p.type) << " is hardly tested";
        EXPECT_EQ(wrong, 0u) << r.name << " of " << to_string(p.type) << ", worst error " << worst
                             << " ulp, allowed " << ulp << ", of " << n << ":" << examples;
    }
}

template <class T>
long double number_of(T x) {
    return static_cast<long double>(x);
}

/// Each row's largest error beside MPFR, which is within the row's bound. The host oracle's long double,
/// where it has a number, is within a hundredth.
template <class T>
void expect_rows_beside_mpfr(const program_text& p, const operand_lists<T>& in,
                             const std::vector<std::uint64_t>& results, const std::string& device) {
    const std::size_t n = in.a.size();
    for (std::size_t k = 0; k < p.rows.size(); ++k) {
        const row& r = p.rows[k];
        double worst = 0, oracles = 0;
        std::size_t judged = 0, at = 0, oracle_at = 0;
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t bits[] = {bits_of(in.a[i]), bits_of(in.b[i]), bits_of(in.c[i])};
            long double numbers[] = {number_of(in.a[i]), number_of(in.b[i]), number_of(in.c[i])};
            const auto last = static_cast<std::size_t>(r.arity) - 1;
            if (r.takes_int) {
                bits[last] = bits_of(in.m[i]);
                numbers[last] = in.m[i];
            }
            const std::span<const std::uint64_t> given(bits, last + 1);
            if (!oracle::is_specified(r.what, p.type, given)) continue;
            const oracle::value host = oracle::evaluate(r.what, p.type, given);
            if (!std::isfinite(numbers[0]) || !std::isfinite(numbers[last]) || std::isnan(host.wide) ||
                std::isinf(host.wide) || host.wide == 0)
                continue;  // what is defined, not computed: expect_rows judges it
            const std::optional<long double> right = exact(r.what, {numbers, last + 1});
            ASSERT_TRUE(right.has_value()) << r.name << " is not in tests/support/exact.cpp";
            ++judged;
            const double error = oracle::ulp_error(r.result, results[k * n + i], *right);
            if (!(error <= worst)) worst = error, at = i;
            const double of_oracle = oracle::ulp_error(r.result, host.bits, *right);
            if (!(of_oracle <= oracles)) oracles = of_oracle, oracle_at = i;
        }
        const auto operands = [&](std::size_t i) {
            std::string words = shown(p.type, bits_of(in.a[i]));
            if (r.takes_int) return words + ", " + std::to_string(in.m[i]);
            return r.arity > 1 ? words + ", " + shown(p.type, bits_of(in.b[i])) : words;
        };
        if (std::getenv("BALM_TEST_CASES") != nullptr)
            std::cout << fmt::format("{:16} {}  bound {:5}  worst {:8.3f}  of {:7}  at {}  on {}\n", r.name,
                                     to_string(p.type), r.ulp, worst, judged, operands(at), device);
        EXPECT_GT(judged, n / 64) << r.name << " of " << to_string(p.type) << " is hardly tested";
        EXPECT_LE(oracles, 0.51) << "the oracle's " << r.name << " of " << operands(oracle_at);
        if (r.ulp > 0) {
            EXPECT_LE(worst, r.ulp) << r.name << " of " << to_string(p.type) << " at " << operands(at)
                                    << " gave " << shown(p.type, results[k * n + at]);
        }
    }
}

template <class T>
void agrees_on_every_device() {
    on_every_device([](runtime::driver_device& device) {
        if (!compiles(device) || (scalar_of<T> == scalar::f64 && !device.info().has_double)) return;
        auto random = fresh_random();
        const operand_lists<T> in(random);
        const program_text p = rows_of(device.language(), scalar_of<T>, device.info().has_double);
        expect_rows<T>(p, in, run_rows<T>(device, p, in));
    });
}

template <class T>
void is_accurate_on_every_device() {
    on_every_device([](runtime::driver_device& device) {
        if (!compiles(device) || (scalar_of<T> == scalar::f64 && !device.info().has_double)) return;
        auto random = fresh_random();
        program_text p = rows_of(device.language(), scalar_of<T>, device.info().has_double);
        std::erase_if(p.rows, [](const row& r) { return r.ulp == 0 || !is_floating(r.result); });
        ASSERT_GT(p.rows.size(), 40u);
        for (std::size_t left = random_cases(); left > 0;) {
            const std::size_t now = std::min<std::size_t>(left, 1 << 18);
            const operand_lists<T> in = hard_operands<T>(random, now);
            expect_rows_beside_mpfr<T>(p, in, run_rows<T>(device, p, in), device.info().name);
            left -= now;
        }
    });
}

}  // namespace

TEST(C10_accuracy, of_f32_is_within_the_bounds_beside_mpfr) { is_accurate_on_every_device<float>(); }
TEST(C10_accuracy, of_f64_is_within_the_bounds_beside_mpfr) { is_accurate_on_every_device<double>(); }

TEST(C10_builtins, of_i8_agree_with_the_oracle) { agrees_on_every_device<std::int8_t>(); }
TEST(C10_builtins, of_u8_agree_with_the_oracle) { agrees_on_every_device<std::uint8_t>(); }
TEST(C10_builtins, of_i16_agree_with_the_oracle) { agrees_on_every_device<std::int16_t>(); }
TEST(C10_builtins, of_u16_agree_with_the_oracle) { agrees_on_every_device<std::uint16_t>(); }
TEST(C10_builtins, of_i32_agree_with_the_oracle) { agrees_on_every_device<std::int32_t>(); }
TEST(C10_builtins, of_u32_agree_with_the_oracle) { agrees_on_every_device<std::uint32_t>(); }
TEST(C10_builtins, of_i64_agree_with_the_oracle) { agrees_on_every_device<std::int64_t>(); }
TEST(C10_builtins, of_u64_agree_with_the_oracle) { agrees_on_every_device<std::uint64_t>(); }
TEST(C10_builtins, of_f32_agree_with_the_oracle) { agrees_on_every_device<float>(); }
TEST(C10_builtins, of_f64_agree_with_the_oracle) { agrees_on_every_device<double>(); }

TEST(C10_builtins, compile_for_cuda_without_a_gpu) {
    if (!cuda::nvrtc_available()) GTEST_SKIP() << cuda::describe_nvrtc();
    std::size_t rows = 0;
    auto compile = [&](scalar type) {
        const program_text p = rows_of(dialect::cuda_cpp, type, true);
        std::string log;
        const std::string architecture = cuda::nvrtc_architecture(90, "any");
        EXPECT_FALSE(cuda::compile_with_nvrtc(source_of(p), cuda::nvrtc_options, architecture, log).empty());
        EXPECT_EQ(log, "") << source_of(p);
        rows += p.rows.size();
    };
    for (scalar type : all_integers) compile(type);
    for (scalar type : floats) compile(type);
    std::cout << rows << " rows of builtins.def compiled with " << cuda::describe_nvrtc() << '\n';
}

}  // namespace balm::test
