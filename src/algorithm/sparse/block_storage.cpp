#include "algorithm/sparse/block_storage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "algorithm/divided_up.hpp"
#include "algorithm/sparse/value_types.hpp"

namespace balm::array {

namespace {

constexpr std::size_t largest_block = 8;
/// Minimum blocks of a piece. A very long row has as many pieces as blocks per piece, so that neither sum is
/// long.
constexpr std::int64_t least_of_piece = 16;
/// Pieces that are sorted by length together, as in SELL-C-sigma (Kreutzer et al., SIAM J. Sci. Comput. 36,
/// 2014): slices then have little padding, and pieces stay near their rows.
constexpr std::size_t sorted_together = 4096;

template <class I>
bool consists_of_blocks(std::size_t rows, std::span<const std::int64_t> pointers, const I* columns,
                        std::size_t size) {
    const auto extent = static_cast<I>(size);
    for (std::size_t r = 0; r < rows; r += size) {
        const I* const first = columns + pointers[r];
        const std::int64_t count = pointers[r + 1] - pointers[r];
        if (count % static_cast<std::int64_t>(size) != 0) return false;
        for (std::int64_t k = 0; k < count; ++k) {
            const auto in_block = static_cast<I>(k % static_cast<std::int64_t>(size));
            if (in_block == 0 ? first[k] % extent != 0 : first[k] != first[k - 1] + 1) return false;
        }
        for (std::size_t i = 1; i < size; ++i)
            if (pointers[r + i + 1] - pointers[r + i] != count ||
                !std::equal(first, first + count, columns + pointers[r + i]))
                return false;
    }
    return true;
}

/// Contiguous blocks of a row of blocks, which are computed together.
struct block_piece {
    std::size_t row = 0;
    std::int64_t first = 0, count = 0;
};

std::vector<block_piece> whole_rows(std::span<const std::int64_t> pointers) {
    std::vector<block_piece> made;
    for (std::size_t r = 0; r + 1 < pointers.size(); ++r)
        made.push_back({r, 0, pointers[r + 1] - pointers[r]});
    return made;
}

std::vector<block_piece> limited_pieces(std::span<const std::int64_t> pointers) {
    std::vector<block_piece> made;
    for (std::size_t r = 0; r + 1 < pointers.size(); ++r) {
        const std::int64_t count = pointers[r + 1] - pointers[r];
        const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(count)));
        const std::int64_t most = std::max(least_of_piece, root);
        for (std::int64_t first = 0; first < count; first += most)
            made.push_back({r, first, std::min(most, count - first)});
    }
    return made;
}

template <class T, class I>
class block_builder {
public:
    block_builder(stored_matrix& to, const host_rows& from,
                  const std::shared_ptr<runtime::device_state>& device)
        : to_(to),
          from_(from),
          device_(device),
          columns_(static_cast<const I*>(from.columns)),
          values_(static_cast<const T*>(from.values)) {}

    void make_slices(const std::vector<block_piece>& pieces) {
        const std::size_t slices = divided_up(pieces.size(), slice_rows);
        std::vector<std::int64_t> starts(slices + 1);
        for (std::size_t s = 0; s < slices; ++s) {
            std::int64_t widest = 0;
            for (std::size_t p = s * slice_rows; p < std::min((s + 1) * slice_rows, pieces.size()); ++p)
                widest = std::max(widest, pieces[p].count);
            starts[s + 1] = starts[s] + widest * static_cast<std::int64_t>(slice_rows);
        }
        const auto blocks = static_cast<std::size_t>(starts.back());
        to_.slots = blocks * to_.block.entries();
        std::vector<I> columns(blocks, I{-1});
        std::vector<T> values(to_.slots);
        const std::size_t rows_of_slice = slice_rows * to_.block.rows;
        for (std::size_t p = 0; p < pieces.size(); ++p) {
            const std::size_t lane = p % slice_rows;
            auto at = static_cast<std::size_t>(starts[p / slice_rows]);
            for (std::int64_t b = 0; b < pieces[p].count; ++b, at += slice_rows) {
                columns[at + lane] = column_of(pieces[p], b);
                for (std::size_t i = 0; i < to_.block.rows; ++i)
                    for (std::size_t j = 0; j < to_.block.columns; ++j)
                        values[at * to_.block.entries() + j * rows_of_slice + lane * to_.block.rows + i] =
                            value_of(pieces[p], b, i, j);
            }
        }
        to_.starts = on_device(device_, scalar::i64, starts.data(), starts.size());
        write(columns, values);
    }

