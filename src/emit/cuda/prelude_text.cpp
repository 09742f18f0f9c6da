// The vector types of OpenCL C, and the built-ins on them, as CUDA C++.

#include "emit/cuda/prelude_text.hpp"

namespace balm::emit::cuda::prelude_text {

// Scalar types and their traits. NVRTC has no headers, so <type_traits> is spelt out.
const char* const scalars = R"text(
typedef signed char balm_char;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ulong;
typedef unsigned long long size_t;
typedef unsigned long long uintptr_t;
typedef long long ptrdiff_t;
typedef long long intptr_t;
typedef uint cl_mem_fence_flags;

template <bool Yes, class T = int> struct balm_if {};
template <class T> struct balm_if<true, T> { typedef T type; };
template <class T> struct balm_same { typedef T type; };
template <class A, class B> struct balm_is { static constexpr bool value = false; };
template <class A> struct balm_is<A, A> { static constexpr bool value = true; };

// kind: 0 no number, 1 integer, 2 floating. `mask` is what comparisons give, `bits` the unsigned integer.
template <class T> struct balm_number { static constexpr int kind = 0; };
template <int Kind, class Mask, class Bits, bool Signed> struct balm_number_row {
    static constexpr int kind = Kind;
    static constexpr bool is_signed = Signed;
    typedef Mask mask;
    typedef Bits bits;
};
template <> struct balm_number<bool> : balm_number_row<3, balm_char, uchar, false> {};
template <> struct balm_number<char> : balm_number_row<1, balm_char, uchar, true> {};
template <> struct balm_number<balm_char> : balm_number_row<1, balm_char, uchar, true> {};
template <> struct balm_number<uchar> : balm_number_row<1, balm_char, uchar, false> {};
template <> struct balm_number<short> : balm_number_row<1, short, ushort, true> {};
template <> struct balm_number<ushort> : balm_number_row<1, short, ushort, false> {};
template <> struct balm_number<int> : balm_number_row<1, int, uint, true> {};
template <> struct balm_number<uint> : balm_number_row<1, int, uint, false> {};
template <> struct balm_number<long> : balm_number_row<1, long long, ulong, true> {};
template <> struct balm_number<unsigned long> : balm_number_row<1, long long, ulong, false> {};
template <> struct balm_number<long long> : balm_number_row<1, long long, ulong, true> {};
template <> struct balm_number<ulong> : balm_number_row<1, long long, ulong, false> {};
template <> struct balm_number<float> : balm_number_row<2, int, uint, true> {};
template <> struct balm_number<double> : balm_number_row<2, long long, ulong, true> {};

template <class T> using balm_if_integer = typename balm_if<balm_number<T>::kind == 1>::type;
template <class T> using balm_if_floating = typename balm_if<balm_number<T>::kind == 2>::type;
template <class T> using balm_if_number = typename balm_if<(balm_number<T>::kind > 0)>::type;
template <class T> using balm_mask = typename balm_number<T>::mask;
template <class T> using balm_bits = typename balm_number<T>::bits;

template <class To, class From>
inline To balm_as(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "as_type: the types differ in size");
    To to;
    memcpy(&to, &from, sizeof(To));
    return to;
}
)text";

// A short vector is aligned to its size; one of 3 is stored as one of 4 (OpenCL 1.2, 6.1.5).
const char* const vectors = R"text(
template <class T, int N> struct balm_vec;
template <class T, int N> struct balm_lanes { typedef balm_vec<T, N> type; };
template <class T> struct balm_lanes<T, 1> { typedef T type; };

template <class T, class U>
inline constexpr void balm_put(T* to, int& k, const U& scalar) { to[k++] = (T)scalar; }
template <class T, int M>
inline constexpr void balm_put(T* to, int& k, const balm_vec<T, M>& v) {
    for (int i = 0; i < M; ++i) to[k++] = v.balm_e[i];
}
template <class U> struct balm_count_of { static constexpr int value = 1; };
template <class T, int M> struct balm_count_of<balm_vec<T, M>> { static constexpr int value = M; };
template <class... A> struct balm_total { static constexpr int value = 0; };
template <class A, class... B> struct balm_total<A, B...> {
    static constexpr int value = balm_count_of<A>::value + balm_total<B...>::value;
};
template <int... I> struct balm_distinct { static constexpr bool value = true; };
template <int A, int... I> struct balm_distinct<A, I...> {
    static constexpr bool value = ((A != I) && ...) && balm_distinct<I...>::value;
};

// Components that are written: v.xz = e.
template <class T, int... I>
struct balm_part {
    typedef balm_vec<T, sizeof...(I)> whole;
    static_assert(balm_distinct<I...>::value, "a component is written twice");
    T* balm_e;
    inline whole get() const { return whole(balm_e[I]...); }
    inline void set(const whole& v) const { int k = 0; ((balm_e[I] = v.balm_e[k++]), ...); }
    inline whole operator=(const whole& v) const { set(v); return v; }
#define BALM_OPERATOR(symbol) \
    template <class U> inline whole operator symbol##=(const U& u) const { set(get() symbol u); return get(); }
    BALM_OPERATOR(+) BALM_OPERATOR(-) BALM_OPERATOR(*) BALM_OPERATOR(/) BALM_OPERATOR(%)
    BALM_OPERATOR(&) BALM_OPERATOR(|) BALM_OPERATOR(^)
#undef BALM_OPERATOR
};

