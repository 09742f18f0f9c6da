// A program with fifty expressions and ten reductions over vectors of seven types. bench/compile_time.sh
// holds its compile time to a budget. Each statement is compiled twice, for vectors and for host numbers, and
// the program compares the results.

#include <balm/balm.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

// Inputs: x, y, z (double), p, q (float), i, j (std::int32_t), u, v (std::uint32_t), l (std::int64_t),
// w (std::uint64_t), b (bool). Results: d, f, k, m, t, s, c of these types in the same order.
#define FIFTY_STATEMENTS(STATEMENT)                                 \
    STATEMENT(d, d = x + y)                                         \
    STATEMENT(d, d = 2 * y - sin(z))                                \
    STATEMENT(d, d += x * y - z / 3)                                \
    STATEMENT(d, d = sqrt(x * x + y * y + z * z))                   \
    STATEMENT(d, d = exp(-x * x) * cos(3 * y))                      \
    STATEMENT(d, d = (x - y) * (x + y) / (1 + z * z))               \
    STATEMENT(d, d = select(x < y, x, y + 1))                       \
    STATEMENT(d, d = pow(x + 1, 2.5) + log(y + 1))                  \
    STATEMENT(d, d = fma(x, y, z) - x)                              \
    STATEMENT(d, d = fmin(x, y) + fmax(y, z))                       \
    STATEMENT(d, d = atan2(x, y) + hypot(y, z))                     \
    STATEMENT(d, d = floor(10 * x) - ceil(7 * y))                   \
    STATEMENT(d, d = x * p + y * q)                                 \
    STATEMENT(d, d = i * x - j * y)                                 \
    STATEMENT(d, d = 1 + x * (2 + x * (3 + x * (4 + x * (5 + x))))) \
    STATEMENT(d, d = tanh(x) - erf(y) + cbrt(z))                    \
    STATEMENT(d, d -= 0.5 * (x + y + z))                            \
    STATEMENT(d, d = fabs(x - y) + fabs(y - z) + fabs(z - x))       \
    STATEMENT(d, d = cast<double>(element_index()) / 1000 + x)      \
    STATEMENT(d, d = select(b, exp(x), log(1 + y)))                 \
    STATEMENT(f, f = p + q)                                         \
    STATEMENT(f, f = 3 * p - 2 * q)                                 \
    STATEMENT(f, f = sqrt(p * p + q * q))                           \
    STATEMENT(f, f = p * (1 - p) * (1 - q))                         \
    STATEMENT(f, f *= p / (q + 1))                                  \
    STATEMENT(f, f = select(p > q || b, p, -q))                     \
    STATEMENT(f, f = cast<float>(i) * p)                            \
    STATEMENT(f, f = exp2(p) + log2(q + 1))                         \
    STATEMENT(f, f = cast<float>(x * y) + q)                        \
    STATEMENT(f, f = sin(p) * cos(q) + cos(p) * sin(q))             \
    STATEMENT(k, k = i + j)                                         \
    STATEMENT(k, k = i * j - (i << 2))                              \
    STATEMENT(k, k = i / 7 + j % 5)                                 \
    STATEMENT(k, k = (i & j) | (i ^ 0x55))                          \
    STATEMENT(k, k = select(i > j, i, j) - 1)                       \
    STATEMENT(k, k = cast<std::int32_t>(100 * x) + i)               \
    STATEMENT(k, k = ~i + (j >> 1))                                 \
    STATEMENT(k, k += 3 * i - 2 * j)                                \
    STATEMENT(m, m = u + v)                                         \
    STATEMENT(m, m = (u << 3) ^ (v >> 2) ^ u)                       \
    STATEMENT(m, m = u * 1664525u + 1013904223u)                    \
    STATEMENT(m, m = u % 10u + v / 3u)                              \
    STATEMENT(t, t = l + i)                                         \
    STATEMENT(t, t = l * 3 - element_index())                       \
    STATEMENT(t, t = (l >> 5) & 1023)                               \
    STATEMENT(s, s = w + u)                                         \
    STATEMENT(s, s = (w ^ (w >> 9)) & 0xffffffffu)                  \
    STATEMENT(c, c = x < y && y < z)                                \
    STATEMENT(c, c = i == j || (u > v && !b))                       \
    STATEMENT(c, c = (p >= q) != b)

#define TEN_REDUCTIONS(REDUCTION) \
    REDUCTION(sum, x)             \
    REDUCTION(sum, x* y)          \
    REDUCTION(max, fabs(x - y))   \
    REDUCTION(min, x + y + z)     \
    REDUCTION(sum, p* q)          \
    REDUCTION(max, p - q)         \
    REDUCTION(sum, i* j)          \
    REDUCTION(min, i - j)         \
    REDUCTION(sum, x < y)         \
    REDUCTION(max, l + i)

