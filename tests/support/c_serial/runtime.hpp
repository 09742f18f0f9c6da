#pragma once
// What kernels that are printed as plain C++ are compiled with: the grid, in which work-items take turns at
// barriers; atomics, images, built-ins. Written after the standards, apart from what Balm prints for devices
// and from the oracle. Names begin with balm_: the printer gives no such name to anything of a kernel's.

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "arguments.hpp"

/// Ahead of what the program that loads the library calls.
#define BALM_ENTRY extern "C" __attribute__((visibility("default")))

namespace balm_serial {

// ---- what a launch is given

/// An image: elements of 4 bytes a lane, x first.
struct image : argument {};

template <class T>
T as(const argument& given) {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<T>(given.memory);
    } else if constexpr (std::is_same_v<T, image>) {
        return {given};
    } else {
        static_assert(sizeof(T) <= sizeof given.bits);
        T value;
        std::memcpy(&value, &given.bits, sizeof value);
        return value;
    }
}

// ---- the grid

struct place {
    std::int64_t global_id[3], local_id[3], group_id[3], global_size[3], local_size[3], groups[3];
    std::int64_t local_linear_id, local_linear_size;
};
/// Of the work-item whose turn it is.
inline place here;

/// The work-items of a group, each with a stack of its own. A turn ends at a barrier.
template <class Body>
class group {
public:
    group(const Body& body, std::size_t count) : body_(body), items_(count) {}

    void run(const grid& g, const std::int64_t* at) {
        current_ = this;
        for (std::size_t k = 0; k < items_.size(); ++k) begin(items_[k], place_of(g, at, k));
        for (bool goes_on = true; goes_on;) {
            goes_on = false;
            for (item& each : items_) goes_on = turn(each) || goes_on;
        }
    }
    static void pause() { swapcontext(&current_->running_->state, &current_->outside_); }

private:
    struct item {
        ucontext_t state;
        place at;
        bool is_done;
        std::unique_ptr<std::byte[]> stack;
    };
    static constexpr std::size_t stack_bytes = 256 << 10;

    static place place_of(const grid& g, const std::int64_t* at, std::size_t number) {
        place p{};
        auto rest = p.local_linear_id = static_cast<std::int64_t>(number);
        p.local_linear_size = g.local[0] * g.local[1] * g.local[2];
        for (int d = 0; d < 3; ++d) {
            p.local_id[d] = rest % g.local[d];
            rest /= g.local[d];
            p.group_id[d] = at[d];
            p.local_size[d] = g.local[d];
            p.global_size[d] = g.global[d];
            p.groups[d] = g.global[d] / g.local[d];
            p.global_id[d] = at[d] * g.local[d] + p.local_id[d];
        }
        return p;
    }
    void begin(item& each, const place& at) {
        each.at = at;
        each.is_done = false;
        if (!each.stack) each.stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
        getcontext(&each.state);
        each.state.uc_stack.ss_sp = each.stack.get();
        each.state.uc_stack.ss_size = stack_bytes;
        each.state.uc_link = &outside_;
        makecontext(&each.state, work, 0);
    }
    static void work() {
        current_->body_();
        current_->running_->is_done = true;
    }
    /// Whether there is more to do.
    bool turn(item& each) {
        if (each.is_done) return false;
        here = each.at;
        running_ = &each;
        swapcontext(&outside_, &each.state);
        return !each.is_done;
    }

    static inline group* current_ = nullptr;
    const Body& body_;
    std::vector<item> items_;
    item* running_ = nullptr;
    ucontext_t outside_;
};

inline void (*pause)() = nullptr;
inline void barrier() { pause(); }

template <class Body>
void run(const grid& g, const Body& body) {
    group<Body> items(body, static_cast<std::size_t>(g.local[0] * g.local[1] * g.local[2]));
    pause = group<Body>::pause;
    std::int64_t at[3];
    for (at[2] = 0; at[2] < g.global[2] / g.local[2]; ++at[2])
        for (at[1] = 0; at[1] < g.global[1] / g.local[1]; ++at[1])
            for (at[0] = 0; at[0] < g.global[0] / g.local[0]; ++at[0]) items.run(g, at);
}