// Shifts take their count modulo the width (OpenCL 1.2, 6.3.j); C++ leaves that open. `a << n` is rewritten
// to `a << balm_count() << n`.
struct balm_count {};
template <class T> struct balm_left { T value; };
template <class T> struct balm_counted { T value; };
template <class T> inline constexpr balm_left<T> balm_promoted(const T& a) { return {a}; }
template <class T> using balm_if_counts = typename balm_if<(balm_number<T>::kind > 0) || __is_enum(T)>::type;
template <class T, balm_if_counts<T> = 0>
inline constexpr auto operator<<(T a, balm_count) { return balm_promoted(+a); }
template <class T, balm_if_counts<T> = 0>
inline constexpr auto operator>>(T a, balm_count) { return balm_promoted(+a); }
template <class T, class U, balm_if_counts<U> = 0, balm_if_number<T> = 0>
inline constexpr T operator<<(balm_left<T> a, U n) {
    return (T)((balm_bits<T>)a.value << ((int)n & (int)(8 * sizeof(T) - 1)));
}
template <class T, class U, balm_if_counts<U> = 0, balm_if_number<T> = 0>
inline constexpr T operator>>(balm_left<T> a, U n) { return a.value >> ((int)n & (int)(8 * sizeof(T) - 1)); }
template <class U> inline constexpr balm_counted<U> operator<<=(balm_count, const U& n) { return {n}; }
template <class U> inline constexpr balm_counted<U> operator>>=(balm_count, const U& n) { return {n}; }
template <class T, class U, balm_if_number<T> = 0>
inline constexpr T& operator<<=(T& a, balm_counted<U> n) { return a = (T)(a << balm_count() << n.value); }
template <class T, class U, balm_if_number<T> = 0>
inline constexpr T& operator>>=(T& a, balm_counted<U> n) { return a = (T)(a >> balm_count() >> n.value); }

#define BALM_OPERATOR(symbol)                                                        \
    friend inline constexpr balm_vec operator symbol(balm_vec a, const balm_vec& b) { \
        for (int k = 0; k < balm_size; ++k) a.balm_e[k] = (T)(a.balm_e[k] symbol b.balm_e[k]); \
        return a;                                                                    \
    }                                                                                \
    template <class U> inline constexpr balm_vec& operator symbol##=(const U& u) & { return *this = *this symbol u; }
#define BALM_COMPARISON(symbol)                                                          \
    friend inline constexpr balm_truth operator symbol(const balm_vec& a, const balm_vec& b) { \
        balm_truth r(0);                                                                 \
        for (int k = 0; k < balm_size; ++k)                                              \
            r.balm_e[k] = (balm_mask<T>)(a.balm_e[k] symbol b.balm_e[k] ? -1 : 0);       \
        return r;                                                                        \
    }
#define BALM_SHIFT(symbol)                                                                           \
    template <class U>                                                                               \
    friend inline constexpr balm_vec operator symbol(balm_vec a, const balm_vec<U, balm_size>& n) {  \
        for (int k = 0; k < balm_size; ++k)                                                          \
            a.balm_e[k] = (T)(a.balm_e[k] symbol((int)n.balm_e[k] & (int)(8 * sizeof(T) - 1)));      \
        return a;                                                                                    \
    }                                                                                                \
    template <class U, balm_if_integer<U> = 0>                                                       \
    friend inline constexpr balm_vec operator symbol(balm_vec a, U n) {                              \
        for (int k = 0; k < balm_size; ++k)                                                          \
            a.balm_e[k] = (T)(a.balm_e[k] symbol((int)n & (int)(8 * sizeof(T) - 1)));                \
        return a;                                                                                    \
    }                                                                                                \
    friend inline constexpr balm_left<balm_vec> operator symbol(const balm_vec& a, balm_count) { return {a}; } \
    template <class U>                                                                               \
    friend inline constexpr balm_vec operator symbol(balm_left<balm_vec> a, const U& n) { return a.value symbol n; } \
    template <class U>                                                                               \
    friend inline constexpr balm_vec& operator symbol##=(balm_vec& a, balm_counted<U> n) {           \
        return a = a symbol n.value;                                                                 \
    }                                                                                                \
    template <class U, typename balm_if<balm_number<U>::kind == 1 || (balm_count_of<U>::value > 1)>::type = 0> \
    friend inline constexpr balm_vec& operator symbol##=(balm_vec& a, const U& n) { return a = a symbol n; }

