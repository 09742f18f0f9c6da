// Sorts of any number of keys and values, and sorted expressions.

#include "balm/sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "algorithm/sort/merge_sort.hpp"
#include "algorithm/sort/radix_sort.hpp"
#include "algorithm/sort/sort_with_values.hpp"
#include "algorithm/sort/spread_sort.hpp"
#include "array/layout.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/view.hpp"

namespace balm::array {

namespace {

using vector_handle = std::shared_ptr<vector_state>;

/// Writes the positions 0, 1, 2, … as integers of the vector's type.
void number(vector_state& positions) {
    tape p;
    p.push_value(step::kind::index, scalar::i64, 0);
    if (positions.type().element != scalar::i64) push_convert(p, positions.type());
    assign(positions, std::move(p));
}
/// The positions of a vector's elements, on its devices.
vector_handle numbered(const vector_state& near) {
    const bool is_narrow = near.size() - 1 <= std::numeric_limits<std::uint32_t>::max();
    auto made = make_like(near, is_narrow ? scalar::u32 : scalar::i64, near.size());
    number(*made);
    return made;
}

/// to[k] = from[positions[k]]
void gather(vector_state& to, const vector_handle& from, const vector_handle& positions) {
    tape where, of;
    where.push_vector(positions);
    of.push_vector(from);
    push_convert(where, scalar::i64);
    where.append_at(std::move(of));
    assign(to, std::move(where));
}

vector_handle made_like(const vector_state& v) {
    return std::make_shared<vector_state>(v.device_handle(), v.type(), v.size());
}
vector_handle copied(const vector_state& v) {
    vector_handle made = made_like(v);
    copy_elements(*made, 0, v, 0, v.size());
    return made;
}

/// The order of several keys as positions. The last key is sorted by first.
vector_handle sorted_order(std::span<const sort_key> keys) {
    vector_handle positions = numbered(*keys[0].elements);
    for (std::size_t k = keys.size(); k-- > 0;) {
        const vector_handle& key = keys[k].elements;
        const bool is_first = k + 1 == keys.size();
        const vector_handle moved = is_first ? copied(*key) : made_like(*key);
        if (!is_first) gather(*moved, key, positions);
        radix_sort(*moved, keys[k].order == sort_order::descending, positions.get());
    }
    return positions;
}

/// Permutes vectors. Allocates its memory before anything is sorted: if that fails, keys and values still
/// match.
class permutation {
public:
    template <class List, class Vector>
    permutation(const List& all, const Vector& vector_in) {
        std::size_t bytes = 0;
        for (const auto& each : all) {
            const vector_handle& v = vector_in(each);
            bytes = std::max(bytes, v->size() * v->element_size());
        }
        if (bytes > 0)
            spare_ = std::make_shared<vector_state>(vector_in(all[0])->device_handle(), scalar::u8, bytes);
    }
    void apply(const vector_handle& v, const vector_handle& order) const {
        vector_state moved(spare_->memory(), v->type(), v->size(), 0);
        gather(moved, v, order);
        copy_elements(*v, 0, moved, 0, v->size());
    }

private:
    vector_handle spare_;
};
const vector_handle& itself(const vector_handle& v) { return v; }

}  // namespace

void sort_with_values(const vector_handle& keys, std::span<const vector_handle> values,
                      const std::function<void(vector_state*)>& sort_moving) {
    if (values.empty()) return sort_moving(nullptr);
    if (values.size() == 1 && can_move_with_keys(values[0]->element_size()))
        return sort_moving(values[0].get());
    const permutation moved(values, itself);
    const vector_handle order = numbered(*keys);
    sort_moving(order.get());
    for (const vector_handle& each : values) moved.apply(each, order);
}

namespace {

void sort_on_device(std::span<const sort_key> keys, std::span<const vector_handle> values) {
    const bool is_descending = keys[0].order == sort_order::descending;
    if (keys.size() == 1)
        return sort_with_values(keys[0].elements, values, [&](vector_state* moved) {
            radix_sort(*keys[0].elements, is_descending, moved);
        });
    const permutation moved_values(values, itself);
    const vector_handle order = sorted_order(keys);
    const permutation moved_keys(keys,
                                 [](const sort_key& each) -> const vector_handle& { return each.elements; });
    for (const sort_key& each : keys) moved_keys.apply(each.elements, order);
    for (const vector_handle& each : values) moved_values.apply(each, order);
}

/// The same by a comparison of keys.
void sort_on_device(const vector_handle& keys, const comparison& is_ahead,
                    std::span<const vector_handle> values) {
    sort_with_values(keys, values, [&](vector_state* moved) { merge_sort(*keys, is_ahead, moved); });
}

void check(std::span<const vector_handle> all) {
    for (const vector_handle& each : all) {
        const std::size_t own = each ? each->size() : 0, first = all[0] ? all[0]->size() : 0;
        if (own != first)
            throw usage_error(fmt::format(
                "cannot sort vectors of {} and {} elements together; their sizes must be equal", first, own));
    }
    for (std::size_t k = 0; k < all.size(); ++k)
        for (std::size_t j = 0; j < k; ++j)
            if (all[k] && all[j] && all[k]->overlaps(*all[j]))
                throw usage_error(
                    "a sort got the same vector twice, or vectors that share elements; pass each vector "
                    "once");
}

/// Sorts vectors by the first `keys` of them; sort_here(vectors) sorts those on one device.
void sort_together(const std::vector<vector_handle>& all, std::size_t keys, const ordering& by,
                   const std::function<void(const device_arrays&)>& sort_here) {
    check(all);
    if (!all[0] || all[0]->size() < 2) return;
    for (const vector_handle& each : all) check_same_devices(*all[0], *each);
    if (!all[0]->is_spread()) return sort_here(all);
    device_arrays parted;
    for (const vector_handle& each : all) parted.push_back(parted_like(*all[0], each));
    sort_parts(parted, keys, by, sort_here);
    for (std::size_t k = 0; k < all.size(); ++k)
        if (all[k] != parted[k]) copy_elements(*all[k], 0, *parted[k], 0, all[k]->size());
}

/// The row number of each element.
vector_handle row_numbers(const vector_state& elements, std::size_t row) {
    vector_handle rows = numbered(elements);
    tape p;
    p.push_vector(rows);
    p.push_value(step::kind::scalar, rows->type().element, row);
    array::step& s = p.push(step::kind::apply);
    s.type = rows->type();
    s.detail = static_cast<std::uint32_t>(builtin::div);
    s.arity = 2;
    assign(*rows, std::move(p));
    return rows;
}

/// Rows that are too long for one group are sorted together, with their row numbers, then stably by row
/// number.
void sort_rows_on_device(vector_state& elements, bool is_descending, std::size_t row) {
    if (row < 2 || elements.size() == 0) return;
    if (row == elements.size()) return radix_sort(elements, is_descending, nullptr);
    if (can_sort_rows(elements.device(), row)) return radix_sort_rows(elements, is_descending, nullptr, row);
    const vector_handle rows = row_numbers(elements, row);
    radix_sort(elements, is_descending, rows.get());
    radix_sort(*rows, false, &elements);
}

/// Over several devices, each device gets whole rows, about as many elements as its part has. If rows are
/// longer than a part, elements are sorted by row number first.
void sort_rows(const vector_handle& elements, bool is_descending, std::size_t row) {
    if (row < 2 || elements->size() == 0) return;
    if (!elements->is_spread()) return sort_rows_on_device(*elements, is_descending, row);
    std::size_t least_part = elements->size();
    for (const vector_state::part& p : elements->parts())
        if (p.elements->size() > 0) least_part = std::min(least_part, p.elements->size());
    const sort_order order = is_descending ? sort_order::descending : sort_order::ascending;
    const sort_key key{elements, order};
    if (row == elements->size()) return sort({&key, 1}, {});
    if (row > least_part) {
        const vector_handle rows = row_numbers(*elements, row);
        if (is_descending) invert(rows);
        const sort_key both[] = {{rows, order}, key};
        return sort(both, {});
    }
    const vector_handle whole = in_whole_rows(*elements, row);
    copy_elements(*whole, 0, *elements, 0, elements->size());
    for (const vector_state::part& p : whole->parts()) sort_rows_on_device(*p.elements, is_descending, row);
    copy_elements(*elements, 0, *whole, 0, elements->size());
}

/// Whether a device sorts rows by themselves: there is only one, or each fits one group.
bool sorts_whole_rows(runtime::device_state& device, std::size_t row, std::size_t size) {
    return row == size || can_sort_rows(device, row);
}
void sort_whole_rows(vector_state& keys, sort_order order, vector_state& positions, std::size_t row) {
    const bool is_descending = order == sort_order::descending;
    if (row == keys.size()) return radix_sort(keys, is_descending, &positions);
    radix_sort_rows(keys, is_descending, &positions, row);
}
/// Sorts the positions in each row by its elements, which are sorted or not afterwards.
void sort_positions_in_rows(const vector_handle& keys, sort_order order, const vector_handle& positions,
                            std::size_t row) {
    if (row < 2 || keys->size() == 0) return;
    if (!keys->is_spread() && sorts_whole_rows(keys->device(), row, keys->size()))
        return sort_whole_rows(*keys, order, *positions, row);
    const vector_handle rows = row_numbers(*keys, row);
    if (keys->is_spread() && order == sort_order::descending) invert(rows);
    const sort_key both[] = {{rows, keys->is_spread() ? order : sort_order::ascending}, {keys, order}};
    sort(both, {&positions, 1});
}

/// Writes each element's position in its row.
void number_in_rows(vector_state& positions, std::size_t row) {
    tape p;
    p.push_value(step::kind::index, scalar::i64, 0);
    p.push_value(step::kind::scalar, scalar::i64, row);
    array::step& rest = p.push(step::kind::apply);
    rest.type = scalar::i64;
    rest.detail = static_cast<std::uint32_t>(builtin::rem);
    rest.arity = 2;
    if (positions.type().element != scalar::i64) push_convert(p, positions.type());
    assign(positions, std::move(p));
}

vector_handle computed(const tape& p, trace::type type, std::size_t count) {
    tape values = p;
    vector_handle made = make_like(*vector_near(p, type), type, count);
    assign(*made, std::move(values));
    return made;
}

class sort_producer : public producer {
public:
    /// Sorts each `row` elements by themselves.
    sort_producer(tape&& of, trace::type type, sort_order order, const shape& extents, std::size_t row)
        : producer(extents, type, vector_near(of, type)), of_(std::move(of)), order_(order), row_(row) {}

