// From a filter to devices, or the reasons why there is none.

#include "balm/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <ostream>
#include <utility>

#include "balm/error.hpp"
#include "runtime/choice/filter_judge.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/device/platform.hpp"
#include "runtime/queue/print_outlet.hpp"

namespace balm {

namespace {

/// The chosen devices, and a line on each device that was not chosen.
struct choice {
    std::vector<device> devices;
    std::vector<std::string> passed_over;
    std::vector<std::shared_ptr<runtime::device_lock>> locks;  // of filter::exclusive
};

choice choose(const device_filter& wanted) {
    choice made;
    detail::selection state;
    for (const auto& candidate : runtime::platforms().devices) {
        const device_info& info = candidate->info();
        const auto pass_over = [&](const std::string& why) {
            made.passed_over.push_back(fmt::format("{}: {}", candidate->words(), why));
        };
        if (!info.is_available) {
            pass_over("is not available");
            continue;
        }
        const detail::verdict verdict = wanted.judge(info, state);
        const auto twin = std::find_if(made.devices.begin(), made.devices.end(),
                                       [&](const device& taken) { return is_same_card(taken.info(), info); });
        if (!verdict.accepted)
            pass_over(verdict.words);
        else if (twin != made.devices.end())
            pass_over(fmt::format("is the same card as one chosen through {}", to_string(twin->info().api)));
        else
            made.devices.emplace_back(runtime::open_again(candidate));
    }
    made.locks = std::move(state.locks);
    return made;
}

[[noreturn]] void throw_no_device(const choice& made, const std::string& asked) {
    std::string text = made.passed_over.empty() ? "There is no device on this machine."
                                                : fmt::format("No device matches {}.", asked);
    if (!made.passed_over.empty()) text += " Rejected devices:";
    for (const std::string& line : made.passed_over) text += "\n  " + line;
    const auto& notes = runtime::platforms().notes;
    if (!notes.empty()) text += "\nDriver notes:";
    for (const std::string& note : notes) text += "\n  " + note;
    text += made.passed_over.empty() ? "\nRun `balm doctor` to see what to install or change."
                                     : "\nRun `balm devices` to list the available devices.";
    throw no_device_error(text);
}

choice best_devices() {
    const environment_filter asked = read_environment_filter();
    device_filter wanted = asked.choice.value_or(filter::any);
    if (asked.position.has_value()) wanted = wanted && filter::position(*asked.position);
    choice made = choose(wanted);
    if (made.devices.empty())
        throw_no_device(made, asked.words.empty() ? "" : fmt::format("the environment ({})", asked.words));
    const device_type best = made.devices.front().info().type;
    std::erase_if(made.devices, [&](const device& each) { return each.info().type != best; });
    const std::size_t most = asked.max_devices.value_or(1);
    if (made.devices.size() > most) made.devices.resize(most, made.devices.front());
    return made;
}

choice chosen_devices(const device_filter& wanted) {
    choice made = choose(wanted);
    if (made.devices.empty()) throw_no_device(made, "the filter");
    return made;
}

choice checked_devices(std::vector<device> given) {
    if (given.empty())
        throw usage_error("A context was constructed from an empty list of devices; pass at least one.");
    return {std::move(given), {}, {}};
}

}  // namespace

struct detail::context_state {
    std::vector<std::shared_ptr<runtime::device_lock>> locks;  // destroyed last
    std::vector<balm::device> devices;
    std::mutex mutex;
    std::shared_ptr<runtime::print_outlet> outlet;  // made by print_to or print_buffer_size

    explicit context_state(choice made) : locks(std::move(made.locks)), devices(std::move(made.devices)) {}
    context_state(const context_state&) = delete;
    context_state& operator=(const context_state&) = delete;
    ~context_state() {
        for (const balm::device& each : devices) {
            each.state()->show_prints();
            if (outlet != nullptr) each.state()->remove_outlet(outlet);
            if (!locks.empty()) each.state()->finish_quietly();  // before another process can lock it
        }
    }

    runtime::print_outlet& own_outlet() {
        const std::lock_guard lock(mutex);
        if (outlet == nullptr) outlet = runtime::make_standard_outlet();
        for (const balm::device& each : devices) each.state()->add_outlet(outlet);
        return *outlet;
    }
};

context::context() : state_(std::make_shared<detail::context_state>(best_devices())) {}

context::context(const device_filter& wanted)
    : state_(std::make_shared<detail::context_state>(chosen_devices(wanted))) {}

context::context(std::vector<balm::device> given)
    : state_(std::make_shared<detail::context_state>(checked_devices(std::move(given)))) {}

const std::vector<balm::device>& context::devices() const& { return state_->devices; }

std::vector<balm::device> context::devices() && { return state_->devices; }

const balm::device& context::device(std::size_t i) const {
    if (i >= size())
        throw usage_error(fmt::format("Device {} is out of range for a context that has {} (0 to {}).", i,
                                      size(), size() - 1));
    return state_->devices[i];
}

context context::weighted(std::vector<double> weights) const {
    const auto is_wrong = [](double w) { return !(w >= 0) || !std::isfinite(w); };
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (weights.size() != size() || std::any_of(weights.begin(), weights.end(), is_wrong) || !(sum > 0))
        throw usage_error(
            fmt::format("A context of {} devices was given the weights {{{}}}; pass one finite weight per "
                        "device, none of them negative and at least one positive.",
                        size(), fmt::join(weights, ", ")));
    context same = *this;
    same.weights_ = std::move(weights);
    return same;
}

void context::print_to(std::ostream& stream) {
    print_to([&stream](std::string_view text) { stream << text; });
}

void context::print_with(std::shared_ptr<detail::text_writer> writer) {
    if (!writer)
        throw usage_error(
            "context::print_to was called with an empty function; pass a callable or a stream.");
    state_->own_outlet().write_to(
        [writer = std::move(writer)](std::string_view text) { writer->write(text); });
}

void context::print_buffer_size(std::size_t bytes) {
    constexpr std::size_t most = std::size_t{1}
                                 << 32;  // its words are counted in 32 bits, with room to spare
    if (bytes > most)
        throw usage_error(
            fmt::format("A print buffer of {} bytes was requested; the maximum is {}.", bytes, most));
    state_->own_outlet().buffer_bytes = bytes;
}

device_list all_devices() {
    device_list all;
    for (const auto& each : runtime::platforms().devices) all.devices.push_back(each->info());
    all.notes = runtime::platforms().notes;
    return all;
}

}  // namespace balm
