// From source to program: memory first, then the disk, then the driver's compiler; and storing to disk.

#include "runtime/program/program_store.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string_view>

#include "balm/error.hpp"
#include "balm/version.hpp"
#include "base/compiler_use.hpp"
#include "base/exit_gate.hpp"
#include "base/forked.hpp"
#include "base/system.hpp"
#include "base/table_hash.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/device/process_exit.hpp"
#include "runtime/program/disk_cache.hpp"
#include "runtime/program/program_saver.hpp"

namespace balm::runtime {

namespace {

// The first line says where the kernel is in the user's program; moving the kernel does not change its key.
std::string_view without_provenance(std::string_view text) {
    if (!text.starts_with("//")) return text;
    const std::size_t end = text.find('\n');
    return end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
}

// What distinguishes binaries. Not the uuid: equal cards share binaries, so that a node compiles once.
std::string device_identity(const device_info& info) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", info.platform, info.platform_version, info.vendor,
                       info.name, info.version, info.language_version, info.address_bits);
}

digest key_of(const driver_device& driver, const program_source& source) {
    const device_info& info = driver.info();
    const std::string kind = fmt::format("{}-binary", to_string(info.api));
    const std::string options = driver.compile_options() + '\n' + source.options;
    const std::string device = device_identity(info);
    program_key_fields fields;
    fields.kind = kind;
    fields.source = without_provenance(source.text);
    fields.options = options;
    fields.device = device;
    fields.driver_version = info.driver_version;
    fields.balm_version = BALM_VERSION;
    return make_key(fields);
}

bool shows_kernels() {
    const auto value = environment_variable("BALM_SHOW_KERNELS");
    return value.has_value() && !value->empty() && *value != "0";
}

void show(const device_state& device, const program_source& source, const char* origin) {
    std::string text =
        fmt::format("// Balm: kernel '{}' for {}, {}{}{}\n{}", source.kernel_name, device.words(), origin,
                    source.why.empty() ? "" : ": ", source.why, source.text);
    if (!text.ends_with('\n')) text += '\n';
    std::fwrite(text.data(), 1, text.size(), stderr);  // one call, so that threads do not interleave
}

// An option that is unique to this process and changes only the program's identity for the driver.
const std::string& option_of_this_process() {
    static const std::string& option = *new std::string([] {
        const auto now = std::chrono::system_clock::now().time_since_epoch().count();
        const digest own =
            hasher{}.text(host_name()).number(process_id()).number(static_cast<std::uint64_t>(now)).result();
        return " -DBALM_PROCESS_" + to_hex(own);
    }());
    return option;
}

}  // namespace

// ---- kernels ----

kernel_lease::~kernel_lease() {
    if (kernel_ != nullptr) program_->give_back(std::move(kernel_));
}

compiled_program::compiled_program(std::unique_ptr<driver_program> driver, std::string kernel_name,
                                   launch_plan plan)
    : driver_(std::move(driver)), kernel_name_(std::move(kernel_name)), plan_(std::move(plan)) {
    auto first = driver_->make_kernel(kernel_name_);
    max_work_group_size_ = first->max_work_group_size();
    spare_.store(first.release(), std::memory_order_release);
}

compiled_program::~compiled_program() { delete spare_.load(std::memory_order_acquire); }

kernel_lease compiled_program::lease_kernel() {
    if (driver_kernel* const spare = spare_.exchange(nullptr, std::memory_order_acquire)) [[likely]]
        return {*this, std::unique_ptr<driver_kernel>(spare)};
    {
        const std::lock_guard lock(pool_mutex_);
        if (!pool_.empty()) {
            auto pooled = std::move(pool_.back());
            pool_.pop_back();
            return {*this, std::move(pooled)};
        }
    }
    return {*this, driver_->make_kernel(kernel_name_)};
}

void compiled_program::give_back(std::unique_ptr<driver_kernel> kernel) noexcept {
    driver_kernel* none = nullptr;
    if (spare_.compare_exchange_strong(none, kernel.get(), std::memory_order_release,
                                       std::memory_order_relaxed)) {
        static_cast<void>(kernel.release());
        return;
    }
    try {
        const std::lock_guard lock(pool_mutex_);
        pool_.push_back(std::move(kernel));
    } catch (...) {  // no room in the pool: the kernel is destroyed
    }
}

// ---- storing to disk ----

