// Asks every backend for its devices, once, and puts the best first.

#include "runtime/platform.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <mutex>
#include <tuple>

namespace balm::runtime {

namespace {

int rank(device_type type) {
    switch (type) {
        case device_type::gpu: return 0;
        case device_type::accelerator: return 1;
        case device_type::cpu: return 2;
        case device_type::other: return 3;
    }
    return 3;
}

// GPUs first, discrete ones before those that share the host's memory, CUDA before OpenCL.
auto order(const device_info& info) {
    return std::make_tuple(rank(info.type), info.unified_memory, info.api != backend::cuda);
}

platform_list discover() {
    platform_list found;
    for (discovery& part : std::array{discover_cuda(), discover_opencl()}) {
        for (std::shared_ptr<driver_device>& device : part.devices)
            found.devices.push_back(device_state::make(std::move(device)));
        std::move(part.notes.begin(), part.notes.end(), std::back_inserter(found.notes));
    }
    std::stable_sort(found.devices.begin(), found.devices.end(),
                     [](const auto& a, const auto& b) { return order(a->info()) < order(b->info()); });
    return found;
}

}  // namespace

const platform_list& platforms() {
    static const auto* const found = new platform_list(discover());
    return *found;
}

std::shared_ptr<device_state> open_again(const std::shared_ptr<device_state>& known) {
    if (!known->is_freed()) return known;
    struct successors {
        std::mutex mutex;
        std::map<const driver_device*, std::shared_ptr<device_state>> of;
    };
    static auto* const now = new successors;  // as the list of devices
    const std::lock_guard lock(now->mutex);
    std::shared_ptr<device_state>& successor = now->of[&known->driver()];
    if (successor == nullptr || successor->is_freed()) successor = device_state::make(known->driver_handle());
    return successor;
}

bool is_same_card(const device_info& a, const device_info& b) {
    if (a.api == b.api) return false;  // PoCL gives several devices one name: a backend knows its own
    constexpr decltype(a.uuid) unknown{};
    if (a.uuid != unknown && b.uuid != unknown) return a.uuid == b.uuid;
    return !a.pci_address.empty() && a.pci_address == b.pci_address;
}

}  // namespace balm::runtime