#define BALM_VECTOR(N, storage, members, ...)                                                        \
    template <class T>                                                                               \
    struct alignas(sizeof(T) * storage) balm_vec<T, N> {                                             \
        static constexpr int balm_size = N;                                                          \
        typedef balm_vec<balm_mask<T>, N> balm_truth;                                                \
        union {                                                                                      \
            T balm_e[storage];                                                                       \
            members                                                                                  \
        };                                                                                           \
        balm_vec() = default;                                                                        \
        template <class U, typename balm_if<balm_number<U>::kind == 1 || balm_number<U>::kind == 2>::type = 0> \
        inline constexpr balm_vec(U s) : balm_e{__VA_ARGS__} {}                                      \
        template <class U, typename balm_if<balm_is<U, bool>::value, char>::type = 0>                \
        balm_vec(U) = delete; /* OpenCL makes -1 of true: write (int)(a < b) */                      \
        template <class A, class B, class... C>                                                      \
        inline constexpr explicit balm_vec(const A& a, const B& b, const C&... c) : balm_e{} {       \
            static_assert(balm_total<A, B, C...>::value == N,                                        \
                          "this vector literal has another number of components than its type");     \
            int k = 0;                                                                               \
            balm_put(balm_e, k, a);                                                                  \
            balm_put(balm_e, k, b);                                                                  \
            (balm_put(balm_e, k, c), ...);                                                           \
        }                                                                                            \
        template <int... I> inline constexpr balm_vec<T, sizeof...(I)> balm_get() const {            \
            static_assert(((I < N) && ...), "the vector lacks a component that is asked for");       \
            return balm_vec<T, sizeof...(I)>(balm_e[I]...);                                          \
        }                                                                                            \
        template <int... I> inline constexpr balm_part<T, I...> balm_ref() & {                       \
            static_assert(((I < N) && ...), "the vector lacks a component that is asked for");       \
            return {balm_e};                                                                         \
        }                                                                                            \
        inline typename balm_lanes<T, (N + 1) / 2>::type balm_every_other(int first) const {         \
            typename balm_lanes<T, (N + 1) / 2>::type r;                                             \
            T part[(N + 1) / 2];                                                                     \
            for (int k = 0; k < (N + 1) / 2; ++k) part[k] = balm_e[2 * k + first];                   \
            memcpy(&r, part, sizeof(part));                                                          \
            return r;                                                                                \
        }                                                                                            \
        inline void balm_set_every_other(int first, const typename balm_lanes<T, (N + 1) / 2>::type& v) & { \
            T part[(N + 1) / 2];                                                                     \
            memcpy(part, &v, sizeof(part));                                                          \
            for (int k = 0; k < (N + 1) / 2; ++k) balm_e[2 * k + first] = part[k];                   \
        }                                                                                            \
        inline constexpr T& operator[](size_t k) & { return balm_e[k]; }                             \
        inline constexpr T operator[](size_t k) const& { return balm_e[k]; }                         \
        BALM_OPERATOR(+) BALM_OPERATOR(-) BALM_OPERATOR(*) BALM_OPERATOR(/) BALM_OPERATOR(%)         \
        BALM_OPERATOR(&) BALM_OPERATOR(|) BALM_OPERATOR(^)                                           \
        BALM_SHIFT(<<) BALM_SHIFT(>>)                                                                \
        BALM_COMPARISON(==) BALM_COMPARISON(!=) BALM_COMPARISON(<) BALM_COMPARISON(>)                \
        BALM_COMPARISON(<=) BALM_COMPARISON(>=) BALM_COMPARISON(&&) BALM_COMPARISON(||)              \
        inline constexpr balm_vec operator+() const { return *this; }                                \
        inline constexpr balm_vec operator-() const {                                                \
            balm_vec r = *this;                                                                      \
            for (int k = 0; k < N; ++k) r.balm_e[k] = (T)-r.balm_e[k];                               \
            return r;                                                                                \
        }                                                                                            \
        inline constexpr balm_vec operator~() const {                                                \
            balm_vec r = *this;                                                                      \
            for (int k = 0; k < N; ++k) r.balm_e[k] = (T)~r.balm_e[k];                               \
            return r;                                                                                \
        }                                                                                            \
        inline constexpr balm_truth operator!() const { return *this == balm_vec(0); }               \
        inline constexpr balm_vec& operator++() & { return *this = *this + balm_vec(1); }            \
        inline constexpr balm_vec& operator--() & { return *this = *this - balm_vec(1); }            \
        inline constexpr balm_vec operator++(int) & { balm_vec r = *this; ++*this; return r; }       \
        inline constexpr balm_vec operator--(int) & { balm_vec r = *this; --*this; return r; }       \
    };

#define BALM_2(x) x, x
#define BALM_4(x) BALM_2(x), BALM_2(x)
#define BALM_8(x) BALM_4(x), BALM_4(x)
#define BALM_16(x) BALM_8(x), BALM_8(x)
#define BALM_MEMBERS(...) struct { T __VA_ARGS__; };
#define BALM_HALVES(N) struct { balm_vec<T, N> lo, hi; };
BALM_VECTOR(2, 2, BALM_MEMBERS(x, y) BALM_MEMBERS(s0, s1) BALM_MEMBERS(lo, hi), BALM_2((T)s))
BALM_VECTOR(3, 4, BALM_MEMBERS(x, y, z) BALM_MEMBERS(s0, s1, s2) BALM_HALVES(2), (T)s, (T)s, (T)s, T())
BALM_VECTOR(4, 4, BALM_MEMBERS(x, y, z, w) BALM_MEMBERS(s0, s1, s2, s3) BALM_HALVES(2), BALM_4((T)s))
BALM_VECTOR(8, 8, BALM_MEMBERS(s0, s1, s2, s3, s4, s5, s6, s7) BALM_HALVES(4), BALM_8((T)s))
BALM_VECTOR(16, 16, BALM_MEMBERS(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf) BALM_HALVES(8),
            BALM_16((T)s))
#undef BALM_OPERATOR
#undef BALM_COMPARISON
#undef BALM_SHIFT
#undef BALM_VECTOR
#undef BALM_2
#undef BALM_4
#undef BALM_8
#undef BALM_16
#undef BALM_MEMBERS
#undef BALM_HALVES

#define BALM_TYPES(T, name)                                                                 \
    typedef balm_vec<T, 2> name##2; typedef balm_vec<T, 3> name##3; typedef balm_vec<T, 4> name##4; \
    typedef balm_vec<T, 8> name##8; typedef balm_vec<T, 16> name##16;
BALM_TYPES(balm_char, char) BALM_TYPES(uchar, uchar) BALM_TYPES(short, short) BALM_TYPES(ushort, ushort)
BALM_TYPES(int, int) BALM_TYPES(uint, uint) BALM_TYPES(long long, long) BALM_TYPES(ulong, ulong)
BALM_TYPES(float, float) BALM_TYPES(double, double)
#undef BALM_TYPES

