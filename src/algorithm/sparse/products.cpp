// Products of sparse matrices as leaves of expressions: function calls for each element, or a producer's
// result.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "algorithm/sparse/balanced_kernels.hpp"
#include "algorithm/sparse/block_functions.hpp"
#include "algorithm/sparse/product_functions.hpp"
#include "algorithm/sparse/sparse_state.hpp"
#include "algorithm/sparse/sparse_strategy.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/view.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// The matrix, or its transpose if its diagonals are read as such.
struct factor {
    std::shared_ptr<const sparse_state> matrix;
    bool is_transposed = false;

    std::size_t rows() const { return is_transposed ? matrix->columns : matrix->rows; }
    std::size_t columns() const { return is_transposed ? matrix->rows : matrix->columns; }
};

/// The vector of this type whose elements a tape yields in order; null if the tape computes anything.
std::shared_ptr<vector_state> whole_vector(const tape& p, trace::type type) {
    if (!p.produced.empty()) return nullptr;
    if (is_vector(p, type)) return p.vectors[0];
    std::shared_ptr<vector_state> found;
    const bool is_view = p.steps.size() == 4 && p.steps[0].what == step::kind::position &&
                         p.steps[1].what == step::kind::at && p.steps[2].what == step::kind::vector &&
                         p.vectors.size() == 1;
    if (is_view) {
        const affine_map& map = p.maps[p.steps[0].leaf];
        if (is_same_map(map, row_major(map.box)) && p.vectors[0]->size() == map.box.count())
            found = p.vectors[0];
    }
    return found && found->type() == type ? found : nullptr;
}

/// The elements of a tape as a vector, which may be one that the tape reads.
std::shared_ptr<vector_state> evaluated(const tape& of, trace::type type, std::size_t size,
                                        const vector_state& near) {
    if (auto known = whole_vector(of, type)) return known;
    tape p = of;
    materialise(p);
    if (auto known = whole_vector(p, type)) return known;
    return as_vector(p, type, size, near);
}

/// A product's operand that is not a vector: computed before the kernel, once, however often it occurs.
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

/// The arguments of a call, in order.
class call_arguments {
public:
    explicit call_arguments(tape& to) : to_(to) {}
    void memory(const std::shared_ptr<vector_state>& v) {
        to_.push_memory(v);
        ++count;
    }
    void number(std::size_t n) {
        push_number(to_, n);
        ++count;
    }

    std::uint16_t count = 1;  ///< the element is the first one

private:
    tape& to_;
};

/// A tape that calls a function for each element of a product of `rows` rows. The function returns `result`;
/// `list` pushes its other arguments.
template <class List>
tape elements_by(const function_pointer& f, trace::type result, std::size_t rows, const operand_form& form,
                 const List& list) {
    tape p;
    p.push_value(step::kind::index, scalar::i64, 0);
    p.size = static_cast<std::int64_t>(rows * form.groups);
    call_arguments arguments(p);
    list(p, arguments);
    if (form.known_groups() == 0) arguments.number(form.groups);
    p.push_call(f, result, arguments.count);
    return p;
}

function_pointer function_of(const stored_matrix& m, bool is_transposed, const operand_form& form) {
    if (m.how == storage::diagonals && is_transposed)
        return transposed_diagonals_function(m.value, m.offsets.size(), form);
    if (m.how == storage::diagonals) {
        const bool has_branches = kernels::facts_for(m.values->device()).on_cpu && !are_matrices_of_gpus();
        return diagonals_function(m.value, m.offsets.size(), has_branches, form);
    }
    if (!m.block.is_one_entry())
        return m.how == storage::slices ? block_slices_function(m.value, m.index, m.block, form)
                                        : block_rows_function(m.value, m.index, m.block, form);
    if (m.how == storage::slices)
        return m.starts ? slices_function(m.value, m.index, form)
                        : slices_function(m.value, m.index, m.width, form);
    return rows_function(m.value, m.index, m.has_long_rows, form);
}

