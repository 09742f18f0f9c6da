// Sections of host code, and the events of the commands that were enqueued in them.

#include "balm/profiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>

#include "balm/error.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/queue/command_observer.hpp"

namespace balm {

namespace runtime {

/// A section within its enclosing sections, summed over all threads.
struct profiler_node {
    std::string name;
    profiler_node* parent = nullptr;
    std::vector<std::unique_ptr<profiler_node>> children;  // in the order of their first entry
    std::uint64_t count = 0;
    std::uint64_t host = 0;
    std::uint64_t commands = 0;
    std::uint64_t device = 0;
};

class profiler_state final : public command_observer {
public:
    profiler_state() = default;

    profiler_node* begin(std::string_view name);
    void end(profiler_node*, std::uint64_t nanoseconds) noexcept;
    void enqueued(const command&, const event_handle& done) noexcept override;
    std::vector<profile_row> rows();
    std::vector<profiled_command> commands();

    std::vector<std::shared_ptr<queue_state>> queues;
    std::vector<std::shared_ptr<device_state>> devices;

private:
    struct running {
        profiler_node* in;
        profiled_command* of;
        event_handle done;
        event_handle begin;  // null: done's own

        void add(std::uint64_t duration) const {
            in->device += duration;
            of->device += duration;
        }
    };
    // When this many events are held, the times of completed commands are collected: a long run keeps few
    // events.
    static constexpr std::size_t most_held = 1024;

    profiler_node*& current() {
        return current_.try_emplace(std::this_thread::get_id(), &root_).first->second;
    }
    void take_times();
    void wait_for_times();
    static std::uint64_t duration_of(const running&) noexcept;
    profile_row add_rows(const profiler_node&, int depth, std::vector<profile_row>&) const;

    std::mutex mutex_;
    profiler_node root_;  // no section: for commands outside of all sections
    std::unordered_map<std::thread::id, profiler_node*> current_;
    std::map<std::string, profiled_command, std::less<>> commands_;  // by name
    std::deque<running> running_;
    std::size_t next_look_ = most_held;
};

profiler_node* profiler_state::begin(std::string_view name) {
    const std::lock_guard lock(mutex_);
    profiler_node*& in = current();
    const auto known = std::find_if(in->children.begin(), in->children.end(),
                                    [&](const auto& child) { return child->name == name; });
    if (known != in->children.end()) return in = known->get();
    auto made = std::make_unique<profiler_node>();
    made->name = name;
    made->parent = in;
    return in = in->children.emplace_back(std::move(made)).get();
}

void profiler_state::end(profiler_node* of, std::uint64_t nanoseconds) noexcept {
    const std::lock_guard lock(mutex_);
    ++of->count;
    of->host += nanoseconds;
    const auto here = current_.find(std::this_thread::get_id());
    if (here == current_.end()) return;
    if (of->parent == &root_)
        current_.erase(here);  // threads come and go
    else
        here->second = of->parent;
}

void profiler_state::enqueued(const command& given, const event_handle& done) noexcept {
    try {
        const std::lock_guard lock(mutex_);
        const std::string_view name = name_of(given);
        auto known = commands_.find(name);
        if (known == commands_.end())
            known = commands_.emplace(name, profiled_command{std::string(name)}).first;
        profiled_command& of = known->second;
        const auto here = current_.find(std::this_thread::get_id());
        profiler_node* const in = here == current_.end() ? &root_ : here->second;
        running_.push_back({in, &of, done, begin_of(given)});
        ++in->commands;
        ++of.count;
        of.bytes += bytes_of(given);
        of.work_items += work_items_of(given);
        if (running_.size() < next_look_) return;
        take_times();
        next_look_ = std::max(most_held, 2 * running_.size());
    } catch (...) {  // out of memory: the command is not counted
    }
}

// Commands complete mostly in this order; those of a slow queue hardly delay the others.
void profiler_state::take_times() {
    std::erase_if(running_, [](running& each) {
        if (!each.done->is_complete()) return false;
        each.add(duration_of(each));
        return true;
    });
}

// A failed command counts as 0 ns; its error is reported elsewhere.
std::uint64_t profiler_state::duration_of(const running& of) noexcept {
    try {
        timestamps times = of.done->times();
        if (of.begin != nullptr) times.started = of.begin->times().started;
        return times.duration();
    } catch (...) {
        return 0;
    }
}

void profiler_state::wait_for_times() {
    std::deque<running> left;
    std::vector<std::uint64_t> durations;  // waits without the lock, so that other threads continue
    {
        const std::lock_guard lock(mutex_);
        durations.reserve(running_.size());
        left.swap(running_);
        next_look_ = most_held;
    }
    for (const running& each : left) durations.push_back(duration_of(each));

    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < left.size(); ++i) left[i].add(durations[i]);
}

std::vector<profiled_command> profiler_state::commands() {
    wait_for_times();
    std::vector<profiled_command> all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, each] : commands_) all.push_back(each);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.device > b.device; });
    return all;
}

std::vector<profile_row> profiler_state::rows() {
    wait_for_times();
    const std::lock_guard lock(mutex_);
    std::vector<profile_row> all;
    for (const auto& each : root_.children) add_rows(*each, 0, all);
    if (root_.commands > 0)
        all.push_back({"(outside sections)", 0, 0, 0, 0, root_.commands, root_.device, root_.device});
    return all;
}

