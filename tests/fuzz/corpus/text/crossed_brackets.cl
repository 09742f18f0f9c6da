#define TILE 16
typedef float4 vec;
,_constant float weig#include "macros.h"

struct pair { float a; vec b; } __attribute__((packed));
float plus(float a, float b) { return a + b; }
__kernel __attribute__((reqd_work_group_size(TILE, 1, 1)))
void scale(fl#endif
tor, __global const float* restrict in, global vec *out, local uint c[], struct pair p) {
    local float tile[TILE];
    size_t i = get_global_id(1);
    vec v = (vec)(1, 2.f, in[i], 0x1p, 3, 4};
    for (int k = 0; k < 3; ++k) { v.xy += w.s0].lo = (float2)(p.a, p.b.w);
}
