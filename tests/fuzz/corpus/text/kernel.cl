#define TILE 16
typedef float4 vec;
__constant float weights[] = {1, (2), 3};
struct pair { float a; vec b; } __attribute__((packed));
float plus(float a, float b) { return a + b; }
__kernel __attribute__((reqd_work_group_size(TILE, 1, 1)))
void scale(float factor, __global const float* restrict in, global vec *out, local uint c[], struct pair p) {
    local float tile[TILE];
    size_t i = get_global_id(0);
    vec v = (vec)(1, 2.f, in[i], 0x1p-3f), w = {1, 2, 3, 4};
    for (int k = 0; k < 3; ++k) { v.xy += w.s01 << 2; barrier(CLK_LOCAL_MEM_FENCE); }
    out[i] = convert_float4_sat_rte(as_int4(v)) * plus(factor, weights[1]) + 'a' + sizeof(long);
    if (i > TILE ? 1 : 0) out[i].lo = (float2)(p.a, p.b.w);
}