template <class... P>
void launch(void (*kernel)(P...), const argument* given, const grid& g) {
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        run(g, [&] { kernel(as<P>(given[k])...); });
    }
    (std::index_sequence_for<P...>());
}

// ---- atomics: nobody comes between

template <class T>
T exchange(T* p, T value) {
    const T old = *p;
    *p = value;
    return old;
}
template <class T>
T atomic_load(const T* p) {
    return *p;
}
template <class T>
void atomic_store(T* p, T value) {
    *p = value;
}
/// Wraps.
template <class T>
T atomic_add(T* p, T value) {
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return exchange(p, static_cast<T>(static_cast<U>(*p) + static_cast<U>(value)));
    } else {
        return exchange(p, *p + value);
    }
}
template <class T>
T atomic_sub(T* p, T value) {
    if constexpr (std::is_integral_v<T>)
        return atomic_add(p, static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(value)));
    else
        return exchange(p, *p - value);
}
template <class T>
T atomic_exchange(T* p, T value) {
    return exchange(p, value);
}
/// NaNs are passed over.
template <class T>
T atomic_min(T* p, T value) {
    return exchange(p, value < *p || *p != *p ? value : *p);
}
template <class T>
T atomic_max(T* p, T value) {
    return exchange(p, value > *p || *p != *p ? value : *p);
}
template <class T>
T atomic_inc(T* p, T last) {
    return exchange(p, *p >= last ? T(0) : T(*p + 1));
}
template <class T>
T atomic_dec(T* p, T last) {
    return exchange(p, *p == 0 || *p > last ? last : T(*p - 1));
}
template <class T>
T atomic_bit_and(T* p, T value) {
    return exchange(p, T(*p & value));
}
template <class T>
T atomic_bit_or(T* p, T value) {
    return exchange(p, T(*p | value));
}
template <class T>
T atomic_bit_xor(T* p, T value) {
    return exchange(p, T(*p ^ value));
}
template <class T>
T atomic_compare_exchange(T* p, T expected, T value) {
    return exchange(p, std::memcmp(p, &expected, sizeof(T)) == 0 ? value : *p);
}

// ---- images (OpenCL 1.2, section 8.2)

/// The element at a position; null beyond the edges.
inline std::byte* element(const image& from, const std::int64_t (&at)[3], std::size_t bytes) {
    for (int d = 0; d < 3; ++d)
        if (at[d] < 0 || at[d] >= from.extents[d]) return nullptr;
    return from.memory +
           static_cast<std::size_t>((at[2] * from.extents[1] + at[1]) * from.extents[0] + at[0]) * bytes;
}

template <class T, class... At>
T read(const image& from, At... at) {
    T value{};
    if (const std::byte* found = element(from, {std::int64_t(at)...}, sizeof(T)))
        std::memcpy(&value, found, sizeof value);
    return value;
}

template <class T>
void write_at(const image& to, const std::int64_t (&at)[3], const T& value) {
    if (std::byte* found = element(to, at, sizeof value)) std::memcpy(found, &value, sizeof value);
}
template <class T>
void write(const image& to, std::int64_t x, const T& value) {
    write_at(to, {x}, value);
}
template <class T>
void write(const image& to, std::int64_t x, std::int64_t y, const T& value) {
    write_at(to, {x, y}, value);
}
template <class T>
void write(const image& to, std::int64_t x, std::int64_t y, std::int64_t z, const T& value) {
    write_at(to, {x, y, z}, value);
}

/// A coordinate in elements.
inline double in_elements(const image& from, double s, std::int64_t n) {
    if (from.beyond == repeat) return (s - std::floor(s)) * double(n);
    if (from.beyond == mirrored_repeat) return std::fabs(s - 2 * std::rint(s / 2)) * double(n);
    return from.is_normalised ? s * double(n) : s;
}
/// An element's number within the image, or in its border.
inline std::int64_t within(const image& from, std::int64_t k, std::int64_t n) {
    if (from.beyond == repeat) return (k % n + n) % n;
    if (from.beyond == to_border) return k;
    return std::min(std::max<std::int64_t>(k, 0), n - 1);
}

