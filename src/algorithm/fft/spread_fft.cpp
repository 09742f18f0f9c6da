#include "algorithm/fft/spread_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithm/fft/transform_producer.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/parts.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/vector.hpp"
#include "balm/view.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using vector_handle = std::shared_ptr<vector_state>;

/// Transforms a block of `width` columns.
using block_transform = std::function<vector_handle(const vector_handle& block, std::size_t width)>;

/// Exchanges rows for columns, which each device transforms, and back. Copies to a device run one after the
/// other, while kernels process other pieces.
void transform_in_columns(const vector_handle& rows, std::size_t columns, const unit_ranges& own,
                          vector_state& into, const copy_queues& queues, const block_transform& transform) {
    const std::vector<unit_ranges> pieces = in_pieces(own);
    std::vector<device_blocks> blocks;
    blocks.reserve(pieces.size());
    for (const unit_ranges& piece : pieces)
        blocks.push_back(exchanged_for_columns(*rows, columns, piece, queues));
    std::vector<columns_into_rows> back;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        for (std::size_t d = 0; d < blocks[k].size(); ++d)
            if (blocks[k][d] != nullptr) blocks[k][d] = transform(blocks[k][d], pieces[k][d].count);
        back.emplace_back(std::move(blocks[k]), pieces[k], columns, into, queues);
    }
    for (columns_into_rows& each : back) each.store();
}

// ---- four steps

/// Element `at` of the rows from `first` on, times exp(-2 π i row column / n).
template <class T>
const auto& turned_element() {
    static const auto& made = *new auto(
        function("turned(z, turns, bits, columns, first, at)",
                 [](Complex<T> z, In<complex_value<T>> turns, Long bits, Long columns, Long first, Long at) {
                     const Long row = at / columns, angle = (first + row) * (at - row * columns);
                     const Long fine = Long(1) << bits;
                     const Complex<T> coarse_turn = turns[fine + (angle >> bits)];
                     return Complex<T>(z * (coarse_turn * Complex<T>(turns[angle & (fine - 1)])));
                 }));
    return made;
}
template <class T>
tape turned(const vector_handle& rows, const vector_handle& turns, std::size_t n, std::size_t columns,
            std::size_t first_row) {
    using complex_vector = balm::vector<std::complex<T>>;
    return turned_element<T>()(complex_vector(rows), complex_vector(turns),
                               static_cast<std::int64_t>(turn_bits(n)), static_cast<std::int64_t>(columns),
                               static_cast<std::int64_t>(first_row), element_index(0, rows->size()))
        .tape();
}

/// Whether the tape is a vector, or a view of all of it in row-major order.
bool is_in_order(const tape& p, trace::type type) {
    if (is_vector(p, type)) return true;
    return p.steps.size() == 4 && p.steps[0].what == step::kind::position &&
           p.steps[1].what == step::kind::at && p.steps[2].what == step::kind::vector &&
           p.vectors[0]->type() == type && is_same_map(p.maps[p.steps[0].leaf], row_major(box_of(p))) &&
           p.vectors[0]->size() == box_of(p).count();
}

bool is_divided_so(const vector_state& v, const unit_ranges& rows, std::size_t columns) {
    for (std::size_t k = 0; k < rows.size(); ++k)
        if (v.parts()[k].elements->size() != rows[k].count * columns) return false;
    return true;
}

}  // namespace

vector_handle in_rows(const tape& p, trace::type type, std::size_t rows, std::size_t columns,
                      const vector_state& model) {
    const unit_ranges own = units_like(model, rows);
    if (is_in_order(p, type) && p.vectors[0]->parts().size() == own.size() &&
        is_divided_so(*p.vectors[0], own, columns))
        return p.vectors[0];
    vector_handle made = made_of_units(model, own, columns, type);
    assign(*made, tape(p));
    return made;
}

void transform_columns(const tape& p, trace::type type, const fft_lines& lines, const vector_state& model,
                       vector_state& into, const column_transform& transform) {
    const std::size_t rows = lines.outer * lines.count;
    transform_in_columns(in_rows(p, type, rows, lines.inner, model), lines.inner,
                         columns_like(model, lines.inner), into, copy_queues(model),
                         [&](const vector_handle& block, std::size_t width) {
                             return transform(block, {lines.outer, lines.count, width});
                         });
}

vector_handle transformed_block(const vector_handle& block, const fft_lines& lines, const fft_manner& how) {
    const trace::type pair(block->type().element, 2);
    vector_handle made = block->type() == pair
                             ? block
                             : std::make_shared<vector_state>(block->device_handle(), pair, lines.size());
    transform_lines(of_vector(block), lines, how, *made);
    return made;
}

vector_handle as_spread_pairs(const vector_handle& v) {
    std::vector<vector_state::part> parts;
    for (const vector_state::part& p : v->parts()) {
        vector_handle pairs = p.first % 2 == 0 ? as_pairs(*p.elements) : nullptr;
        if (pairs == nullptr) return nullptr;
        parts.push_back({p.first / 2, std::move(pairs)});
    }
    return std::make_shared<vector_state>(std::move(parts), trace::type(v->type().element, 2), v->size() / 2);
}

