#include "algorithm/contract/subscripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "balm/error.hpp"

namespace balm::array {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The letters that occur once, in alphabetical order.
std::string implicit_output(const subscripts& of) {
    const std::string all = of.operands[0] + of.operands[1];
    std::string once;
    for (const char c : all)
        if (std::count(all.begin(), all.end(), c) == 1) once += c;
    std::sort(once.begin(), once.end());
    return once;
}

void check_output(const subscripts& found, std::string_view words) {
    for (std::size_t k = 0; k < found.output.size(); ++k) {
        const char c = found.output[k];
        if (found.output.find(c, k + 1) != std::string::npos)
            throw usage_error(fmt::format(
                "the result of einsum \"{}\" names the axis '{}' twice; name each axis once", words, c));
        if (!has(found.operands[0], c) && !has(found.operands[1], c))
            throw usage_error(
                fmt::format("the result of einsum \"{}\" has an axis '{}', which no operand has", words, c));
    }
    if (found.output.size() > shape::max_dimensions)
        throw usage_error(fmt::format("the result of einsum \"{}\" has {} axes; arrays have at most eight",
                                      words, found.output.size()));
}

}  // namespace

subscripts parsed(std::string_view words, std::size_t operands) {
    std::string letters;
    for (const char c : words)
        if (c != ' ') letters += c;
    if (letters.find('.') != std::string::npos)
        throw usage_error(fmt::format(
            "einsum \"{}\" contains an ellipsis, which is not supported; name each axis by its own letter",
            words));
    const std::size_t arrow = letters.find("->");
    const std::string inputs = letters.substr(0, arrow);
    subscripts found;
    std::size_t operand = 0;
    for (const char c : inputs) {
        if (c == ',')
            ++operand;
        else if (!is_letter(c))
            throw usage_error(
                fmt::format("einsum \"{}\" contains the character '{}'; subscripts are letters, with a comma "
                            "between operands and -> before the result, as in \"ik,kj->ij\"",
                            words, c));
        else if (operand < operands)
            found.operands[operand] += c;
    }
    if (operand + 1 != operands)
        throw usage_error(fmt::format("einsum \"{}\" has subscripts for {} operands, but got {}", words,
                                      operand + 1, operands));
    if (arrow == std::string::npos) {
        found.output = implicit_output(found);
    } else {
        found.output = letters.substr(arrow + 2);
        for (const char c : found.output)
            if (!is_letter(c))
                throw usage_error(fmt::format(
                    "the result of einsum \"{}\" contains the character '{}'; its axes are letters", words,
                    c));
    }
    check_output(found, words);
    return found;
}

letter_extents::letter_extents(const subscripts& of, std::span<const shape> boxes, std::string_view words) {
    std::array<bool, 256> is_known{};
    std::array<std::size_t, 256> first_in{};
    for (std::size_t operand = 0; operand < boxes.size(); ++operand) {
        const std::string& letters = of.operands[operand];
        const shape& box = boxes[operand];
        const bool is_one_element = letters.empty() && box == shape(1);
        if (!is_one_element && letters.size() != static_cast<std::size_t>(box.dimensions()))
            throw usage_error(fmt::format(
                "{} names {} axes of operand {}, an array of {} with {}{}", words, letters.size(),
                operand + 1, to_string(box), box.dimensions(),
                box.dimensions() == 1 && letters.size() > 1
                    ? "; balm::view(x, {rows, columns}) makes a vector an array of more dimensions"
                    : ""));
        for (std::size_t d = 0; d < letters.size(); ++d) {
            const auto letter = static_cast<unsigned char>(letters[d]);
            const std::size_t extent = box[static_cast<int>(d)];
            if (is_known[letter] && extents_[letter] != extent)
                throw usage_error(fmt::format(
                    "{} has axis '{}' of {} elements in operand {} and of {} in operand {}; axes with the "
                    "same letter must have equal extents",
                    words, letters[d], extents_[letter], first_in[letter] + 1, extent, operand + 1));
            if (!is_known[letter]) first_in[letter] = operand;
            is_known[letter] = true;
            extents_[letter] = extent;
        }
    }
}

shape letter_extents::of(std::string_view letters) const {
    if (letters.empty()) return shape(1);
    std::vector<std::size_t> sizes;
    sizes.reserve(letters.size());
    for (const char c : letters) sizes.push_back((*this)[c]);
    return shape(sizes);
}

std::string common(std::string_view list, std::string_view others) {
    std::string found;
    for (const char c : list)
        if (has(others, c)) found += c;
    return found;
}
std::string without(std::string_view list, std::string_view others) {
    std::string found;
    for (const char c : list)
        if (!has(others, c)) found += c;
    return found;
}

}  // namespace balm::array