// The same function for every component. A scalar beside a vector stands for one in each.
#define BALM_LIFT_1(name)                                                  \
    template <class T, int N>                                              \
    inline auto name(const balm_vec<T, N>& a) {                            \
        balm_vec<decltype(name(a.balm_e[0])), N> r(0);                     \
        for (int k = 0; k < N; ++k) r.balm_e[k] = name(a.balm_e[k]);       \
        return r;                                                          \
    }
#define BALM_LIFT_2(name)                                                                            \
    template <class T, int N>                                                                        \
    inline auto name(const balm_vec<T, N>& a, const typename balm_same<balm_vec<T, N>>::type& b) {   \
        balm_vec<decltype(name(a.balm_e[0], b.balm_e[0])), N> r(0);                                  \
        for (int k = 0; k < N; ++k) r.balm_e[k] = name(a.balm_e[k], b.balm_e[k]);                    \
        return r;                                                                                    \
    }
#define BALM_LIFT_3(name)                                                                            \
    template <class T, int N>                                                                        \
    inline auto name(const balm_vec<T, N>& a, const typename balm_same<balm_vec<T, N>>::type& b,     \
                     const typename balm_same<balm_vec<T, N>>::type& c) {                            \
        balm_vec<decltype(name(a.balm_e[0], b.balm_e[0], c.balm_e[0])), N> r(0);                     \
        for (int k = 0; k < N; ++k) r.balm_e[k] = name(a.balm_e[k], b.balm_e[k], c.balm_e[k]);       \
        return r;                                                                                    \
    }
// A predicate is 1 of a scalar, and -1 in a vector, as wide as its operands (OpenCL 1.2, 6.12.6).
#define BALM_LIFT_TEST_1(name)                                                           \
    template <class T, int N>                                                            \
    inline balm_vec<balm_mask<T>, N> name(const balm_vec<T, N>& a) {                     \
        balm_vec<balm_mask<T>, N> r(0);                                                  \
        for (int k = 0; k < N; ++k) r.balm_e[k] = (balm_mask<T>)(name(a.balm_e[k]) ? -1 : 0); \
        return r;                                                                        \
    }
#define BALM_LIFT_TEST_2(name)                                                                       \
    template <class T, int N>                                                                        \
    inline balm_vec<balm_mask<T>, N> name(const balm_vec<T, N>& a,                                   \
                                          const typename balm_same<balm_vec<T, N>>::type& b) {       \
        balm_vec<balm_mask<T>, N> r(0);                                                              \
        for (int k = 0; k < N; ++k)                                                                  \
            r.balm_e[k] = (balm_mask<T>)(name(a.balm_e[k], b.balm_e[k]) ? -1 : 0);                   \
        return r;                                                                                    \
    }
// The second operand is an integer (ldexp, pown, rootn).
#define BALM_LIFT_SCALE(name)                                                            \
    template <class T, int N>                                                            \
    inline balm_vec<T, N> name(const balm_vec<T, N>& a, const balm_vec<int, N>& n) {     \
        balm_vec<T, N> r(0);                                                             \
        for (int k = 0; k < N; ++k) r.balm_e[k] = name(a.balm_e[k], n.balm_e[k]);        \
        return r;                                                                        \
    }                                                                                    \
    template <class T, int N>                                                            \
    inline balm_vec<T, N> name(const balm_vec<T, N>& a, int n) {                         \
        return name(a, balm_vec<int, N>(n));                                             \
    }
)text";

// Conversions (OpenCL 1.2, 6.2.3). mode: 0 the default, 1 to nearest even, 2 to zero, 3 up, 4 down.
const char* const conversions = R"text(
template <class T> inline T balm_round(T x, int mode) {
    return mode == 1 ? ::rint(x) : mode == 3 ? ::ceil(x) : mode == 4 ? ::floor(x) : ::trunc(x);
}
template <class To> struct balm_limits {
    static constexpr To low = (To)(balm_number<To>::is_signed ? (balm_bits<To>)1 << (8 * sizeof(To) - 1) : 0);
    static constexpr To high = (To)~low;
};
template <class To, class From> inline To balm_float_to_integer(From x, int mode) {
    x = balm_round(x, mode);
    // 2 to the power of the width is exact in both floating types.
    const From beyond = (From)(1ull << (8 * sizeof(To) - 2)) * (balm_number<To>::is_signed ? 2 : 4);
    if (x != x) return 0;
    if (x >= beyond) return balm_limits<To>::high;
    if (x <= (balm_number<To>::is_signed ? -beyond : (From)0)) return balm_limits<To>::low;
    return (To)x;
}
template <class To, class From> inline To balm_integer_to_integer(From x, bool saturates) {
    if (!saturates) return (To)x;
    if (balm_number<From>::is_signed && x < 0) {
        if (!balm_number<To>::is_signed) return 0;
        return (long long)x < (long long)balm_limits<To>::low ? balm_limits<To>::low : (To)x;
    }
    return (ulong)x > (ulong)balm_limits<To>::high ? balm_limits<To>::high : (To)x;
}
template <class To, class From> inline To balm_integer_to_float(From x, int mode) {
    if (mode < 2) return (To)x;
    const bool negative = balm_number<From>::is_signed && x < 0;
    ulong magnitude = negative ? 0 - (ulong)x : (ulong)x;
    int width = 0;
    for (ulong rest = magnitude; rest; rest >>= 1) ++width;
    const int spare = width - (sizeof(To) == 4 ? 24 : 53);
    bool carries = false;
    if (spare > 0) {
        const ulong unit = 1ull << spare, dropped = magnitude & (unit - 1);
        magnitude -= dropped;
        if (dropped && mode == (negative ? 4 : 3)) {
            carries = magnitude + unit < magnitude;
            magnitude += unit;
        }
    }
    const To r = carries ? (To)18446744073709551616.0 : (To)magnitude;
    return negative ? -r : r;
}
inline float balm_narrow(double x, int mode) {
    float r = (float)x;
    if (x != x || (double)r == x || mode < 2) return r;
    const bool is_above = (double)r > x, down = mode == 4 || (mode == 2 && x > 0);
    if (is_above && down) r = ::nextafterf(r, balm_as<float>(0xff800000u));
    if (!is_above && !down) r = ::nextafterf(r, balm_as<float>(0x7f800000u));
    return r;
}
template <class To, class From, int FromKind, int ToKind> struct balm_converter;
template <class To, class From> struct balm_converter<To, From, 1, 1> {
    static inline To run(From x, bool saturates, int) { return balm_integer_to_integer<To>(x, saturates); }
};
template <class To, class From> struct balm_converter<To, From, 3, 1> {
    static inline To run(From x, bool, int) { return (To)x; }
};
template <class To, class From> struct balm_converter<To, From, 2, 1> {
    static inline To run(From x, bool, int mode) { return balm_float_to_integer<To>(x, mode); }
};
template <class To, class From> struct balm_converter<To, From, 1, 2> {
    static inline To run(From x, bool, int mode) { return balm_integer_to_float<To>(x, mode); }
};
template <class To, class From> struct balm_converter<To, From, 3, 2> {
    static inline To run(From x, bool, int) { return (To)x; }
};
template <class To, class From> struct balm_converter<To, From, 2, 2> {
    static inline To run(From x, bool, int mode) {
        if constexpr (sizeof(To) < sizeof(From)) return balm_narrow(x, mode);
        else return x;
    }
};
template <class To, bool Saturates, int Mode, class From, balm_if_number<From> = 0>
inline To balm_convert(From x) {
    return balm_converter<To, From, balm_number<From>::kind, balm_number<To>::kind>::run(x, Saturates, Mode);
}
template <class To> struct balm_element { };
template <class T, int N> struct balm_element<balm_vec<T, N>> { typedef T type; };
template <class To, bool Saturates, int Mode, class T, int N>
inline To balm_convert(const balm_vec<T, N>& x) {
    static_assert(balm_count_of<To>::value == N, "convert_type: the vectors have different sizes");
    To r(0);
    for (int k = 0; k < N; ++k)
        r.balm_e[k] = balm_convert<typename balm_element<To>::type, Saturates, Mode>(x.balm_e[k]);
    return r;
}
)text";

