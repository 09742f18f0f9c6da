// Vector literals and components, structs, constants, statements.

struct pair {
    float4 first;
    float second;
};
typedef struct {
    int key;
    struct pair values[2];
} entry;
typedef float4 quad4;
__constant float4 axes[3] = {(float4)(1, 0, 0, 0), (float4)(0, 1, 0, 0.5f), (float4)(2.0f)};
constant float4 marks[2] = {{1, 2, 3, 4}, {0.5f, 0.25f, 8, 9}};
constant int table[] = {1, 2, 3, 0x10};
#define UNIT(k) ((float4)(k, k + 1.0f, 2 * (k), 0.25f))
#define PASTE(a, b) a##b
enum { SHIFT = 3, LIMIT = 40 };
union word {
    uchar4 bytes;
    uint whole;
};

float sum4(float4 v) { return v.x + v.y + v.z + v.w; }
float4 turned(float4 v, private float *sum) {
    *sum += sum4(v);
    return v.wzyx;
}

kernel void components(global const uchar* in, global uchar* out) {
    size_t i = get_global_id(0);
    global const float4* f = (global const float4*)in + 4 * i;
    global float4* r = (global float4*)out + 40 * i;
    float4 a = f[0], b = f[1];
    float8 w = (float8)(a, b);
    float16 h = (float16)(w, f[2], f[3].lo, f[3].hi);
    r[0] = a.wzyx;
    r[1] = (float4)(a.xy, 0, 1);
    r[2] = (float4)(a.x, b.yzw);
    r[3] = (float4)(w.s7, w.s01, w.s3);
    r[4] = h.s048C;
    r[5] = h.sFEDC;
    r[6] = w.even + w.odd;
    r[7] = h.hi.lo;
    a.xy = b.zw;
    r[8] = a;
    a.wx += b.xy;
    r[9] = a;
    a.yz *= 2;
    r[10] = a;
    w.lo = w.hi;
    w.s5 = 1;
    r[11] = w.lo + w.hi;
    h.s0123 = w.s4567;
    h.sa = a.x;
    h.SB = a.y;
    r[12] = h.lo.lo + h.hi.lo;
    r[13] = UNIT(3) + axes[1] * table[3] + axes[i % 3];
    quad4 q = (quad4)(1, 2, 3, 4);
    float sum = 0;
    r[14] = turned(q + a, &sum);
    r[14] += sum;
    float3 t = f[2].xyz;
    t.z = 7;
    r[15] = (float4)(t, t.y);
    struct pair p = {b, 3.0f}, many[2];
    many[1] = p;
    many[1].first.yz = p.first.xw;
    r[16] = many[1].first * many[1].second;
    entry e;
    e.key = 5;
    e.values[1] = p;
    r[17] = e.values[1].first + e.key + sizeof(entry);
    float4 scalars = 3;
    r[18] = scalars + *f + (float4)2.5f;
    r[19] = (b.x > a.x ? a : b).yyyy;
    global float4* pointer = r + 20;
    pointer->x = a.x;
    pointer->yzw = b.xxx;
    r[21] = (float4)(dot(b.xy, b.zw) * 0, vload3(1, (global const float*)f));
    vstore3(b.xyz, 30, (global float*)r);
    vstore2(b.zw, 47, (global float*)r);
    float m[2][2] = {{1, 2}, {3, 4}};
    r[24] = (float4)(m[0][0], m[0][1], m[1][0], m[1][1]);
    int4 from = convert_int4(clamp(a, -100.0f, 100.0f));
    r[25] = as_float4(from.zwxy);
    switch (from.x & 3) {
        case 0: r[26] = 0; break;
        case 1: r[26] = (float4)(1, 2, 3, 4); break;
        default: r[26] = (float4)(from.x > 5, 2.0f, 'a', 4L); break;
    }
    uint k = 0;
    while (true) {
        if (++k > 3) break;
        a.x += k;
    }
    r[27] = a;
    r[28] = cross(b, (float4)(1, 2, 4, 0)) + (float4)(cross(b.xyz, t), 0);
    float2 pairs[2] = {(float2)(1, 2), (float2)(3)};
    r[29] = (float4)(pairs[0], pairs[1]);
    union word u;
    u.bytes = (uchar4)(1, 2, 3, 4);
    r[31] = (float4)(u.whole, 5 << SHIFT, 1 << LIMIT, SHIFT << (int)i);
    r[32] = (float4)(select(1.0f, 2.0f, a.x < b.x), (a.x < b.x) + 1, -(a.y < b.y), (a.x > b.x && a.y > 0) << 2);
    r[33] = (float4)('\377', '\n', 4294967295, 2147483648 >> 3);
    ushort bits = 0x8001;
    bits <<= i;
    bits >>= (bits & 3);
    r[34] = (float4)(bits, (uchar)(bits >> i), sizeof(union word), -7 / 2 + -7 % 3);
    for (int j = 0, m = 3; j < m; ++j, --m) r[34].w += j * m;
    float4 spread[2] = {1.0f, 2.0f};
    r[35] = spread[1] - spread[0].x + (a.x < 0 ? 1 : 2);
    uchar4 small = (uchar4)(250) + (uchar4)(10);
    r[36] = convert_float4(small) + (float4)((uchar)250 + (uchar)10);
    float3 gravity = {0.0f, -9.8f, a.x};
    const int2 position = {get_global_id(0), 5}, other = position + 1;
    float4 rows[2] = {{1, 2, 3, 4}, {b.xy, a.zw}};
    r[37] = (float4)(gravity, position.x + other.y) + rows[1] * rows[0] + marks[1];
    r[30] = (float4)(INFINITY, MAXFLOAT, FLT_EPSILON, M_PI_F);
}
