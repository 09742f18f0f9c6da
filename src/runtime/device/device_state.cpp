// A device's queues, programs and unreported errors.

#include "runtime/device/device_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "balm/error.hpp"
#include "balm/queue.hpp"
#include "base/forked.hpp"
#include "runtime/device/process_exit.hpp"
#include "runtime/queue/command_observer.hpp"

namespace balm::runtime {

namespace {

std::atomic<bool> devices_have_met{false};

/// Calls the function for each other device whose queues may use memory of this one, until it returns true.
template <class Call>
void until_true_of_others(const device_state& of, Call&& call) {
    if (!devices_have_met.load(std::memory_order_acquire)) return;
    for (const auto& each : live_devices())
        if (each.get() != &of && call(*each)) return;
}

}  // namespace

std::shared_ptr<device_state> device_state::make(std::shared_ptr<driver_device> driver) {
    note_use();
    auto made = std::make_shared<device_state>(std::move(driver));
    device_made(*made);
    return made;
}

device_state::device_state(std::shared_ptr<driver_device> driver) : driver_(std::move(driver)) {}

device_state::~device_state() {
    default_queue_.reset();  // while everything that its last commands may need exists
    if (is_forked()) return;
    for (retired& each : retired_) free(each);
    device_gone(*this);
}

std::string device_state::words() const {
    return fmt::format("device '{}' ({})", info().name, to_string(info().api));
}

// ---- queues ----

queue_state& device_state::default_queue() {
    if (const auto* const named = queue_scope::named_for(*this)) [[unlikely]]
        return **named;
    if (queue_state* const ready = ready_queue_.load(std::memory_order_acquire)) [[likely]]
        return *ready;
    refuse_if_forked();
    stay_out_of_exit();
    const std::lock_guard lock(queues_mutex_);
    if (default_queue_ != nullptr) return *default_queue_;
    const queue_options options;
    auto made = std::make_unique<queue_state>(*this, nullptr, driver_->make_queue(options), options.timing);
    made->set_handle(std::shared_ptr<queue_state>(shared_from_this(), made.get()));
    made->begin_with(observers_);
    finish_at_exit(info().platform);
    default_queue_ = std::move(made);
    ready_queue_.store(default_queue_.get(), std::memory_order_release);
    return *default_queue_;
}

std::shared_ptr<queue_state> device_state::default_queue_handle() {
    if (const auto* const named = queue_scope::named_for(*this)) return *named;
    return {shared_from_this(), &default_queue()};
}

std::shared_ptr<queue_state> device_state::make_queue(const queue_options& options) {
    refuse_if_forked();
    stay_out_of_exit();
    return add_queue(std::make_shared<queue_state>(*this, shared_from_this(), driver_->make_queue(options),
                                                   options.timing));
}

std::shared_ptr<queue_state> device_state::adopt_queue(void* native) {
    check();
    queue_options options;
    std::unique_ptr<driver_queue> driver = driver_->adopt_queue(native, options);
    for (auto each = next_queue(0); each != nullptr; each = next_queue(each->id()))
        if (each->driver().native() == native)
            if (auto known = each->handle(); known != nullptr) return known;
    return add_queue(
        std::make_shared<queue_state>(*this, shared_from_this(), std::move(driver), options.timing));
}

std::shared_ptr<queue_state> device_state::add_queue(const std::shared_ptr<queue_state>& made) {
    // Commands of other queues can find it, to wait for its commands, until all of them have completed. Weak
    // references keep the deleter alive, so it moves the queue out of itself.
    std::shared_ptr<queue_state> handle(made.get(), [owned = made](queue_state*) mutable {
        const std::shared_ptr<queue_state> last = std::move(owned);
        last->close();
        last->device().forget(*last);
    });
    made->set_handle(handle);  // so that deferred commands keep it open
    finish_at_exit(info().platform);
    const std::lock_guard lock(queues_mutex_);
    if (made->is_timed()) made->begin_with(observers_);
    queues_.insert(first_after(made->id()), made);
    return handle;
}

void device_state::forget(const queue_state& done) noexcept {
    if (is_forked()) return;
    const std::lock_guard lock(queues_mutex_);
    std::erase_if(queues_, [&](const auto& each) { return each.get() == &done; });
}

void device_state::devices_meet() noexcept { devices_have_met.store(true, std::memory_order_release); }

std::shared_ptr<queue_state> device_state::find_queue(std::uint64_t id) noexcept {
    std::shared_ptr<queue_state> found = find_own_queue(id);
    if (found != nullptr) return found;
    until_true_of_others(*this, [&](device_state& other) {
        found = other.find_own_queue(id);
        return found != nullptr;
    });
    return found;
}

std::shared_ptr<queue_state> device_state::find_own_queue(std::uint64_t id) noexcept {
    std::shared_ptr<queue_state> found = next_queue(id - 1);
    return found != nullptr && found->id() == id ? found : nullptr;
}

std::shared_ptr<queue_state> device_state::next_queue(std::uint64_t after) noexcept {
    std::shared_ptr<device_state> own = weak_from_this().lock();  // null during destruction
    const std::lock_guard lock(queues_mutex_);
    std::shared_ptr<queue_state> next;
    if (own != nullptr && default_queue_ != nullptr && default_queue_->id() > after)
        next = {std::move(own), default_queue_.get()};
    const auto first = first_after(after);
    if (first != queues_.end() && (next == nullptr || (*first)->id() < next->id())) next = *first;
    return next;
}

std::vector<std::shared_ptr<queue_state>>::const_iterator device_state::first_after(
    std::uint64_t id) const noexcept {
    return std::upper_bound(queues_.begin(), queues_.end(), id,
                            [](std::uint64_t before, const auto& each) { return before < each->id(); });
}

template <class Call>
void device_state::for_each_queue(Call&& call) {
    for (auto each = next_queue(0); each != nullptr; each = next_queue(each->id())) call(*each);
}

void device_state::add_observer(const std::shared_ptr<command_observer>& added) {
    refuse_if_forked();
    {
        const std::lock_guard lock(queues_mutex_);
        observers_.push_back(added);
    }
    try {
        for_each_queue([&](queue_state& each) {
            if (each.is_timed()) each.add_observer(added);
        });
    } catch (...) {  // all queues or none
        remove_observer(added.get());
        throw;
    }
}

void device_state::remove_observer(const command_observer* gone) noexcept {
    if (is_forked()) return;
    {
        const std::lock_guard lock(queues_mutex_);
        std::erase_if(observers_, [&](const auto& each) { return each.get() == gone; });
    }
    for_each_queue([&](queue_state& each) { each.remove_observer(gone); });
}

void device_state::finish() {
    refuse_if_forked();
    stay_out_of_exit();
    for_each_queue([](queue_state& each) { each.finish(); });
    check();
}

void device_state::free() {
    refuse_if_forked();
    stay_out_of_exit();
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
    finish_quietly();  // what other threads submitted meanwhile
    until_true_of_others(*this, [](device_state& other) {
        other.finish_quietly();
        return false;
    });
    {
        const std::lock_guard lock(allocations_mutex_);
        for (storage* const each : allocations_) {
            const std::uint32_t found =
                each->restrictions_.fetch_or(storage::freed, std::memory_order_acq_rel);
            if ((found & storage::freed) == 0) release(*each);  // also mapped memory
        }
        allocations_.clear();
        allocated_.store(0, std::memory_order_relaxed);
    }
    pool_.trim();
    trim_staging();
    {
        const std::lock_guard lock(expressions_mutex_);
        if (expressions_ != nullptr) expressions_->close();
    }
    programs_.close();
    free_retired(true);
    if (failure != nullptr) std::rethrow_exception(failure);
}

void device_state::let_submissions_pass() {
    const auto pass = [](device_state& of) {
        of.for_each_queue([](queue_state& each) { each.let_submissions_pass(); });
        return false;
    };
    pass(*this);
    until_true_of_others(*this, pass);
}

std::uint64_t device_state::commands_taken() {
    std::uint64_t taken = 0;
    for_each_queue([&](queue_state& each) { taken += each.submitted(); });
    return taken;
}

bool device_state::is_at_work() noexcept {
    try {
        bool found = false;
        for_each_queue([&](queue_state& each) {
            const std::uint64_t last = each.submitted();
            const event_handle point = each.is_handed_over(last) ? each.point_after(last) : nullptr;
            found = found || !each.is_handed_over(last) || (point != nullptr && !point->is_complete());
        });
        return found;
    } catch (...) {
        return true;  // unknown: assume so
    }
}

void device_state::finish_quietly() noexcept {
    if (is_forked()) return;
    for_each_queue([](queue_state& each) { each.finish_quietly(); });
}

// ---- failures on the host ----

void device_state::follow(const command_id& writer, const command_id& reader) {
    for_each_queue([&](queue_state& each) { each.follow(writer, reader); });
}

void device_state::find_failures_before(const command_id& completed) noexcept {
    const auto find = [&](device_state& of) {
        if (of.has_host_parts())
            of.for_each_queue([&](queue_state& each) { each.find_failures_before(completed); });
        return false;
    };
    find(*this);
    until_true_of_others(*this, find);
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
    if (is_forked()) return;
    const std::lock_guard lock(outlets_mutex_);
    std::erase(outlets_, gone);
}

void device_state::show_prints() noexcept {
    if (is_forked()) return;
    for_each_queue([](queue_state& each) {
        if (each.pending_host_parts() > 0) each.finish_quietly();
    });
}

// ---- programs ----

void device_state::retire(std::unique_ptr<compiled_program> program) noexcept {
    try {
        std::list<retired> gone(1);
        auto& last_uses = gone.front().image.last_uses;
        for_each_queue([&](const queue_state& each) {
            const std::uint64_t last = each.last_handed_over();
            if (each.completed() < last) last_uses.push_back({each.id(), last});
        });
        if (last_uses.empty()) return;
        gone.front().program = std::move(program);
        const std::lock_guard lock(retired_mutex_);
        retired_.splice(retired_.end(), gone);
    } catch (...) {  // out of host memory
        finish_quietly();
    }
}

kernel_table& device_state::make_expressions(std::unique_ptr<kernel_table> (*made_by)()) {
    const std::lock_guard lock(expressions_mutex_);
    if (expressions_ == nullptr) {
        expressions_ = made_by();
        if (is_freed()) expressions_->close();
        ready_expressions_.store(expressions_.get(), std::memory_order_release);
    }
    return *expressions_;
}

// ---- errors that occurred where nothing could be thrown ----

void device_state::note_late_error(std::exception_ptr error, std::uint64_t thread,
                                   std::shared_ptr<std::atomic<bool>> told) noexcept {
    try {
        const std::lock_guard lock(late_mutex_);
        for (late_error& each : late_errors_) {
            if (each.thread != thread) continue;
            if (each.told == nullptr || !each.told->load()) return;  // a consequence of that error
            each = {thread, std::move(error), std::move(told)};
            return;
        }
        late_errors_.push_back({thread, std::move(error), std::move(told)});
        has_late_error_.store(true, std::memory_order_release);
    } catch (...) {  // out of host memory
    }
}

void device_state::throw_late_error() {
    std::exception_ptr error;
    {
        const std::lock_guard lock(late_mutex_);
        if (is_freed())
            throw usage_error(fmt::format(
                "{} was freed by free() and accepts no more work; a new context reopens it.", words()));
        const auto own = std::find_if(late_errors_.begin(), late_errors_.end(), [](const late_error& each) {
            return each.thread == this_thread_number();
        });
        if (own == late_errors_.end()) return;
        if (own->told == nullptr || !own->told->exchange(true)) error = std::move(own->error);
        late_errors_.erase(own);
        has_late_error_.store(!late_errors_.empty(), std::memory_order_release);
    }
    if (error == nullptr) return;  // already thrown through another device
    try {
        std::rethrow_exception(error);
    } catch (const check_error&) {
        throw;  // it explains itself
    } catch (const callback_error&) {
        throw;
    } catch (const std::exception& fault) {
        throw device_error(fmt::format("An earlier command on {} failed, and no call was waiting for it. {}",
                                       words(), fault.what()));
    }
}

}  // namespace balm::runtime