/// The elements of a product as calls; `push_x` pushes the operand as memory.
template <class PushX>
tape calls_of(const stored_matrix& m, bool is_transposed, const operand_form& form, const PushX& push_x) {
    const std::size_t rows = is_transposed ? m.columns : m.rows;
    return elements_by(function_of(m, is_transposed, form), form.element(), rows, form,
                       [&](tape& p, call_arguments& to) {
                           if (m.how == storage::diagonals) {
                               to.memory(m.values);
                               push_x(p);
                               ++to.count;
                               to.number(m.stride);
                               to.number(is_transposed ? m.rows : m.columns);
                               for (const std::int64_t offset : m.offsets)
                                   to.number(static_cast<std::size_t>(offset));
                               return;
                           }
                           if (m.starts) to.memory(m.starts);
                           to.memory(m.values);
                           to.memory(m.column_indices);
                           push_x(p);
                           ++to.count;
                       });
}

/// into = matrix * x, on one device. `into` shares no elements with x; both have the form's element type.
void multiply(const stored_matrix& m, bool is_transposed, const std::shared_ptr<vector_state>& x,
              vector_state& into, const operand_form& form) {
    if (m.pieces.products) {
        const stored_matrix& products = *m.pieces.products;
        const auto sums = std::make_shared<vector_state>(
            into.device_handle(), into.type(), std::max<std::size_t>(products.rows * form.groups, 1));
        if (products.rows > 0) {
            tape calls = calls_of(products, false, form, [&](tape& p) { p.push_memory(x); });
            vector_state of_pieces(sums->memory(), into.type(), products.rows * form.groups, 0);
            assign(of_pieces, std::move(calls));
        }
        return assign(into, elements_by(pieces_function(m.block, form), into.type(), m.rows, form,
                                        [&](tape&, call_arguments& to) {
                                            to.memory(m.pieces.starts);
                                            to.memory(m.pieces.places);
                                            to.memory(sums);
                                        }));
    }
    if (!m.is_inline()) return multiply_balanced(m, x, into, form);
    assign(into, calls_of(m, is_transposed, form, [&](tape& p) { p.push_memory(x); }));
}

/// Whether a GPU's tiles of entries compute the product. They keep a sum for each of a work-item's entries in
/// registers; a lane for each column would leave no room for the entries.
bool is_in_tiles_of_groups(const stored_matrix& m) {
    return m.how == storage::balanced && !m.pieces.products && !m.tiles.are_of_items;
}
/// Columns become lanes if their number is a multiple of the lane count. CPUs then load each cache line of
/// the operand once per row (power law, 8 columns of f64, 2 cores of EPYC, PoCL 3.1: 0.71 of OpenMP's rate
/// with 4 lanes); GPUs reuse the entries in registers.
operand_form form_of(const sparse_state& matrix, trace::type type, std::size_t columns) {
    bool has_tiles = false, on_cpus = !are_matrices_of_gpus();
    for (const matrix_part& each : matrix.parts) {
        has_tiles = has_tiles || is_in_tiles_of_groups(each.inner) || is_in_tiles_of_groups(each.border);
        on_cpus = on_cpus && kernels::facts_for(*each.device).on_cpu;
    }
    std::size_t lanes = 1;
    if (has_lanes_of_columns(type) && !has_tiles && columns > 0)
        for (const std::size_t each : {2, 4, 8})
            if (columns % each == 0 && (each < 8 || on_cpus)) lanes = each;
    return {type, lanes, columns / lanes};
}

bool is_aligned(const vector_state& v, const operand_form& form) {
    return v.offset() % (v.element_size() * form.lanes) == 0;
}
/// The same elements, some of them as lanes; null if they are not aligned.
std::shared_ptr<vector_state> in_lanes(const std::shared_ptr<vector_state>& v, const operand_form& form) {
    if (form.lanes == 1) return v;
    if (!is_aligned(*v, form)) return nullptr;
    return std::make_shared<vector_state>(v->memory(), form.element(), v->size() / form.lanes, v->offset());
}