const char* const work_items = R"text(
inline size_t balm_pick(uint d, size_t x, size_t y, size_t z, size_t otherwise) {
    return d == 0 ? x : d == 1 ? y : d == 2 ? z : otherwise;
}
inline size_t get_local_id(uint d) { return balm_pick(d, threadIdx.x, threadIdx.y, threadIdx.z, 0); }
inline size_t get_group_id(uint d) { return balm_pick(d, blockIdx.x, blockIdx.y, blockIdx.z, 0); }
inline size_t get_local_size(uint d) { return balm_pick(d, blockDim.x, blockDim.y, blockDim.z, 1); }
inline size_t get_num_groups(uint d) { return balm_pick(d, gridDim.x, gridDim.y, gridDim.z, 1); }
inline size_t get_global_offset(uint d) { return balm_pick(d, balm_start(0), balm_start(1), balm_start(2), 0); }
inline size_t get_global_id(uint d) {
    return get_group_id(d) * get_local_size(d) + get_local_id(d) + get_global_offset(d);
}
inline size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }
inline uint get_work_dim() { return balm_work_dim; }

inline void barrier(cl_mem_fence_flags) { __syncthreads(); }
inline void mem_fence(cl_mem_fence_flags f) { if (f & 2) __threadfence(); else __threadfence_block(); }
inline void read_mem_fence(cl_mem_fence_flags f) { mem_fence(f); }
inline void write_mem_fence(cl_mem_fence_flags f) { mem_fence(f); }

// Copies by the whole work-group, done when the call returns; waiting is the barrier that OpenCL asks for.
struct event_t { int balm_none = 0; event_t() = default; constexpr event_t(int) {} };
template <class T>
inline event_t async_work_group_strided_copy(T* to, const typename balm_same<T>::type* from, size_t n,
                                             size_t to_stride, size_t from_stride, event_t e) {
    const size_t first = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (size_t i = first; i < n; i += blockDim.x * blockDim.y * blockDim.z)
        to[i * to_stride] = from[i * from_stride];
    return e;
}
template <class T>
inline event_t async_work_group_copy(T* to, const typename balm_same<T>::type* from, size_t n, event_t e) {
    return async_work_group_strided_copy(to, from, n, 1, 1, e);
}
inline void wait_group_events(int, event_t*) { __syncthreads(); }
template <class T> inline void prefetch(const T*, size_t) {}
)text";

