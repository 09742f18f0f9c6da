// What joins integers of several sizes, and what has no form for all types.

kernel void mixed_integers(global const uchar* in, global uchar* out) {
    size_t i = get_global_id(0);
    int4 a = vload4(2 * i, (global const int*)in), b = vload4(2 * i + 1, (global const int*)in);
    global int* r = (global int*)out + 80 * i;
    vstore4(mad24(a >> 8, b >> 8, a), 0, r);
    vstore4(mul24(a >> 9, b >> 9), 1, r);
    vstore4(convert_int4(upsample(convert_short4(a >> 16), convert_ushort4(b & 0xffff))), 2, r);
    vstore4(as_int4(upsample(a.xy, as_uint2(b.zw))), 3, r);
    vstore4(a << (b & 5), 4, r);
    vstore4(a << 35, 5, r);
    r[24] = any(a) + 2 * all(a < b) + 4 * any(a == a) + 8 * any(a.x);
    r[25] = mad24(3, 4, a.x);
    vstore3(a.zyx, 10, r);
    vstore2(b.hi, 17, r);
    r[36] = vec_step(a) + vec_step(a.xyz) + vec_step(a.x);
    vstore4(as_int4(as_uchar16(b).sfedcba9876543210), 10, r);
    vstore4(as_int4(shuffle(as_uchar16(b), as_uchar16(a))), 11, r);
    vstore4(shuffle2(a, b, as_uint4(a + b)), 12, r);
    vstore4(shuffle(a.xy, (uint4)(1, 0, 1, 1)), 13, r);
    uchar8 c = convert_uchar8_sat((int8)(a, b));
    vstore8(c, 28, (global uchar*)r);
    short16 d = (short16)(convert_short8(c), (short4)(1, 2, 3, 4), convert_short4(a));
    vstore16(d, 8, (global short*)r);
}