void compiled_program::compiled_now(const device_state& on, std::optional<disk_entry> entry) {
    compiled_by_ = on.info().platform;
    entry_ = std::move(entry);
    if (driver_->binary_needs_launch())
        awaits_launch_.store(true, std::memory_order_release);
    else if (entry_)
        save_in_background(shared_from_this());
}

void compiled_program::launched(driver_queue& in) noexcept {
    if (!awaits_launch_.exchange(false, std::memory_order_acquire)) return;
    try {
        save_in_background(shared_from_this(), in.record());
    } catch (...) {  // the next process compiles again
    }
}

void compiled_program::save() noexcept {
    try {
        default_cache().store(entry_->key, driver_->binary(), entry_->description);
    } catch (...) {  // the next process compiles again
    }
}

// ---- the store ----

std::uint64_t program_store::hash_of(const program_identity& of) {
    return table_hash().add(of.facts, of.kernel, of.options).value();
}

std::shared_ptr<compiled_program> program_store::find(const program_identity& identity) const {
    refuse_if_forked();
    std::shared_ptr<slot> found =
        slots_.find(hash_of(identity), [&](const slot& each) { return each.identity == identity; });
    if (found == nullptr || !found->is_ready.load(std::memory_order_acquire)) return nullptr;
    compiled_program* const program = found->program.get();
    return {std::move(found), program};  // shares the slot's existing control block
}

std::shared_ptr<compiled_program> program_store::get(const program_identity& identity,
                                                     const std::function<program_source()>& make) {
    refuse_if_forked();
    stay_out_of_exit();
    const std::uint64_t hash = hash_of(identity);
    const auto is_it = [&](const slot& each) { return each.identity == identity; };
    std::shared_ptr<slot> found = slots_.find(hash, is_it);
    if (found == nullptr) {
        found = std::make_shared<slot>();
        found->identity = identity;
        found = slots_.insert(hash, found, is_it);
    }
    const std::lock_guard lock(found->mutex);  // a second caller waits for the first one's program
    if (found->program == nullptr) {
        found->program = build(make());
        found->is_ready.store(true, std::memory_order_release);
    }
    return found->program;
}

// Its deleter: launches of a program without owners may be in flight, and the device unloads it after them.
std::shared_ptr<compiled_program> program_store::loaded(std::unique_ptr<driver_program> driver,
                                                        const program_source& source) {
    auto made = std::make_unique<compiled_program>(std::move(driver), source.kernel_name, source.plan);
    return {made.release(), [of = device_.weak_from_this()](compiled_program* gone) {
                if (is_forked()) return;  // drivers do not work in a forked child
                std::unique_ptr<compiled_program> last(gone);
                if (const std::shared_ptr<device_state> device = of.lock()) device->retire(std::move(last));
            }};
}

// Null if there is no entry or the driver refuses it.
std::shared_ptr<compiled_program> program_store::from_disk(const digest& key, const program_source& source) {
    const auto binary = default_cache().load(key);
    if (!binary.has_value()) return nullptr;
    try {
        return loaded(device_.driver().load(*binary), source);
    } catch (const error&) {
        return nullptr;  // e.g. of another driver build: compile again and overwrite it
    }
}

std::shared_ptr<compiled_program> program_store::build(const program_source& source) {
    if (device_.is_freed()) device_.check();  // throws
    device_.free_retired();
    const compiler_use use(fmt::format("kernel '{}'", source.kernel_name));
    driver_device& driver = device_.driver();
    const digest key = key_of(driver, source);
    std::shared_ptr<compiled_program> built = from_disk(key, source);
    const bool was_on_disk = built != nullptr;
    if (shows_kernels()) show(device_, source, was_on_disk ? "from the disk cache" : "compiled now");
    if (!was_on_disk) {
        // Without our cache, a different option per process would make the driver's own cache grow with each
        // process.
        const bool keeps = default_cache().enabled();
        const bool apart = keeps && !driver.compiles_beside_other_processes();
        built = loaded(driver.compile(source.text, source.options + (apart ? option_of_this_process() : "")),
                       source);
        std::optional<compiled_program::disk_entry> entry;
        if (keeps) entry = {key, fmt::format("{} on {}", source.kernel_name, device_.words())};
        built->compiled_now(device_, std::move(entry));
    }
    finish_at_exit(device_.info().platform);
    return built;
}

}  // namespace balm::runtime
