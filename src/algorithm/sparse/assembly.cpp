// Converts triplets on devices to CSR on one device; joins the rows of several matrices into one.

#include "algorithm/sparse/assembly.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "algorithm/sparse/host_entries.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"

namespace balm::array {

namespace {

using vector_handle = std::shared_ptr<vector_state>;

/// An expression of elements on one device: itself or, over several devices, a copy on the first one.
tape on_first_device(const tape& p, trace::type type, std::size_t count) {
    if (!is_spread(p)) return p;
    tape values = p;
    const vector_handle near = vector_near(p, type);
    const vector_handle spread = make_like(*near, type, count);
    assign(*spread, std::move(values));
    auto made = std::make_shared<vector_state>(near->device_handle(), type, count);
    copy_elements(*made, 0, *spread, 0, count);
    tape here;
    here.push_vector(made);
    return here;
}

/// Throws usage_error for the first entry outside the matrix.
void check_indices(const device_triplets& from, const expr<std::int64_t>& rows,
                   const expr<std::int64_t>& columns, std::size_t count) {
    const auto is_out = [](const expr<std::int64_t>& index, std::size_t end) {
        return index < std::int64_t{0} || index >= static_cast<std::int64_t>(end);
    };
    const auto end = static_cast<std::int64_t>(count);
    const std::int64_t first =
        min(select(is_out(rows, from.rows) || is_out(columns, from.columns), element_index(0, count), end));
    if (first == end) return;
    const auto at = [&](const expr<std::int64_t>& index) {
        return vector<std::int64_t>(index[element_index(first, 1)])[0];
    };
    const std::int64_t row = at(rows);
    if (row < 0 || row >= static_cast<std::int64_t>(from.rows)) refuse_row(first, row, from.rows);
    refuse_column(first, row, at(columns), from.columns);
}

template <class I>
device_csr joined_with(std::span<const csr_part> parts, std::size_t columns) {
    const auto& on = parts[0].matrix.starts->device_handle();
    device_csr made;
    made.columns = columns;
    made.value = parts[0].matrix.value;
    made.index = parts[0].matrix.index;
    made.ascends = true;
    for (const csr_part& each : parts) {
        made.rows += each.matrix.rows;
        made.entries += each.matrix.entries;
        made.ascends = made.ascends && each.matrix.ascends;
    }
    vector<I> starts = elements_on<I>(on, made.rows + 1), all = elements_on<I>(on, made.entries);
    const auto values =
        std::make_shared<vector_state>(on, made.value, std::max<std::size_t>(made.entries, 1));
    std::size_t row = 0, entry = 0;
    const auto range = [](std::size_t first, std::size_t count) {
        return slice(static_cast<std::int64_t>(first), static_cast<std::int64_t>(first + count));
    };
    for (const csr_part& each : parts) {
        const device_csr& m = each.matrix;
        copy_elements(*starts.state(), row, *m.starts, 0, m.rows + 1);
        if (m.entries > 0) {
            copy_elements(*all.state(), entry, *m.column_indices, 0, m.entries);
            copy_elements(*values, entry, *m.values, 0, m.entries);
        }
        if (entry > 0) starts(range(row, m.rows + 1)) += static_cast<I>(entry);
        if (each.first_column > 0 && m.entries > 0)
            all(range(entry, m.entries)) += static_cast<I>(each.first_column);
        row += m.rows;
        entry += m.entries;
    }
    made.starts = starts.state();
    made.column_indices = all.state();
    made.values = values;
    return made;
}

}  // namespace

device_triplets triplets_of(std::size_t rows, std::size_t columns, tape row_indices, tape column_indices,
                            tape values, trace::type value) {
    const std::size_t counts[] = {element_count(row_indices), element_count(column_indices),
                                  element_count(values)};
    check_triplet_counts(counts[0], counts[1], counts[2]);
    tape all = row_indices;
    all.append(tape(column_indices));
    all.append(tape(values));
    refuse_writing(all);
    device_triplets made{rows,
                         columns,
                         std::move(row_indices),
                         std::move(column_indices),
                         std::move(values),
                         vector_near(all, value)};
    return made;
}

device_csr assembled_entries(const device_triplets& from, trace::type value, scalar index) {
    const std::size_t count = element_count(from.values);
    check_fit(from.rows, from.columns, count, index);
    const expr<std::int64_t> rows(on_first_device(from.row_indices, scalar::i64, count)),
        columns(on_first_device(from.column_indices, scalar::i64, count));
    auto values =
        std::make_shared<vector_state>(from.near->device_handle(), value, std::max<std::size_t>(count, 1));
    if (count > 0) {
        check_indices(from, rows, columns, count);
        vector_state exact(values->memory(), value, count, 0);
        assign(exact, on_first_device(from.values, value, count));
    }
    return combined(from.rows, from.columns, rows, columns, values, count, index);
}

device_csr joined(std::span<const csr_part> parts, std::size_t columns) {
    return parts[0].matrix.index == scalar::i64 ? joined_with<std::int64_t>(parts, columns)
                                                : joined_with<std::int32_t>(parts, columns);
}

}  // namespace balm::array