const char* const integers = R"text(
template <class T, balm_if_integer<T> = 0>
inline balm_bits<T> abs(T x) { return x < 0 ? (balm_bits<T>)(0 - (balm_bits<T>)x) : (balm_bits<T>)x; }
template <class T, balm_if_integer<T> = 0>
inline balm_bits<T> abs_diff(T a, T b) {
    return a > b ? (balm_bits<T>)((balm_bits<T>)a - (balm_bits<T>)b) : (balm_bits<T>)((balm_bits<T>)b - (balm_bits<T>)a);
}
template <class T, balm_if_integer<T> = 0> inline T min(T a, T b) { return b < a ? b : a; }
template <class T, balm_if_integer<T> = 0> inline T max(T a, T b) { return a < b ? b : a; }
template <class T, balm_if_integer<T> = 0> inline T clamp(T x, T low, T high) { return min(max(x, low), high); }
template <class T, balm_if_integer<T> = 0> inline T hadd(T a, T b) { return (T)((a & b) + ((a ^ b) >> 1)); }
template <class T, balm_if_integer<T> = 0> inline T rhadd(T a, T b) { return (T)((a | b) - ((a ^ b) >> 1)); }
template <class T, balm_if_integer<T> = 0> inline T add_sat(T a, T b) {
    if constexpr (!balm_number<T>::is_signed) {
        const T r = (T)(a + b);
        return r < a ? (T)~(T)0 : r;
    } else {
        if (b > 0 && a > (T)(balm_limits<T>::high - b)) return balm_limits<T>::high;
        if (b < 0 && a < (T)(balm_limits<T>::low - b)) return balm_limits<T>::low;
        return (T)(a + b);
    }
}
template <class T, balm_if_integer<T> = 0> inline T sub_sat(T a, T b) {
    if constexpr (!balm_number<T>::is_signed) {
        return a < b ? (T)0 : (T)(a - b);
    } else {
        if (b < 0 && a > (T)(balm_limits<T>::high + b)) return balm_limits<T>::high;
        if (b > 0 && a < (T)(balm_limits<T>::low + b)) return balm_limits<T>::low;
        return (T)(a - b);
    }
}
template <class T, balm_if_integer<T> = 0> inline T clz(T x) {
    if constexpr (sizeof(T) == 8) return (T)__clzll((long long)x);
    else return (T)(__clz((int)(uint)(balm_bits<T>)x) - (int)(32 - 8 * sizeof(T)));
}
template <class T, balm_if_integer<T> = 0> inline T popcount(T x) {
    if constexpr (sizeof(T) == 8) return (T)__popcll((ulong)x);
    else return (T)__popc((uint)(balm_bits<T>)x);
}
template <class T, balm_if_integer<T> = 0> inline T rotate(T x, T n) {
    const int width = (int)(8 * sizeof(T)), k = (int)n & (width - 1);
    const balm_bits<T> u = (balm_bits<T>)x;
    return (T)(balm_bits<T>)((u << k) | (u >> ((width - k) & (width - 1))));
}
template <class T, balm_if_integer<T> = 0> inline T mul_hi(T a, T b) {
    if constexpr (sizeof(T) == 8 && balm_number<T>::is_signed) return (T)__mul64hi(a, b);
    else if constexpr (sizeof(T) == 8) return (T)__umul64hi(a, b);
    else if constexpr (sizeof(T) == 4 && !balm_number<T>::is_signed) return (T)(((ulong)a * (ulong)b) >> 32);
    else return (T)(((long long)a * (long long)b) >> (8 * sizeof(T)));
}
template <class T, balm_if_integer<T> = 0> inline T mad_hi(T a, T b, T c) {
    return (T)((balm_bits<T>)mul_hi(a, b) + (balm_bits<T>)c);
}
template <class T, balm_if_integer<T> = 0> inline T mad_sat(T a, T b, T c) {
    const balm_bits<T> low = (balm_bits<T>)((ulong)a * (ulong)b);
    const T high = mul_hi(a, b);
    if constexpr (!balm_number<T>::is_signed) {
        return high != 0 ? (T)~(T)0 : add_sat((T)low, c);
    } else {
        // The sum of a product of two words and one more fits two words: carry by hand.
        const balm_bits<T> sum = (balm_bits<T>)(low + (balm_bits<T>)c);
        const T upper = (T)(high + (c < 0 ? -1 : 0) + (sum < low ? 1 : 0));
        const T fits = (T)sum < 0 ? (T)-1 : (T)0;
        if (upper == fits) return (T)sum;
        return upper < 0 ? balm_limits<T>::low : balm_limits<T>::high;
    }
}
inline int mad24(int a, int b, int c) { return a * b + c; }
inline uint mad24(uint a, uint b, uint c) { return a * b + c; }
inline int mul24(int a, int b) { return a * b; }
inline uint mul24(uint a, uint b) { return a * b; }
inline short upsample(balm_char hi, uchar lo) { return (short)((ushort)((uchar)hi << 8) | lo); }
inline ushort upsample(uchar hi, uchar lo) { return (ushort)((hi << 8) | lo); }
inline int upsample(short hi, ushort lo) { return (int)(((uint)hi << 16) | lo); }
inline uint upsample(ushort hi, ushort lo) { return ((uint)hi << 16) | lo; }
inline long long upsample(int hi, uint lo) { return (long long)(((ulong)hi << 32) | lo); }
inline ulong upsample(uint hi, uint lo) { return ((ulong)hi << 32) | lo; }
template <class T, class U, int N>
inline auto upsample(const balm_vec<T, N>& hi, const balm_vec<U, N>& lo) {
    balm_vec<decltype(upsample(hi.balm_e[0], lo.balm_e[0])), N> r(0);
    for (int k = 0; k < N; ++k) r.balm_e[k] = upsample(hi.balm_e[k], lo.balm_e[k]);
    return r;
}
BALM_LIFT_1(abs) BALM_LIFT_2(abs_diff) BALM_LIFT_2(hadd) BALM_LIFT_2(rhadd) BALM_LIFT_2(add_sat)
BALM_LIFT_2(sub_sat) BALM_LIFT_1(clz) BALM_LIFT_1(popcount) BALM_LIFT_2(rotate) BALM_LIFT_2(mul_hi)
BALM_LIFT_3(mad_hi) BALM_LIFT_3(mad_sat) BALM_LIFT_3(mad24) BALM_LIFT_2(mul24)
)text";