/// A product that fills a vector.
class product_producer : public producer {
public:
    product_producer(factor of, tape&& x, const operand_form& form, const shape& extents)
        : producer(extents, form.type, of.matrix->near), of_(std::move(of)), form_(form), x_(std::move(x)) {}

    std::shared_ptr<vector_state> compute() const override {
        const auto elements = [&](const std::shared_ptr<runtime::device_state>& device, std::size_t rows) {
            return std::make_shared<vector_state>(device, type(), rows * form_.columns());
        };
        if (!matrix().is_spread()) {
            auto made = elements(matrix().parts[0].device, of_.rows());
            write(operand(), made);
            return made;
        }
        std::vector<vector_state::part> parts;
        for (const matrix_part& each : matrix().parts)
            parts.push_back({each.first_row * form_.columns(), elements(each.device, each.inner.rows)});
        auto made = std::make_shared<vector_state>(std::move(parts), type(), extents().count());
        write_parts(operand(), *made);
        return made;
    }
    bool compute_into(vector_state& into) const override {
        if (!is_parted_alike(into)) return false;
        const std::shared_ptr<vector_state> x = operand();
        if (x->overlaps(into)) return false;
        if (matrix().is_spread()) {
            write_parts(x, into);
            return true;
        }
        if (!is_aligned(into, form_)) return false;
        write(x, std::make_shared<vector_state>(into.memory(), into.type(), into.size(), into.offset()));
        return true;
    }

private:
    const sparse_state& matrix() const { return *of_.matrix; }
    /// The operand, with each device's part on the device of the matrix's part.
    std::shared_ptr<vector_state> operand() const {
        const std::size_t count = of_.columns() * form_.columns();
        std::shared_ptr<vector_state> x = evaluated(x_, type(), count, *near());
        const std::vector<std::size_t>& first = matrix().first_columns;
        bool is_suited = true;
        for (std::size_t k = 0; k < x->parts().size(); ++k) {
            const vector_state::part& part = x->parts()[k];
            is_suited = is_suited && part.first == first[k] * form_.columns() &&
                        part.elements->size() == (first[k + 1] - first[k]) * form_.columns() &&
                        is_aligned(*part.elements, form_);
        }
        if (!x->is_spread()) is_suited = is_aligned(*x, form_);
        if (is_suited) return x;
        std::vector<vector_state::part> parts;
        if (!x->is_spread()) {
            auto copied = std::make_shared<vector_state>(x->device_handle(), type(), count);
            copy_elements(*copied, 0, *x, 0, count);
            return copied;
        }
        for (std::size_t k = 0; k + 1 < first.size(); ++k)
            parts.push_back({first[k] * form_.columns(),
                             std::make_shared<vector_state>(matrix().parts[k].device, type(),
                                                            (first[k + 1] - first[k]) * form_.columns())});
        auto copied = std::make_shared<vector_state>(std::move(parts), type(), count);
        copy_elements(*copied, 0, *x, 0, count);
        return copied;
    }
    bool is_parted_alike(const vector_state& into) const {
        if (!matrix().is_spread()) return !into.is_spread() && &into.device() == &near()->device();
        const auto parts = into.parts();
        return std::equal(parts.begin(), parts.end(), matrix().parts.begin(), matrix().parts.end(),
                          [&](const vector_state::part& a, const matrix_part& b) {
                              return &a.elements->device() == b.device.get() &&
                                     a.first == b.first_row * form_.columns() &&
                                     a.elements->size() == b.inner.rows * form_.columns() &&
                                     is_aligned(*a.elements, form_);
                          });
    }
    void write(const std::shared_ptr<vector_state>& x, const std::shared_ptr<vector_state>& into) const {
        multiply(matrix().parts[0].inner, of_.is_transposed, in_lanes(x, form_), *in_lanes(into, form_),
                 form_);
    }

