// Recordings with arguments: their commands on other vectors.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "array/vector_state.hpp"
#include "balm/error.hpp"
#include "balm/recording.hpp"
#include "runtime/queue/command_list.hpp"

namespace balm {

std::size_t recording::until(const vector<bool>& condition, std::size_t at_most) const {
    if (condition.size() != 1) detail::condition_of_many(condition.size());
    if (at_most == 0) return 0;
    const array::vector_state& stop = *condition.state();
    if (!stop.is_spread())
        if (const auto turns = commands_->replay_until(stop.memory(), stop.offset(), at_most, before_.get()))
            return *turns;
    for (std::size_t turn = 1; turn <= at_most; ++turn) {
        (*this)();
        if (condition[0]) return turn;
    }
    return at_most;
}

}  // namespace balm

namespace balm::detail {

namespace {

using vectors = std::vector<std::shared_ptr<array::vector_state>>;
using replacements = std::vector<runtime::memory_replacement>;

/// Lists of vectors whose recordings are kept.
constexpr std::size_t most_bindings = 4;

[[noreturn]] void refuse(std::size_t number, const std::string& why) {
    throw usage_error(fmt::format("argument {} of the recording {}", number + 1, why));
}

void check_sizes(std::size_t number, std::size_t recorded, std::size_t given) {
    if (given != recorded)
        refuse(number, fmt::format("was recorded with a vector of {} elements, and is one of {}; their sizes "
                                   "must be equal",
                                   recorded, given));
}

/// Adds the memory of one argument, on one device.
void add(replacements& to, std::size_t number, const array::vector_state& recorded,
         const array::vector_state& given) {
    if (given.device_handle() != recorded.device_handle())
        refuse(number, fmt::format("was recorded with a vector on {}, and is one on {}",
                                   recorded.device().words(), given.device().words()));
    if (given.offset() != recorded.offset() || given.is_whole() != recorded.is_whole())
        refuse(number, fmt::format("was recorded with a vector that begins at byte {} of its memory{}, and "
                                   "begins at byte {}{}; pass one that was made in the same way",
                                   recorded.offset(), recorded.is_whole() ? " and has all of it" : "",
                                   given.offset(), given.is_whole() ? " and has all of it" : ""));
    for (const runtime::memory_replacement& each : to)
        if ((each.recorded == recorded.memory().get()) != (each.by == given.memory()))
            refuse(number,
                   "shares its memory with another argument, or did so when it was recorded; vectors "
                   "that were different must be different, and those that were the same the same");
    to.push_back({recorded.memory().get(), given.memory()});
}

replacements replacements_of(const vectors& recorded, const vectors& given) {
    replacements all;
    for (std::size_t k = 0; k < recorded.size(); ++k) {
        if (recorded[k] == nullptr) continue;
        if (given[k] == nullptr) refuse(k, "is a vector without a device");
        const array::vector_state &from = *recorded[k], &to = *given[k];
        if (from.parts().size() != to.parts().size())
            refuse(k, fmt::format("was recorded with a vector on {} devices, and is one on {}",
                                  std::max<std::size_t>(from.parts().size(), 1),
                                  std::max<std::size_t>(to.parts().size(), 1)));
        check_sizes(k, from.size(), to.size());
        if (from.is_spread() && !std::equal(from.parts().begin(), from.parts().end(), to.parts().begin(),
                                            [](const auto& a, const auto& b) {
                                                return a.first == b.first &&
                                                       a.elements->size() == b.elements->size();
                                            }))
            refuse(
                k,
                "is distributed over the devices in another way than the vector with which it was recorded");
        if (!from.is_spread()) add(all, k, from, to);
        for (std::size_t part = 0; part < from.parts().size(); ++part)
            add(all, k, *from.parts()[part].elements, *to.parts()[part].elements);
    }
    return all;
}

/// Throws usage_error if a vector takes the place of another one, and the commands use it, too.
void check_apart(const replacements& all, const runtime::command_list& commands) {
    for (std::size_t k = 0; k < all.size(); ++k) {
        const bool is_replaced = std::any_of(
            all.begin(), all.end(), [&](const auto& each) { return each.recorded == all[k].by.get(); });
        if (!is_replaced && commands.uses(*all[k].by))
            throw usage_error(
                fmt::format("a recording uses {} itself, so it cannot be passed for another argument",
                            all[k].by->label()));
    }
}

}  // namespace

struct recording_bindings::state {
    struct binding {
        std::vector<std::shared_ptr<runtime::storage>> memory;
        std::shared_ptr<runtime::command_list> bound;
    };
    state(recording of, vectors of_arguments) : recorded(std::move(of)), arguments(std::move(of_arguments)) {}

    const recording recorded;
    const vectors arguments;
    std::mutex finding;
    std::vector<binding> last;  ///< the latest one at the end
};

void are_temporary(std::span<const std::shared_ptr<array::vector_state>> all) {
    runtime::command_list* const list = runtime::command_list::of_thread();
    if (list == nullptr) return;
    for (const auto& v : all)
        if (v != nullptr && !v->is_spread()) list->add_temporary(v->memory(), v->offset(), v->bytes());
}

recording_bindings::recording_bindings(recording recorded, vectors arguments)
    : state_(std::make_shared<state>(std::move(recorded), std::move(arguments))) {}

const recording& recording_bindings::recorded() const { return state_->recorded; }

recording recording_bindings::with(const vectors& given,
                                   std::shared_ptr<const replay_preparation> before) const {
    replacements all = replacements_of(state_->arguments, given);
    std::vector<std::shared_ptr<runtime::storage>> memory;
    for (const runtime::memory_replacement& each : all) memory.push_back(each.by);
    std::erase_if(all, [](const auto& each) { return each.recorded == each.by.get(); });
    if (all.empty()) return recording(state_->recorded.commands(), std::move(before));
    const std::lock_guard lock(state_->finding);
    auto& last = state_->last;
    const auto found = std::find_if(last.begin(), last.end(),
                                    [&](const state::binding& each) { return each.memory == memory; });
    if (found != last.end()) {
        std::rotate(found, found + 1, last.end());
        return recording(last.back().bound, std::move(before));
    }
    check_apart(all, *state_->recorded.commands());
    std::shared_ptr<runtime::command_list> bound = state_->recorded.commands()->with(all);
    if (last.size() == most_bindings) last.erase(last.begin());
    last.push_back({std::move(memory), bound});
    return recording(std::move(bound), std::move(before));
}

}  // namespace balm::detail
