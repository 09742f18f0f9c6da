// The transfers of peer_transfer.hpp through the OpenCL API: pinned memory is a mapped buffer that the driver
// allocated on the host.

#include "peer_transfer.hpp"
#include "support/opencl.hpp"

namespace peer {

struct opencl_transfer::state {
    std::size_t bytes = 0;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_mem pinned = nullptr, memory = nullptr;
    unsigned char* host = nullptr;

    state(cl_device_id device, std::size_t size) : bytes(size) {
        cl_int code = 0;
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
        check(code, "clCreateContext");
        queue = clCreateCommandQueue(context, device, 0, &code);
        check(code, "clCreateCommandQueue");
        pinned = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &code);
        check(code, "clCreateBuffer");
        memory = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
        check(code, "clCreateBuffer");
        host = static_cast<unsigned char*>(clEnqueueMapBuffer(
            queue, pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, nullptr, nullptr, &code));
        check(code, "clEnqueueMapBuffer");
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
        clEnqueueUnmapMemObject(queue, pinned, host, 0, nullptr, nullptr);
        clFinish(queue);
        clReleaseMemObject(memory);
        clReleaseMemObject(pinned);
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
    }
};

opencl_transfer::opencl_transfer(const char* platform, const char* device, std::size_t bytes)
    : state_(std::make_unique<state>(find_device(platform, device), bytes)) {}
opencl_transfer::~opencl_transfer() = default;

unsigned char* opencl_transfer::host() const { return state_->host; }
void opencl_transfer::write() {
    check(clEnqueueWriteBuffer(state_->queue, state_->memory, CL_FALSE, 0, state_->bytes, state_->host, 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
}
void opencl_transfer::read() {
    check(clEnqueueReadBuffer(state_->queue, state_->memory, CL_FALSE, 0, state_->bytes, state_->host, 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
}
void opencl_transfer::finish() { check(clFinish(state_->queue), "clFinish"); }

}  // namespace peer
