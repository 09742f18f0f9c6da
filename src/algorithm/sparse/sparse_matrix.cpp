// Sparse matrices: checks what the user gives, stores it on the devices, and makes products leaves of
// expressions: calls of a function for each row, or what a producer computes.

#include "balm/sparse_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "algorithm/sparse/assembly.hpp"
#include "algorithm/sparse/balanced_kernels.hpp"
#include "algorithm/sparse/host_entries.hpp"
#include "algorithm/sparse/product_functions.hpp"
#include "algorithm/sparse/sparse_strategy.hpp"
#include "algorithm/sparse/stored_matrix.hpp"
#include "array/spread/partition.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

/// Of several devices each has consecutive rows, without the columns that are ahead of all their entries, or
/// beyond.
struct matrix_part {
    std::shared_ptr<runtime::device_state> device;
    std::size_t first_row = 0, first_column = 0;
    stored_matrix matrix;
};

/// The devices of a matrix, and how rows are divided among several.
struct device_shares {
    std::vector<std::shared_ptr<runtime::device_state>> devices;
    std::vector<double> weights;
};

class sparse_state {
public:
    std::size_t rows = 0, columns = 0, entries = 0;
    trace::type value;
    std::vector<matrix_part> parts;
    device_shares where;
    std::shared_ptr<vector_state> near;  ///< a vector without elements on the matrix's devices

    bool is_spread() const { return parts.size() > 1; }
    scalar index() const { return parts[0].matrix.index; }
};

