#include "runtime/queue/command_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <utility>
#include <variant>

#include "balm/error.hpp"
#include "balm/recording.hpp"
#include "base/forked.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/memory/storage.hpp"
#include "runtime/program/program_store.hpp"
#include "runtime/queue/event_state.hpp"
#include "runtime/queue/queue_state.hpp"

namespace balm::runtime {

namespace {

constinit thread_local command_list *list_of_thread = nullptr, *paused_list = nullptr;

[[noreturn]] void refuse_to_wait() {
    throw usage_error(
        "A recording cannot wait for memory that is read to the host, since no command runs while it is "
        "recorded; wait after a replay.");
}

[[noreturn]] void refuse_to_wait_later() {
    throw usage_error(
        "This event belongs to a recorded command, which runs with every replay of its recording, so there "
        "is nothing to wait for; replay it, and wait for an event of the queue: queue.record().wait().");
}

/// The event of a recorded command: a place in its list. While the list is recorded, waiting for it does
/// nothing, since replays keep the order; it never has a time.
class recorded_event final : public driver_event {
public:
    recorded_event(std::weak_ptr<const command_list> of, std::size_t number)
        : list_(std::move(of)), number_(number) {}

    bool is_complete() override {
        const event last = last_read();
        return last.state() == nullptr || last.is_complete();
    }
    void wait() override { last_read().wait(); }
    timestamps times() override {
        throw usage_error(
            "This event belongs to a recorded command, which has no timestamps: a profiler shows those of "
            "its replays.");
    }

