// Built-ins that may differ in the last places.

kernel void near(global const uchar* in, global uchar* out) {
    size_t i = get_global_id(0);
    global const float4* f = (global const float4*)in + 4 * i;
    global float4* r = (global float4*)out + 40 * i;
    float4 a = clamp(f[0], -50.0f, 50.0f), b = clamp(f[1], (float4)(-3), (float4)(4)), c = f[2] * 0 + 0.25f;
    if (any(isnan(a)) || any(isnan(b)) || any(isnan(c))) return;
    float whole;
    float4 wholes;
    int4 exponents;
    r[0] = sin(a) + cos(b);
    r[1] = exp(b) + log(fabs(a) + 1);
    r[2] = sqrt(fabs(a)) + rsqrt(fabs(b) + 1) + cbrt(a);
    r[3] = (float4)(length(a), distance(a, b), dot(a, b), length(a.xyz));
    r[4] = normalize(a + 60.0f);
    r[5] = mix(a, b, c) + mix(a, b, 0.5f);
    r[6] = smoothstep(-3.0f, 4.0f, b);
    r[7] = pow(fabs(a) + 1, b) + pown(b, 3) + pown(b, (int4)(2));
    r[8] = atan2(a, b + 10) + tanh(b) + erf(b);
    r[9] = degrees(b) + radians(a);
    r[10] = fract(a, &wholes);
    r[10] += wholes;
    r[11] = modf(a.x, &whole) + (float4)(0);
    r[11] += whole;
    r[12] = frexp(a, &exponents);
    r[12] += convert_float4(exponents);
    r[13] = sincos(b, &wholes);
    r[13] += wholes;
    r[16] = remquo(a, (float4)(0.75f), &exponents);
    r[16] += convert_float4(exponents & 7);
    r[17] = lgamma_r(fabs(b) + 0.5f, &exponents);
    r[17] += convert_float4(exponents);
    r[14] = hypot(a, b) + fmod(a, (float4)(3)) + native_divide(a, b + 10) + half_sqrt(fabs(a));
    r[15] = (float4)(ilogb(a.x + 100), logb(a.y + 100), ldexp(a.z, 2), nextafter(a.w, 1.0f));
}