    void make_rows(const std::vector<block_piece>& pieces) {
        std::vector<I> starts(pieces.size() + 1);
        for (std::size_t p = 0; p < pieces.size(); ++p)
            starts[p + 1] = static_cast<I>(starts[p] + static_cast<I>(pieces[p].count));
        const auto blocks = static_cast<std::size_t>(starts.back());
        to_.slots = blocks * to_.block.entries();
        std::vector<I> columns;
        std::vector<T> values;
        columns.reserve(blocks);
        values.reserve(to_.slots);
        for (const block_piece& piece : pieces) {
            for (std::int64_t b = 0; b < piece.count; ++b) columns.push_back(column_of(piece, b));
            for (std::size_t i = 0; i < to_.block.rows; ++i)
                for (std::int64_t b = 0; b < piece.count; ++b)
                    for (std::size_t j = 0; j < to_.block.columns; ++j)
                        values.push_back(value_of(piece, b, i, j));
        }
        to_.starts = on_device(device_, to_.index, starts.data(), starts.size());
        write(columns, values);
    }

private:
    std::size_t entry_of(const block_piece& piece, std::int64_t b, std::size_t i, std::size_t j) const {
        return static_cast<std::size_t>(from_.pointers[piece.row * to_.block.rows + i]) +
               static_cast<std::size_t>(piece.first + b) * to_.block.columns + j;
    }
    I column_of(const block_piece& piece, std::int64_t b) const {
        const I column =
            static_cast<I>(columns_[entry_of(piece, b, 0, 0)] - static_cast<I>(from_.first_column));
        return static_cast<I>(column / static_cast<I>(to_.block.columns));
    }
    const T& value_of(const block_piece& piece, std::int64_t b, std::size_t i, std::size_t j) const {
        return values_[entry_of(piece, b, i, j)];
    }
    void write(const std::vector<I>& columns, const std::vector<T>& values) {
        to_.column_indices = on_device(device_, to_.index, columns.data(), columns.size());
        to_.values = on_device(device_, to_.value, values.data(), values.size());
    }

    stored_matrix& to_;
    const host_rows& from_;
    const std::shared_ptr<runtime::device_state>& device_;
    const I* const columns_;
    const T* const values_;
};

void store_pieces(stored_matrix& to, const host_rows& from, const std::vector<block_piece>& pieces,
                  const std::shared_ptr<runtime::device_state>& device) {
    with_types(to.value, to.index, [&]<class T, class I>() {
        block_builder<T, I> builder(to, from, device);
        if (to.how == storage::slices)
            builder.make_slices(pieces);
        else
            builder.make_rows(pieces);
    });
}

void store_balanced(stored_matrix& to, const host_rows& from, std::span<const std::int64_t> pointers,
                    bool as_slices, const std::shared_ptr<runtime::device_state>& device) {
    const std::vector<block_piece> pieces = limited_pieces(pointers);
    std::vector<std::size_t> order(pieces.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t first = 0; as_slices && first < order.size(); first += sorted_together) {
        const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            order.begin() + static_cast<std::ptrdiff_t>(std::min(first + sorted_together, order.size()));
        std::stable_sort(begin, end,
                         [&](std::size_t a, std::size_t b) { return pieces[a].count > pieces[b].count; });
    }
    std::vector<block_piece> sorted;
    std::vector<std::int64_t> places(pieces.size()), starts(pointers.size());
    for (const std::size_t p : order) {
        places[p] = static_cast<std::int64_t>(sorted.size());
        sorted.push_back(pieces[p]);
    }
    for (const block_piece& piece : pieces) ++starts[piece.row + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());

    auto products = std::make_shared<stored_matrix>();
    products->how = as_slices ? storage::slices : storage::rows;
    products->value = to.value;
    products->index = to.index;
    products->block = to.block;
    products->rows = pieces.size() * to.block.rows;
    products->columns = to.columns;
    products->entries = products->kept = to.entries;
    store_pieces(*products, from, sorted, device);
    to.slots = products->slots;
    to.pieces = {std::move(products), on_device(device, scalar::i64, starts.data(), starts.size()),
                 on_device(device, scalar::i64, places.data(), places.size())};
}

}  // namespace

block_shape blocks_of(std::size_t rows, std::size_t columns, std::span<const std::int64_t> pointers,
                      const void* column_indices, scalar index) {
    const auto entries = static_cast<std::size_t>(pointers.back());
    if (entries == 0) return {};
    for (std::size_t size = largest_block; size > 1; --size) {
        if (rows % size != 0 || columns % size != 0 || entries % (size * size) != 0) continue;
        const bool is_found =
            index == scalar::i64
                ? consists_of_blocks(rows, pointers, static_cast<const std::int64_t*>(column_indices), size)
                : consists_of_blocks(rows, pointers, static_cast<const std::int32_t*>(column_indices), size);
        if (is_found) return {size, size};
    }
    return {};
}

void store_blocks(stored_matrix& to, const host_rows& from, std::span<const std::int64_t> pointers,
                  bool as_slices, const std::shared_ptr<runtime::device_state>& device) {
    if (to.how == storage::balanced)
        store_balanced(to, from, pointers, as_slices, device);
    else
        store_pieces(to, from, whole_rows(pointers), device);
}

}  // namespace balm::array