    const std::weak_ptr<const command_list>& list() const { return list_; }
    std::size_t number() const { return number_; }

private:
    /// A read can be waited for after a replay; of other commands nothing reaches the host. Empty while it is
    /// recorded.
    event last_read() const {
        const std::shared_ptr<const command_list> list = list_.lock();
        if (list == nullptr) refuse_to_wait_later();
        if (list->is_open()) {
            if (list->is_read(number_)) refuse_to_wait();
            return {};
        }
        if (!list->is_read(number_)) refuse_to_wait_later();
        return list->last_read(number_);
    }
    std::weak_ptr<const command_list> list_;
    std::size_t number_;
};

const recorded_event* as_recorded(const event& each) {
    return each.state() == nullptr ? nullptr : dynamic_cast<recorded_event*>(each.state()->driver.get());
}

/// Why this command cannot be recorded; null if it can.
const char* refusal_of(const command& of) {
    if (std::holds_alternative<map_command>(of.what) || std::holds_alternative<unmap_command>(of.what))
        return "memory cannot be mapped while a recording is made; map it before, or after a replay";
    if (const auto* const marker = std::get_if<marker_command>(&of.what); marker && marker->is_immediate)
        return "native commands cannot be recorded; enqueue them between two recordings";
    if (!can_be_deferred(of))
        return "a kernel that was adopted from a driver cannot be recorded; launch it between two recordings";
    return nullptr;
}

}  // namespace

command_list::command_list(std::vector<std::shared_ptr<device_state>> devices)
    : devices_(std::move(devices)) {
    for (const auto& each : devices_) {
        each->check();
        default_queues_.push_back(&each->default_queue());
    }
}

command_list::~command_list() = default;

command_list* command_list::innermost() noexcept { return list_of_thread; }

void command_list::add(queue_state& in, const command& given, std::span<const event> waits, event* made) {
    if (refusal_of(given) != nullptr) refuse(given, in);
    further_lines text = std::exchange(next_text_, nullptr);
    enqueue_held_before(given);
    const auto device = std::find_if(devices_.begin(), devices_.end(),
                                     [&](const auto& each) { return each.get() == &in.device(); });
    if (device == devices_.end()) refuse(given, in);
    entry added;
    added.device = *device;
    if (default_queues_[static_cast<std::size_t>(device - devices_.begin())] != &in)
        added.queue = in.handle();
    add_waits(added, waits);
    added.reads.assign(given.reads.begin(), given.reads.end());
    added.writes.assign(given.writes.begin(), given.writes.end());
    added.what = own(given);
    added.text = std::move(text);
    const std::size_t number = entries_.size();
    event place;
    if (made != nullptr)
        place = event(std::make_shared<event_state>(
            event_state{std::make_shared<recorded_event>(weak_from_this(), number), nullptr, {}, 0, 0}));
    entries_.push_back(std::move(added));
    for (const std::size_t each : entries_.back().waits_for) entries_[each].then.push_back(number);
    if (made != nullptr) *made = std::move(place);
}

void command_list::add_waits(entry& to, std::span<const event> waits) const {
    for (const event& each : waits) {
        const recorded_event* const recorded = as_recorded(each);
        if (recorded == nullptr)
            to.waits.push_back(each);
        else if (recorded->list().lock().get() == this)
            to.waits_for.push_back(recorded->number());
        else
            refuse_recorded({&each, 1}, "a dependency of another recording");
    }
}

void command_list::refuse(const command& of, const queue_state& in) const {
    std::string why;
    if (const char* const words = refusal_of(of))
        why = words;
    else
        why = fmt::format("a recording takes only the devices of its context, and {} is another one",
                          in.device().words());
    const std::string place = entries_.empty()
                                  ? "the first command"
                                  : fmt::format("the command after {} others, the last of which is '{}'",
                                                entries_.size(), name_of(entries_.back().what.what));
    throw usage_error(
        fmt::format("'{}', {} of a recording, cannot be recorded: {}.", name_of(of), place, why));
}

void command_list::hold(std::unique_ptr<held_commands> more) {
    enqueue_held();
    held_ = std::move(more);
}

void command_list::enqueue_held() {
    if (const std::unique_ptr<held_commands> held = std::move(held_)) held->enqueue();
}

void command_list::enqueue_held_before(const command& next) {
    if (held_ == nullptr) return;
    if (is_marker(next)) return enqueue_held();  // it stands for all commands before it
    std::unique_ptr<held_commands> held = std::move(held_);
    if (held->enqueue_before(next.reads, next.writes)) hold(std::move(held));
}

void command_list::finish() {
    is_last_ = true;
    enqueue_held();
    temporaries_.clear();
}

void command_list::add_temporary(std::shared_ptr<storage> memory, std::size_t offset, std::size_t bytes) {
    temporaries_.push_back({std::move(memory), offset, offset + bytes});
}

bool command_list::is_unused_temporary(const storage& memory, std::size_t offset, std::size_t bytes) const {
    const auto is_it = [&](const temporary& each) {
        return each.memory.get() == &memory && each.begin <= offset && offset + bytes <= each.end;
    };
    return is_last_ && std::any_of(temporaries_.begin(), temporaries_.end(), is_it) && !uses(memory);
}

void command_list::add_host_parts(host_parts::entries&& prepared) noexcept {
    host_parts::entries& parts = entries_.back().parts;
    parts.splice(parts.end(), prepared);
}

void command_list::keep(host_memory_owner owner) { entries_.back().kept = std::move(owner); }

bool command_list::uses(const storage& memory) const {
    const auto are_used = [&](const std::vector<storage*>& list) {
        return std::find(list.begin(), list.end(), &memory) != list.end();
    };
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const entry& each) { return are_used(each.reads) || are_used(each.writes); });
}

std::shared_ptr<command_list> command_list::with(std::span<const memory_replacement> all) const {
    auto made = std::make_shared<command_list>(devices_);
    made->is_open_ = false;
    made->replays_ = replays_;
    for (const entry& each : entries_) {
        if (!each.parts.empty())
            throw usage_error(fmt::format(
                "'{}' of a recording prints or checks, so the recording can be replayed only with the "
                "vectors with which it was recorded",
                name_of(each.what.what)));
        entry& added = made->entries_.emplace_back();
        added.device = each.device;
        added.queue = each.queue;
        added.what = with_memory(each.what, all, each.kept);
        for (const auto& one : added.what.reads) added.reads.push_back(one.get());
        for (const auto& one : added.what.writes) added.writes.push_back(one.get());
        added.waits = each.waits;
        added.waits_for = each.waits_for;
        added.then = each.then;
        added.kept = each.kept;
        added.text = each.text;
    }
    return made;
}

