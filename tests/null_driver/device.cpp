#include "null_driver/device.hpp"

#include <cstring>
#include <limits>

#include "null_driver/program.hpp"
#include "null_driver/queue.hpp"

namespace balm::null {

namespace {

// A GPU with room for anything, so that nothing is refused or split for its sake.
device_info describe() {
    device_info info;
    info.name = "null";
    info.vendor = "Balm";
    info.platform = "null";
    info.platform_version = info.version = info.language_version = info.driver_version = "1";
    info.api = backend::null;
    info.type = device_type::gpu;
    info.global_memory = info.max_allocation = std::uint64_t{1} << 44;
    info.local_memory = 48 << 10;
    info.constant_memory = 64 << 10;
    info.global_cache = 32 << 20;
    info.global_cache_line = 128;
    info.compute_units = 128;
    info.max_clock = 1000;
    info.address_bits = 64;
    info.memory_alignment = 256;
    info.timer_resolution = 1;
    info.max_parameter_bytes = 4096;
    info.max_dimensions = 3;
    info.max_work_group_size = 1024;
    info.max_work_item_sizes = {1024, 1024, 64};
    info.max_group_counts.fill(std::numeric_limits<std::size_t>::max());
    info.sub_group_size = 32;
    info.has_double = info.has_half = info.has_fma = info.has_correctly_rounded_divide = true;
    info.has_compiler = info.has_profiling = true;
    return info;
}

}  // namespace

device::device(runtime::dialect language)
    : language_(language), info_(describe()), counters_(std::make_shared<counters>()) {}

std::unique_ptr<runtime::driver_queue> device::make_queue(const runtime::queue_options&) {
    ++counters_->queues;
    return std::make_unique<queue>(counters_);
}

runtime::memory device::allocate(std::size_t) {
    ++counters_->live_allocations;
    // Far apart, as addresses: offsets added by the runtime meet no other allocation.
    return {static_cast<std::uintptr_t>(++counters_->allocations) << 44};
}

void device::free(runtime::memory freed) noexcept {
    if (freed.handle != 0) --counters_->live_allocations;
}

runtime::pinned_memory device::allocate_pinned(std::size_t bytes) {
    auto* const memory = new std::byte[bytes];
    ++counters_->live_pinned;
    return {memory, 0};
}

void device::free_pinned(runtime::pinned_memory freed) noexcept {
    if (freed.address == nullptr) return;
    --counters_->live_pinned;
    delete[] static_cast<std::byte*>(freed.address);
}

std::unique_ptr<runtime::driver_program> device::compile(const std::string& source, const std::string&) {
    ++counters_->compiles;
    std::vector<std::byte> image(source.size());
    if (!source.empty()) std::memcpy(image.data(), source.data(), source.size());
    const bool is_for_one_size = source.find("reqd_work_group_size") != std::string::npos ||
                                 source.find("__launch_bounds__") != std::string::npos;
    return std::make_unique<program>(std::move(image),
                                     is_for_one_size ? info_.max_work_group_size : most_items_);
}

std::unique_ptr<runtime::driver_program> device::load(std::span<const std::byte> binary) {
    ++counters_->loads;
    return std::make_unique<program>(std::vector<std::byte>(binary.begin(), binary.end()), most_items_);
}

std::shared_ptr<device> make_null_device(runtime::dialect language) {
    return std::make_shared<device>(language);
}

}  // namespace balm::null
