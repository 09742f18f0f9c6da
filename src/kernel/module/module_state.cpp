#include "kernel/module/module_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "balm/error.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::detail {

bool module_state::knows(const ir::constant_data& data) const {
    return std::any_of(constants.begin(), constants.end(),
                       [&](const auto& each) { return each.get() == &data; }) ||
           std::any_of(links.begin(), links.end(), [&](const auto& each) { return each->knows(data); });
}

std::shared_ptr<module_state::slot> module_state::slot_of(
    const std::shared_ptr<runtime::device_state>& device) {
    const std::lock_guard lock(mutex_);
    // A freed device accepts no more work; opening the card again makes another device.
    std::erase_if(slots_, [&](const auto& each) { return each->device->is_freed(); });
    const auto known =
        std::find_if(slots_.begin(), slots_.end(), [&](const auto& each) { return each->device == device; });
    if (known != slots_.end()) return *known;
    slots_.push_back(std::make_shared<slot>());
    slots_.back()->device = device;
    return slots_.back();
}

std::shared_ptr<instance_state> module_state::instance_on(
    const std::shared_ptr<runtime::device_state>& device) {
    if (fault) std::rethrow_exception(fault);
    const std::shared_ptr<slot> found = slot_of(device);
    const std::lock_guard lock(found->mutex);
    const runtime::recording_pause pause;  // its constants are there for all launches
    if (found->instance == nullptr) found->instance = std::make_shared<instance_state>(*this, device);
    return found->instance;
}

instance_state::instance_state(const module_state& of, std::shared_ptr<runtime::device_state> device)
    : device_(std::move(device)), options_(device_->driver().words_for(of.options)) {
    device_->check();
    if (!options_.empty()) options_key_ = runtime::hasher{}.text(options_).result();
    for (const auto& each : of.links) links_.push_back({each, each->instance_on(device_)});
    for (const auto& data : of.constants) {
        const auto bytes = static_cast<std::size_t>(data->given_bytes());
        const std::shared_ptr<runtime::storage> memory =
            device_->allocate(bytes, {fmt::format("the constant '{}'", data->name)});
        constexpr std::byte zero{0};
        device_->default_queue().enqueue_fill(*memory, 0, bytes, {&zero, 1});
        constants_.push_back({data, memory});
    }
    for (const auto& kernel : of.kernels)
        kernels::program_for(*device_, *kernel, kernels::facts_for(*device_), this);
}

runtime::storage* instance_state::find(const ir::constant_data& data) const {
    for (const constant& each : constants_)
        if (each.data.get() == &data) return each.memory.get();
    for (const link& each : links_)
        if (runtime::storage* const found = each.instance->find(data)) return found;
    return nullptr;
}

runtime::storage& instance_state::memory_of(const ir::constant_data& data, const ir::function& reader) const {
    if (runtime::storage* const found = find(data)) return *found;
    throw usage_error(
        fmt::format("kernel '{}' reads the constant '{}', whose module the launching module does not link; "
                    "link it in the launching module's definition, with m.link(…)",
                    reader.name, data.name));
}

runtime::storage& instance_state::memory_of(const ir::constant_data& data) const {
    if (runtime::storage* const found = find(data)) return *found;
    throw usage_error(
        fmt::format("the constant '{}' belongs to a module that the program's own module does not link; link "
                    "it in the definition, with m.link(…)",
                    data.name));
}

std::shared_ptr<instance_state> instance_state::linked(const module_state& of) const {
    for (const link& each : links_) {
        if (each.of.get() == &of) return each.instance;
        if (auto found = each.instance->linked(of)) return found;
    }
    return nullptr;
}

}  // namespace balm::detail
