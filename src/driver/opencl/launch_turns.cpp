#include "driver/opencl/launch_turns.hpp"

#include <functional>
#include <unordered_map>

namespace balm::opencl {

namespace {

struct turns_table {
    std::mutex mutex;
    std::unordered_map<std::size_t, std::weak_ptr<launch_turns>> by_hash;  // collisions only wait in vain
};

turns_table& table() {
    static auto* const made = new turns_table;  // programs may outlive static objects
    return *made;
}

std::weak_ptr<launch_turns>& entry(std::string_view content) {
    std::erase_if(table().by_hash, [](const auto& each) { return each.second.expired(); });
    return table().by_hash[std::hash<std::string_view>{}(content)];
}

}  // namespace

std::shared_ptr<launch_turns> launch_turns::of(std::string_view content) {
    const std::lock_guard lock(table().mutex);
    std::weak_ptr<launch_turns>& at = entry(content);
    std::shared_ptr<launch_turns> found = at.lock();
    if (found == nullptr) at = found = std::make_shared<launch_turns>();
    return found;
}

void launch_turns::share(const std::shared_ptr<launch_turns>& turns, std::string_view content) {
    const std::lock_guard lock(table().mutex);
    entry(content) = turns;
}

}  // namespace balm::opencl
