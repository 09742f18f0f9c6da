// A device's allocations: from the pool or the driver, kept until no command uses them, and freed when memory
// is short.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "balm/error.hpp"
#include "base/forked.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::runtime {

namespace {

constexpr std::size_t most_bytes = ~std::size_t{0} / 2;
constexpr std::size_t buffers_listed = 5;

/// Calls the driver; if it is out of memory, releases unused memory and calls it again.
template <class Ask, class GiveBack>
auto ask_twice(Ask&& ask, GiveBack&& give_back) {
    try {
        return ask();
    } catch (const out_of_memory_error&) {
        if (!give_back()) throw;
    }
    return ask();
}

}  // namespace

std::shared_ptr<storage> device_state::allocate(std::size_t bytes, memory_label label) {
    check();
    if (bytes > most_bytes)
        throw_out_of_memory(bytes, label, "No device has that much; is a size negative, or did it overflow?");
    memory_pool::block block;
    try {
        block = take_block(memory_pool::block_bytes(bytes));
    } catch (const out_of_memory_error& fault) {
        throw_out_of_memory(bytes, label, fault.what());
    }
    std::shared_ptr<storage> made;
    try {
        made = std::make_shared<storage>(shared_from_this(), block, bytes, std::move(label));
    } catch (...) {
        driver_->free(block.native);
        throw;
    }
    return note_allocated(std::move(made));
}

std::shared_ptr<storage> device_state::note_allocated(std::shared_ptr<storage> made) {
    const std::lock_guard lock(allocations_mutex_);
    allocations_.insert(made.get());
    const std::size_t bytes = made->allocated_bytes();
    const std::size_t in_use = allocated_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (in_use > high_water_.load(std::memory_order_relaxed))
        high_water_.store(in_use, std::memory_order_relaxed);
    return made;
}

std::shared_ptr<storage> device_state::allocate_managed(std::size_t bytes, memory_label label) {
    check();
    if (!driver_->has_managed_memory())
        throw usage_error(
            fmt::format("Managed memory was requested, but {} cannot share memory with the host "
                        "(device_info::shared_virtual_memory); use a buffer and map it.",
                        words()));
    if (bytes > most_bytes)
        throw_out_of_memory(bytes, label, "No device has that much; is a size negative, or did it overflow?");
    requests_.fetch_add(1, std::memory_order_relaxed);
    driver_allocations_.fetch_add(1, std::memory_order_relaxed);
    const std::size_t rounded = memory_pool::block_bytes(bytes);
    managed_memory got;
    try {
        got = ask_twice([&] { return driver_->allocate_managed(rounded); }, [&] { return trim_all(); });
    } catch (const out_of_memory_error& fault) {
        throw_out_of_memory(bytes, label, fault.what());
    }
    std::shared_ptr<storage> made;
    try {
        const memory_pool::block block{got.native, rounded, {}};
        made = std::make_shared<storage>(shared_from_this(), block, bytes, std::move(label),
                                         memory_origin::managed);
    } catch (...) {
        driver_->free_managed(got);
        throw;
    }
    made->set_address(got.address);
    return note_allocated(std::move(made));
}

memory_pool::block device_state::take_block(std::size_t bytes) {
    requests_.fetch_add(1, std::memory_order_relaxed);
    if (std::optional<memory_pool::block> kept = pool_.take(bytes)) {
        memory_pool::block taken{kept->native, kept->bytes, {}};
        try {
            for (const command_id& each : kept->last_uses)
                if (const auto queue = find_queue(each.queue); queue && queue->completed() < each.sequence)
                    taken.last_uses.push_back(each);
        } catch (...) {
            pool_.give(std::move(*kept));
            throw;
        }
        return taken;
    }
    make_room(bytes);
    return {ask_twice([&] { return driver_->allocate(bytes); }, [&] { return trim_all(); }), bytes, {}};
}

/// Called before a driver allocation: NVIDIA's OpenCL allocates more than the device has, and fails at first
/// use.
void device_state::make_room(std::size_t bytes) {
    const std::size_t total = info().global_memory;
    if (total != 0 && bytes + allocated_bytes() + pool_.cached_bytes() > total - total / 16) trim_all();
    driver_allocations_.fetch_add(1, std::memory_order_relaxed);
}

