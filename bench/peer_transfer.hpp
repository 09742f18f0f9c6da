#pragma once
// Transfers between a device and pinned host memory, by plain calls of the driver's API.

#include <cstddef>
#include <memory>

namespace peer {

/// The functions that `peer_cuda_transfer_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select. write and read are asynchronous.
struct cuda_transfer_functions {
    void* (*make)(std::size_t bytes);
    /// The pinned host memory.
    unsigned char* (*host)(void*);
    /// Transfers all of it to the device, and back.
    void (*write)(void*);
    void (*read)(void*);
    void (*finish)(void*);
    void (*release)(void*);
};

/// The same through the OpenCL API.
class opencl_transfer {
public:
    /// Throws std::runtime_error if OpenCL has no such device, or if a call fails.
    opencl_transfer(const char* platform, const char* device, std::size_t bytes);
    ~opencl_transfer();
    unsigned char* host() const;
    void write();
    void read();
    void finish();

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace peer
