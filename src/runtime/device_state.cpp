// A device's queues, allocations and unseen errors.

#include "runtime/device_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "balm/error.hpp"
#include "runtime/command_observer.hpp"
#include "runtime/process_exit.hpp"

namespace balm::runtime {

namespace {

constexpr std::size_t most_bytes = ~std::size_t{0} / 2;
constexpr std::size_t buffers_listed = 5;

std::atomic<bool> devices_have_met{false};

/// Those whose queues may use memory of this one.
std::vector<std::shared_ptr<device_state>> others_of(const device_state& of) {
    if (!devices_have_met.load(std::memory_order_acquire)) return {};
    std::vector<std::shared_ptr<device_state>> others = live_devices();
    std::erase_if(others, [&](const auto& each) { return each.get() == &of; });
    return others;
}

/// What the driver gives; asked again where it has no room, once what nobody uses was given back.
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

std::shared_ptr<device_state> device_state::make(std::shared_ptr<driver_device> driver) {
    auto made = std::make_shared<device_state>(std::move(driver));
    device_made(*made);
    return made;
}

device_state::device_state(std::shared_ptr<driver_device> driver) : driver_(std::move(driver)) {}

device_state::~device_state() {
    default_queue_.reset();  // while everything that its last work may need is there
    for (const memory_pool::block& each : retired_images_) driver_->free_image(each.native);
    device_gone(*this);
}

std::string device_state::words() const {
    return fmt::format("device '{}' ({})", info().name, to_string(info().api));
}

// ---- queues ----

queue_state& device_state::default_queue() {
    if (queue_state* const ready = ready_queue_.load(std::memory_order_acquire)) [[likely]]
        return *ready;
    std::vector<std::shared_ptr<command_observer>> observers;
    {
        const std::lock_guard lock(queues_mutex_);
        if (default_queue_ != nullptr) return *default_queue_;
        const queue_options options;
        default_queue_ =
            std::make_unique<queue_state>(*this, nullptr, driver_->make_queue(options), options.timing);
        default_queue_->set_handle(std::shared_ptr<queue_state>(shared_from_this(), default_queue_.get()));
        finish_at_exit(this);
        observers = observers_;
        ready_queue_.store(default_queue_.get(), std::memory_order_release);
    }
    for (const auto& each : observers) default_queue_->add_observer(each);
    return *default_queue_;
}

std::shared_ptr<queue_state> device_state::default_queue_handle() {
    return {shared_from_this(), &default_queue()};
}

std::shared_ptr<queue_state> device_state::make_queue(const queue_options& options) {
    return add_queue(std::make_shared<queue_state>(*this, shared_from_this(), driver_->make_queue(options),
                                                   options.timing));
}

std::shared_ptr<queue_state> device_state::adopt_queue(void* native) {
    check();
    queue_options options;
    std::unique_ptr<driver_queue> driver = driver_->adopt_queue(native, options);
    return add_queue(
        std::make_shared<queue_state>(*this, shared_from_this(), std::move(driver), options.timing));
}

std::shared_ptr<queue_state> device_state::add_queue(const std::shared_ptr<queue_state>& made) {
    // Commands of other queues find it, to wait for what it does, until it has done all. Weak references keep
    // what the deleter has, so that it gives the queue away.
    std::shared_ptr<queue_state> handle(made.get(), [owned = made](queue_state*) mutable {
        const std::shared_ptr<queue_state> last = std::move(owned);
        last->close();
        last->device().forget(*last);
    });
    made->set_handle(handle);  // so its commands that wait on the host keep it open
    finish_at_exit(this);
    std::vector<std::shared_ptr<command_observer>> observers;
    {
        const std::lock_guard lock(queues_mutex_);
        queues_.push_back(made);
        if (made->is_timed()) observers = observers_;
    }
    for (const auto& each : observers) made->add_observer(each);
    return handle;
}

void device_state::forget(const queue_state& done) noexcept {
    const std::lock_guard lock(queues_mutex_);
    std::erase_if(queues_, [&](const auto& each) { return each.get() == &done; });
}

void device_state::devices_meet() noexcept { devices_have_met.store(true, std::memory_order_release); }

std::shared_ptr<queue_state> device_state::find_queue(std::uint64_t id) {
    if (auto own = find_own_queue(id)) return own;
    for (const std::shared_ptr<device_state>& each : others_of(*this))
        if (auto found = each->find_own_queue(id)) return found;
    return nullptr;
}

std::shared_ptr<queue_state> device_state::find_own_queue(std::uint64_t id) {
    if (queue_state* const ready = ready_queue_.load(std::memory_order_acquire);
        ready != nullptr && ready->id() == id)
        return {shared_from_this(), ready};
    for (std::shared_ptr<queue_state>& each : live_queues())
        if (each->id() == id) return std::move(each);
    return nullptr;
}

std::vector<std::shared_ptr<queue_state>> device_state::live_queues() {
    std::vector<std::shared_ptr<queue_state>> live;
    const std::lock_guard lock(queues_mutex_);
    if (default_queue_ != nullptr) live.emplace_back(shared_from_this(), default_queue_.get());
    live.insert(live.end(), queues_.begin(), queues_.end());
    return live;
}

void device_state::add_observer(const std::shared_ptr<command_observer>& added) {
    {
        const std::lock_guard lock(queues_mutex_);
        observers_.push_back(added);
    }
    for (const std::shared_ptr<queue_state>& each : live_queues())
        if (each->is_timed()) each->add_observer(added);
}

void device_state::remove_observer(const command_observer* gone) noexcept {
    {
        const std::lock_guard lock(queues_mutex_);
        std::erase_if(observers_, [&](const auto& each) { return each.get() == gone; });
    }
    for (const std::shared_ptr<queue_state>& each : live_queues()) each->remove_observer(gone);
}

void device_state::finish() {
    for (const std::shared_ptr<queue_state>& each : live_queues()) each->finish();
    check();
}

void device_state::free() {
    if (is_freed()) return;
    std::exception_ptr failure;  // thrown once all is freed
    try {
        finish();
    } catch (...) {
        failure = std::current_exception();
    }
    {
        const std::lock_guard lock(late_mutex_);
        is_freed_.store(true, std::memory_order_release);
        has_late_error_.store(true, std::memory_order_release);
    }
    let_submissions_pass();
    finish_quietly();  // what other threads handed on meanwhile
    for (const std::shared_ptr<device_state>& other : others_of(*this)) other->finish_quietly();
    {
        const std::lock_guard lock(allocations_mutex_);
        for (storage* const each : allocations_) {
            const std::uint32_t found =
                each->restrictions_.fetch_or(storage::freed, std::memory_order_acq_rel);
            if ((found & storage::freed) == 0) release(*each);  // mapped memory, too
        }
        allocations_.clear();
        allocated_.store(0, std::memory_order_relaxed);
    }
    pool_.trim();
    staging_.trim();
    free_retired_images(true);
    if (failure != nullptr) std::rethrow_exception(failure);
}

void device_state::let_submissions_pass() {
    for (const std::shared_ptr<queue_state>& each : live_queues()) each->let_submissions_pass();
    for (const std::shared_ptr<device_state>& other : others_of(*this))
        for (const std::shared_ptr<queue_state>& each : other->live_queues()) each->let_submissions_pass();
}

void device_state::finish_quietly() noexcept {
    try {
        for (const std::shared_ptr<queue_state>& each : live_queues()) {
            try {
                each->finish();
            } catch (...) {
                note_late_error(std::current_exception());
            }
        }
    } catch (...) {
        note_late_error(std::current_exception());
    }
}

// ---- what kernels print ----

std::shared_ptr<print_outlet> device_state::outlet() {
    static auto* const standard = new std::shared_ptr<print_outlet>(make_standard_outlet());  // used at exit
    const std::lock_guard lock(outlets_mutex_);
    return outlets_.empty() ? *standard : outlets_.back();
}

void device_state::add_outlet(std::shared_ptr<print_outlet> added) {
    remove_outlet(added);
    const std::lock_guard lock(outlets_mutex_);
    outlets_.push_back(std::move(added));
}

void device_state::remove_outlet(const std::shared_ptr<print_outlet>& gone) noexcept {
    const std::lock_guard lock(outlets_mutex_);
    std::erase(outlets_, gone);
}

void device_state::show_prints() noexcept {
    try {
        for (const std::shared_ptr<queue_state>& each : live_queues()) {
            try {
                if (each->pending_host_parts() > 0) each->finish();
            } catch (...) {
                note_late_error(std::current_exception());
            }
        }
    } catch (...) {
        note_late_error(std::current_exception());
    }
}

// ---- memory ----

std::shared_ptr<storage> device_state::allocate(std::size_t bytes, memory_label label) {
    check();
    if (bytes > most_bytes)
        throw_out_of_memory(bytes, label, "No device has as much; is a size negative, or did it overflow?");
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
    // Without use at once, CUDA forbids the host all managed memory while any kernel runs.
    const shared_virtual_memory_support& has = info().shared_virtual_memory;
    if (!has.allocations || (info().api == backend::cuda && !has.at_once))
        throw usage_error(
            fmt::format("Managed memory was asked for, but {} has none that it can share with the host "
                        "(device_info::shared_virtual_memory); use a buffer and map it.",
                        words()));
    if (bytes > most_bytes)
        throw_out_of_memory(bytes, label, "No device has as much; is a size negative, or did it overflow?");
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
        balm::detail::inline_vector<command_id, 2> open;
        for (const command_id& each : kept->last_uses)
            if (const auto queue = find_queue(each.queue); queue && queue->completed() < each.sequence)
                open.push_back(each);
        kept->last_uses = std::move(open);
        return std::move(*kept);
    }
    make_room(bytes);
    return {ask_twice([&] { return driver_->allocate(bytes); }, [&] { return trim_all(); }), bytes, {}};
}

/// Before the driver is asked: NVIDIA's OpenCL takes more than the device has, and fails at first use.
void device_state::make_room(std::size_t bytes) {
    const std::size_t total = info().global_memory;
    if (total != 0 && bytes + allocated_bytes() + pool_.cached_bytes() > total - total / 16) trim_all();
    driver_allocations_.fetch_add(1, std::memory_order_relaxed);
}

/// Gives back all that nobody uses; whether that was anything.
bool device_state::trim_all() noexcept {
    bool has_retired = false;
    {
        const std::lock_guard lock(retired_mutex_);
        has_retired = !retired_images_.empty();
    }
    free_retired_images(true);
    return pool_.trim() > 0 || has_retired;
}

void device_state::take_back(const storage& gone) noexcept {
    if (gone.origin() == memory_origin::pool && !is_freed())
        pool_.give(gone.block());
    else if (gone.origin() == memory_origin::image && !is_freed())
        retire(gone);
    else
        release(gone);
}

void device_state::release(const storage& gone) noexcept {
    switch (gone.origin()) {
        case memory_origin::pool: driver_->free(gone.native()); break;
        case memory_origin::managed:
            wait_for(gone.block());
            driver_->free_managed({gone.native(), gone.address()});
            break;
        case memory_origin::adopted: driver_->release_memory(gone.native()); break;
        case memory_origin::image: driver_->free_image(gone.native()); break;
    }
}

// Nothing here waits on the host: a command that is held back keeps its memory.
void device_state::wait_for(const memory_pool::block& used) noexcept {
    for (const command_id& each : used.last_uses) {
        try {
            const std::shared_ptr<queue_state> queue = find_queue(each.queue);
            if (queue == nullptr) continue;
            if (const event_handle point = queue->point_after(each.sequence)) point->wait();
        } catch (...) {
            note_late_error(std::current_exception());
        }
    }
}

std::shared_ptr<storage> device_state::adopt(std::uintptr_t handle, foreign_memory& found) {
    check();
    found = driver_->adopt_memory(handle);
    std::shared_ptr<storage> known;
    {
        const std::lock_guard lock(allocations_mutex_);
        for (storage* const each : allocations_)
            if (each->native() == found.native && (known = each->weak_from_this().lock()) != nullptr) break;
        if (known == nullptr) {
            const memory_pool::block whole{found.native, 0, {}};  // counts among no device's memory of Balm's
            known = std::make_shared<storage>(
                shared_from_this(), whole, found.bytes,
                memory_label{fmt::format("adopted memory of {} bytes", found.bytes)}, memory_origin::adopted);
            known->forbid_kernels(!found.kernels_may_read, !found.kernels_may_write);
            allocations_.insert(known.get());
            return known;
        }
    }
    driver_->release_memory(found.native);  // it is shared already
    return known;
}

// ---- images ----

std::shared_ptr<storage> device_state::allocate_image(const image_description& wanted, memory_label label) {
    check();
    free_retired_images();
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

/// Called by destructors, so that nothing is waited for: commands may still use the image.
void device_state::retire(const storage& image) noexcept {
    try {
        memory_pool::block block = image.block();
        const std::lock_guard lock(retired_mutex_);
        retired_images_.push_back(std::move(block));
    } catch (...) {  // out of host memory
        finish_quietly();
        driver_->free_image(image.native());
    }
}

bool device_state::is_done(const command_id& command, bool waits) {
    const std::shared_ptr<queue_state> queue = find_queue(command.queue);
    if (queue == nullptr || queue->completed() >= command.sequence) return true;
    // Nobody waits for what the program has yet to do; a command that the driver lacks finds the image freed.
    if (!queue->is_handed_over(command.sequence)) return false;
    try {
        const event_handle point = queue->point_after(command.sequence);
        if (point != nullptr && waits) point->wait();
        return point == nullptr || point->is_complete();
    } catch (const std::exception&) {  // it failed, and whoever waits for it is told
        return true;
    }
}

void device_state::free_retired_images(bool waits) noexcept {
    try {
        std::vector<memory_pool::block> images;
        {
            const std::lock_guard lock(retired_mutex_);
            images.swap(retired_images_);
        }
        const auto busy = std::partition(images.begin(), images.end(), [&](const memory_pool::block& image) {
            return std::all_of(image.last_uses.begin(), image.last_uses.end(),
                               [&](const command_id& each) { return is_done(each, waits); });
        });
        for (auto image = images.begin(); image != busy; ++image) driver_->free_image(image->native);
        const std::lock_guard lock(retired_mutex_);
        retired_images_.insert(retired_images_.end(), busy, images.end());
    } catch (...) {
        note_late_error(std::current_exception());
    }
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
    const std::lock_guard lock(allocations_mutex_);
    if (allocations_.erase(&gone) > 0)  // else it was freed by hand
        allocated_.fetch_sub(gone.allocated_bytes(), std::memory_order_relaxed);
}

std::shared_ptr<pinned_block> device_state::allocate_pinned(std::size_t bytes) {
    check();
    if (bytes > most_bytes)
        throw out_of_memory_error(
            fmt::format("{} bytes of pinned host memory were asked for; is a size negative?", bytes));
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
        "Out of memory: {} bytes ({}) cannot be had on {}. It has {} bytes, {} of which are in {} live "
        "buffers of this program, so at most {} are free. {}",
        bytes, label.words(), words(), total, in_use, rows.size(), total > in_use ? total - in_use : 0,
        driver);
    if (listed > 0) text += "\nThe largest live buffers:";
    for (std::size_t i = 0; i < listed; ++i)
        text += fmt::format("\n  {:>14} bytes  {}", rows[i].bytes, rows[i].label);
    throw out_of_memory_error(text);
}

// ---- errors that showed where nothing could be thrown ----

void device_state::note_late_error(std::exception_ptr error,
                                   std::shared_ptr<std::atomic<bool>> told) noexcept {
    const std::lock_guard lock(late_mutex_);
    if (late_error_ != nullptr && !(late_error_told_ && late_error_told_->load())) return;  // caused by it
    late_error_ = std::move(error);
    late_error_told_ = std::move(told);
    has_late_error_.store(true, std::memory_order_release);
}

void device_state::throw_late_error() {
    std::exception_ptr error;
    {
        const std::lock_guard lock(late_mutex_);
        if (is_freed())
            throw usage_error(fmt::format(
                "{} was freed by free() and takes no more work; a new context opens it again.", words()));
        error = std::exchange(late_error_, nullptr);
        const auto told = std::exchange(late_error_told_, nullptr);
        if (told != nullptr && told->exchange(true)) error = nullptr;
        has_late_error_.store(false, std::memory_order_release);
    }
    if (error == nullptr) return;  // another thread was told, or by another device
    try {
        std::rethrow_exception(error);
    } catch (const check_error&) {
        throw;  // it says by itself what it is
    } catch (const callback_error&) {
        throw;
    } catch (const std::exception& fault) {
        throw device_error(fmt::format("An earlier command on {} failed where nobody waited for it. {}",
                                       words(), fault.what()));
    }
}

}  // namespace balm::runtime