    /// Each device computes its inner rows while elements of other devices are copied. Copies wait only for
    /// the kernels that gather what is sent.
    void write_parts(const std::shared_ptr<vector_state>& x, vector_state& into) const {
        const std::vector<matrix_part>& parts = matrix().parts;
        std::vector<border_operand> borders;
        borders.reserve(parts.size());
        for (const matrix_part& part : parts) borders.push_back(gathered(part, *x));
        for (std::size_t k = 0; k < parts.size(); ++k)
            if (parts[k].border.rows < parts[k].inner.rows)
                multiply(parts[k].inner, false, in_lanes(x->parts()[k].elements, form_),
                         *in_lanes(into.parts()[k].elements, form_), form_);
        for (std::size_t k = 0; k < parts.size(); ++k) copy_needed(parts[k], borders[k]);
        for (std::size_t k = 0; k < parts.size(); ++k)
            if (parts[k].has_border()) multiply_border(parts[k], borders[k], into.parts()[k].elements);
    }

    /// The operand of a part's border rows.
    struct border_operand {
        struct piece {
            std::shared_ptr<vector_state> from;
            std::size_t from_first, to_first, count;
        };
        std::shared_ptr<vector_state> elements;
        std::vector<piece> pieces;
    };
    /// Elements that are not contiguous are gathered on the devices that hold them.
    border_operand gathered(const matrix_part& part, const vector_state& x) const {
        border_operand made;
        if (!part.has_border()) return made;
        const std::size_t columns = form_.columns();
        made.elements = std::make_shared<vector_state>(
            part.device, type(), std::max<std::size_t>(part.border.columns * columns, 1));
        for (const needed_elements& each : part.needed) {
            const std::shared_ptr<vector_state>& owned = x.parts()[each.part].elements;
            if (!each.positions) {
                made.pieces.push_back(
                    {owned, each.consecutive_from * columns, each.first * columns, each.count * columns});
                continue;
            }
            auto sent = std::make_shared<vector_state>(owned->device_handle(), type(), each.count * columns);
            const operand_form one_lane{type(), 1, columns};
            assign(*sent, elements_by(gather_function(one_lane), type(), each.count, one_lane,
                                      [&](tape&, call_arguments& to) {
                                          to.memory(each.positions);
                                          to.memory(owned);
                                      }));
            made.pieces.push_back({std::move(sent), 0, each.first * columns, each.count * columns});
        }
        return made;
    }
    static void copy_needed(const matrix_part& part, const border_operand& of) {
        for (const border_operand::piece& each : of.pieces)
            copy_elements(*part.copies, *of.elements, each.to_first, *each.from, each.from_first, each.count);
    }
    void multiply_border(const matrix_part& part, const border_operand& of,
                         const std::shared_ptr<vector_state>& into) const {
        const stored_matrix& m = part.border;
        const std::shared_ptr<vector_state> x = in_lanes(of.elements, form_);
        const trace::type element = form_.element();
        tape values;
        if (m.is_inline()) {
            values = calls_of(m, false, form_, [&](tape& p) { p.push_memory(x); });
        } else {
            const auto products = std::make_shared<vector_state>(part.device, element, m.rows * form_.groups);
            multiply(m, false, x, *products, form_);
            values.push_vector(products);
        }
        const tape places = elements_by(place_function(form_), scalar::i64, m.rows, form_,
                                        [&](tape&, call_arguments& to) { to.memory(part.border_rows); });
        const std::shared_ptr<vector_state> rows = in_lanes(into, form_);
        const target to{rows.get(), &places};
        assign({&to, 1}, std::move(values));
    }

    const factor of_;
    const operand_form form_;
    const tape x_;
};

}  // namespace

