// Transfers between pinned host memory and a device, in both directions, against the driver's own calls.

#include <algorithm>
#include <exception>
#include <memory>

#include "peer_cuda.hpp"
#include "peer_transfer.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr std::size_t gpu_bytes = std::size_t{256} << 20, cpu_bytes = std::size_t{64} << 20;
constexpr double bar = 0.95;
constexpr int gpu_transfers = 5, gpu_samples = 15;

enum class direction { to_device, to_host };

class ours {
public:
    ours(const balm::device& on, std::size_t bytes)
        : memory_(on.mixed_buffer<unsigned char>(bytes)), host_(on.pinned_array<unsigned char>(bytes)) {}
    unsigned char* host() { return host_.data(); }
    void transfer(direction way, int count) {
        balm::event done;
        for (int k = 0; k < count; ++k)
            done = way == direction::to_device ? memory_.write(host_) : memory_.read_into(host_);
        done.wait();
    }

private:
    balm::mixed_buffer<unsigned char> memory_;
    balm::pinned_array<unsigned char> host_;
};

class cuda_peer {
public:
    cuda_peer(const peer::cuda_transfer_functions& functions, std::size_t bytes)
        : functions_(functions), all_(functions.make(bytes), functions.release) {}
    unsigned char* host() { return functions_.host(all_.get()); }
    void transfer(direction way, int count) {
        for (int k = 0; k < count; ++k)
            (way == direction::to_device ? functions_.write : functions_.read)(all_.get());
        functions_.finish(all_.get());
    }

private:
    const peer::cuda_transfer_functions& functions_;
    std::unique_ptr<void, void (*)(void*)> all_;
};

class opencl_peer {
public:
    opencl_peer(const balm::device& on, std::size_t bytes)
        : all_(on.info().platform.c_str(), on.name().c_str(), bytes) {}
    unsigned char* host() { return all_.host(); }
    void transfer(direction way, int count) {
        for (int k = 0; k < count; ++k) way == direction::to_device ? all_.write() : all_.read();
        all_.finish();
    }

private:
    peer::opencl_transfer all_;
};

/// Whether data returns unchanged from the device.
template <class Side>
bool carries(Side& side, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) side.host()[i] = static_cast<unsigned char>(i * 31 >> 3);
    side.transfer(direction::to_device, 1);
    std::fill_n(side.host(), bytes, static_cast<unsigned char>(0));
    side.transfer(direction::to_host, 1);
    for (std::size_t i = 0; i < bytes; ++i)
        if (side.host()[i] != static_cast<unsigned char>(i * 31 >> 3)) return false;
    return true;
}

template <class Peer>
void measure(benchmark::State& state, const balm::device& on, direction way, Peer& theirs,
             std::size_t bytes) {
    ours mine(on, bytes);
    if (!carries(mine, bytes) || !carries(theirs, bytes)) return state.SkipWithError("the result is wrong");
    const auto transfer_ours = [&](int count) { mine.transfer(way, count); };
    const auto transfer_theirs = [&](int count) { theirs.transfer(way, count); };
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made =
            is_cpu(on) ? compare_in_pairs([&] { transfer_ours(1); }, [&] { transfer_theirs(1); })
                       : compare_samples(transfer_ours, transfer_theirs, gpu_transfers, gpu_samples);
        report(state, made, bar);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void measure(benchmark::State& state, const balm::device& on, direction way) {
    const std::size_t bytes = is_cpu(on) ? cpu_bytes : gpu_bytes;
    try {
        if (on.info().api == balm::backend::opencl) {
            opencl_peer theirs(on, bytes);
            return measure(state, on, way, theirs, bytes);
        }
        const char* why = "";
        const auto* const cuda = peer::cuda_functions_on<peer::cuda_transfer_functions>(
            on.info().pci_address.c_str(), "peer_cuda_transfer_functions", why);
        if (cuda == nullptr) return state.SkipWithError(why);
        cuda_peer theirs(*cuda, bytes);
        measure(state, on, way, theirs, bytes);
    } catch (const std::exception& fault) {
        state.SkipWithError(fault.what());
    }
}

void register_all() {
    for (const direction way : {direction::to_device, direction::to_host})
        on_every_device(
            way == direction::to_device ? "pinned host memory to device" : "device to pinned host memory",
            [way](benchmark::State& state, const balm::device& on) { measure(state, on, way); });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
