// step_world_v5_packed_properties [dt] [n] [binary]: of four of the five properties that it reads, a cell
// needs one bit each: whether that neighbour conducts. The host packs these bits into the cell's own word,
// once.
//
// HPCE_SELECT_PLATFORM, HPCE_SELECT_DEVICE: the device. HPCE_CL_SRC_DIR: the folder of the kernel.

#include <cstdint>
#include <utility>
#include <vector>

#include "command.hpp"
#include "opencl.hpp"

namespace {

// As in step_world_v5_packed_properties.cl; the lower bits are the cell's kind.
enum : std::uint32_t { above_conducts = 4, below_conducts = 8, left_conducts = 16, right_conducts = 32 };

std::vector<std::uint32_t> packed_properties(const heat::world& world) {
    const std::size_t w = world.width, h = world.height;
    std::vector<std::uint32_t> packed = world.properties;
    const auto conducts = [&](std::size_t index) { return world.properties[index] != heat::insulator; };
    for (std::size_t y = 0, index = 0; y < h; ++y)
        for (std::size_t x = 0; x < w; ++x, ++index) {
            if (world.properties[index] != heat::normal) continue;
            if (y > 0 && conducts(index - w)) packed[index] |= above_conducts;
            if (y + 1 < h && conducts(index + w)) packed[index] |= below_conducts;
            if (x > 0 && conducts(index - 1)) packed[index] |= left_conducts;
            if (x + 1 < w && conducts(index + 1)) packed[index] |= right_conducts;
        }
    return packed;
}

void step_world_v5_packed_properties(heat::world& world, float dt, unsigned n) {
    const float outer = world.alpha * dt;
    const float inner = 1 - outer / 4;
    const std::size_t bytes = world.size() * sizeof(float);
    const std::vector<std::uint32_t> packed = packed_properties(world);

    const cl::Device device = heat_trail::choose_device();
    const cl::Context context(device);
    cl::Kernel kernel =
        heat_trail::load_kernel(context, device, "step_world_v5_packed_properties.cl", "kernel_xy");

    const cl::Buffer device_properties(context, CL_MEM_READ_ONLY, bytes);
    cl::Buffer device_state(context, CL_MEM_READ_WRITE, bytes);
    cl::Buffer device_buffer(context, CL_MEM_READ_WRITE, bytes);
    kernel.setArg(0, inner);
    kernel.setArg(1, outer);
    kernel.setArg(2, device_properties);

    const cl::CommandQueue queue(context, device);
    queue.enqueueWriteBuffer(device_properties, CL_TRUE, 0, bytes, packed.data());
    queue.enqueueWriteBuffer(device_state, CL_TRUE, 0, bytes, world.state.data());

    for (unsigned t = 0; t < n; ++t) {
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
        "Advances the heat world on stdin with packed properties, and writes it to stdout.",
        "step_world_v5_packed_properties");
    return heat_trail::run_opencl_stage(*app, argc, argv, step_world_v5_packed_properties);
}