namespace {

constexpr std::size_t n = 1000;

double spread(std::size_t at, double by) { return std::fmod(static_cast<double>(at + 1) * by, 1.0); }

/// The inputs' elements at one index, and the functions of the expressions that the standard library lacks.
namespace host {

using namespace std;

template <class T, class A>
T cast(A a) {
    return static_cast<T>(a);
}
template <class T>
T select(bool condition, T if_true, T if_false) {
    return condition ? if_true : if_false;
}

struct place {
    explicit place(std::size_t at)
        : x(spread(at, 0.6180339887498949)),
          y(spread(at, 0.7548776662466927)),
          z(spread(at, 0.5698402909980532)),
          p(static_cast<float>(spread(at, 0.8191725133961645))),
          q(static_cast<float>(spread(at, 0.6710436067037893))),
          i(static_cast<std::int32_t>(at * 37 % 211)),
          j(static_cast<std::int32_t>(at * 53 % 197)),
          u(static_cast<std::uint32_t>(at * 2654435761u)),
          v(static_cast<std::uint32_t>(at * 40503u)),
          l(static_cast<std::int64_t>(at) * 1000003 - 500000),
          w(at * 1000000007u),
          b(at % 3 == 0),
          index(static_cast<std::int64_t>(at)) {}
    double x, y, z;
    float p, q;
    std::int32_t i, j;
    std::uint32_t u, v;
    std::int64_t l;
    std::uint64_t w;
    bool b;
    std::int64_t index;
    double d = 0;
    float f = 0;
    std::int32_t k = 0;
    std::uint32_t m = 0;
    std::int64_t t = 0;
    std::uint64_t s = 0;
    bool c = false;

    std::int64_t element_index() const { return index; }
    void statements(std::vector<double>& results) {
#define ON_HOST(target, statement) \
    statement;                     \
    results.push_back(static_cast<double>(target));
        FIFTY_STATEMENTS(ON_HOST)
#undef ON_HOST
    }
    void reduced(std::vector<double>& elements) const {
#define ON_HOST(how, expression) elements.push_back(static_cast<double>(expression));
        TEN_REDUCTIONS(ON_HOST)
#undef ON_HOST
    }
};

}  // namespace host

bool is_close(double got, double wanted, double epsilon) {
    return std::fabs(got - wanted) <= 64 * epsilon * (1 + std::fabs(wanted));
}

int wrong = 0;
void expect(bool is_right, const char* text) {
    if (is_right) return;
    ++wrong;
    std::printf("wrong: %s\n", text);
}

template <class T>
bool is_as_wanted(const balm::vector<T>& got, const std::vector<std::vector<double>>& wanted,
                  std::size_t number) {
    const auto elements = got.to_host();
    for (std::size_t at = 0; at < n; ++at)
        if (!is_close(static_cast<double>(elements[at]), wanted[at][number], sizeof(T) == 4 ? 6e-8 : 1.2e-16))
            return false;
    return true;
}

template <class T>
balm::vector<T> column(const balm::context& where, const std::vector<host::place>& places,
                       T host::place::*member) {
    balm::host_array<T> values{balm::shape(n)};
    for (std::size_t at = 0; at < n; ++at) values[at] = places[at].*member;
    return balm::vector<T>(where, std::span<const T>(values));
}

}  // namespace

int main() {
    std::vector<host::place> places;
    std::vector<std::vector<double>> wanted(n), elements(n);
    for (std::size_t at = 0; at < n; ++at) {
        places.emplace_back(at);
        host::place(places[at]).statements(wanted[at]);
        places[at].reduced(elements[at]);
    }

    using balm::element_index;
    const balm::context ctx;
    const auto x = column(ctx, places, &host::place::x), y = column(ctx, places, &host::place::y),
               z = column(ctx, places, &host::place::z);
    const auto p = column(ctx, places, &host::place::p), q = column(ctx, places, &host::place::q);
    const auto i = column(ctx, places, &host::place::i), j = column(ctx, places, &host::place::j);
    const auto u = column(ctx, places, &host::place::u), v = column(ctx, places, &host::place::v);
    const auto l = column(ctx, places, &host::place::l);
    const auto w = column(ctx, places, &host::place::w);
    const auto b = column(ctx, places, &host::place::b);
    balm::vector<double> d(ctx, n, 0.0);
    balm::vector<float> f(ctx, n, 0.f);
    balm::vector<std::int32_t> k(ctx, n, 0);
    balm::vector<std::uint32_t> m(ctx, n);
    balm::vector<std::int64_t> t(ctx, n);
    balm::vector<std::uint64_t> s(ctx, n);
    balm::vector<bool> c(ctx, n);

    std::size_t number = 0;
#define ON_DEVICE(target, statement) \
    statement;                       \
    expect(is_as_wanted(target, wanted, number++), #statement);
    FIFTY_STATEMENTS(ON_DEVICE)
#undef ON_DEVICE

    const auto sum = [&](std::size_t which) {
        double total = 0;
        for (const auto& of : elements) total += of[which];
        return total;
    };
    const auto min = [&](std::size_t which) {
        double least = elements[0][which];
        for (const auto& of : elements) least = std::fmin(least, of[which]);
        return least;
    };
    const auto max = [&](std::size_t which) {
        double most = elements[0][which];
        for (const auto& of : elements) most = std::fmax(most, of[which]);
        return most;
    };
    std::size_t reduction = 0;
#define ON_DEVICE(how, expression)                                                       \
    expect(is_close(static_cast<double>(balm::how(expression)), how(reduction++), 1e-7), \
           #how "(" #expression ")");
    TEN_REDUCTIONS(ON_DEVICE)
#undef ON_DEVICE

    std::printf("%zu statements and %zu reductions, %d wrong\n", number, reduction, wrong);
    return wrong == 0 ? 0 : 1;
}
