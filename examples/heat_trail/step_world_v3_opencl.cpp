// step_world_v3_opencl [dt] [n] [binary]: the function as an OpenCL kernel. The host still swaps the states,
// so every step copies one to the device and the other back.
//
// HPCE_SELECT_PLATFORM, HPCE_SELECT_DEVICE: the device. HPCE_CL_SRC_DIR: the folder of the kernel.

#include <utility>
#include <vector>

#include "command.hpp"
#include "opencl.hpp"

namespace {

void step_world_v3_opencl(heat::world& world, float dt, unsigned n) {
    const float outer = world.alpha * dt;
    const float inner = 1 - outer / 4;
    const std::size_t bytes = world.size() * sizeof(float);
    std::vector<float> buffer(world.size());

    const cl::Device device = heat_trail::choose_device();
    const cl::Context context(device);
    cl::Kernel kernel = heat_trail::load_kernel(context, device, "step_world_v3_kernel.cl", "kernel_xy");

    const cl::Buffer device_properties(context, CL_MEM_READ_ONLY, bytes);
    const cl::Buffer device_state(context, CL_MEM_READ_ONLY, bytes);
    const cl::Buffer device_buffer(context, CL_MEM_WRITE_ONLY, bytes);
    kernel.setArg(0, inner);
    kernel.setArg(1, outer);
    kernel.setArg(2, device_properties);
    kernel.setArg(3, device_state);
    kernel.setArg(4, device_buffer);

    const cl::CommandQueue queue(context, device);
    queue.enqueueWriteBuffer(device_properties, CL_TRUE, 0, bytes, world.properties.data());

    for (unsigned t = 0; t < n; ++t) {
        // The events state the dependencies; only the last call blocks, since the host needs its result.
        std::vector<cl::Event> copied(1), executed(1);
        queue.enqueueWriteBuffer(device_state, CL_FALSE, 0, bytes, world.state.data(), nullptr,
                                 copied.data());
        queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(world.width, world.height),
                                   cl::NullRange, &copied, executed.data());
        queue.enqueueReadBuffer(device_buffer, CL_TRUE, 0, bytes, buffer.data(), &executed);
        std::swap(world.state, buffer);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto app =
        heat::command_line("Advances the heat world on stdin by an OpenCL kernel, and writes it to stdout.",
                           "step_world_v3_opencl");
    return heat_trail::run_opencl_stage(*app, argc, argv, step_world_v3_opencl);
}
