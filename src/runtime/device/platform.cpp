// Queries every backend for its devices, once, and sorts them best first.

#include "runtime/device/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <system_error>
#include <tuple>
#include <utility>

#include "balm/error.hpp"
#include "base/compiler_use.hpp"
#include "base/exit_gate.hpp"
#include "base/forked.hpp"
#include "base/system.hpp"
#include "runtime/device/process_exit.hpp"

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

void sort_best_first(auto& devices, auto info_of) {
    std::stable_sort(devices.begin(), devices.end(),
                     [&](const auto& a, const auto& b) { return order(info_of(a)) < order(info_of(b)); });
}

void add_platform(platform_list& found, discovered_platform part, backend api) {
    platform_info made{std::move(part.name),
                       std::move(part.vendor),
                       std::move(part.version),
                       std::move(part.profile),
                       std::move(part.extensions),
                       api,
                       {}};
    for (std::shared_ptr<driver_device>& each : part.devices) {
        found.devices.push_back(device_state::make(std::move(each)));
        made.devices.emplace_back(found.devices.back());
    }
    sort_best_first(
        made.devices, [](const device& each) -> const auto& { return each.info(); });
    found.platforms.push_back(std::move(made));
}

// A loader that finds no driver because it cannot open a file says so for ever. Drivers keep some files open,
// CUDA's for each GPU.
constexpr std::size_t files_of_drivers = 32;

void check_files() {
    const std::error_code failure = try_to_open_files(files_of_drivers);
    if (failure == std::errc::too_many_files_open || failure == std::errc::too_many_files_open_in_system)
        throw device_error(
            fmt::format("The machine's devices were not looked for: drivers open files, and the process "
                        "cannot open {} more "
                        "({}). Close some, or raise the limit (ulimit -n), then try again.",
                        files_of_drivers, failure.message()));
}

platform_list discover() {
    check_files();
    note_use();
    const compiler_use loading("drivers", "loaded");
    platform_list found;
    const auto add = [&](discovery all, backend api) {
        for (discovered_platform& each : all.platforms) add_platform(found, std::move(each), api);
        std::move(all.notes.begin(), all.notes.end(), std::back_inserter(found.notes));
    };
    add(discover_cuda(), backend::cuda);
    add(discover_opencl(), backend::opencl);
    sort_best_first(
        found.devices, [](const auto& each) -> const auto& { return each->info(); });
    finish_at_exit("");  // loaded libraries have registered their static objects
    return found;
}

std::vector<device> of_type(const std::vector<device>& devices, device_type type) {
    std::vector<device> found;
    std::copy_if(devices.begin(), devices.end(), std::back_inserter(found),
                 [type](const device& each) { return each.info().type == type; });
    return found;
}

}  // namespace

const platform_list& platforms() {
    refuse_if_forked();
    stay_out_of_exit();
    static const auto* const found = new platform_list(discover());
    return *found;
}

std::shared_ptr<device_state> open_again(const std::shared_ptr<device_state>& known) {
    if (!known->is_freed()) return known;
    struct successors {
        std::mutex mutex;
        std::map<const driver_device*, std::shared_ptr<device_state>> of;
    };
    static auto* const now = new successors;  // never destroyed, as the list of devices
    const std::lock_guard lock(now->mutex);
    std::shared_ptr<device_state>& successor = now->of[&known->driver()];
    if (successor == nullptr || successor->is_freed()) successor = device_state::make(known->driver_handle());
    return successor;
}

}  // namespace balm::runtime

namespace balm {

std::vector<device> platform_info::gpus() const { return runtime::of_type(devices, device_type::gpu); }

std::vector<device> platform_info::cpus() const { return runtime::of_type(devices, device_type::cpu); }

std::vector<platform_info> all_platforms() { return runtime::platforms().platforms; }

}  // namespace balm
