// From type F, which the text ahead of this one defines, to every other; with saturation and each rounding.

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define SOURCE JOIN(F, 4)

#define TO_INTEGER(T)                                                \
    {                                                                \
        global T##4* r = (global T##4*)out;                          \
        r[0] = convert_##T##4_sat(a);                                \
        r[1] = convert_##T##4_sat_rte(a);                            \
        r[2] = convert_##T##4_sat_rtz(a);                            \
        r[3] = convert_##T##4_sat_rtp(a);                            \
        r[4] = convert_##T##4_sat_rtn(a);                            \
        r[5] = (T##4)(convert_##T##_sat_rte(a.x), convert_##T##_sat(a.y), convert_##T(small.z), (T)small.w); \
        r[6] = convert_##T##4(small);                                \
        r[7] = convert_##T##4_rte(small);                            \
        out += 8 * sizeof(T##4);                                     \
    }
#define TO_FLOATING(T)                                               \
    {                                                                \
        global T##4* r = (global T##4*)out;                          \
        r[0] = convert_##T##4(a);                                    \
        r[1] = convert_##T##4_rte(a);                                \
        r[2] = convert_##T##4_rtz(a);                                \
        r[3] = convert_##T##4_rtp(a);                                \
        r[4] = convert_##T##4_rtn(a);                                \
        r[5] = (T##4)(convert_##T##_rtp(a.x), convert_##T##_rtn(a.y), convert_##T##_rtz(a.z), (T)a.w); \
        out += 8 * sizeof(T##4);                                     \
    }

kernel void conversions(global const uchar* in, global uchar* out) {
    size_t i = get_global_id(0);
    SOURCE a = ((global const SOURCE*)in)[i];
    SOURCE small = JOIN(convert_, SOURCE)(((global const uchar4*)in)[i] & (uchar)127) / (F)2;
    out += 8 * 4 * (2 * (1 + 2 + 4 + 8) + 4 + 8) * i;
    TO_INTEGER(char)
    TO_INTEGER(uchar)
    TO_INTEGER(short)
    TO_INTEGER(ushort)
    TO_INTEGER(int)
    TO_INTEGER(uint)
    TO_INTEGER(long)
    TO_INTEGER(ulong)
    TO_FLOATING(float)
    TO_FLOATING(double)
}
