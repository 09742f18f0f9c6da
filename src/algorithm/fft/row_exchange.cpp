// In row-major order, the elements that are in one device's rows and in another device's columns form one
// block of the latter's memory: the former packs them, and they are one copy. On the way back a block of rows
// is one copy too, which the receiving device unpacks. Thus kernels do the strided accesses, and copies are
// contiguous.

#include "algorithm/fft/row_exchange.hpp"

#include <algorithm>
#include <cmath>

#include "algorithm/divided_up.hpp"
#include "algorithm/fft/fft_transform.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/parts.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

using vector_handle = std::shared_ptr<vector_state>;

vector_handle made_near(const vector_state& v, trace::type type, std::size_t size) {
    return std::make_shared<vector_state>(v.device_handle(), type, size);
}

/// Calls f(k) for all devices except `one`, beginning after it, so that not all devices copy from the same
/// one at once.
template <class F>
void for_each_other(std::size_t one, std::size_t count, F&& f) {
    for (std::size_t k = 1; k < count; ++k) f((one + k) % count);
}

/// The rows of an array that have elements in this part.
unit_range rows_of_part(const vector_state::part& p, std::size_t columns) {
    if (p.elements->size() == 0) return {};
    const std::size_t first = p.first / columns, last = (p.first + p.elements->size() - 1) / columns;
    return {first, last - first + 1};
}

}  // namespace

unit_ranges columns_like(const vector_state& model, std::size_t columns) {
    // Groups of columns let neighbouring work-items fill whole memory transactions.
    constexpr std::size_t together = 16;
    if (columns < 4 * together * model.parts().size()) return units_like(model, columns);
    unit_ranges made = units_like(model, divided_up(columns, together));
    for (unit_range& each : made) {
        const std::size_t end = std::min(each.end() * together, columns);
        each.first = std::min(each.first * together, columns);
        each.count = end - each.first;
    }
    return made;
}

std::string words_of(const unit_ranges& ranges) {
    std::string words;
    for (std::size_t k = 0; k < ranges.size(); ++k)
        words += (k == 0 ? "" : k + 1 < ranges.size() ? ", " : " and ") + std::to_string(ranges[k].count);
    return words;
}

affine_map grid_of(std::size_t rows, std::size_t columns, std::size_t row_stride, std::size_t column_stride,
                   std::size_t offset) {
    affine_map map{shape(rows, columns), {}, static_cast<std::int64_t>(offset)};
    map.strides[0] = static_cast<std::int64_t>(row_stride);
    map.strides[1] = static_cast<std::int64_t>(column_stride);
    return map;
}

tape elements_at(const vector_handle& v, const affine_map& places) {
    tape p;
    p.push_position(places);
    p.append_at(of_vector(v));
    return p;
}

void assign_in_part(vector_state& part, std::size_t first, const affine_map& places, tape&& values) {
    const auto [low, high] = range_of(places);
    const auto begin = static_cast<std::int64_t>(first), end = static_cast<std::int64_t>(first + part.size());
    tape where;
    if (low >= begin && high < end) {
        affine_map here = places;
        here.offset -= begin;
        where.push_position(here);
        const target all{&part, &where};
        assign({&all, 1}, std::move(values));
    } else {
        where.push_position(places);
        const target some{&part, &where, first, true};
        assign({&some, 1}, std::move(values));
    }
}

copy_queues::copy_queues(const vector_state& v) {
    for (const vector_state::part& p : v.parts()) queues_.push_back(p.elements->device().make_queue());
}

