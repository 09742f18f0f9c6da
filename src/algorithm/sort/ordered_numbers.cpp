// What selections of the first elements need besides expressions: keys as ascending numbers, and positions.

#include <fmt/format.h>

#include <memory>
#include <type_traits>
#include <vector>

#include "algorithm/sort/sort_key.hpp"
#include "array/spread/parts.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/error.hpp"
#include "balm/kernel.hpp"
#include "balm/top_k.hpp"
#include "balm/view.hpp"

namespace balm::array {

namespace {

/// The bits of a scalar, as an unsigned integer of its size.
template <class T>
trace::node bits_of(const dsl::Var<T>& x) {
    if constexpr (std::is_floating_point_v<T>)
        return block::node_of(
            dsl::bit_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(x));
    else
        return trace::convert(block::node_of(x), unsigned_of_bytes(sizeof(T)));
}

template <class T, bool IsDescending>
const std::shared_ptr<const ir::function>& number_function() {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    static const auto& made = *new auto(function("ordered_number(x)", [](dsl::Var<T> x) {
        const key_order how{scalar_of<T>, IsDescending};
        const trace::node number = rank_of_number(ordered_number(bits_of(x), how), how);
        return dsl::Var<U>(trace::convert(number, scalar_of<U>));
    }));
    return made.function();
}
template <class T>
std::shared_ptr<const ir::function> number_function(bool is_descending) {
    return is_descending ? number_function<T, true>() : number_function<T, false>();
}
std::shared_ptr<const ir::function> number_function(scalar type, bool is_descending) {
    switch (type) {
        case scalar::boolean: return number_function<bool>(is_descending);
        case scalar::i8: return number_function<std::int8_t>(is_descending);
        case scalar::u8: return number_function<std::uint8_t>(is_descending);
        case scalar::i16: return number_function<std::int16_t>(is_descending);
        case scalar::u16: return number_function<std::uint16_t>(is_descending);
        case scalar::i32: return number_function<std::int32_t>(is_descending);
        case scalar::u32: return number_function<std::uint32_t>(is_descending);
        case scalar::i64: return number_function<std::int64_t>(is_descending);
        case scalar::u64: return number_function<std::uint64_t>(is_descending);
        case scalar::f64: return number_function<double>(is_descending);
        default: return number_function<float>(is_descending);
    }
}

}  // namespace

tape ordered_numbers(tape&& elements, scalar type, sort_order order) {
    elements.push_call(number_function(type, order == sort_order::descending),
                       size_of(type) == 8 ? scalar::u64 : scalar::u32, 1);
    return std::move(elements);
}

std::shared_ptr<vector_state> on_one_device(const std::shared_ptr<vector_state>& v) {
    if (!v->is_spread()) return v;
    auto made = std::make_shared<vector_state>(v->device_handle(), v->type(), v->size());
    copy_elements(*made, 0, *v, 0, v->size());
    return made;
}

std::shared_ptr<vector_state> positions_like(const vector_state& v) {
    auto made = std::make_shared<vector_state>(v.device_handle(), scalar::i64, v.size());
    tape p;
    p.push_value(step::kind::index, scalar::i64, 0);
    if (v.size() > 0) assign(*made, std::move(p));
    return made;
}

tape first_along(tape&& of, const dimension_list& over, std::size_t count) {
    const shape box = box_of(of);
    std::vector<slice_part> parts(static_cast<std::size_t>(box.dimensions()));
    parts[static_cast<std::size_t>(over.each[0])] = slice(0, static_cast<std::int64_t>(count));
    return read(sliced(viewed(std::move(of), box), parts));
}

void refuse_top(std::size_t count, std::size_t size) {
    throw usage_error(
        fmt::format("cannot take the first {} elements of an array of {}: it has fewer", count, size));
}
void refuse_rank(std::size_t rank, std::size_t size) {
    throw usage_error(fmt::format(
        "rank {} is out of range for an array of {} elements: ranks begin at 0 and are less than its size",
        rank, size));
}

}  // namespace balm::array