template <class T, class... At>
T sample(const image& from, At... coordinates) {
    const double given[] = {double(coordinates)...};
    constexpr int dimensions = sizeof...(At);
    constexpr bool may_blend = std::is_same_v<T, float>;
    const bool blends = may_blend && from.between == linear;
    double sum = 0;
    for (int corner = 0; corner < (blends ? 1 << dimensions : 1); ++corner) {
        std::int64_t at[3] = {};
        double weight = 1;
        for (int d = 0; d < dimensions; ++d) {
            const double u = in_elements(from, given[d], from.extents[d]) - (blends ? 0.5 : 0);
            const double below = std::floor(u), fraction = u - below;
            const int step = corner >> d & 1;
            at[d] = within(from, std::int64_t(below) + step, from.extents[d]);
            weight *= step ? fraction : 1 - fraction;
        }
        const T value = read<T>(from, at[0], at[1], at[2]);
        if constexpr (may_blend) {
            if (!blends) return value;
            sum += weight * value;
        } else {
            return value;
        }
    }
    if constexpr (may_blend) return float(sum);
}

// ---- numbers

inline float f32(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline double f64(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
inline long long long_of(double x) { return std::bit_cast<long long>(x); }

inline float of_half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, digits = bits & 1023;
    const float size = exponent == 31  ? digits ? std::numeric_limits<float>::quiet_NaN()
                                                : std::numeric_limits<float>::infinity()
                        : exponent == 0 ? std::ldexp(float(digits), -24)
                                       : std::ldexp(float(digits + 1024), exponent - 25);
    return bits >> 15 ? -size : size;
}
/// Rounds to the nearest, ties to even.
inline std::uint16_t to_half(float x) {
    const double size = std::fabs(double(x));
    const unsigned sign = std::signbit(x) ? 0x8000 : 0;
    if (size != size) return std::uint16_t(sign | 0x7e00);
    if (size >= 65520) return std::uint16_t(sign | 0x7c00);
    const int exponent = std::max(std::ilogb(std::max(size, 0x1p-14)), -14);
    const auto digits = unsigned(std::nearbyint(std::ldexp(size, 10 - exponent)));
    return std::uint16_t(sign | ((unsigned(exponent + 14) << 10) + digits));
}

// ---- built-ins, which take operands of one type

template <class T>
concept integer = std::is_integral_v<T>;
template <class T>
using exact = std::conditional_t<std::is_integral_v<T>, __int128, T>;

template <class T>
T abs(T x) {
    return x < 0 ? T(-x) : std::is_floating_point_v<T> ? T(x + 0) : x;
}
template <class T>
T min(T a, T b) {
    return b < a || a != a ? b : a;
}
template <class T>
T max(T a, T b) {
    return a < b || a != a ? b : a;
}
template <class T>
T clamp(T x, T low, T high) {
    return min(max(x, low), high);
}
template <integer T>
T kept(exact<T> x) {
    return T(std::min<__int128>(std::max<__int128>(x, std::numeric_limits<T>::min()),
                                std::numeric_limits<T>::max()));
}
template <integer T>
inline constexpr int width = 8 * sizeof(T);

template <integer T>
T bitselect(T a, T b, T c) {
    return T((a & ~c) | (b & c));
}
template <integer T>
T popcount(T x) {
    return T(std::popcount(std::make_unsigned_t<T>(x)));
}
template <integer T>
T clz(T x) {
    return T(std::countl_zero(std::make_unsigned_t<T>(x)));
}
template <integer T>
T mul_hi(T a, T b) {
    using wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return T(wide(a) * wide(b) >> width<T>);
}
template <integer T>
T mad_hi(T a, T b, T c) {
    return T(std::make_unsigned_t<T>(mul_hi(a, b)) + std::make_unsigned_t<T>(c));
}
template <integer T>
T rotate(T x, T n) {
    return T(std::rotl(std::make_unsigned_t<T>(x), int(n & (width<T> - 1))));
}
template <integer T>
T hadd(T a, T b) {
    return T((exact<T>(a) + b) >> 1);
}
template <integer T>
T rhadd(T a, T b) {
    return T((exact<T>(a) + b + 1) >> 1);
}
template <integer T>
T add_sat(T a, T b) {
    return kept<T>(exact<T>(a) + b);
}
template <integer T>
T sub_sat(T a, T b) {
    return kept<T>(exact<T>(a) - b);
}
template <integer T>
std::make_unsigned_t<T> abs_diff(T a, T b) {
    return std::make_unsigned_t<T>(a < b ? exact<T>(b) - a : exact<T>(a) - b);
}
template <integer T>
T mul24(T a, T b) {
    return T(a * b);
}
template <integer T>
T mad24(T a, T b, T c) {
    return T(a * b + c);
}

template <class T>
T fma(T a, T b, T c) {
    return std::fma(a, b, c);
}
template <class T>
T mad(T a, T b, T c) {
    return std::fma(a, b, c);
}
template <class T>
T fmin(T a, T b) {
    return min(a, b != b ? a : b);
}
template <class T>
T fmax(T a, T b) {
    return max(a, b != b ? a : b);
}
template <class T>
bool isnan(T x) {
    return x != x;
}
template <class T>
bool isinf(T x) {
    return std::isinf(x);
}
template <class T>
bool isfinite(T x) {
    return std::isfinite(x);
}
template <class T>
bool signbit(T x) {
    return std::signbit(x);
}
template <class T>
T sqrt(T x) {
    return std::sqrt(x);
}
// The elementary functions that those of complex numbers need, as the host has them.
#define BALM_SERIAL_1(name)  \
    template <class T>       \
    T name(T x) {            \
        return std::name(x); \
    }
#define BALM_SERIAL_2(name)     \
    template <class T>          \
    T name(T x, T y) {          \
        return std::name(x, y); \
    }
BALM_SERIAL_1(exp)
BALM_SERIAL_1(log)
BALM_SERIAL_1(log1p)
BALM_SERIAL_1(sin)
BALM_SERIAL_1(cos)
BALM_SERIAL_1(tan)
BALM_SERIAL_1(sinh)
BALM_SERIAL_1(cosh)
BALM_SERIAL_1(asinh)
BALM_SERIAL_1(tanh)
BALM_SERIAL_2(hypot)
BALM_SERIAL_2(atan2)
BALM_SERIAL_2(pow)
#undef BALM_SERIAL_1
#undef BALM_SERIAL_2
template <class T>
T ldexp(T x, int n) {
    return std::ldexp(x, n);
}
template <class T>
int ilogb(T x) {
    constexpr int most = std::numeric_limits<int>::max();
    return x == 0 ? -most - 1 : std::isfinite(x) ? std::ilogb(x) : most;
}

/// The greatest float that is not above a number, which long double holds exactly.
inline float float_below(long double x) {
    const auto nearest = float(x);
    return nearest > x ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}
template <class T>
float convert_float_rtn(T x) {
    return float_below(x);
}
template <class T>
float convert_float_rtp(T x) {
    return -float_below(-static_cast<long double>(x));
}
template <class T>
float convert_float_rtz(T x) {
    return x < 0 ? convert_float_rtp(x) : convert_float_rtn(x);
}
template <class T>
T fabs(T x) {
    return std::fabs(x);
}
template <class T>
T floor(T x) {
    return std::floor(x);
}
template <class T>
T ceil(T x) {
    return std::ceil(x);
}
template <class T>
T trunc(T x) {
    return std::trunc(x);
}
template <class T>
T rint(T x) {
    return std::rint(x);
}
template <class T>
T round(T x) {
    return std::round(x);
}
template <class T>
T copysign(T x, T y) {
    return std::copysign(x, y);
}
template <class T>
T fmod(T x, T y) {
    return std::fmod(x, y);
}
template <class T>
std::int32_t as_int(T x) {
    return std::bit_cast<std::int32_t>(x);
}
template <class T>
std::uint32_t as_uint(T x) {
    return std::bit_cast<std::uint32_t>(x);
}
template <class T>
long long as_long(T x) {
    return std::bit_cast<long long>(x);
}
template <class T>
unsigned long long as_ulong(T x) {
    return std::bit_cast<unsigned long long>(x);
}
template <class T>
float as_float(T x) {
    return std::bit_cast<float>(x);
}
template <class T>
double as_double(T x) {
    return std::bit_cast<double>(x);
}

}  // namespace balm_serial