device_blocks exchanged_for_columns(const vector_state& rows, std::size_t columns, const unit_ranges& wanted,
                                    const copy_queues& queues) {
    const std::size_t devices = rows.parts().size();
    const auto part = [&](std::size_t d) -> const vector_state& { return *rows.parts()[d].elements; };
    const auto row_count = [&](std::size_t d) { return part(d).size() / columns; };
    const auto first_row = [&](std::size_t d) { return rows.parts()[d].first / columns; };
    const auto columns_of = [&](std::size_t d, const unit_range& of) {
        return elements_at(rows.parts()[d].elements, grid_of(row_count(d), of.count, columns, 1, of.first));
    };
    const std::size_t all_rows = rows.size() / columns;
    device_blocks made(devices);
    for (std::size_t d = 0; d < devices; ++d)
        if (wanted[d].count > 0) made[d] = made_near(part(d), rows.type(), all_rows * wanted[d].count);
    std::vector<device_blocks> packed(devices, device_blocks(devices));  // [from][to]
    for (std::size_t d = 0; d < devices; ++d) {
        for_each_other(d, devices, [&](std::size_t to) {
            const std::size_t size = row_count(d) * wanted[to].count;
            if (size == 0) return;
            if (wanted[to].count == columns) {
                packed[d][to] = rows.parts()[d].elements;
                return;
            }
            packed[d][to] = made_near(part(d), rows.type(), size);
            assign(*packed[d][to], columns_of(d, wanted[to]));
        });
        if (row_count(d) > 0) part(d).device().default_queue().flush();
    }
    for (std::size_t d = 0; d < devices; ++d)
        for_each_other(d, devices, [&](std::size_t from) {
            if (packed[from][d] == nullptr) return;
            copy_elements(queues[d], *made[d], first_row(from) * wanted[d].count, *packed[from][d], 0,
                          packed[from][d]->size());
            packed[from][d].reset();
        });
    for (std::size_t d = 0; d < devices; ++d) {
        const std::size_t width = wanted[d].count;
        if (width > 0 && row_count(d) > 0)
            assign_in_part(*made[d], 0, grid_of(row_count(d), width, width, 1, first_row(d) * width),
                           columns_of(d, wanted[d]));
    }
    return made;
}

columns_into_rows::columns_into_rows(device_blocks blocks, unit_ranges of_blocks, std::size_t columns,
                                     vector_state& into, const copy_queues& queues)
    : blocks_(std::move(blocks)),
      of_blocks_(std::move(of_blocks)),
      columns_(columns),
      into_(into),
      copies_(blocks_.size(), device_blocks(blocks_.size())) {
    for (const vector_handle& each : blocks_)
        if (each != nullptr) each->device().default_queue().flush();
    for (std::size_t d = 0; d < blocks_.size(); ++d) {
        const vector_state::part& part = into_.parts()[d];
        const unit_range rows = rows_of_part(part, columns_);
        for_each_other(d, blocks_.size(), [&](std::size_t from) {
            const std::size_t width = of_blocks_[from].count;
            if (rows.count * width == 0) return;
            copies_[d][from] = made_near(*part.elements, into_.type(), rows.count * width);
            copy_elements(queues[d], *copies_[d][from], 0, *blocks_[from], rows.first * width,
                          copies_[d][from]->size());
        });
    }
}

void columns_into_rows::store() {
    for (std::size_t d = 0; d < blocks_.size(); ++d) {
        const vector_state::part& part = into_.parts()[d];
        const unit_range rows = rows_of_part(part, columns_);
        if (rows.count == 0) continue;
        const auto store_block = [&](const vector_handle& from, std::size_t first_row, const unit_range& of) {
            assign_in_part(
                *part.elements, part.first,
                grid_of(rows.count, of.count, columns_, 1, rows.first * columns_ + of.first),
                elements_at(from, grid_of(rows.count, of.count, of.count, 1, first_row * of.count)));
        };
        if (blocks_[d] != nullptr) store_block(blocks_[d], rows.first, of_blocks_[d]);
        for_each_other(d, blocks_.size(), [&](std::size_t from) {
            if (copies_[d][from] != nullptr) store_block(copies_[d][from], 0, of_blocks_[from]);
            copies_[d][from].reset();
        });
        part.elements->device().default_queue().flush();
    }
    blocks_.clear();
}

std::vector<unit_ranges> in_pieces(const unit_ranges& columns) {
    // Pieces of fewer columns would not fill memory transactions.
    constexpr std::size_t together = 16, most = 4;
    std::size_t widest = 0;
    for (const unit_range& each : columns) widest = std::max(widest, each.count);
    const std::size_t count = std::clamp<std::size_t>(widest / together, 1, most);
    std::vector<unit_ranges> pieces(count);
    for (const unit_range& each : columns) {
        const auto begin = [&](std::size_t k) {
            return k == count ? each.count : each.count * k / count / together * together;
        };
        for (std::size_t k = 0; k < count; ++k)
            pieces[k].push_back({each.first + begin(k), begin(k + 1) - begin(k)});
    }
    return pieces;
}

}  // namespace balm::array