void command_list::check_finish() const {
    for (std::size_t k = 0; k < entries_.size(); ++k)
        if (is_read(k)) refuse_to_wait();
}

event command_list::last_read(std::size_t number) const {
    const std::lock_guard lock(replays_->running);
    if (number >= replays_->last.size() || replays_->last[number].state() == nullptr) refuse_to_wait_later();
    return replays_->last[number];
}

void command_list::check_written(std::span<storage* const> reads) {
    if (paused_list == nullptr) return;
    for (const storage* const memory : reads)
        for (const entry& each : paused_list->entries_)
            if (std::find(each.writes.begin(), each.writes.end(), memory) != each.writes.end())
                throw usage_error(
                    fmt::format("A recording cannot prepare the transpose of a matrix or the like from "
                                "memory ({}) that it "
                                "writes itself, since no command runs while it is recorded: make it before.",
                                memory->label()));
}

namespace {

/// Of what a command uses, each once.
std::size_t bytes_of(std::span<storage* const> used) {
    std::size_t bytes = 0;
    for (auto each = used.begin(); each != used.end(); ++each)
        if (std::find(used.begin(), each, *each) == each) bytes += (*each)->bytes();
    return bytes;
}

}  // namespace

std::string command_list::describe() const {
    std::string text;
    for (const entry& each : entries_) {
        text += name_of(each.what.what);
        if (const std::size_t items = work_items_of(each.what.what); items > 0)
            text += fmt::format(", {} work-items", items);
        if (const std::size_t bytes = bytes_of(each.what.what); bytes > 0)
            text += fmt::format(", {} bytes", bytes);
        else
            text += fmt::format(", reads {} bytes, writes {}", bytes_of(each.reads), bytes_of(each.writes));
        text += '\n';
        if (!each.text) continue;
        for (const std::string& line : each.text()) text += "    " + line + '\n';
    }
    return text;
}

// ---- replays

/// Enqueues a command as its caller did.
struct command_list::issuer {
    const entry& of;
    queue_state& queue;
    std::span<const event> waits;
    event* made;

    void operator()(const launch_command& launch) const {
        kernel_lease lease = of.what.program->lease_kernel();
        queue.enqueue_launch(lease, launch.over, launch.arguments, of.reads, of.writes, waits, made);
    }
    void operator()(const multiply_command& multiply) const {
        queue.enqueue_multiply(multiply.what, of.reads, of.writes, waits, made);
    }
    void operator()(const copy_command& copy) const {
        storage &to = *of.writes[0], &from = *of.reads[0];
        if (copy.source != nullptr)
            queue.enqueue_copy(to, copy.to.layout.offset, from, copy.from.layout.offset, copy.size.row_bytes,
                               waits, made);
        else
            queue.enqueue_copy_region(to, copy.to.layout, from, copy.from.layout, copy.size, waits, made);
    }
    void operator()(const fill_command& fill) const {
        queue.enqueue_fill(*of.writes[0], fill.offset, fill.bytes,
                           std::span(fill.pattern).first(fill.pattern_bytes), waits, made);
    }
    void operator()(const write_command& write) const {
        queue.enqueue_write_region(*of.writes[0], write.to.layout, write.size, write.from, of.kept, waits,
                                   made);
    }
    void operator()(const read_command& read) const {
        queue.enqueue_read_region(read.to, *of.reads[0], read.from.layout, read.size, of.kept, waits, made);
    }
    void operator()(const marker_command&) const {
        event point = queue.record(waits);
        if (made != nullptr) *made = std::move(point);
    }
    // Those are not recorded.
    void operator()(const map_command&) const {}
    void operator()(const unmap_command&) const {}
    void operator()(const native_command&) const {}
    void operator()(const batch_command&) const {}
};