namespace {

std::string no_elements(const char* what_is_done) {
    return fmt::format("a sparse matrix that has no elements yet is {}; assign one to it first",
                       what_is_done);
}

// ---- From the host

template <class I>
void store_parts(sparse_state& to, const host_csr& from, const std::vector<std::int64_t>& pointers,
                 scalar index, storage how) {
    const std::vector<std::shared_ptr<runtime::device_state>>& devices = to.where.devices;
    std::vector<std::size_t> first_rows{0, from.rows};
    if (devices.size() > 1) first_rows = partition(from.rows, to.where.weights);
    std::vector<I> copy;
    const I* const columns = checked_columns(from, pointers, copy);
    for (std::size_t k = 0; k < devices.size(); ++k) {
        matrix_part part;
        part.device = devices[k];
        part.first_row = first_rows[k];
        host_rows rows;
        rows.pointers = std::span(pointers).subspan(first_rows[k], first_rows[k + 1] - first_rows[k] + 1);
        rows.columns = columns;
        rows.values = from.values;
        rows.column_count = from.columns;
        if (devices.size() > 1) {
            const auto [low, high] =
                std::minmax_element(columns + rows.pointers.front(), columns + rows.pointers.back());
            rows.first_column = rows.entries() > 0 ? static_cast<std::int64_t>(*low) : 0;
            rows.column_count =
                rows.entries() > 0 ? static_cast<std::size_t>(*high - *low) + 1 : std::size_t{0};
        }
        part.first_column = static_cast<std::size_t>(rows.first_column);
        part.matrix = stored(rows, to.value, index, how, part.device);
        to.parts.push_back(std::move(part));
    }
}

/// A vector of no elements, which says where others are.
std::shared_ptr<vector_state> nothing_on(const device_shares& where, trace::type type) {
    if (where.devices.size() == 1) return std::make_shared<vector_state>(where.devices[0], type, 0);
    std::vector<vector_state::part> parts;
    for (const auto& each : where.devices)
        parts.push_back({0, std::make_shared<vector_state>(each, type, 0)});
    return std::make_shared<vector_state>(std::move(parts), type, 0);
}

device_shares shares_of(const context& where) {
    device_shares made;
    for (const device& each : where.devices()) made.devices.push_back(each.state());
    if (where.size() > 1) made.weights = weights_of(where);
    return made;
}

std::shared_ptr<const sparse_state> make(device_shares where, const host_csr& from, trace::type value,
                                         scalar index, storage how) {
    check_sizes(from, index);
    const std::vector<std::int64_t> pointers = checked_pointers(from);
    auto made = std::make_shared<sparse_state>();
    made->rows = from.rows;
    made->columns = from.columns;
    made->entries = from.value_count;
    made->value = value;
    made->near = nothing_on(where, value);
    made->where = std::move(where);
    if (index == scalar::i64)
        store_parts<std::int64_t>(*made, from, pointers, index, how);
    else
        store_parts<std::int32_t>(*made, from, pointers, index, how);
    return made;
}
template <class I>
std::shared_ptr<const sparse_state> make_sorted(device_shares where, const host_triplets& from,
                                                trace::type value, storage how) {
    const sorted_triplets<I> sorted = sorted_by_row<I>(from, trace::size_of(value));
    const host_csr csr{from.rows,
                       from.columns,
                       balm::detail::host_integers_of(sorted.row_pointers),
                       balm::detail::host_integers_of(sorted.column_indices),
                       sorted.values.data(),
                       from.value_count};
    return make(std::move(where), csr, value, scalar_of<I>, how);
}

// ---- From a device

/// A matrix of the entries on the first device, which the others get their rows from.
std::shared_ptr<const sparse_state> make(device_shares where, const device_csr& from, storage how) {
    auto made = std::make_shared<sparse_state>();
    made->rows = from.rows;
    made->columns = from.columns;
    made->entries = from.entries;
    made->value = from.value;
    made->near = nothing_on(where, from.value);
    made->where = std::move(where);
    const auto& devices = made->where.devices;
    if (devices.size() == 1) {
        made->parts.push_back({devices[0], 0, 0, stored(from, how)});
        return made;
    }
    const std::vector<std::size_t> first_rows = partition(from.rows, made->where.weights);
    for (std::size_t k = 0; k < devices.size(); ++k) {
        csr_part part = rows_on(from, first_rows[k], first_rows[k + 1], devices[k]);
        made->parts.push_back({devices[k], first_rows[k], part.first_column, stored(part.matrix, how)});
    }
    return made;
}
/// The entries of a matrix on its first device.
device_csr entries_of_all(const sparse_state& matrix) {
    std::vector<csr_part> parts;
    for (const matrix_part& each : matrix.parts)
        parts.push_back({entries_on_device(each.matrix), each.first_column});
    return matrix.is_spread() ? joined(parts, matrix.columns) : std::move(parts[0].matrix);
}

// ---- Products

/// Whether a tape is one vector of this type and nothing else.
bool is_vector_of(const tape& p, trace::type type) {
    return p.steps.size() == 1 && p.steps[0].what == step::kind::vector && p.produced.empty() &&
           p.vectors[0]->type() == type;
}

/// The elements of a tape in a vector, which may be one that it reads.
std::shared_ptr<vector_state> evaluated(const tape& of, trace::type type, std::size_t size,
                                        const vector_state& near) {
    if (is_vector_of(of, type)) return of.vectors[0];
    tape p = of;
    materialise(p);
    if (is_vector_of(p, type)) return p.vectors[0];
    auto made = make_like(near, type, size);
    assign(*made, std::move(p));
    return made;
}

/// A product's operand that is no vector: computed ahead of the kernel, once however often it occurs.
class operand_producer : public producer {
public:
    operand_producer(tape&& of, trace::type type, std::size_t size, std::shared_ptr<vector_state> near)
        : producer(shape(size), type, std::move(near)), of_(std::move(of)) {}

    std::shared_ptr<vector_state> compute() const override {
        return evaluated(of_, type(), extents().count(), *near());
    }
    bool compute_into(vector_state&) const override { return false; }

private:
    tape of_;
};

void push_number(tape& p, std::size_t number) { p.push_value(step::kind::scalar, scalar::i64, number); }

/// The rows of a product as calls; `push_x` pushes x as memory.
template <class PushX>
tape calls_of(const stored_matrix& m, const PushX& push_x) {
    tape p;
    p.push_value(step::kind::index, scalar::i64, 0);
    p.size = static_cast<std::int64_t>(m.rows);
    function_pointer f;
    std::size_t arity = 4;
    switch (m.how) {
        case storage::diagonals: {
            const bool has_branches =
                kernels::facts_for(m.values->device()).on_cpu && !are_matrices_of_gpus();
            f = diagonals_function(m.value, m.offsets.size(), has_branches);
            p.push_memory(m.values, false);
            push_x(p);
            push_number(p, m.stride);
            push_number(p, m.columns);
            for (const std::int64_t offset : m.offsets) push_number(p, static_cast<std::size_t>(offset));
            arity = 5 + m.offsets.size();
            break;
        }
        case storage::slices:
            f = m.starts ? slices_function(m.value, m.index) : slices_function(m.value, m.index, m.width);
            [[fallthrough]];
        default:
            if (!f) f = rows_function(m.value, m.index, m.has_long_rows);
            if (m.starts) {
                p.push_memory(m.starts, false);
                arity = 5;
            }
            p.push_memory(m.values, false);
            p.push_memory(m.column_indices, false);
            push_x(p);
    }
    p.push_call(f, m.value, static_cast<std::uint16_t>(arity));
    return p;
}

/// into = matrix * x, on one device, in elements apart from those of x.
void multiply(const stored_matrix& m, const std::shared_ptr<vector_state>& x, vector_state& into) {
    if (!m.is_inline()) return multiply_balanced(m, x, into);
    assign(into, calls_of(m, [&](tape& p) { p.push_memory(x, false); }));
}

/// A product that fills a vector.
class product_producer : public producer {
public:
    product_producer(std::shared_ptr<const sparse_state> matrix, tape&& x)
        : producer(shape(matrix->rows), matrix->value, matrix->near),
          matrix_(std::move(matrix)),
          x_(std::move(x)) {}

