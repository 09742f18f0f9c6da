// Products of matrices, row by row (Gustavson, 1978): row r of A * B adds up the rows of B that A's entries
// in row r name. The kernels of a row depend on the device and on the row's number of products: on CPUs those
// of item_product_kernels.hpp, elsewhere those of team_product_kernels.hpp or, for the longest rows, of
// expanded_product_kernels.hpp. Operands and result are in CSR on one device.

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "algorithm/divided_up.hpp"
#include "algorithm/sparse/assembly.hpp"
#include "algorithm/sparse/device_entries.hpp"
#include "algorithm/sparse/expanded_product_kernels.hpp"
#include "algorithm/sparse/host_entries.hpp"
#include "algorithm/sparse/item_product_kernels.hpp"
#include "algorithm/sparse/matrix_look.hpp"
#include "algorithm/sparse/team_product_kernels.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "balm/dsl/complex.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using namespace row_products;
using device_handle = std::shared_ptr<runtime::device_state>;

/// Maximum products of the rows that are computed at a time, and bytes of memory that each is assumed to
/// take.
constexpr std::size_t most_products = std::size_t{1} << 27, bytes_of_product = 256;
/// Maximum chunks of rows per compute unit of a CPU. There are fewer, but at least one per unit, if the
/// tables of all chunks would take more than `cpu_table_bytes`.
constexpr std::size_t cpu_chunks_per_unit = 4, cpu_table_bytes = std::size_t{1} << 30;

/// The number of products that a row of the result adds up.
template <class I>
const auto& row_work() {
    static const auto& made = *new auto(function(
        "row_work(row, a_starts, a_columns, b_starts)",
        [](Index row, In<I> a_starts, In<I> a_columns, In<I> b_starts) {
            Index products = 0;
            for (Var<I> k : named("k", range(Var<I>(a_starts[row]), Var<I>(a_starts[row + 1])))) {
                const Var<I> middle = a_columns[k];
                products += cast<std::int64_t>(Var<I>(b_starts[middle + I{1}]) - Var<I>(b_starts[middle]));
            }
            return products;
        }));
    return made;
}

template <class T, class I>
class row_product {
public:
    row_product(const device_csr& a, const device_csr& b)
        : device_(a.starts->device_handle()),
          on_cpu_(is_stored_as_on_cpu(*device_)),
          a_(a),
          b_(on_cpu_ ? b : with_ascending_columns(b)),
          a_columns_(a_.column_indices),
          b_starts_(b_.starts),
          b_columns_(b_.column_indices),
          a_values_(a_.values),
          b_values_(b_.values) {}

    device_csr run() {
        if (a_.entries == 0 || b_.entries == 0) return rows_of(a_.rows, zeros(a_.rows + 1), 0);
        const vector<I> starts(a_.starts);
        const vector<std::int64_t> work(row_work<I>()(numbers_to(a_.rows), starts, a_columns_, b_starts_));
        if (on_cpu_) return computed_by_items(starts, work);
        const auto products = static_cast<std::size_t>(sum(work));
        const std::size_t most =
            std::clamp<std::size_t>(device_->info().global_memory / bytes_of_product, 1, most_products);
        if (products <= most) return computed_by_groups(starts, work);
        std::vector<csr_part> parts;
        std::size_t entries = 0;
        std::size_t row = 0;
        for (const std::size_t end : ends_of_parts(work, products, most)) {
            const auto offset = static_cast<std::int64_t>(row);
            const std::size_t count = end - row;
            const vector<I> own_starts(starts[element_index(offset, count + 1)]);
            const vector<std::int64_t> own_work(work[element_index(offset, count)]);
            parts.push_back({computed_by_groups(own_starts, own_work), 0});
            entries += parts.back().matrix.entries;
            row = end;
        }
        check_fit(a_.rows, b_.columns, entries, a_.index);
        return joined(parts, b_.columns);
    }

private:
    vector<I> zeros(std::size_t count) const {
        vector<I> made = elements_on<I>(device_, count);
        made = I{0};
        return made;
    }
    device_csr rows_of(std::size_t rows, const vector<I>& starts, std::size_t entries) const {
        device_csr made;
        made.rows = rows;
        made.columns = b_.columns;
        made.entries = entries;
        made.value = a_.value;
        made.index = a_.index;
        made.ascends = true;
        made.starts = starts.state();
        made.column_indices = elements_on<I>(device_, entries).state();
        made.values = elements_on<T>(device_, entries).state();
        return made;
    }
    /// Rows of these lengths, whose entries are not computed yet.
    device_csr rows_of(const vector<I>& counts, std::size_t rows) const {
        check_fit(rows, b_.columns, static_cast<std::size_t>(sum(cast<std::int64_t>(counts))), a_.index);
        auto [starts, entries] = starts_of<I>(counts, rows, device_);
        return rows_of(rows, starts, entries);
    }

