// Random expressions of integers of one type, on scalars and on lanes, against 64-bit arithmetic of the host:
// what one operation leaves in the upper half of a register must not reach the next. Values are at the ends
// of their type as often as elsewhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "kernel/run.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"
#include "support/devices_random.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

/// An operation: on the device, and on the host by values that fit a type of the given limits.
enum class narrow_op : std::uint8_t {
    leaf,
    literal,
    negation,
    complement,
    sum,
    difference,
    product,
    both,
    either,
    one_of,
    left,
    right,
    absolute,
    distance,
    half_sum,
    saturated_sum,
    saturated_difference,
    saturated_product,
    upper_half,
    least,
    greatest,
    between,
    rotation,
    zeros,
    ones,
    chosen,
    count
};
constexpr int arities[] = {0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 3, 2, 2, 2, 3, 2, 1, 1, 3};
static_assert(std::size(arities) == static_cast<std::size_t>(narrow_op::count));

struct narrow_term {
    narrow_op op;
    int value;  ///< of a leaf: which; of a literal: the number
    std::vector<narrow_term> operands;
};

std::string words_of(const narrow_term& t) {
    constexpr const char* names[] = {"",      "",        "neg",     "not",      "add",    "sub", "mul",
                                     "and",   "or",      "xor",     "shl",      "shr",    "abs", "abs_diff",
                                     "hadd",  "add_sat", "sub_sat", "mad_sat",  "mul_hi", "min", "max",
                                     "clamp", "rotate",  "clz",     "popcount", "select"};
    static_assert(std::size(names) == std::size(arities));
    if (t.op == narrow_op::leaf) return std::string(1, "abc"[t.value]);
    if (t.op == narrow_op::literal) return std::to_string(t.value);
    std::string list;
    for (const narrow_term& each : t.operands) list += (list.empty() ? "" : ", ") + words_of(each);
    return names[static_cast<std::size_t>(t.op)] + ("(" + list + ")");
}

narrow_term draw_term(std::mt19937_64& random, int depth) {
    if (depth == 0 || below(random, 12) == 0) {
        const bool is_literal = below(random, 4) == 0;
        return {is_literal ? narrow_op::literal : narrow_op::leaf,
                is_literal ? static_cast<int>(below(random, 7)) - 3 : static_cast<int>(below(random, 3)),
                {}};
    }
    const auto first = static_cast<std::size_t>(narrow_op::negation);
    // Negations in all their forms are what compilers get wrong: a quarter of the operations.
    const std::size_t drawn = below(random, 4) == 0
                                  ? first
                                  : first + below(random, static_cast<std::size_t>(narrow_op::count) - first);
    narrow_term t{static_cast<narrow_op>(drawn), 0, {}};
    for (int k = 0; k < arities[drawn]; ++k) t.operands.push_back(draw_term(random, depth - 1));
    return t;
}

template <class T>
T term_on_host(const narrow_term& t, const std::array<T, 3>& leaves) {
    __extension__ typedef __int128 wide;
    using unsigned_t = std::make_unsigned_t<T>;
    using limits = std::numeric_limits<T>;
    constexpr int bits = 8 * sizeof(T);
    std::array<wide, 3> x{};
    for (std::size_t k = 0; k < t.operands.size(); ++k) x[k] = term_on_host<T>(t.operands[k], leaves);
    const auto saturated = [](wide v) { return std::clamp<wide>(v, limits::min(), limits::max()); };
    const auto pattern = static_cast<unsigned_t>(x[0]);
    const int shift = static_cast<int>(x[1] & (bits - 1));
    const auto value = [&]() -> wide {
        switch (t.op) {
            case narrow_op::leaf: return leaves[static_cast<std::size_t>(t.value)];
            case narrow_op::literal: return t.value;
            case narrow_op::negation: return -x[0];
            case narrow_op::complement: return ~x[0];
            case narrow_op::sum: return x[0] + x[1];
            case narrow_op::difference: return x[0] - x[1];
            case narrow_op::product: return x[0] * x[1];
            case narrow_op::both: return x[0] & x[1];
            case narrow_op::either: return x[0] | x[1];
            case narrow_op::one_of: return x[0] ^ x[1];
            case narrow_op::left: return x[0] * (wide{1} << shift);
            case narrow_op::right: return x[0] >> shift;
            case narrow_op::absolute: return x[0] < 0 ? -x[0] : x[0];
            case narrow_op::distance: return x[0] < x[1] ? x[1] - x[0] : x[0] - x[1];
            case narrow_op::half_sum: return (x[0] + x[1]) >> 1;
            case narrow_op::saturated_sum: return saturated(x[0] + x[1]);
            case narrow_op::saturated_difference: return saturated(x[0] - x[1]);
            case narrow_op::saturated_product: return saturated(x[0] * x[1] + x[2]);
            case narrow_op::upper_half: return (x[0] * x[1]) >> bits;
            case narrow_op::least: return std::min(x[0], x[1]);
            case narrow_op::greatest: return std::max(x[0], x[1]);
            case narrow_op::between:
                return std::min(std::max(x[0], std::min(x[1], x[2])), std::max(x[1], x[2]));
            case narrow_op::rotation: return std::rotl(pattern, shift);
            case narrow_op::zeros: return std::countl_zero(pattern);
            case narrow_op::ones: return std::popcount(pattern);
            default: return x[0] < x[1] ? x[2] : x[1];
        }
    }();
    return static_cast<T>(static_cast<unsigned_t>(value));
}