/// Releases all unused memory; returns whether there was any.
bool device_state::trim_all() noexcept {
    bool has_retired = false;
    {
        const std::lock_guard lock(retired_mutex_);
        has_retired = !retired_.empty();
    }
    free_retired(true);
    return pool_.trim() > 0 || has_retired;
}

void device_state::take_back(const storage& gone) noexcept {
    if (is_forked()) return;
    const memory_origin from = gone.origin();
    try {
        if (!is_freed() && from == memory_origin::pool) return pool_.give(gone.block());
        if (!is_freed() && from == memory_origin::image) return retire(gone.block());
        if (from == memory_origin::managed) wait_for(gone.block());
    } catch (...) {  // out of host memory: the commands that use it are unknown
        finish_quietly();
    }
    release(gone);
}

void device_state::release(const storage& gone) noexcept {
    switch (gone.origin()) {
        case memory_origin::pool: driver_->free(gone.native()); break;
        case memory_origin::managed: driver_->free_managed({gone.native(), gone.address()}); break;
        case memory_origin::adopted: driver_->release_memory(gone.native()); break;
        case memory_origin::image: driver_->free_image(gone.native()); break;
    }
}

// Never waits for deferred commands: those keep their memory alive.
void device_state::wait_for(const memory_pool::block& used) noexcept {
    for (const command_id& each : used.last_uses) {
        try {
            const std::shared_ptr<queue_state> queue = find_queue(each.queue);
            if (queue == nullptr) continue;
            if (const event_handle point = queue->point_after(each.sequence)) point->wait();
        } catch (...) {  // the failure of a command, reported elsewhere
        }
    }
}

std::shared_ptr<storage> device_state::adopt(std::uintptr_t handle, foreign_memory& found) {
    check();
    found = driver_->adopt_memory(handle);
    std::shared_ptr<storage> known;
    try {
        const std::lock_guard lock(allocations_mutex_);
        for (storage* const each : allocations_)
            if (each->native() == found.native && (known = each->weak_from_this().lock()) != nullptr) break;
        if (known == nullptr) {
            const memory_pool::block whole{found.native, 0, {}};  // 0: not counted as allocated by Balm
            known = std::make_shared<storage>(
                shared_from_this(), whole, found.bytes,
                memory_label{fmt::format("adopted memory of {} bytes", found.bytes)}, memory_origin::adopted);
            known->forbid_kernels(!found.kernels_may_read, !found.kernels_may_write);
            allocations_.insert(known.get());
            return known;
        }
    } catch (...) {
        if (known == nullptr) driver_->release_memory(found.native);
        throw;
    }
    driver_->release_memory(found.native);  // `known` keeps it alive
    return known;
}

// ---- images ----

std::shared_ptr<storage> device_state::allocate_image(const image_description& wanted, memory_label label) {
    check();
    free_retired();
    requests_.fetch_add(1, std::memory_order_relaxed);
    const std::size_t bytes = wanted.bytes();
    make_room(bytes);
    memory_pool::block block{{}, bytes, {}};
    try {
        block.native = ask_twice([&] { return driver_->allocate_image(wanted); }, [&] { return trim_all(); });
    } catch (const out_of_memory_error& fault) {
        throw_out_of_memory(bytes, label, fault.what());
    }
    std::shared_ptr<storage> made;
    try {
        made = std::make_shared<storage>(shared_from_this(), block, bytes, std::move(label),
                                         memory_origin::image);
        made->set_image(wanted);
    } catch (...) {
        if (made == nullptr) driver_->free_image(block.native);
        throw;
    }
    return note_allocated(std::move(made));
}

/// Called by destructors, so it does not wait; commands may still use the image.
void device_state::retire(memory_pool::block image) {
    const std::lock_guard lock(retired_mutex_);
    retired_.push_back({std::move(image), nullptr});
}

