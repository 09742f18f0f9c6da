// Integer vectors and scalars of type T, which the text ahead of this one defines: operators, comparisons,
// built-ins. A work-item reads three operands of each size and writes 40 results of each.

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define ON_VECTORS(V, results)                                                    \
    {                                                                             \
        V a = ((global const V*)in)[3 * i], b = ((global const V*)in)[3 * i + 1]; \
        V c = ((global const V*)in)[3 * i + 2];                                   \
        global V* r = (global V*)(results);                                       \
        r[0] = a + b;                                                             \
        r[1] = a - b;                                                             \
        r[2] = a * b;                                                             \
        r[3] = (a & b) | (a ^ c);                                                 \
        r[4] = ~a;                                                                \
        r[5] = a << b;                                                            \
        r[6] = a >> b;                                                            \
        r[7] = JOIN(as_, V)(a < b);                                               \
        r[8] = JOIN(as_, V)(a == (b & a));                                        \
        r[9] = JOIN(as_, V)(a >= (T)7);                                           \
        r[10] = JOIN(as_, V)(abs(a));                                             \
        r[11] = JOIN(as_, V)(abs_diff(a, b));                                     \
        r[12] = add_sat(a, b);                                                    \
        r[13] = sub_sat(a, b);                                                    \
        r[14] = hadd(a, b);                                                       \
        r[15] = rhadd(a, b);                                                      \
        r[16] = clz(a);                                                           \
        r[17] = popcount(a);                                                      \
        r[18] = rotate(a, b);                                                     \
        r[19] = mul_hi(a, b);                                                     \
        r[20] = mad_hi(a, b, c);                                                  \
        r[21] = max(a, b);                                                        \
        r[22] = min(a, b);                                                        \
        r[23] = clamp(a, (T)3, (T)100);                                           \
        r[24] = bitselect(a, b, c);                                               \
        r[25] = select(a, b, c);                                                  \
        a += c;                                                                   \
        r[26] = a;                                                                \
        a <<= 3;                                                                  \
        r[27] = a++;                                                              \
        r[28] = --a;                                                              \
        r[29] = a / ((b & (T)7) + (T)1);                                          \
        r[30] = -a;                                                               \
        r[31] = JOIN(as_, V)(!a) ^ JOIN(as_, V)(a && b) ^ JOIN(as_, V)(b || c);   \
        r[32] = mad_sat(c, b, a);                                                 \
        r[33] = max(a, (T)5) - min(b, (T)9);                                      \
        r[34] = a % ((c & (T)15) + (T)3);                                         \
    }

#define ON_SCALARS(results)                                                       \
    {                                                                             \
        T a = ((global const T*)in)[3 * i], b = ((global const T*)in)[3 * i + 1]; \
        T c = ((global const T*)in)[3 * i + 2];                                   \
        global T* r = (global T*)(results);                                       \
        r[0] = a << b;                                                            \
        r[1] = a >> (b + c);                                                      \
        r[2] = (T)(a << 3) >> 1;                                                  \
        r[3] = a < b;                                                             \
        r[4] = (T)abs(a);                                                         \
        r[5] = (T)abs_diff(a, b);                                                 \
        r[6] = add_sat(a, b);                                                     \
        r[7] = sub_sat(a, b);                                                     \
        r[8] = hadd(a, b);                                                        \
        r[9] = rhadd(a, b);                                                       \
        r[10] = clz(a);                                                           \
        r[11] = popcount(a);                                                      \
        r[12] = rotate(a, b);                                                     \
        r[13] = mul_hi(a, b);                                                     \
        r[14] = mad_hi(a, b, c);                                                  \
        r[15] = mad_sat(a, b, c);                                                 \
        r[16] = max(a, b);                                                        \
        r[17] = min(a, b);                                                        \
        r[18] = clamp(a, (T)3, (T)100);                                           \
        r[19] = bitselect(a, b, c);                                               \
        a <<= b;                                                                  \
        r[20] = a;                                                                \
        a >>= 2;                                                                  \
        r[21] = a;                                                                \
        r[22] = 'a' + sizeof('a') + sizeof(T) + sizeof(long) + sizeof(float3);    \
        r[23] = (T)(1 << b) + (T)(1u << (b & 31)) + (T)(1L << b);                 \
        r[24] = a > b ? a : b;                                                    \
        r[25] = (T)0xFFFFFFFF + (T)1UL + (T)077;                                  \
    }

kernel void integers(global const uchar* in, global uchar* out) {
    size_t i = get_global_id(0);
    out += 40 * sizeof(T) * 36 * i;
    ON_SCALARS(out)
    ON_VECTORS(JOIN(T, 2), out + 40 * sizeof(T) * 2)
    ON_VECTORS(JOIN(T, 4), out + 40 * sizeof(T) * 4)
    ON_VECTORS(JOIN(T, 3), out + 40 * sizeof(T) * 8)
    ON_VECTORS(JOIN(T, 8), out + 40 * sizeof(T) * 12)
    ON_VECTORS(JOIN(T, 16), out + 40 * sizeof(T) * 20)
}

