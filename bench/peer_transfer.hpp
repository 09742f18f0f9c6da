#pragma once
// Transfers between a device and pinned host memory, by the calls of the driver's API alone.

#include <cstddef>
#include <memory>

namespace peer {

/// Those of libpeer_cuda.so, got with `peer_cuda_transfer_functions`, on the device that
/// cuda_functions::select has chosen. write and read are asynchronous.
struct cuda_transfer_functions {
    void* (*make)(std::size_t bytes);
    /// The pinned host memory.
    unsigned char* (*host)(void*);
    /// All of it to the device, and back.
    void (*write)(void*);
    void (*read)(void*);
    void (*finish)(void*);
    void (*release)(void*);
};

/// The same through the OpenCL API.
class opencl_transfer {
public:
    /// Throws std::runtime_error where OpenCL has no such device, or refuses something.
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
