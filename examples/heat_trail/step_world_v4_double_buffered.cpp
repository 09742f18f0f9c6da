// step_world_v4_double_buffered [dt] [n] [binary]: both states stay on the device. The host copies once
// before the first step and once after the last; in between it swaps the buffers that the kernel reads and
// writes.
//
// HPCE_SELECT_PLATFORM, HPCE_SELECT_DEVICE: the device. HPCE_CL_SRC_DIR: the folder of the kernel.

#include <utility>

#include "command.hpp"
#include "opencl.hpp"

namespace {

void step_world_v4_double_buffered(heat::world& world, float dt, unsigned n) {
    const float outer = world.alpha * dt;
    const float inner = 1 - outer / 4;
    const std::size_t bytes = world.size() * sizeof(float);

    const cl::Device device = heat_trail::choose_device();
    const cl::Context context(device);
    cl::Kernel kernel = heat_trail::load_kernel(context, device, "step_world_v3_kernel.cl", "kernel_xy");

    const cl::Buffer device_properties(context, CL_MEM_READ_ONLY, bytes);
    cl::Buffer device_state(context, CL_MEM_READ_WRITE, bytes);
    cl::Buffer device_buffer(context, CL_MEM_READ_WRITE, bytes);
    kernel.setArg(0, inner);
    kernel.setArg(1, outer);
    kernel.setArg(2, device_properties);

    const cl::CommandQueue queue(context, device);
    queue.enqueueWriteBuffer(device_properties, CL_TRUE, 0, bytes, world.properties.data());
    queue.enqueueWriteBuffer(device_state, CL_TRUE, 0, bytes, world.state.data());

    for (unsigned t = 0; t < n; ++t) {
        // The launches depend on each other, and the queue is in-order: no event, no barrier, and the host
        // runs ahead.
        kernel.setArg(3, device_state);
        kernel.setArg(4, device_buffer);
        queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(world.width, world.height));
        std::swap(device_state, device_buffer);
        if (t % 1024 == 1023) queue.finish();  // bounds the memory that queued launches take
    }
    queue.enqueueReadBuffer(device_state, CL_TRUE, 0, bytes, world.state.data());
}

}  // namespace

int main(int argc, char** argv) {
    const auto app = heat::command_line(
        "Advances the heat world on stdin in two buffers of an OpenCL device, and writes it to stdout.",
        "step_world_v4_double_buffered");
    return heat_trail::run_opencl_stage(*app, argc, argv, step_world_v4_double_buffered);
}