template <class V>
struct element_of_value {
    using type = V;
    static constexpr std::size_t lanes = 1;
    static V& lane(V& v, std::size_t) { return v; }
};
template <class T, int N>
struct element_of_value<vec<T, N>> {
    using type = T;
    static constexpr std::size_t lanes = N;
    static T& lane(vec<T, N>& v, std::size_t k) { return v[static_cast<int>(k)]; }
};

template <class V, class T>
V filled(T number) {
    V v{};
    for (std::size_t k = 0; k < element_of_value<V>::lanes; ++k) element_of_value<V>::lane(v, k) = number;
    return v;
}

/// The same on the device. C promotes operands of 8 and 16 bits to int: each result is converted back.
template <class V, class T>
Var<V> term_on_device(const narrow_term& t, const std::array<Var<V>*, 3>& leaves) {
    std::vector<Var<V>> x;
    for (const narrow_term& each : t.operands) x.push_back(term_on_device<V, T>(each, leaves));
    const auto narrowed = [](const auto& value) { return Var<V>(cast<V>(value)); };
    switch (t.op) {
        case narrow_op::leaf: return *leaves[static_cast<std::size_t>(t.value)];
        case narrow_op::literal: return Var<V>(filled<V>(static_cast<T>(t.value)));
        case narrow_op::negation: return narrowed(-x[0]);
        case narrow_op::complement: return narrowed(~x[0]);
        case narrow_op::sum: return narrowed(x[0] + x[1]);
        case narrow_op::difference: return narrowed(x[0] - x[1]);
        case narrow_op::product: return narrowed(x[0] * x[1]);
        case narrow_op::both: return narrowed(x[0] & x[1]);
        case narrow_op::either: return narrowed(x[0] | x[1]);
        case narrow_op::one_of: return narrowed(x[0] ^ x[1]);
        case narrow_op::left: return narrowed(x[0] << narrowed(x[1] & T(8 * sizeof(T) - 1)));
        case narrow_op::right: return narrowed(x[0] >> narrowed(x[1] & T(8 * sizeof(T) - 1)));
        case narrow_op::absolute: return narrowed(abs(x[0]));
        case narrow_op::distance: return narrowed(abs_diff(x[0], x[1]));
        case narrow_op::half_sum: return narrowed(hadd(x[0], x[1]));
        case narrow_op::saturated_sum: return narrowed(add_sat(x[0], x[1]));
        case narrow_op::saturated_difference: return narrowed(sub_sat(x[0], x[1]));
        case narrow_op::saturated_product: return narrowed(mad_sat(x[0], x[1], x[2]));
        case narrow_op::upper_half: return narrowed(mul_hi(x[0], x[1]));
        case narrow_op::least: return narrowed(min(x[0], x[1]));
        case narrow_op::greatest: return narrowed(max(x[0], x[1]));
        case narrow_op::between: return narrowed(clamp(x[0], min(x[1], x[2]), max(x[1], x[2])));
        case narrow_op::rotation: return narrowed(rotate(x[0], x[1]));
        case narrow_op::zeros: return narrowed(clz(x[0]));
        case narrow_op::ones: return narrowed(popcount(x[0]));
        default: return narrowed(select(x[0] < x[1], x[2], x[1]));
    }
}

}  // namespace

template <class V>
class C10_narrow_integers : public testing::Test {};
// Not i32 and i64, whose overflow is undefined (docs/kernel-language.md).
using narrow_values = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::uint32_t,
                                     char4, uchar3, short2, short3, short8, ushort4, uint2>;
TYPED_TEST_SUITE(C10_narrow_integers, narrow_values);