    bool compute_into(vector_state& into) const override {
        if (into.is_spread()) return false;
        tape values = of_;
        assign(into, std::move(values));
        sort_rows_on_device(into, is_descending(), row_);
        return true;
    }
    std::shared_ptr<vector_state> compute() const override {
        vector_handle made = computed(of_, type(), extents().count());
        sort_rows(made, is_descending(), row_);
        return made;
    }

private:
    bool is_descending() const { return order_ == sort_order::descending; }

    tape of_;
    sort_order order_;
    std::size_t row_;
};

class position_producer : public producer {
public:
    position_producer(tape&& keys, trace::type key, sort_order order, scalar position)
        : producer(shape(box_of(keys).count()), position, vector_near(keys, position)),
          keys_(std::move(keys)),
          key_(key),
          order_(order) {}

    bool compute_into(vector_state& into) const override {
        if (into.is_spread()) return false;
        if (into.size() == 0) return true;
        const vector_handle keys = computed(keys_, key_, into.size());
        number(into);
        radix_sort(*keys, order_ == sort_order::descending, &into);
        return true;
    }
    std::shared_ptr<vector_state> compute() const override {
        vector_handle made = make_like(*near(), type(), extents().count());
        if (made->size() == 0) return made;
        const vector_handle keys = computed(keys_, key_, made->size());
        number(*made);
        const sort_key by{keys, order_};
        sort({&by, 1}, {&made, 1});
        return made;
    }

private:
    tape keys_;
    trace::type key_;
    sort_order order_;
};

/// The positions in each row of the elements of the last dimension.
class row_position_producer : public producer {
public:
    row_position_producer(tape&& keys, trace::type key, sort_order order, scalar position, const shape& box)
        : producer(box, position, vector_near(keys, position)),
          keys_(std::move(keys)),
          key_(key),
          order_(order) {}

