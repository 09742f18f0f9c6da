kernel void scale(float factor, global const float* in, global float* out) {
    out[get_global_id(0)] = factor * in[get_global_id(0)];
}