// Common, geometric and relational functions (OpenCL 1.2, 6.12.4 to 6.12.6), loads and stores.
const char* const common = R"text(
inline float min(float a, float b) { return b < a ? b : a; }
inline double min(double a, double b) { return b < a ? b : a; }
inline float max(float a, float b) { return a < b ? b : a; }
inline double max(double a, double b) { return a < b ? b : a; }
inline float clamp(float x, float low, float high) { return min(max(x, low), high); }
inline double clamp(double x, double low, double high) { return min(max(x, low), high); }
BALM_LIFT_2(min) BALM_LIFT_2(max) BALM_LIFT_3(clamp)
template <class T, int N, balm_if_floating<T> = 0>
inline balm_vec<T, N> step(typename balm_same<T>::type edge, const balm_vec<T, N>& x) {
    return step(balm_vec<T, N>(edge), x);
}
template <class T, int N, balm_if_floating<T> = 0>
inline balm_vec<T, N> smoothstep(typename balm_same<T>::type a, typename balm_same<T>::type b,
                                 const balm_vec<T, N>& x) {
    return smoothstep(balm_vec<T, N>(a), balm_vec<T, N>(b), x);
}

inline float nan(uint bits) { return balm_as<float>(0x7fc00000u | bits); }
inline double nan(ulong bits) { return balm_as<double>(0x7ff8000000000000ull | bits); }
BALM_LIFT_1(nan)

inline float dot(float a, float b) { return a * b; }
inline double dot(double a, double b) { return a * b; }
template <class T, int N, balm_if_floating<T> = 0>
inline T dot(const balm_vec<T, N>& a, const balm_vec<T, N>& b) {
    static_assert(N <= 4, "dot takes vectors of at most 4");
    T sum = a.balm_e[0] * b.balm_e[0];
    for (int k = 1; k < N; ++k) sum += a.balm_e[k] * b.balm_e[k];
    return sum;
}
template <class T>
inline balm_vec<T, 3> cross(const balm_vec<T, 3>& a, const balm_vec<T, 3>& b) {
    return balm_vec<T, 3>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
template <class T>
inline balm_vec<T, 4> cross(const balm_vec<T, 4>& a, const balm_vec<T, 4>& b) {
    return balm_vec<T, 4>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, (T)0);
}
// Squares neither overflow nor vanish: floats are added up as doubles, doubles scaled by a power of two.
template <int N> inline float length(const balm_vec<float, N>& v) {
    double sum = 0;
    for (int k = 0; k < N; ++k) sum += (double)v.balm_e[k] * v.balm_e[k];
    return (float)::sqrt(sum);
}
template <int N> inline double length(const balm_vec<double, N>& v) {
    double largest = 0, sum = 0;
    for (int k = 0; k < N; ++k) largest = ::fmax(largest, ::fabs(v.balm_e[k]));
    const double scale = largest > 1e140 ? 0x1p-600 : largest < 1e-140 ? 0x1p600 : 1.0;
    for (int k = 0; k < N; ++k) sum += (v.balm_e[k] * scale) * (v.balm_e[k] * scale);
    return ::sqrt(sum) / scale;
}
inline float length(float x) { return x < 0 ? -x : x; }
inline double length(double x) { return x < 0 ? -x : x; }
template <class T> inline auto distance(const T& a, const T& b) { return length(a - b); }
inline float normalize(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }
inline double normalize(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }
template <class T, int N, balm_if_floating<T> = 0>
inline balm_vec<T, N> normalize(const balm_vec<T, N>& v) {
    const T n = length(v);
    return n == 0 ? v : v / n;
}
template <class T> inline auto fast_length(const T& v) { return length(v); }
template <class T> inline auto fast_distance(const T& a, const T& b) { return length(a - b); }
template <class T> inline T fast_normalize(const T& v) { return normalize(v); }

template <class T, balm_if_integer<T> = 0> inline int any(T x) { return x < 0; }
template <class T, balm_if_integer<T> = 0> inline int all(T x) { return x < 0; }
template <class T, int N> inline int any(const balm_vec<T, N>& v) {
    int r = 0;
    for (int k = 0; k < N; ++k) r |= v.balm_e[k] < 0;
    return r;
}
template <class T, int N> inline int all(const balm_vec<T, N>& v) {
    int r = 1;
    for (int k = 0; k < N; ++k) r &= v.balm_e[k] < 0;
    return r;
}
template <class T, balm_if_number<T> = 0> inline T bitselect(T a, T b, T c) {
    const balm_bits<T> x = balm_as<balm_bits<T>>(a), y = balm_as<balm_bits<T>>(b), m = balm_as<balm_bits<T>>(c);
    return balm_as<T>((balm_bits<T>)((x & ~m) | (y & m)));
}
BALM_LIFT_3(bitselect)
template <class T, class C, balm_if_number<T> = 0, balm_if_integer<C> = 0> inline T select(T a, T b, C c) {
    static_assert(sizeof(T) == sizeof(C), "select: the condition is an integer as wide as the values");
    return c ? b : a;
}
// A comparison is an int in OpenCL C.
template <class T, typename balm_if<(balm_number<T>::kind > 0) && sizeof(T) == 4>::type = 0>
inline T select(T a, T b, bool c) { return c ? b : a; }
template <class T, class C, int N>
inline balm_vec<T, N> select(const balm_vec<T, N>& a, const typename balm_same<balm_vec<T, N>>::type& b,
                             const balm_vec<C, N>& c) {
    static_assert(sizeof(T) == sizeof(C), "select: the condition has components as wide as the values");
    balm_vec<T, N> r(0);
    for (int k = 0; k < N; ++k) r.balm_e[k] = ((c.balm_e[k] >> (8 * (int)sizeof(C) - 1)) & 1) ? b.balm_e[k] : a.balm_e[k];
    return r;
}

