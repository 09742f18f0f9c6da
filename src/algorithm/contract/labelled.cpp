#include "algorithm/contract/labelled.hpp"

#include "balm/along.hpp"

namespace balm::array {

namespace {

/// Whether all of the tape is computed at one affine position.
bool is_at_position(const tape& p) {
    if (p.steps.size() < 4 || p.steps[0].what != step::kind::position || p.steps[1].what != step::kind::at)
        return false;
    int depth = 1;
    for (std::size_t k = 2; k < p.steps.size(); ++k) {
        depth += (p.steps[k].what == step::kind::at) - (p.steps[k].what == step::kind::end);
        if (depth == 0) return k + 1 == p.steps.size();
    }
    return false;
}

tape at_position(const tape& p, const affine_map& map) {
    tape moved;
    moved.push_position(map);
    moved.append_at(p);
    return moved;
}

/// The tape with another map for its position.
tape moved(const tape& p, const affine_map& map) {
    tape q = p;
    const std::uint16_t leaf = q.steps[0].leaf;
    q.maps[leaf] = map;
    q.size = static_cast<std::int64_t>(map.box.count());
    q.box = map.box.dimensions() > 1 ? leaf : -1;
    return q;
}

/// The operand's map over other axes: each axis moves along all axes of its letter.
affine_map over(const labelled& of, std::string_view letters, const letter_extents& extents) {
    affine_map made{extents.of(letters), {}, of.map().offset};
    for (std::size_t d = 0; d < letters.size(); ++d) made.strides[d] = of.stride_of(letters[d]);
    return made;
}

}  // namespace

labelled with_letters(const tape& operand, std::string_view letters, const letter_extents& extents) {
    std::string once;
    for (const char c : letters)
        if (!has(once, c)) once += c;
    const labelled placed{
        is_at_position(operand) ? operand : at_position(operand, row_major(box_of(operand))),
        std::string(letters)};
    return rearranged(placed, once, extents);
}

labelled rearranged(const labelled& of, std::string_view letters, const letter_extents& extents) {
    return {moved(of.values, over(of, letters, extents)), std::string(letters)};
}

labelled part_of(const labelled& of, char letter, std::size_t first, const letter_extents& extents) {
    affine_map map = over(of, of.letters, extents);
    map.offset += static_cast<std::int64_t>(first) * of.stride_of(letter);
    return {moved(of.values, map), of.letters};
}

labelled summed(const labelled& of, std::string_view kept, const letter_extents& extents, scalar element) {
    const std::string rest = without(of.letters, kept);
    if (rest.empty()) return rearranged(of, kept, extents);
    dimension_list along_rest;
    for (std::size_t d = 0; d < rest.size(); ++d)
        along_rest.each[static_cast<std::size_t>(along_rest.count++)] =
            static_cast<std::int64_t>(kept.size() + d);
    tape sums = reduced_along(rearranged(of, std::string(kept) + rest, extents).values,
                              {reduction_kind::sum, element}, along_rest);
    return with_letters(sums, kept, extents);
}

}  // namespace balm::array