namespace {

void add_new(std::vector<storage*>& to, std::span<storage* const> more) {
    for (storage* const each : more)
        if (std::find(to.begin(), to.end(), each) == to.end()) to.push_back(each);
}

/// Whether a driver may keep the command.
bool can_be_kept(const command& of) {
    const auto* const copy = std::get_if<copy_command>(&of.what);
    return std::holds_alternative<launch_command>(of.what) || std::holds_alternative<fill_command>(of.what) ||
           (copy != nullptr && copy->source == nullptr);
}

}  // namespace

command_list::batch command_list::batch_from(std::size_t first) const {
    batch made;
    made.first = first;
    const entry& begin = entries_[first];
    for (std::size_t k = first; k < entries_.size(); ++k, ++made.count) {
        const entry& each = entries_[k];
        if (each.device != begin.device || each.queue != nullptr || !each.waits.empty() ||
            each.needs_event() || !can_be_kept(each.what.what))
            break;
        add_new(made.reads, each.reads);
        add_new(made.writes, each.writes);
    }
    return made;
}

std::span<const command_list::batch> command_list::batches() {
    if (batches_) return *batches_;
    batches_.emplace();
    for (std::size_t k = 0; k < entries_.size();) {
        batch found = batch_from(k);
        k += std::max<std::size_t>(found.count, 1);
        if (found.count < 2) continue;
        found.kept = entries_[found.first].device->driver().make_batch([&](driver_queue& queue) {
            for (std::size_t each = found.first; each < found.first + found.count; ++each)
                issue(entries_[each].what.what, queue, {});
        });
        if (found.kept != nullptr) batches_->push_back(std::move(found));
    }
    return *batches_;
}

