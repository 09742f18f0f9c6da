// Vectors of the floating type T, which the text ahead of this one defines: operators, comparisons, built-ins
// that are exact. A work-item reads three operands of each size and writes 40 results of each.

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define ON_VECTORS(N, results)                                                                                               \
    {                                                                                                                        \
        JOIN(T, N) a = ((global const JOIN(T, N)*)in)[3 * i], b = ((global const JOIN(T, N)*)in)[3 * i + 1];                 \
        JOIN(T, N) c = ((global const JOIN(T, N)*)in)[3 * i + 2];                                                            \
        global JOIN(T, N)* r = (global JOIN(T, N)*)(results);                                                                \
        r[0] = a + b;                                                                                                        \
        r[1] = a - b;                                                                                                        \
        r[2] = a * b;                                                                                                        \
        r[3] = fma(a, b, c);                                                                                                 \
        r[4] = -a;                                                                                                           \
        r[5] = select(a, b, a < b);                                                                                          \
        r[6] = JOIN(convert_, JOIN(T, N))(a == b) + JOIN(convert_, JOIN(T, N))(a != a) + JOIN(convert_, JOIN(T, N))(a >= c); \
        r[7] = fabs(a);                                                                                                      \
        r[8] = floor(a) + ceil(b);                                                                                           \
        r[9] = trunc(a) - rint(b) + round(c);                                                                                \
        r[10] = copysign(a, b);                                                                                              \
        r[11] = fmin(a, b) + fmax(a, (T)2);                                                                                  \
        r[12] = JOIN(convert_, JOIN(T, N))(isnan(a) + isinf(b) + isless(a, b) + isgreater(a, c) + isfinite(c));              \
        r[13] = JOIN(convert_, JOIN(T, N))(isnormal(a) + signbit(b) + isordered(a, b) + isunordered(b, c));                  \
        r[14] = step(a, b) + step((T)1, c);                                                                                  \
        r[15] = sign(a);                                                                                                     \
        r[16] = a * (T)2 + (T)1 - (T)3 * b;                                                                                  \
        r[17] = bitselect(a, b, c);                                                                                          \
        a *= b;                                                                                                              \
        a += (T)1;                                                                                                           \
        a -= c;                                                                                                              \
        r[18] = a;                                                                                                           \
        r[19] = ldexp(b, 3) + ldexp(c, (JOIN(int, N))(2));                                                                   \
        r[20] = mad(b, c, (JOIN(T, N))(0));                                                                                  \
        r[22] = fdim(b, c);                                                                                                  \
    }

kernel void floats(global const uchar* in, global uchar* out) {
    size_t i = get_global_id(0);
    out += 40 * sizeof(T) * 36 * i;
    ON_VECTORS(2, out + 40 * sizeof(T) * 2)
    ON_VECTORS(4, out + 40 * sizeof(T) * 4)
    ON_VECTORS(3, out + 40 * sizeof(T) * 8)
    ON_VECTORS(8, out + 40 * sizeof(T) * 12)
    ON_VECTORS(16, out + 40 * sizeof(T) * 20)
}