    std::shared_ptr<vector_state> compute() const override {
        std::vector<vector_state::part> parts;
        for (const matrix_part& each : matrix_->parts)
            parts.push_back(
                {each.first_row, std::make_shared<vector_state>(each.device, type(), each.matrix.rows)});
        auto made = matrix_->is_spread()
                        ? std::make_shared<vector_state>(std::move(parts), type(), matrix_->rows)
                        : parts[0].elements;
        write(operand(), *made);
        return made;
    }
    bool compute_into(vector_state& into) const override {
        if (!is_parted_alike(into)) return false;
        const std::shared_ptr<vector_state> x = operand();
        if (x->overlaps(into)) return false;
        write(x, into);
        return true;
    }

private:
    std::shared_ptr<vector_state> operand() const { return evaluated(x_, type(), matrix_->columns, *near()); }
    bool is_parted_alike(const vector_state& into) const {
        if (!matrix_->is_spread()) return !into.is_spread() && &into.device() == &near()->device();
        const auto parts = into.parts();
        return std::equal(parts.begin(), parts.end(), matrix_->parts.begin(), matrix_->parts.end(),
                          [](const vector_state::part& a, const matrix_part& b) {
                              return &a.elements->device() == b.device.get() && a.first == b.first_row &&
                                     a.elements->size() == b.matrix.rows;
                          });
    }
    void write(const std::shared_ptr<vector_state>& x, vector_state& into) const {
        if (!matrix_->is_spread()) return multiply(matrix_->parts[0].matrix, x, into);
        for (std::size_t k = 0; k < matrix_->parts.size(); ++k) {
            const matrix_part& part = matrix_->parts[k];
            auto needed = std::make_shared<vector_state>(part.device, type(), part.matrix.columns);
            copy_elements(*needed, 0, *x, part.first_column, part.matrix.columns);
            multiply(part.matrix, needed, *into.parts()[k].elements);
        }
    }

    const std::shared_ptr<const sparse_state> matrix_;
    const tape x_;
};

/// Throws usage_error for a vector that the matrix cannot be multiplied by.
void check_operand(const sparse_state& matrix, const tape& x) {
    if (x.size >= 0 && static_cast<std::size_t>(x.size) != matrix.columns)
        throw usage_error(
            fmt::format("a sparse matrix of {} x {} is multiplied by a vector of {} elements; "
                        "it has one for each column",
                        matrix.rows, matrix.columns, x.size));
    for (const auto& v : x.vectors) {
        const bool is_there = v->is_spread() == matrix.is_spread() &&
                              v->parts().size() == matrix.near->parts().size() &&
                              std::equal(v->parts().begin(), v->parts().end(), matrix.near->parts().begin(),
                                         [](const auto& a, const auto& b) {
                                             return &a.elements->device() == &b.elements->device();
                                         }) &&
                              &v->device() == &matrix.near->device();
        if (is_there) continue;
        const auto words = [](const vector_state& of) {
            return of.is_spread() ? fmt::format("{} devices", of.parts().size()) : of.device().words();
        };
        throw usage_error(
            fmt::format("a sparse matrix on {} is multiplied by a vector on {}; both are made "
                        "with one context",
                        words(*matrix.near), words(*v)));
    }
}

}  // namespace

