// The transfers of peer_transfer.hpp in CUDA.

#include "peer_cuda_check.hpp"
#include "peer_transfer.hpp"

namespace {

struct memories {
    std::size_t bytes;
    void *host, *device;
    cudaStream_t stream;
};
memories& of(void* all) { return *static_cast<memories*>(all); }

void* make(std::size_t bytes) {
    auto* const m = new memories{bytes, nullptr, nullptr, nullptr};
    check(cudaMallocHost(&m->host, bytes), "cudaMallocHost");
    check(cudaMalloc(&m->device, bytes), "cudaMalloc");
    check(cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return m;
}

unsigned char* host(void* all) { return static_cast<unsigned char*>(of(all).host); }

void write(void* all) {
    const memories& m = of(all);
    check(cudaMemcpyAsync(m.device, m.host, m.bytes, cudaMemcpyHostToDevice, m.stream), "cudaMemcpyAsync");
}

void read(void* all) {
    const memories& m = of(all);
    check(cudaMemcpyAsync(m.host, m.device, m.bytes, cudaMemcpyDeviceToHost, m.stream), "cudaMemcpyAsync");
}

void finish(void* all) { check(cudaStreamSynchronize(of(all).stream), "cudaStreamSynchronize"); }

void release(void* all) {
    memories* const m = &of(all);
    check(cudaStreamDestroy(m->stream), "cudaStreamDestroy");
    check(cudaFree(m->device), "cudaFree");
    check(cudaFreeHost(m->host), "cudaFreeHost");
    delete m;
}

constexpr peer::cuda_transfer_functions functions{make, host, write, read, finish, release};

}  // namespace

extern "C" const peer::cuda_transfer_functions* peer_cuda_transfer_functions() { return &functions; }
