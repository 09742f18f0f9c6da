// From a filter to devices; and when there is none, why.

#include "balm/context.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "balm/error.hpp"
#include "runtime/filter_judge.hpp"
#include "runtime/platform.hpp"

namespace balm {

namespace {

/// What was chosen, and a line on each device that was not.
struct choice {
    std::vector<device> devices;
    std::vector<std::string> passed_over;
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
        const auto twin = std::find_if(made.devices.begin(), made.devices.end(), [&](const device& taken) {
            return runtime::is_same_card(taken.info(), info);
        });
        if (!verdict.accepted)
            pass_over(verdict.words);
        else if (twin != made.devices.end())
            pass_over(fmt::format("is the same card as one taken through {}", to_string(twin->info().api)));
        else
            made.devices.emplace_back(candidate);
    }
    return made;
}

[[noreturn]] void throw_no_device(const choice& made, const std::string& asked) {
    std::string text = made.passed_over.empty() ? "There is no device on this machine."
                                                : fmt::format("No device fits {}.", asked);
    if (!made.passed_over.empty()) text += " Each was passed over because it does not fit:";
    for (const std::string& line : made.passed_over) text += "\n  " + line;
    const auto& notes = runtime::platforms().notes;
    if (!notes.empty()) text += "\nOf the drivers:";
    for (const std::string& note : notes) text += "\n  " + note;
    text += "\n`balm devices` lists what there is.";
    throw no_device_error(text);
}

std::vector<device> best_devices() {
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
    return std::move(made.devices);
}

std::vector<device> chosen_devices(const device_filter& wanted) {
    choice made = choose(wanted);
    if (made.devices.empty()) throw_no_device(made, "the filter");
    return std::move(made.devices);
}

std::vector<device> checked_devices(std::vector<device> given) {
    if (given.empty())
        throw usage_error("A context was made of an empty list of devices; give it at least one.");
    for (auto each = given.begin(); each != given.end(); ++each)
        if (std::find(given.begin(), each, *each) != each)
            throw usage_error(
                fmt::format("A context was given {} twice; name each device once.", each->state()->words()));
    return given;
}

}  // namespace

context::context() : devices_(std::make_shared<const std::vector<balm::device>>(best_devices())) {}

context::context(const device_filter& wanted)
    : devices_(std::make_shared<const std::vector<balm::device>>(chosen_devices(wanted))) {}

context::context(std::vector<balm::device> given)
    : devices_(std::make_shared<const std::vector<balm::device>>(checked_devices(std::move(given)))) {}

const balm::device& context::device(std::size_t i) const {
    if (i >= size())
        throw usage_error(fmt::format("Device {} was asked of a context that has {} (from 0 to {}).", i,
                                      size(), size() - 1));
    return (*devices_)[i];
}

device_list all_devices() {
    device_list all;
    for (const auto& each : runtime::platforms().devices) all.devices.push_back(each->info());
    all.notes = runtime::platforms().notes;
    return all;
}

}  // namespace balm