std::shared_ptr<const sparse_state> make_sparse(const context& where, const host_csr& from, trace::type value,
                                                scalar index, storage how) {
    return make(shares_of(where), from, value, index, how);
}
std::shared_ptr<const sparse_state> make_sparse(const context& where, const host_triplets& from,
                                                trace::type value, scalar index, storage how) {
    return index == scalar::i64 ? make_sorted<std::int64_t>(shares_of(where), from, value, how)
                                : make_sorted<std::int32_t>(shares_of(where), from, value, how);
}
std::shared_ptr<const sparse_state> transposed(const sparse_state* matrix, storage how) {
    if (!matrix) throw usage_error(no_elements("transposed"));
    return make(matrix->where, transposed(entries_of_all(*matrix)), how);
}
std::shared_ptr<const sparse_state> assembled(const device_triplets& from, trace::type value, scalar index,
                                              storage how) {
    device_shares where;
    if (!from.near->is_spread()) where.devices.push_back(from.near->device_handle());
    for (const vector_state::part& each : from.near->parts()) {
        where.devices.push_back(each.elements->device_handle());
        where.weights.push_back(from.near->size() > 0 ? static_cast<double>(each.elements->size()) : 1.0);
    }
    return make(std::move(where), assembled_entries(from, value, index), how);
}
std::shared_ptr<const sparse_state> multiplied(const sparse_state* a, const sparse_state* b, storage how) {
    if (!a || !b) throw usage_error(no_elements("multiplied"));
    if (a->columns != b->rows)
        throw usage_error(
            fmt::format("a sparse matrix of {} x {} is multiplied by one of {} x {}; the second "
                        "has a row for each column of the first",
                        a->rows, a->columns, b->rows, b->columns));
    if (a->where.devices != b->where.devices)
        throw usage_error(
            "two sparse matrices on different devices are multiplied; both are made with one context");
    return make(a->where, multiplied(entries_of_all(*a), entries_of_all(*b)), how);
}

std::size_t kept_entries_of(const sparse_state* matrix) {
    if (!matrix) throw usage_error(no_elements("read"));
    std::size_t sum = 0;
    for (const matrix_part& each : matrix->parts) sum += each.matrix.kept;
    return sum;
}
void read_csr(const sparse_state& matrix, const csr_memory& to) {
    std::memset(to.row_pointers, 0,
                matrix.index() == scalar::i64 ? sizeof(std::int64_t) : sizeof(std::int32_t));
    for (const matrix_part& each : matrix.parts)
        read_entries(each.matrix, each.first_row, each.first_column, to);
}

tape product(const std::shared_ptr<const sparse_state>& matrix, tape&& x) {
    if (!matrix) throw usage_error(no_elements("multiplied"));
    check_operand(*matrix, x);
    refuse_writing(x);
    if (x.size < 0) x.size = static_cast<std::int64_t>(matrix->columns);
    const stored_matrix& first = matrix->parts[0].matrix;
    tape p;
    if (matrix->is_spread() || !first.is_inline()) {
        p.push_produced(std::make_shared<product_producer>(matrix, std::move(x)));
        return p;
    }
    const auto push_x = [&](tape& to) {
        if (is_vector_of(x, matrix->value)) return to.push_memory(x.vectors[0], false);
        auto by =
            std::make_shared<operand_producer>(std::move(x), matrix->value, matrix->columns, matrix->near);
        to.push_memory(matrix->near, false);
        to.produced.push_back({std::move(by), to.steps.back().leaf});
    };
    return calls_of(first, push_x);
}

std::size_t rows_of(const sparse_state& matrix) { return matrix.rows; }
std::size_t columns_of(const sparse_state& matrix) { return matrix.columns; }
std::size_t entries_of(const sparse_state& matrix) { return matrix.entries; }
std::size_t bytes_of(const sparse_state& matrix) {
    std::size_t sum = 0;
    for (const matrix_part& each : matrix.parts) sum += each.matrix.bytes();
    return sum;
}
storage how_stored(const sparse_state& matrix) { return matrix.parts[0].matrix.how; }

std::string describe(const sparse_state* matrix) {
    if (matrix == nullptr) return "no matrix";
    if (!matrix->is_spread()) return matrix->parts[0].matrix.words;
    std::string words;
    for (const matrix_part& each : matrix->parts)
        words += fmt::format("{}rows from {} on, on {}: {}", words.empty() ? "" : "; ",
                             grouped(each.first_row), each.device->words(), each.matrix.words);
    return words;
}

}  // namespace balm::array
