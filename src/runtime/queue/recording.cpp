// The public recording, on a command_list.

#include "balm/recording.hpp"

#include <fmt/format.h>

#include <vector>

#include "balm/error.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/queue/command_list.hpp"

namespace balm {

recording::recording(std::shared_ptr<runtime::command_list> commands,
                     std::shared_ptr<const detail::replay_preparation> before)
    : commands_(std::move(commands)), before_(std::move(before)) {}

void recording::operator()() const { commands_->replay(before_.get()); }

void recording::repeat(std::size_t times) const {
    for (; times > 0; --times) commands_->replay(before_.get());
}

std::size_t recording::size() const { return commands_->size(); }

std::string recording::describe() const { return commands_->describe(); }

void detail::condition_of_many(std::size_t elements) {
    throw usage_error(
        fmt::format("the condition of until() has {} elements; reduce it to one with balm::all_into or "
                    "balm::any_into",
                    elements));
}

namespace {

std::vector<std::shared_ptr<runtime::device_state>> states_of(const context& on) {
    std::vector<std::shared_ptr<runtime::device_state>> all;
    for (const device& each : on.devices()) all.push_back(each.state());
    return all;
}

}  // namespace

detail::statement_recorder::statement_recorder(const context& on)
    : commands_(std::make_shared<runtime::command_list>(states_of(on))),
      scope_(std::make_unique<runtime::recording_scope>(commands_)) {}

detail::statement_recorder::~statement_recorder() = default;

recording detail::statement_recorder::finish() {
    commands_->finish();
    scope_.reset();
    return recording(commands_);
}

}  // namespace balm