std::string words_of_columns(const fft_lines& lines, const vector_state& model) {
    return fmt::format("{} devices exchange {} x {} elements for {} columns each, and back\n",
                       model.parts().size(), lines.outer * lines.count, lines.inner,
                       words_of(columns_like(model, lines.inner)));
}

// ---- four steps

std::size_t rows_of_four_steps(std::size_t n, std::size_t devices) {
    auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
    while (rows >= devices && n % rows != 0) --rows;
    return rows >= devices ? rows : 0;
}

four_steps::four_steps(const vector_state& model, scalar element, std::size_t n)
    : model_(model),
      element_(element),
      n_(n),
      rows_(rows_of_four_steps(n, devices_with_elements(model))),
      columns_(n / rows_),
      own_rows_(units_like(model, rows_)),
      own_columns_(columns_like(model, columns_)),
      queues_(model) {}

vector_handle four_steps::loaded(const tape& p, trace::type elements) const {
    return in_rows(p, elements, rows_, columns_, model_);
}
vector_handle four_steps::loaded_pairs(const tape& p) const {
    return as_spread_pairs(in_rows(p, element_, rows_, 2 * columns_, model_));
}
vector_handle four_steps::made() const {
    return made_of_units(model_, own_rows_, columns_, trace::type(element_, 2));
}

void four_steps::run(const vector_handle& loaded, const fft_manner& how, vector_state& into,
                     std::size_t base) const {
    const vector_handle rows = made();
    transform_in_columns(loaded, columns_, own_columns_, *rows, queues_,
                         [&](const vector_handle& block, std::size_t width) {
                             return transformed_block(block, {1, rows_, width}, {how.swaps_in, false, 1});
                         });
    for (std::size_t d = 0; d < own_rows_.size(); ++d) {
        if (own_rows_[d].count == 0) continue;
        const vector_handle& own = rows->parts()[d].elements;
        const vector_handle turns = turn_table(own->device(), element_, n_);
        const std::size_t first = own_rows_[d].first;
        transform_lines(element_ == scalar::f32 ? turned<float>(own, turns, n_, columns_, first)
                                                : turned<double>(own, turns, n_, columns_, first),
                        {own_rows_[d].count, columns_, 1}, {false, how.swaps_out, how.scale}, *own);
    }
    store_transposed(*rows, into, base);
}

void four_steps::store_transposed(const vector_state& rows, vector_state& into, std::size_t base) const {
    unit_ranges wanted;  // columns of which a device stores elements
    for (const vector_state::part& p : into.parts()) {
        const std::size_t begin = std::max(p.first, base),
                          end = std::min(p.first + p.elements->size(), base + n_);
        if (begin >= end) {
            wanted.push_back({});
            continue;
        }
        const std::size_t first = (begin - base) / rows_;
        wanted.push_back({first, (end - 1 - base) / rows_ + 1 - first});
    }
    const std::vector<unit_ranges> pieces = in_pieces(wanted);
    std::vector<device_blocks> blocks;
    blocks.reserve(pieces.size());
    for (const unit_ranges& piece : pieces)
        blocks.push_back(exchanged_for_columns(rows, columns_, piece, queues_));
    for (std::size_t k = 0; k < pieces.size(); ++k)
        for (std::size_t d = 0; d < blocks[k].size(); ++d) {
            if (blocks[k][d] == nullptr) continue;
            const unit_range& own = pieces[k][d];
            const vector_state::part& part = into.parts()[d];
            assign_in_part(*part.elements, part.first,
                           grid_of(own.count, rows_, rows_, 1, base + own.first * rows_),
                           elements_at(blocks[k][d], grid_of(own.count, rows_, 1, own.count, 0)));
            part.elements->device().default_queue().flush();
        }
}

std::string four_steps::words() const {
    return fmt::format(
        "{} devices exchange {} x {} elements for {} columns each, for {} rows, and for those of the "
        "transpose\n",
        own_rows_.size(), rows_, columns_, words_of(own_columns_), words_of(own_rows_));
}

tape one_array(const tape& p, std::size_t arrays, std::size_t count, std::size_t number) {
    if (arrays == 1) return p;
    slice_part one;
    one.what = slice_part::kind::one;
    one.begin = static_cast<std::int64_t>(number);
    const slice_part parts[] = {one, {}};
    return read(sliced(viewed(tape(p), shape(arrays, count)), parts));
}

void transform_in_four_steps(const tape& p, trace::type type, const fft_lines& lines, const fft_manner& how,
                             const vector_state& model, vector_state& into) {
    const four_steps steps(model, into.type().element, lines.count);
    // All are loaded before any is stored: the expression may read the target.
    std::vector<vector_handle> loaded;
    for (std::size_t k = 0; k < lines.outer; ++k)
        loaded.push_back(steps.loaded(one_array(p, lines.outer, lines.count, k), type));
    for (std::size_t k = 0; k < lines.outer; ++k) {
        steps.run(loaded[k], how, into, k * lines.count);
        loaded[k].reset();
    }
}

std::string words_of_four_steps(const fft_lines& lines, const vector_state& model) {
    return four_steps(model, scalar::f32, lines.count).words();
}

}  // namespace balm::array