    bool compute_into(vector_state& into) const override {
        if (into.is_spread()) return false;
        if (into.size() == 0) return true;
        if (!sorts_whole_rows(into.device(), row(), into.size())) return false;
        const vector_handle keys = computed(keys_, key_, into.size());
        number_in_rows(into, row());
        if (row() > 1) sort_whole_rows(*keys, order_, into, row());
        return true;
    }
    std::shared_ptr<vector_state> compute() const override {
        vector_handle made = make_like(*near(), type(), extents().count());
        if (made->size() == 0) return made;
        number_in_rows(*made, row());
        sort_positions_in_rows(computed(keys_, key_, made->size()), order_, made, row());
        return made;
    }

private:
    std::size_t row() const { return extents()[extents().dimensions() - 1]; }

    tape keys_;
    trace::type key_;
    sort_order order_;
};

/// Calls make(elements, box) with elements whose last dimension is the one that `over` names, and returns its
/// result with the dimensions of `elements`.
template <class Make>
tape made_along(const char* runner, tape&& elements, const dimension_list& over, Make&& make) {
    along_one(runner, elements, over);  // throws if there is no such dimension
    const shape box = box_of(elements);
    const int last = box.dimensions() - 1, dimension = static_cast<int>(over.each[0]);
    if (dimension == last) return make(std::move(elements), box);
    std::vector<int> order, back;
    for (int d = 0; d <= last; ++d)
        if (d != dimension) order.push_back(d);
    order.push_back(dimension);
    std::vector<std::size_t> extents(order.size());
    std::transform(order.begin(), order.end(), extents.begin(), [&](int d) { return box[d]; });
    for (int d = 0; d <= last; ++d) back.push_back(d < dimension ? d : d == dimension ? last : d - 1);
    tape rows = read(transposed(viewed(std::move(elements), box), order));
    const shape of_rows(extents);
    return read(transposed(viewed(make(std::move(rows), of_rows), of_rows), back));
}

/// Throws usage_error unless an integer type represents positions among so many elements.
void check_positions(std::uint64_t count, scalar position) {
    const std::size_t bits = 8 * size_of(position) - (is_signed(position) ? 1 : 0);
    if (bits < 64 && count >> bits != 0)
        throw usage_error(fmt::format(
            "the positions of {} elements do not fit in integers of {} bits; write argsort<std::int64_t>(x)",
            count, 8 * size_of(position)));
}

}  // namespace

void sort(std::span<const sort_key> keys, std::span<const vector_handle> values) {
    std::vector<vector_handle> all;
    for (const sort_key& each : keys) all.push_back(each.elements);
    all.insert(all.end(), values.begin(), values.end());
    sort_together(all, keys.size(), {keys[0].order}, [&](const device_arrays& here) {
        std::vector<sort_key> own;
        for (std::size_t k = 0; k < keys.size(); ++k) own.push_back({here[k], keys[k].order});
        sort_on_device(own, std::span(here).subspan(keys.size()));
    });
}

void sort(const vector_handle& keys, const comparison& is_ahead, std::span<const vector_handle> values) {
    std::vector<vector_handle> all{keys};
    all.insert(all.end(), values.begin(), values.end());
    sort_together(all, 1, {sort_order::ascending, is_ahead}, [&](const device_arrays& here) {
        sort_on_device(here[0], is_ahead, std::span(here).subspan(1));
    });
}

tape sorted(tape&& elements, trace::type type, sort_order order) {
    const std::size_t count = box_of(elements).count();
    tape p;
    p.push_produced(std::make_shared<sort_producer>(std::move(elements), type, order, shape(count), count));
    return p;
}

tape sorted_along(tape&& elements, trace::type type, sort_order order, const dimension_list& over) {
    return made_along("a sort", std::move(elements), over, [&](tape&& rows, const shape& box) {
        tape p;
        const std::size_t row = box[box.dimensions() - 1];
        p.push_produced(std::make_shared<sort_producer>(std::move(rows), type, order, box, row));
        return p;
    });
}

tape sorted_positions(tape&& keys, trace::type key, sort_order order, scalar position) {
    check_positions(box_of(keys).count(), position);
    tape p;
    p.push_produced(std::make_shared<position_producer>(std::move(keys), key, order, position));
    return p;
}
tape sorted_positions_along(tape&& keys, trace::type key, sort_order order, scalar position,
                            const dimension_list& over) {
    return made_along("argsort", std::move(keys), over, [&](tape&& rows, const shape& box) {
        check_positions(box[box.dimensions() - 1], position);
        tape p;
        p.push_produced(std::make_shared<row_position_producer>(std::move(rows), key, order, position, box));
        return p;
    });
}

}  // namespace balm::array