profile_row profiler_state::add_rows(const profiler_node& of, int depth,
                                     std::vector<profile_row>& all) const {
    const std::size_t place = all.size();
    all.emplace_back();
    profile_row row{of.name, depth, of.count, of.host, of.host, of.commands, of.device, of.device};
    for (const auto& each : of.children) {
        const profile_row inner = add_rows(*each, depth + 1, all);
        row.host_self -= std::min(row.host_self, inner.host_total);
        row.commands += inner.commands;
        row.device_total += inner.device_total;
    }
    return all[place] = row;
}

namespace {

std::uint64_t now() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

// "12.3 ms": three digits.
std::string time_text(std::uint64_t nanoseconds) {
    struct unit {
        double size;
        const char* name;
    };
    constexpr std::array<unit, 4> units{{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
    const auto time = static_cast<double>(nanoseconds);
    std::size_t k = 0;
    while (k + 1 < units.size() && time >= 999.5 * units[k].size) ++k;
    const double value = time / units[k].size;
    const int digits = k == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {:<2}", value, digits, units[k].name);
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return "";
    return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string line(const std::string& name, std::size_t width, std::span<const std::string> columns) {
    std::string text = fmt::format("{:<{}}", name, width);
    constexpr std::array<int, 8> widths{8, 10, 10, 8, 10, 10, 10, 8};
    for (std::size_t k = 0; k < columns.size(); ++k) text += fmt::format("  {:>{}}", columns[k], widths[k]);
    return text + '\n';
}

// "12.3 MB": three digits.
std::string count_text(std::uint64_t count, std::string_view unit) {
    if (count == 0) return "";
    constexpr std::array<const char*, 5> prefixes{"", "k", "M", "G", "T"};
    auto value = static_cast<double>(count);
    std::size_t k = 0;
    for (; k + 1 < prefixes.size() && value >= 999.5; ++k) value /= 1000;
    const int digits = k == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}{}", value, digits, prefixes[k], unit);
}

std::string table_of(const std::vector<profile_row>& rows) {
    std::size_t width = std::size("section") - 1;
    std::uint64_t host = 0, device = 0;
    for (const profile_row& each : rows) {
        width = std::max(width, each.name.size() + 2 * static_cast<std::size_t>(each.depth));
        if (each.depth > 0) continue;
        host += each.host_total;
        device += each.device_total;
    }
    const std::array<std::string, 8> head{"count",    "host",   "self", "share",
                                          "commands", "device", "self", "share"};
    std::string text = line("section", width, head);
    for (const profile_row& each : rows) {
        const std::array<std::string, 8> columns{
            std::to_string(each.count),    time_text(each.host_total),
            time_text(each.host_self),     share_text(each.host_total, host),
            std::to_string(each.commands), time_text(each.device_total),
            time_text(each.device_self),   share_text(each.device_total, device)};
        text += line(std::string(2 * static_cast<std::size_t>(each.depth), ' ') + each.name, width, columns);
    }
    return text;
}

std::string table_of(const std::vector<profiled_command>& commands) {
    std::size_t width = std::size("command") - 1;
    std::uint64_t device = 0;
    for (const profiled_command& each : commands) {
        width = std::max(width, each.name.size());
        device += each.device;
    }
    const std::array<std::string, 4> head{"count", "size", "device", "share"};
    std::string text = line("command", width, head);
    for (const profiled_command& each : commands) {
        const std::array<std::string, 4> columns{
            std::to_string(each.count),
            each.work_items != 0 ? count_text(each.work_items, "items") : count_text(each.bytes, "B"),
            time_text(each.device), share_text(each.device, device)};
        text += line(each.name, width, columns);
    }
    return text;
}

}  // namespace

}  // namespace runtime

profiled_section::profiled_section(std::shared_ptr<runtime::profiler_state> of, std::string_view name)
    : state_(std::move(of)), node_(state_->begin(name)), begun_(runtime::now()) {}

profiled_section::~profiled_section() { state_->end(node_, runtime::now() - begun_); }

profiler::profiler(const queue& of) : state_(std::make_shared<runtime::profiler_state>()) { observe(of); }

profiler::profiler(const device& of) : state_(std::make_shared<runtime::profiler_state>()) { observe(of); }

profiler::~profiler() {
    for (const auto& each : state_->queues) each->remove_observer(state_.get());
    for (const auto& each : state_->devices) each->remove_observer(state_.get());
}

void profiler::observe(const queue& of) {
    if (!of.state()->is_timed())
        throw usage_error(
            fmt::format("A queue of {} was created without timing and cannot be profiled: create it with "
                        "make_queue(true).",
                        of.state()->device().words()));
    state_->queues.push_back(of.state());
    of.state()->add_observer(state_);
}

void profiler::observe(const device& of) {
    state_->devices.push_back(of.state());
    of.state()->add_observer(state_);
}

std::vector<profile_row> profiler::rows() const { return state_->rows(); }

std::vector<profiled_command> profiler::commands() const { return state_->commands(); }

std::string profiler::summary() const {
    return runtime::table_of(rows()) + '\n' + runtime::table_of(commands());
}

}  // namespace balm