    /// Where to cut the rows, so that parts have at most `most` products, unless they are single rows.
    std::vector<std::size_t> ends_of_parts(const vector<std::int64_t>& work, std::size_t products,
                                           std::size_t most) const {
        vector<std::int64_t> up_to(inclusive_scan(work));
        const host_array<std::int64_t> found =
            vector<std::int64_t>(
                lower_bound(up_to, (element_index(1, divided_up(products, most))) * signed_of(most)))
                .to_host();
        std::vector<std::size_t> ends;
        for (const std::int64_t row : found) {
            const std::size_t last = ends.empty() ? 0 : ends.back();
            const std::size_t end = std::min(std::max(static_cast<std::size_t>(row), last + 1), a_.rows);
            if (end > last) ends.push_back(end);
        }
        if (ends.empty() || ends.back() < a_.rows) ends.push_back(a_.rows);
        return ends;
    }

    device_csr computed_by_items(const vector<I>& starts, const vector<std::int64_t>& work) const {
        const auto columns = signed_of(b_.columns);
        const auto longest = static_cast<std::size_t>(max(min(work, columns)));
        std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * longest, 2));
        const bool is_dense = slots >= b_.columns;
        if (is_dense) slots = std::bit_ceil(std::max<std::size_t>(b_.columns, 2));
        const std::size_t units = std::max<std::size_t>(device_->info().compute_units, 1);
        const std::size_t fitting = cpu_table_bytes / (slots * (2 * sizeof(I) + sizeof(T)));
        const std::size_t chunks = std::min(a_.rows, std::clamp(fitting, units, units * cpu_chunks_per_unit));

        // Each chunk has about the same number of products plus rows.
        vector<std::int64_t> up_to(inclusive_scan(work + std::int64_t{1}));
        const std::int64_t all = up_to[a_.rows - 1];
        const std::int64_t each = (all + signed_of(chunks) - 1) / signed_of(chunks);
        vector<std::int64_t> firsts = elements_on<std::int64_t>(device_, chunks + 1);
        firsts = select(element_index() == signed_of(chunks), signed_of(a_.rows),
                        lower_bound(up_to, element_index() * each));

        vector<I> table_rows = elements_on<I>(device_, chunks * slots),
                  table_columns = elements_on<I>(device_, chunks * slots);
        const auto bits = static_cast<std::uint32_t>(std::countr_zero(slots));
        const device on(device_);
        vector<I> counts = elements_on<I>(device_, a_.rows);
        table_rows = I{-1};
        event counted = on.execute(count_entries<I>()(firsts, table_rows, table_columns, bits, is_dense,
                                                      starts, a_columns_, b_starts_, b_columns_, counts),
                                   groups(chunks, 1));
        device_csr made = rows_of(counts, a_.rows);
        vector<T> sums = elements_on<T>(device_, chunks * slots), values(made.values);
        vector<I> own_columns(made.column_indices);
        table_rows = I{-1};
        event computed =
            on.execute(compute_rows<T, I>()(firsts, table_rows, table_columns, sums, bits, is_dense, starts,
                                            a_columns_, a_values_, b_starts_, b_columns_, b_values_,
                                            vector<I>(made.starts), own_columns, values),
                       groups(chunks, 1));
        return made;
    }

    device_csr computed_by_groups(const vector<I>& starts, const vector<std::int64_t>& work) {
        const std::size_t rows = work.size();
        const bool has_tables = b_.columns <= std::numeric_limits<std::int32_t>::max();
        vector<std::uint8_t> classes = elements_on<std::uint8_t>(device_, rows);
        if (has_tables)
            classes =
                cast<std::uint8_t>(class_of_row<I>()(numbers_to(rows), work, starts, signed_of(b_.columns)));
        else
            classes = select(work > std::int64_t{0}, std::uint8_t{expanded_class}, std::uint8_t{0});
        const auto in_class = [&](int k) { return count_of(classes == static_cast<std::uint8_t>(k)); };
        const auto sizes =
            reduce(in_class(0), in_class(1), in_class(2), in_class(3), in_class(4), in_class(5), in_class(6));
        static_assert(std::tuple_size_v<decltype(sizes)> == class_count);
        std::array<std::size_t, class_count + 1> ends{};  // of each class in the list, after a 0
        std::apply(
            [&](auto... size) {
                std::size_t k = 0;
                ((ends[k + 1] = ends[k] + static_cast<std::size_t>(size), ++k), ...);
            },
            sizes);
        const vector<I> list(argsort<I>(classes));
        const auto expanded_from = ends[expanded_class];

        // Columns get as much room as they may need.
        const vector<std::int64_t> needed(select(classes == std::uint8_t{expanded_class}, std::int64_t{0},
                                                 min(work, signed_of(b_.columns))));
        const auto [rooms, room] = starts_of<std::int64_t>(needed, rows, device_);
        vector<I> found = elements_on<I>(device_, room), counts = zeros(rows);
        const device on(device_);
        for (std::size_t k = 0; k < row_classes.size(); ++k) {
            const std::size_t begin = ends[k + 1], end = ends[k + 2];
            if (begin == end) continue;
            const int team_bits = row_classes[k].team_bits, slot_bits = row_classes[k].slot_bits;
            event done = on.execute(
                collect_columns<I>()(signed_of(begin), signed_of(end), list, team_bits,
                                     std::min(across_bits(), team_bits), slot_bits, starts, a_columns_,
                                     b_starts_, b_columns_, rooms, found, counts,
                                     local<std::int32_t>(std::size_t{group_items} >> team_bits << slot_bits)),
                groups(groups_of(end - begin, team_bits), group_items));
        }
        const std::size_t expanded_rows = rows - expanded_from;
        device_csr expanded;
        vector<I> expanded_list;
        if (expanded_rows > 0) {
            expanded_list = vector<I>(list[element_index(signed_of(expanded_from), expanded_rows)]);
            expanded = expanded_product(starts, expanded_list);
            const vector<I> lengths(expanded.starts);
            counts[cast<std::int64_t>(expanded_list)] =
                lengths[element_index(1, expanded_rows)] - lengths[element_index(0, expanded_rows)];
        }
        device_csr made = rows_of(counts, rows);
        vector<I> columns(made.column_indices);
        vector<T> values(made.values);
        const vector<I> to(made.starts);
        for (std::size_t k = 0; k < row_classes.size(); ++k) {
            const std::size_t begin = ends[k + 1], end = ends[k + 2];
            if (begin == end) continue;
            const int sum_bits = row_classes[k].sum_bits;
            event done =
                on.execute(add_up_entries<T, I>()(signed_of(begin), signed_of(end), list, sum_bits, starts,
                                                  a_columns_, a_values_, b_starts_, b_columns_, b_values_,
                                                  rooms, found, to, columns, values),
                           groups(groups_of(end - begin, sum_bits), group_items));
        }
        if (expanded_rows > 0 && expanded.entries > 0) {
            const vector<I> begins(expanded.starts);
            const vector<I> owners = segment_numbers<I>(begins, expanded_rows, expanded.entries);
            eval(copy_rows<T, I>()(numbers_to(expanded.entries), owners, begins, expanded_list,
                                   vector<I>(expanded.column_indices), vector<T>(expanded.values), to,
                                   columns, values));
        }
        return made;
    }
    static std::size_t groups_of(std::size_t rows, int team_bits) {
        return divided_up(rows, std::size_t{group_items} >> team_bits);
    }
    /// log2 of how many of the work-items that share a row of the result share a row of B: about its mean
    /// entries.
    int across_bits() const {
        return static_cast<int>(std::bit_width(std::max<std::size_t>(b_.entries / b_.rows, 1))) - 1;
    }

    device_csr expanded_product(const vector<I>& starts, const vector<I>& list) const {
        const std::size_t rows = list.size();
        const vector<I> own =
            vector<I>(starts[cast<std::int64_t>(list) + std::int64_t{1}] - starts[cast<std::int64_t>(list)]);
        const auto [begins, entries] = starts_of<I>(own, rows, device_);
        const vector<I> owners = segment_numbers<I>(begins, rows, entries);
        const auto [firsts, products] = starts_of<std::int64_t>(
            entry_work<I>()(numbers_to(entries), owners, begins, list, starts, a_columns_, b_starts_),
            entries, device_);
        const vector<std::int64_t> of_entry = segment_numbers<std::int64_t>(firsts, entries, products);
        vector<I> in_rows = elements_on<I>(device_, products), in_columns = elements_on<I>(device_, products);
        vector<T> values = elements_on<T>(device_, products);
        eval(expand<T, I>()(numbers_to(products), of_entry, firsts, owners, begins, list, starts, a_columns_,
                            a_values_, b_starts_, b_columns_, b_values_, in_rows, in_columns, values));
        return combined(rows, b_.columns, cast<std::int64_t>(in_rows), cast<std::int64_t>(in_columns),
                        values.state(), products, a_.index);
    }

    const device_handle device_;
    const bool on_cpu_;
    const device_csr a_, b_;
    const vector<I> a_columns_, b_starts_, b_columns_;
    const vector<T> a_values_, b_values_;
};

}  // namespace

device_csr multiplied(const device_csr& a, const device_csr& b) {
    return with_types(a.value, a.index, [&]<class T, class I>() { return row_product<T, I>(a, b).run(); });
}

}  // namespace balm::array
