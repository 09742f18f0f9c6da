#include "ir/passes/memory_versions.hpp"

namespace balm::ir {

namespace {

constexpr auto space_count = static_cast<std::uint32_t>(space::image) + 1;
constexpr std::uint32_t of_constant_memory = space_count;

std::uint32_t number_of_space(const function& f, value_id pointer) {
    return static_cast<std::uint32_t>(f.code[pointer].result.where);
}

}  // namespace

memory_versions::memory_versions(const function& f, std::uint32_t initial)
    : f_(f),
      initial_(initial),
      number_of_(f.code.size(), none),
      memories_(of_constant_memory + 1, memory{none, initial}) {}

std::uint32_t memory_versions::number_of(value_id load) {
    const value_id root = root_of(f_, f_.operand(load, 0));
    std::uint32_t& number = number_of_[root];
    if (number != none) return number;
    if (is_constant_memory(f_, root)) return number = of_constant_memory;
    number = static_cast<std::uint32_t>(memories_.size());
    memories_.push_back({load, initial_});
    if (f_.code[root].op != opcode::object) others_.push_back(number);
    return number;
}

memory_versions::version memory_versions::of(value_id load) {
    const std::uint32_t number = number_of(load);
    if (number == of_constant_memory) return {initial_, initial_};
    return {memories_[number].version, memories_[number_of_space(f_, f_.operand(load, 0))].version};
}

void memory_versions::set(std::uint32_t number, std::uint32_t to) {
    undo_.push_back({number, memories_[number].version});
    memories_[number].version = to;
}

void memory_versions::change(const effects& e, std::uint32_t to) {
    for (std::uint32_t space = 0; space < space_count; ++space)
        if (e.all_memory || (e.spaces >> space & 1) != 0) set(space, to);
    if (e.all_memory) return;
    for (const value_id object : e.objects)
        if (number_of_[object] != none) set(number_of_[object], to);
    if (e.parameters == 0 && e.objects.empty()) return;
    for (const std::uint32_t number : others_)
        if (clobbers(f_, e, memories_[number].load)) set(number, to);
}

void memory_versions::shrink(std::size_t count) {
    for (; undo_.size() > count; undo_.pop_back())
        memories_[undo_.back().number].version = undo_.back().version;
}

}  // namespace balm::ir