#define BALM_MEMORY(N)                                                                               \
    template <class T> inline balm_vec<typename balm_plain<T>::type, N> vload##N(size_t i, const T* p) { \
        balm_vec<typename balm_plain<T>::type, N> r(0);                                              \
        for (int k = 0; k < N; ++k) r.balm_e[k] = p[i * N + k];                                      \
        return r;                                                                                    \
    }                                                                                                \
    template <class T>                                                                               \
    inline void vstore##N(const balm_vec<typename balm_plain<T>::type, N>& v, size_t i, T* p) {      \
        for (int k = 0; k < N; ++k) p[i * N + k] = v.balm_e[k];                                      \
    }
template <class T> struct balm_plain { typedef T type; };
template <class T> struct balm_plain<const T> { typedef T type; };
template <> struct balm_plain<char> { typedef balm_char type; };
BALM_MEMORY(2) BALM_MEMORY(3) BALM_MEMORY(4) BALM_MEMORY(8) BALM_MEMORY(16)
#undef BALM_MEMORY

template <int M> struct balm_ceiling { static constexpr int value = M == 3 ? 4 : M; };
template <class T, int N, class I, int M>
inline balm_vec<T, M> shuffle(const balm_vec<T, N>& v, const balm_vec<I, M>& at) {
    balm_vec<T, M> r(0);
    for (int k = 0; k < M; ++k) r.balm_e[k] = v.balm_e[at.balm_e[k] & (balm_ceiling<N>::value - 1)];
    return r;
}
template <class T, int N, class I, int M>
inline balm_vec<T, M> shuffle2(const balm_vec<T, N>& v, const balm_vec<T, N>& w, const balm_vec<I, M>& at) {
    balm_vec<T, M> r(0);
    for (int k = 0; k < M; ++k) {
        const int i = (int)(at.balm_e[k] & (2 * balm_ceiling<N>::value - 1));
        r.balm_e[k] = i < balm_ceiling<N>::value ? v.balm_e[i] : w.balm_e[i - balm_ceiling<N>::value];
    }
    return r;
}
template <class T, balm_if_number<T> = 0> inline int vec_step(const T&) { return 1; }
template <class T, int N> inline int vec_step(const balm_vec<T, N>&) { return balm_ceiling<N>::value; }
)text";

// 32-bit atomics, under their names of OpenCL 1.2 and of 1.0 (atom_); the latter serve 64 bits, too.
const char* const atomics = R"text(
#define BALM_ATOMIC(name, T, word, call)                                               \
    inline T atomic_##name(volatile T* p, T v) { return (T)call((word*)p, (word)v); }  \
    inline T atom_##name(volatile T* p, T v) { return (T)call((word*)p, (word)v); }
#define BALM_ATOMIC_LONG(name, T, word, call) \
    inline T atom_##name(volatile T* p, T v) { return (T)call((word*)p, (word)v); }
#define BALM_ATOMICS(T)                                                                              \
    BALM_ATOMIC(add, T, T, atomicAdd) BALM_ATOMIC(min, T, T, atomicMin) BALM_ATOMIC(max, T, T, atomicMax) \
    BALM_ATOMIC(and, T, T, atomicAnd) BALM_ATOMIC(or, T, T, atomicOr) BALM_ATOMIC(xor, T, T, atomicXor) \
    BALM_ATOMIC(xchg, T, T, atomicExch) BALM_ATOMIC(sub, T, T, atomicSub)                            \
    inline T atomic_inc(volatile T* p) { return atomicAdd((T*)p, (T)1); }                            \
    inline T atomic_dec(volatile T* p) { return atomicSub((T*)p, (T)1); }                            \
    inline T atomic_cmpxchg(volatile T* p, T a, T b) { return atomicCAS((T*)p, a, b); }              \
    inline T atom_inc(volatile T* p) { return atomic_inc(p); }                                       \
    inline T atom_dec(volatile T* p) { return atomic_dec(p); }                                       \
    inline T atom_cmpxchg(volatile T* p, T a, T b) { return atomicCAS((T*)p, a, b); }
#define BALM_ATOMICS_LONG(T)                                                                         \
    BALM_ATOMIC_LONG(add, T, ulong, atomicAdd) BALM_ATOMIC_LONG(min, T, T, atomicMin)                \
    BALM_ATOMIC_LONG(max, T, T, atomicMax) BALM_ATOMIC_LONG(and, T, ulong, atomicAnd)                \
    BALM_ATOMIC_LONG(or, T, ulong, atomicOr) BALM_ATOMIC_LONG(xor, T, ulong, atomicXor)              \
    BALM_ATOMIC_LONG(xchg, T, ulong, atomicExch)                                                     \
    inline T atom_sub(volatile T* p, T v) { return (T)atomicAdd((ulong*)p, 0 - (ulong)v); }          \
    inline T atom_inc(volatile T* p) { return (T)atomicAdd((ulong*)p, 1ull); }                       \
    inline T atom_dec(volatile T* p) { return (T)atomicAdd((ulong*)p, ~0ull); }                      \
    inline T atom_cmpxchg(volatile T* p, T a, T b) { return (T)atomicCAS((ulong*)p, (ulong)a, (ulong)b); }
BALM_ATOMICS(int)
BALM_ATOMICS(uint)
BALM_ATOMICS_LONG(long long)
BALM_ATOMICS_LONG(ulong)
inline float atomic_xchg(volatile float* p, float v) { return atomicExch((float*)p, v); }
inline float atom_xchg(volatile float* p, float v) { return atomicExch((float*)p, v); }
)text";

}  // namespace balm::emit::cuda::prelude_text
