// The step of one cell, for step_world_v3_opencl and step_world_v4_double_buffered. The loops over x and y are the
// range that the kernel is launched over: a work-item finds its cell by its global id.

enum cell_kind { normal = 0, fixed = 1, insulator = 2 };

__kernel void kernel_xy(float inner, float outer, __global const uint* properties, __global const float* state,
                        __global float* buffer) {
    const size_t x = get_global_id(0), y = get_global_id(1);
    const size_t w = get_global_size(0), h = get_global_size(1);
    const size_t index = y * w + x;
    if (properties[index] != normal) {
        buffer[index] = state[index];
        return;
    }
    float weight = inner;
    float sum = inner * state[index];
    if (y > 0 && properties[index - w] != insulator) {
        weight += outer;
        sum += outer * state[index - w];
    }
    if (y + 1 < h && properties[index + w] != insulator) {
        weight += outer;
        sum += outer * state[index + w];
    }
    if (x > 0 && properties[index - 1] != insulator) {
        weight += outer;
        sum += outer * state[index - 1];
    }
    if (x + 1 < w && properties[index + 1] != insulator) {
        weight += outer;
        sum += outer * state[index + 1];
    }
    buffer[index] = fmin(1.0f, fmax(0.0f, sum / weight));
}
