// The step of one cell, for step_world_v5_packed_properties. Bits 0 and 1 of a cell's properties are its kind. Each of
// the bits above says that a neighbour lies inside the world and conducts, so the kernel reads one word of properties
// where kernel_xy of step_world_v3_kernel.cl reads five, and asks nothing about the border.

enum { kind_bits = 3, above_conducts = 4, below_conducts = 8, left_conducts = 16, right_conducts = 32 };

__kernel void kernel_xy(float inner, float outer, __global const uint* properties, __global const float* state,
                        __global float* buffer) {
    const size_t x = get_global_id(0), y = get_global_id(1);
    const size_t w = get_global_size(0);
    const size_t index = y * w + x;
    const uint own = properties[index];
    if ((own & kind_bits) != 0) {
        buffer[index] = state[index];
        return;
    }
    float weight = inner;
    float sum = inner * state[index];
    if (own & above_conducts) {
        weight += outer;
        sum += outer * state[index - w];
    }
    if (own & below_conducts) {
        weight += outer;
        sum += outer * state[index + w];
    }
    if (own & left_conducts) {
        weight += outer;
        sum += outer * state[index - 1];
    }
    if (own & right_conducts) {
        weight += outer;
        sum += outer * state[index + 1];
    }
    buffer[index] = fmin(1.0f, fmax(0.0f, sum / weight));
}