// Without the lock: the function that shows the text, and other threads' callbacks, may replay.
void command_list::wait_for_prints(std::unique_lock<std::mutex>& lock) {
    while (!replays_->printed.empty()) {
        const event one = replays_->printed.front();
        lock.unlock();
        std::exception_ptr failure;
        try {
            one.wait();
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        std::erase_if(replays_->printed, [&](const event& each) { return each.state() == one.state(); });
        if (failure != nullptr) std::rethrow_exception(failure);
    }
}

void command_list::replay(const balm::detail::replay_preparation* before) {
    refuse_if_forked();
    std::unique_lock lock(replays_->running);
    const bool is_recorded = of_thread() != nullptr;
    if (is_recorded &&
        std::any_of(entries_.begin(), entries_.end(), [](const entry& e) { return !e.parts.empty(); }))
        throw usage_error(
            "A recording whose kernels print or check cannot be replayed within another one: record its "
            "statements there instead.");
    if (!is_recorded) wait_for_prints(lock);  // what kernels printed is read before they print again
    if (before != nullptr) before->enqueue();
    std::vector<event> made(entries_.size());
    replays_->last.resize(entries_.size());
    const bool are_kept = was_replayed_ && !is_recorded;
    const std::span<const batch> all = are_kept ? batches() : std::span<const batch>();
    auto next = all.begin();
    for (std::size_t k = 0; k < entries_.size();) {
        if (next != all.end() && next->first == k) {
            const batch& one = *next++;
            queue_state& queue = entries_[k].device->default_queue();
            if (!queue.is_observed()) {  // observers see the single commands
                queue.enqueue_batch(one.kept, one.reads, one.writes);
                k += one.count;
                continue;
            }
        }
        replay_one(k++, made);
    }
    if (is_recorded) return;
    replays_->last = std::move(made);
    was_replayed_ = true;
}

void command_list::make_loop(const batch& all, const std::shared_ptr<storage>& stop, std::size_t offset) {
    constexpr std::size_t bytes_of_turns = 2 * sizeof(std::int64_t);
    device_state& device = *entries_[0].device;
    loop made{
        stop,      device.allocate(bytes_of_turns, {"the turns of a recording", shape(bytes_of_turns), 1}),
        offset,    nullptr,
        all.reads, all.writes};
    made.kept = device.driver().make_loop(
        [&](driver_queue& queue) {
            for (const entry& each : entries_) issue(each.what.what, queue, {});
        },
        stop->native(), offset, made.turns->native());
    add_new(made.reads, std::array{stop.get(), made.turns.get()});
    add_new(made.writes, std::array{made.turns.get()});
    loop_ = std::move(made);
}

std::optional<std::size_t> command_list::replay_until(const std::shared_ptr<storage>& stop,
                                                      std::size_t offset, std::size_t most,
                                                      const balm::detail::replay_preparation* before) {
    refuse_if_forked();
    if (of_thread() != nullptr || entries_.empty()) return std::nullopt;
    std::unique_lock lock(replays_->running);
    const batch all = batch_from(0);
    queue_state& queue = entries_[0].device->default_queue();
    if (all.count != entries_.size() || queue.is_observed() || &stop->device() != entries_[0].device.get())
        return std::nullopt;
    if (!loop_ || loop_->stop != stop || loop_->offset != offset) make_loop(all, stop, offset);
    if (loop_->kept == nullptr) return std::nullopt;
    if (before != nullptr) before->enqueue();
    const std::shared_ptr<storage> turns = loop_->turns;
    const std::int64_t none_of_most[] = {
        0, static_cast<std::int64_t>(std::min(most, std::size_t{std::numeric_limits<std::int64_t>::max()}))};
    queue.enqueue_write(*turns, 0, none_of_most, sizeof none_of_most, nullptr);
    queue.enqueue_batch(loop_->kept, loop_->reads, loop_->writes);
    const auto made = std::make_shared<std::int64_t>(0);
    event read;
    queue.enqueue_read(made.get(), *turns, 0, sizeof *made, made, {}, &read);
    lock.unlock();  // what waits may show what a kernel printed, and that function may replay
    read.wait();
    return static_cast<std::size_t>(*made);
}

void command_list::replay_one(std::size_t number, std::vector<event>& made) {
    const entry& of = entries_[number];
    std::vector<event> waits = of.waits;
    for (const std::size_t earlier : of.waits_for) waits.push_back(made[earlier]);
    for (const std::size_t later : of.then)
        waits.push_back(replays_->last[later]);  // they read what it writes
    if (of.uses_host_memory()) std::transform(waits.begin(), waits.end(), waits.begin(), host_only);
    host_parts::entries parts;
    for (const host_parts::entry& part : of.parts) parts.splice(parts.end(), host_parts::prepare(part.what));
    if (!parts.empty()) replays_->printed.reserve(replays_->printed.size() + 1);
    queue_state& queue = of.queue != nullptr ? *of.queue : of.device->default_queue();
    std::visit(issuer{of, queue, waits, of.needs_event() ? &made[number] : nullptr}, of.what.what.what);
    if (parts.empty()) return;
    if (of_thread() == nullptr) replays_->printed.push_back(made[number]);
    queue.when_done(made[number], std::move(parts));
}

// ---- scopes

recording_scope::recording_scope(std::shared_ptr<command_list> list) : list_(std::move(list)) {
    if (command_list::of_thread() != nullptr)
        throw usage_error(
            "balm::record is called while this thread records already; call the inner recording's replay "
            "instead, which is recorded, or record it before.");
    list_of_thread = list_.get();
    command_list::open_lists.fetch_add(1, std::memory_order_relaxed);
}

recording_scope::~recording_scope() {
    list_of_thread = nullptr;
    command_list::open_lists.fetch_sub(1, std::memory_order_relaxed);
    list_->is_open_ = false;
}

recording_pause::recording_pause() noexcept
    : paused_(std::exchange(list_of_thread, nullptr)), outer_(paused_list) {
    if (paused_ != nullptr) paused_list = paused_;
}

recording_pause::~recording_pause() {
    list_of_thread = paused_;
    paused_list = outer_;
}

void refuse_recorded(std::span<const event> all, std::string_view use) {
    for (const event& each : all)
        if (as_recorded(each) != nullptr)
            throw usage_error(fmt::format(
                "The event of a recorded command cannot be {}: the command runs with every replay "
                "of its recording.",
                use));
}

}  // namespace balm::runtime

namespace balm::detail {

bool is_recorded(const event& of) { return runtime::as_recorded(of) != nullptr; }

}  // namespace balm::detail