void check_devices_of_operand(const sparse_state& matrix, const tape& x, const char* what_is_done) {
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
        throw usage_error(fmt::format(
            "a sparse matrix on {} cannot be {} by a vector on {}; make both with the same context",
            words(*matrix.near), what_is_done, words(*v)));
    }
}

namespace {

/// The number of columns of the operand; none for a vector, with as many elements as the matrix has columns.
/// Throws usage_error if the matrix cannot be multiplied by the operand.
std::optional<std::size_t> columns_of_operand(const factor& of, const tape& x) {
    if (x.size < 0) return std::nullopt;
    const shape box = box_of(x);
    if (box.count() == of.columns() && (box.dimensions() != 2 || box[0] != of.columns())) return std::nullopt;
    if (box.dimensions() == 2 && box[0] == of.columns()) return box[1];
    const char* const kind = of.is_transposed ? "the transpose of a sparse matrix" : "a sparse matrix";
    if (box.dimensions() == 2)
        throw usage_error(fmt::format(
            "{} of {} x {} cannot be multiplied by a matrix of {}, which must have one row per column", kind,
            of.rows(), of.columns(), to_string(box)));
    throw usage_error(fmt::format(
        "{} of {} x {} cannot be multiplied by a vector of {} elements, which must have one per column", kind,
        of.rows(), of.columns(), x.size));
}

tape product_of(factor of, tape&& x, trace::type type) {
    const sparse_state& matrix = *of.matrix;
    const std::optional<std::size_t> columns = columns_of_operand(of, x);
    check_devices_of_operand(matrix, x, "multiplied");
    refuse_writing(x);
    const operand_form form = form_of(matrix, type, columns.value_or(1));
    const std::size_t size = of.columns() * form.columns();
    if (x.size < 0) x.size = static_cast<std::int64_t>(size);
    const std::size_t rows = of.rows();
    const stored_matrix& first = matrix.parts[0].inner;
    tape p;
    if (matrix.is_spread() || !first.is_inline() || form.lanes > 1) {
        const shape extents = columns ? shape(rows, *columns) : shape(rows);
        p.push_produced(std::make_shared<product_producer>(std::move(of), std::move(x), form, extents));
        return p;
    }
    const auto push_x = [&](tape& to) {
        if (auto known = whole_vector(x, type)) return to.push_memory(std::move(known));
        auto by = std::make_shared<operand_producer>(std::move(x), type, size, matrix.near);
        to.push_memory(matrix.near);
        to.produced.push_back({std::move(by), to.steps.back().leaf});
    };
    p = calls_of(first, of.is_transposed, form, push_x);
    return columns ? read(viewed(std::move(p), shape(rows, *columns))) : p;
}

}  // namespace

tape product(const std::shared_ptr<const sparse_state>& matrix, tape&& x, trace::type type,
             bool is_transposed) {
    if (!matrix)
        throw usage_error("a sparse matrix without elements cannot be multiplied; assign one to it first");
    const bool is_read_as_it_is =
        !is_transposed || (!matrix->is_spread() && matrix->parts[0].inner.how == storage::diagonals);
    if (is_read_as_it_is) return product_of({matrix, is_transposed}, std::move(x), type);
    columns_of_operand({matrix, true}, x);  // throws before the transpose is made
    return product_of({matrix->kept_transpose()}, std::move(x), type);
}

std::string describe_transposed(const sparse_state* matrix) {
    if (matrix == nullptr) return "no matrix";
    if (!matrix->is_spread() && matrix->parts[0].inner.how == storage::diagonals)
        return fmt::format("the transpose of: {}; read by columns, without a copy",
                           matrix->parts[0].inner.words);
    const auto known = matrix->known_transpose();
    return known ? fmt::format("a transpose that is kept: {}", describe(known.get()))
                 : "a transpose that its first product makes and keeps";
}

}  // namespace balm::array