bool device_state::is_done(const command_id& command, bool waits) {
    const std::shared_ptr<queue_state> queue = find_queue(command.queue);
    if (queue == nullptr || queue->completed() >= command.sequence) return true;
    // Never waits for a deferred command, which may depend on what the program does next.
    if (!queue->is_handed_over(command.sequence)) return false;
    try {
        const event_handle point = queue->point_after(command.sequence);
        if (point != nullptr && waits) point->wait();
        return point == nullptr || point->is_complete();
    } catch (const std::bad_alloc&) {  // unknown
        return false;
    } catch (...) {  // its waiters see the failure
        return true;
    }
}

// Launches do not note which program they use: a program waits for all commands that the driver had when it
// was retired, which costs launches nothing. A deferred launch keeps its program alive.
void device_state::free(retired& gone) noexcept {
    if (gone.program == nullptr)
        driver_->free_image(gone.image.native);
    else
        gone.program = nullptr;
}

void device_state::free_retired(bool waits) noexcept {
    std::list<retired> all;
    {
        const std::lock_guard lock(retired_mutex_);
        all.swap(retired_);
    }
    for (auto each = all.begin(); each != all.end();) {
        const auto& last_uses = each->image.last_uses;
        const bool is_free = std::all_of(last_uses.begin(), last_uses.end(),
                                         [&](const command_id& command) { return is_done(command, waits); });
        if (is_free) free(*each);
        each = is_free ? all.erase(each) : std::next(each);
    }
    const std::lock_guard lock(retired_mutex_);
    retired_.splice(retired_.end(), all);
}

bool device_state::has_memory_written_by(const failed_command& command) noexcept {
    const std::lock_guard lock(allocations_mutex_);
    return std::any_of(allocations_.begin(), allocations_.end(), [&](const storage* each) {
        return std::any_of(command.commands.begin(), command.commands.end(),
                           [&](const command_id& one) { return each->was_written_last_by(one); });
    });
}

memory_statistics device_state::statistics() const {
    memory_statistics now;
    now.in_use = allocated_bytes();
    now.cached = pool_.cached_bytes();
    now.high_water = high_water_.load(std::memory_order_relaxed);
    now.requests = requests_.load(std::memory_order_relaxed);
    now.driver_allocations = driver_allocations_.load(std::memory_order_relaxed);
    return now;
}

void device_state::forget(storage& gone) noexcept {
    if (is_forked()) return;
    const std::lock_guard lock(allocations_mutex_);
    if (allocations_.erase(&gone) > 0)  // else it was freed explicitly
        allocated_.fetch_sub(gone.allocated_bytes(), std::memory_order_relaxed);
}

std::shared_ptr<pinned_block> device_state::allocate_pinned(std::size_t bytes) {
    check();
    if (bytes > most_bytes)
        throw out_of_memory_error(
            fmt::format("{} bytes of pinned host memory were requested; is a size negative?", bytes));
    return std::make_shared<pinned_block>(shared_from_this(), bytes);
}

void device_state::throw_out_of_memory(std::size_t bytes, const memory_label& label, const char* driver) {
    struct row {
        std::size_t bytes;
        std::string label;
    };
    std::vector<row> rows;
    {
        const std::lock_guard lock(allocations_mutex_);
        for (const storage* const each : allocations_)
            rows.push_back({each->allocated_bytes(), each->label()});
    }
    const std::size_t listed = std::min(buffers_listed, rows.size());
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(listed), rows.end(),
                      [](const row& a, const row& b) { return a.bytes > b.bytes; });
    const std::size_t in_use = allocated_bytes();
    const std::uint64_t total = info().global_memory;
    std::string text = fmt::format(
        "Out of memory: {} bytes ({}) cannot be allocated on {}. It has {} bytes, {} of which are in {} live "
        "buffers of this program, so at most {} are free. {}",
        bytes, label.words(), words(), total, in_use, rows.size(), total > in_use ? total - in_use : 0,
        driver);
    if (listed > 0) text += "\nThe largest live buffers:";
    for (std::size_t i = 0; i < listed; ++i)
        text += fmt::format("\n  {:>14} bytes  {}", rows[i].bytes, rows[i].label);
    throw out_of_memory_error(text);
}

}  // namespace balm::runtime