TYPED_TEST(C10_narrow_integers, wrap_before_the_next_operation) {
    using V = TypeParam;
    using value = element_of_value<V>;
    using T = typename value::type;
    constexpr std::size_t items = 64, terms_of_kernel = 16;
    auto random = seeded_random();
    for (std::size_t kernels = case_count(1); kernels > 0; --kernels) {
        std::vector<narrow_term> terms;
        for (std::size_t k = 0; k < terms_of_kernel; ++k)
            terms.push_back(draw_term(random, 2 + static_cast<int>(k % 3)));
        const auto kernel = balm::kernel<1>("narrow", [&](In<V> a, In<V> b, In<V> c, Out<V> out) {
            Index i = global_id(0);
            Var<V> x = a[i], y = b[i], z = c[i];
            for (std::size_t k = 0; k < terms.size(); ++k)
                out[i + static_cast<std::int64_t>(items * k)] = term_on_device<V, T>(terms[k], {&x, &y, &z});
        });
        std::array<host_array<V>, 3> inputs;
        for (host_array<V>& input : inputs) {
            input = host_array<V>(shape(items));
            for (V& v : input)
                for (std::size_t k = 0; k < value::lanes; ++k) value::lane(v, k) = random_value<T>(random);
        }
        on_all_devices([&](const device& on) {
            auto out = on.out_buffer<V>(items * terms_of_kernel);
            on.execute(kernel(in(on, inputs[0]), in(on, inputs[1]), in(on, inputs[2]), out), {items});
            host_array<V> got = out.read();
            for (std::size_t n = 0; n < got.size(); ++n)
                for (std::size_t k = 0; k < value::lanes; ++k) {
                    std::array<T, 3> leaves{};
                    for (std::size_t p = 0; p < 3; ++p) leaves[p] = value::lane(inputs[p][n % items], k);
                    ASSERT_EQ(+value::lane(got[n], k), +term_on_host<T>(terms[n / items], leaves))
                        << words_of(terms[n / items]) << " of " << +leaves[0] << ", " << +leaves[1] << ", "
                        << +leaves[2];
                }
        });
    }
}

// ptxas of CUDA 13.0 takes such comparisons from the wrong predicate.
TEST(C10_integers, compare_with_the_bound_that_they_were_limited_to) {
    const auto kernel =
        balm::kernel<1>("limited", [](In<std::int32_t> a, In<std::int32_t> b, Out<std::int32_t> out) {
            Index i = global_id(0);
            Int x = a[i], y = b[i];
            Int lower = max(min(x, y), 0), bytes = max(min(x - y, 255), 0);
            out[8 * i] = cast<std::int32_t>(lower == y);
            out[8 * i + 1] = cast<std::int32_t>(cast<std::int16_t>(max(0, min(x, 32767))) == 32767);
            out[8 * i + 2] = cast<std::int32_t>(cast<std::int16_t>(clamp(x, 0, 32767)) == 32767);
            out[8 * i + 3] = cast<std::int32_t>(cast<std::uint8_t>(bytes) == 255);
            out[8 * i + 4] = cast<std::int32_t>(cast<std::uint8_t>(clamp(y, 0, 255)) == 255);
            out[8 * i + 5] = select(bytes == 255, y, x);
            out[8 * i + 6] = cast<std::int32_t>(cast<std::int8_t>(max(min(y, 127), 0)) == 127);
            out[8 * i + 7] = lower;
        });
    auto random = seeded_random();
    const std::int32_t bound = 1 << 30;
    const auto a = random_values<std::int32_t>(random, some_items, -bound, bound);
    auto b = random_values<std::int32_t>(random, some_items, -bound, bound);
    for (std::size_t i = 0; i < some_items; i += 2)
        b[i] = static_cast<std::int32_t>(below(random, 600)) - 300;
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<std::int32_t>(8 * some_items);
        on.execute(kernel(in(on, a), in(on, b), out), {some_items});
        expect_each(out.read(), [&](std::size_t n) -> std::int32_t {
            const std::int32_t x = a[n / 8], y = b[n / 8];
            const std::int32_t lower = std::max(std::min(x, y), 0), bytes = std::clamp(x - y, 0, 255);
            switch (n % 8) {
                case 0: return lower == y;
                case 1:
                case 2: return x >= 32767;
                case 3: return bytes == 255;
                case 4: return y >= 255;
                case 5: return bytes == 255 ? y : x;
                case 6: return y >= 127;
                default: return lower;
            }
        });
    });
}

}  // namespace balm::test
