// Values that CPUs compute several times faster in a statement of their own than in the loop of an algorithm,
// which calls a function for each element.

#include <algorithm>
#include <span>
#include <vector>

#include "array/layout.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "balm/view.hpp"
#include "ir/lower/widen.hpp"

namespace balm::array {

namespace {

/// Of the device's memory: larger values are computed in the algorithm's loop.
constexpr std::size_t largest_share = 8;

bool is_slow(const ir::function& f) {
    const auto all = ir::with_callees(f);
    return std::any_of(all.begin(), all.end(), [](const ir::function* each) {
        return std::any_of(each->code.begin(), each->code.end(), [](const ir::instruction& i) {
            return i.op == ir::opcode::builtin && i.result.is_scalar() &&
                   ir::is_slow_in_loops(static_cast<builtin>(i.detail), i.result.element);
        });
    });
}
bool is_slow(const tape& p) {
    return calls_vector_functions(p) || std::any_of(p.functions.begin(), p.functions.end(),
                                                    [](const auto& each) { return is_slow(*each); });
}

/// The value that the steps [begin, end) of a tape compute.
tape value_of(const tape& p, std::size_t begin, std::size_t end) {
    tape value = p;
    value.steps.clear();
    value.vectors.clear();
    value.functions.clear();
    value.images = {};
    const auto moved = [](auto& to, const auto& leaf) {
        to.push_back(leaf);
        return static_cast<std::uint16_t>(to.size() - 1);
    };
    for (step s : std::span(p.steps.begin() + begin, p.steps.begin() + end)) {
        if (s.what == step::kind::vector || s.what == step::kind::memory)
            s.leaf = moved(value.vectors, p.vectors[s.leaf]);
        else if (s.what == step::kind::image)
            s.leaf = moved(value.images, p.images[s.leaf]);
        else if (s.what == step::kind::call)
            s.leaf = moved(value.functions, p.functions[s.leaf]);
        value.push(s);
    }
    return value;
}

/// The value from a vector; truth values are bytes there.
tape stored(tape&& value, const std::shared_ptr<runtime::device_state>& device) {
    const shape box = box_of(value);
    const bool has_box = value.box >= 0, is_truth = type_of_last(value) == trace::type(scalar::boolean);
    if (is_truth) push_convert(value, scalar::u8);
    const trace::type type = type_of_last(value);
    auto made = std::make_shared<vector_state>(device, type, box.count());
    assign(*made, std::move(value));
    tape p;
    p.push_vector(std::move(made));
    if (has_box) p = read(viewed(std::move(p), box));
    if (is_truth) push_convert(p, scalar::boolean);
    return p;
}

}  // namespace

bool has_slow_values(const tape& p) {
    return p.size > 0 && !p.writes_memory && !is_spread(p) && device_of(p)->info().type == device_type::cpu &&
           is_slow(p);
}

void store_slow_values(tape& p) {
    if (!has_slow_values(p)) return;
    const std::shared_ptr<runtime::device_state> device = device_of(p);
    tape all;
    std::size_t begin = 0, bytes = 0;
    try {
        for (const std::size_t end : ends_of_values(p)) {
            tape value = value_of(p, begin, end);
            begin = end;
            const trace::type type = type_of_last(value);
            const std::size_t more = element_count(value) * trace::size_of(type);
            if (is_slow(value) && (type.is_scalar() || type.element != scalar::boolean) &&
                bytes + more <= device->info().global_memory / largest_share) {
                bytes += more;
                value = stored(std::move(value), device);
            }
            all.append(std::move(value));
        }
    } catch (const out_of_memory_error&) {
        return;
    }
    p = std::move(all);
}

}  // namespace balm::array
