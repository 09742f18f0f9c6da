#include "algorithm/sparse/balanced_kernels.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algorithm/block/reduce.hpp"
#include "algorithm/block/scan.hpp"
#include "algorithm/divided_up.hpp"
#include "algorithm/sparse/product_functions.hpp"
#include "algorithm/sparse/row_function.hpp"
#include "algorithm/sparse/sparse_strategy.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "array/run_kernel.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/sync.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using block::values;
using row_function::factors;

/// Work-items of a group that adds up the parts of a row.
constexpr std::size_t cut_items = 256;

enum class balanced_stage : std::uint8_t { tile_an_item, tile_a_group, long_cuts };

struct balanced_plan {
    balanced_stage stage = balanced_stage::tile_an_item;
    trace::type value, product;
    scalar index = scalar::i32;
    std::size_t group = 1;
    bool has_sub_groups = false;
    bool has_empty_rows = false;
    std::size_t lanes = 1;
    bool has_groups = false;  ///< several groups of columns: see operand_form

    friend bool operator==(const balanced_plan&, const balanced_plan&) = default;
};

/// Addition, for the primitives of block/.
template <class T>
block::operation addition() {
    return {[](const values& a, const values& b) -> values {
                return {block::node_of(Var<T>(Var<T>(a[0]) + Var<T>(b[0])))};
            },
            []() -> values { return {block::node_of(Var<T>())}; }};
}

/// Records the body of a kernel whose parameters are declared, for factors of T, indices of I and operands of
/// X.
template <class T, class I, class X>
class recorder {
public:
    recorder(const parameter_list& given, const balanced_plan& plan) : given_(given), plan_(plan) {}

    void record() {
        switch (plan_.stage) {
            case balanced_stage::tile_an_item: return record_tile_of_item();
            case balanced_stage::tile_a_group: return record_tile_of_group();
            case balanced_stage::long_cuts: return record_long_cuts();
        }
    }

private:
    Index number(parameter_name name) const { return Index(given_[name]); }
    template <class E>
    In<E> memory(parameter_name name) const {
        return In<E>(given_[name]);
    }
    row_function::factors<T> factors_of_products() const {
        return row_function::factors<T>(given_["values"], plan_.value);
    }
    /// The position of the current group of columns: in x, in y, and in parts of rows.
    Index place_of(const Index& row) const {
        return plan_.has_groups ? Index(row * number("groups") + group_) : row;
    }
    void store(parameter_name name, const Index& at, const Var<X>& value) const {
        trace::store(given_[name], block::node_of(place_of(at)), block::node_of(value), {});
    }
    Var<X> element_of(const In<X>& x, const Var<I>& column) const {
        if (!plan_.has_groups) return x[column];
        return x[place_of(cast<std::int64_t>(column))];
    }
    /// Calls `body` for each group of columns, and `between` after it.
    template <class Body, class Between>
    void for_each_group(const Body& body, const Between& between) {
        if (!plan_.has_groups) return body();
        for (Index k : named("group", range(number("groups")))) {
            group_ = k;
            body();
            between();
        }
    }
    template <class N>
    void add_entries(Var<X>& sum, const N& begin, const N& end) const {
        const factors<T> entries = factors_of_products();
        const In<X> x = memory<X>("x");
        const In<I> columns = memory<I>("columns");
        for (N k : named("k", range(begin, end))) sum += entries[k] * element_of(x, Var<I>(columns[k]));
    }

    void record_tile_of_item() {
        for_each_group([&] { record_columns_of_item(); }, [] {});
    }
    void record_columns_of_item() const {
        const In<I> starts = memory<I>("starts");
        const In<std::int64_t> first = memory<std::int64_t>("first");
        const Index tile = named("tile", group_id(0));
        const Index begin = named("begin", tile * number("tile_entries"));
        const Index end = named("end", min(begin + number("tile_entries"), number("entries")));
        const Index first_row = named("first_row", first[tile]), end_row = named("end_row", first[tile + 1]);
        Var<X> head;
        add_entries(head, begin, Index(min(cast<std::int64_t>(starts[first_row]), end)));
        store("heads", tile, head);
        for (Index row : named("row", range(first_row, end_row))) {
            const Index stop = named("stop", cast<std::int64_t>(starts[row + 1]));
            Var<X> sum;
            add_entries(sum, Var<I>(starts[row]), Var<I>(cast<I>(min(stop, end))));
            BALM_IF (stop <= end) {
                store("y", row, sum);
            }
            BALM_ELSE { store("tails", tile, sum); }
        }
    }

    /// The row that begins as the k-th of the rows with entries.
    Index row_of(const Index& k) const {
        return plan_.has_empty_rows ? Index(memory<std::int64_t>("filled_rows")[k]) : k;
    }

    /// Entries are loaded before the loop over groups of columns, and stay in registers.
    void record_tile_of_group() {
        constexpr int each = tile_entries_of_item;
        const block::group g({plan_.group, true, plan_.has_sub_groups, true});
        const block::types flagged{scalar::boolean, type_of<X>()};
        const block::arrays shared = g.shared("shared", flagged, block::scan_room(g));

        const Index tile = named("tile", group_id(0));
        const Index base =
            named("base", tile * static_cast<std::int64_t>(tile_entries) + g.first() * each + g.lane());
        const UInt head = named(
            "head", memory<unsigned>("item_heads")[tile * static_cast<std::int64_t>(tile_items) + g.item()]);
        const Index begun = named("begun", memory<std::int64_t>("first")[tile]);
        const Int rank = named("rank", cast<int>(head >> each));
        const Bool has_begin = (head & ((1u << each) - 1)) != 0u;
        const loaded_entries entries = loaded_from(base);
        for_each_group(
            [&] {
                record_columns_of_group(g, shared, entries, {tile, head, begun, rank, has_begin});
            },
            [] { barrier(); });
    }
    /// What a work-item knows about its entries.
    struct item_of_tile {
        Index tile;
        UInt head;
        Index begun;  ///< rows that begin before the tile
        Int rank;     ///< rows that begin in the tile before the item
        Bool has_begin;
    };
    struct loaded_entries {
        std::vector<Var<I>> columns;
        std::vector<Var<T>> values;
    };
    void record_columns_of_group(const block::group& g, const block::arrays& shared,
                                 const loaded_entries& entries, const item_of_tile& item) const {
        constexpr int each = tile_entries_of_item;
        const block::operation by_row = block::segmented(addition<X>());
        const auto& [tile, head, begun, rank, has_begin] = item;
        // Sums are computed without branches, so that no load waits for another; then rows are stored.
        const std::vector<Var<X>> products = products_of(entries);
        std::vector<Var<X>> sums;  // of the open row, including this entry
        const auto begins_at = [&head = head](int k) { return (head >> k & 1u) != 0u; };
        for (int k = 0; k < each; ++k) {
            const Var<X>& product = products[static_cast<std::size_t>(k)];
            sums.push_back(k == 0 ? product : joined(begins_at(k), sums.back(), product));
        }
        Var<X> ahead;  // of the row that was open when the item began
        Index open = begun + rank;
        for (int k = 1; k < each; ++k) {
            BALM_IF (begins_at(k)) {
                BALM_IF ((head & ((1u << k) - 1)) != 0u) {
                    store("y", row_of(open), sums[static_cast<std::size_t>(k) - 1]);
                    open += 1;
                }
                BALM_ELSE { ahead = sums[static_cast<std::size_t>(k) - 1]; }
            }
        }
        const Var<X> sum = sums.back();
        values total;
        const values carry = block::scan_exclusive(
            g, by_row, {block::node_of(has_begin), block::node_of(sum)}, shared, &total);
        BALM_IF (has_begin) {
            const Var<X> whole = Var<X>(carry[1]) + ahead;
            BALM_IF (rank > 0) {
                store("y", row_of(begun + rank - 1), whole);
            }
            BALM_ELSE { store("heads", tile, whole); }
        }
        BALM_IF (g.item() == 0) {
            BALM_IF (Bool(total[0])) {
                store("tails", tile, Var<X>(total[1]));
            }
            BALM_ELSE { store("heads", tile, Var<X>(total[1])); }
        }
    }
    /// Adds an entry to the sum of a row so far; the entry may begin a new row.
    static Var<X> joined(const Bool& begins, const Var<X>& sum, const Var<X>& product) {
        Var<X> before = sum;
        BALM_IF (begins) {
            before = Var<X>();
        }
        return before + product;
    }
    loaded_entries loaded_from(const Index& base) const {
        const factors<T> entries = factors_of_products();
        const In<I> column_indices = memory<I>("columns");
        loaded_entries made;
        for (std::size_t k = 0; k < tile_entries_of_item; ++k)
            made.columns.push_back(column_indices[base + static_cast<std::int64_t>(k * block::lanes)]);
        for (std::size_t k = 0; k < tile_entries_of_item; ++k)
            made.values.push_back(entries[base + static_cast<std::int64_t>(k * block::lanes)]);
        return made;
    }
    std::vector<Var<X>> products_of(const loaded_entries& entries) const {
        const In<X> x = memory<X>("x");
        std::vector<Var<X>> products;
        for (std::size_t k = 0; k < tile_entries_of_item; ++k)
            products.push_back(entries.values[k] * element_of(x, entries.columns[k]));
        return products;
    }

    void record_long_cuts() {
        const block::group g({plan_.group, true, plan_.has_sub_groups, true});
        const block::arrays shared = g.shared("shared", {type_of<X>()}, plan_.group);
        for_each_group([&] { record_columns_of_long_cut(g, shared); }, [] { barrier(); });
    }
    void record_columns_of_long_cut(const block::group& g, const block::arrays& shared) const {
        const In<std::int64_t> cuts = memory<std::int64_t>("cuts");
        const In<X> heads = memory<X>("heads"), tails = memory<X>("tails");
        const Index cut = named("cut", number("few_cuts") + group_id(0));
        const Index first = named("first", cuts[number("cut_count") + cut]);
        const Index last = named("last", cuts[number("cut_count") * 2 + cut]);
        Var<X> sum;
        for (Index k : named("k", range(first + 1 + g.item(), last + 1, Index(g.items()))))
            sum += heads[place_of(k)];
        const values whole = block::reduce(g, addition<X>(), {block::node_of(sum)}, shared);
        BALM_IF (g.item() == 0) {
            store("y", cuts[cut], Var<X>(tails[place_of(first)]) + Var<X>(whole[0]));
        }
    }
    template <class E>
    static trace::type type_of() {
        return balm::detail::type_of_element<E>();
    }

    const parameter_list& given_;
    const balanced_plan& plan_;
    Index group_;
};

class multiplication {
public:
    multiplication(const stored_matrix& matrix, const vector_state& x, vector_state& into,
                   const operand_form& form)
        : m_(matrix),
          x_(x),
          into_(into),
          form_(form),
          device_(into.device()),
          facts_(kernels::facts_for(device_)) {
        plan_.value = m_.value;
        plan_.product = form.type;
        plan_.index = m_.index;
        plan_.has_sub_groups = !m_.tiles.are_of_items && kernels::features_of(device_).has_sub_groups;
        plan_.has_empty_rows = m_.tiles.filled_rows != nullptr;
        plan_.lanes = form.lanes;
        plan_.has_groups = form.groups > 1;
    }

    void start() {
        if (m_.rows == 0) return;
        if (!m_.tiles.are_of_items && (plan_.has_empty_rows || m_.entries == 0)) fill_with_zeros();
        if (m_.tiles.count == 0) return;
        tails_ = make_parts();
        heads_ = make_parts();
        if (m_.tiles.are_of_items)
            launch(balanced_stage::tile_an_item, m_.tiles.count, 1);
        else
            launch(balanced_stage::tile_a_group, m_.tiles.count, tile_items);
        add_up_cuts();
        if (m_.tiles.long_count > 0) launch(balanced_stage::long_cuts, m_.tiles.long_count, cut_items);
    }

private:
    std::shared_ptr<vector_state> make_parts() const {
        return std::make_shared<vector_state>(into_.device_handle(), into_.type(),
                                              m_.tiles.count * form_.groups);
    }
    void fill_with_zeros() {
        const std::uint64_t zeros[2] = {};
        fill(into_, zeros);
    }
    std::size_t few_cuts() const { return m_.tiles.cut_count - m_.tiles.long_count; }

    template <class List>
    void declare_parameters(List& to) const {
        if (plan_.has_groups) to.number("groups", form_.groups);
        if (plan_.stage == balanced_stage::long_cuts) {
            to.number("few_cuts", few_cuts());
            to.number("cut_count", m_.tiles.cut_count);
            to.vector("cuts", *m_.tiles.cuts, trace::access::in);
            to.vector("heads", *heads_, trace::access::in);
            to.vector("tails", *tails_, trace::access::in);
            to.vector("y", into_, trace::access::out);
            return;
        }
        to.vector("y", into_, trace::access::out);
        to.vector("heads", *heads_, trace::access::out);
        to.vector("tails", *tails_, trace::access::out);
        to.vector("first", *m_.tiles.first, trace::access::in);
        if (plan_.stage == balanced_stage::tile_an_item) {
            to.number("entries", m_.entries);
            to.number("tile_entries", m_.tiles.entries);
            to.vector("starts", *m_.starts, trace::access::in);
        } else {
            to.vector("item_heads", *m_.tiles.heads, trace::access::in);
            if (plan_.has_empty_rows) to.vector("filled_rows", *m_.tiles.filled_rows, trace::access::in);
        }
        to.vector("columns", *m_.column_indices, trace::access::in);
        to.vector("values", *m_.values, trace::access::in);
        to.vector("x", x_, trace::access::in);
    }

    void launch(balanced_stage stage, std::size_t groups, std::size_t items) {
        plan_.stage = stage;
        plan_.group = items;
        run_kernel(
            {"sparse_product", device_, facts_}, plan_, [&](auto& to) { declare_parameters(to); },
            [&](trace::recording& r, const parameter_list& given) {
                r.describe(stage == balanced_stage::long_cuts ? "rows that many tiles have parts of"
                                                              : "y = A * x");
                with_operands(m_.value, m_.index, form_,
                              [&]<class T, class I, class X>() { recorder<T, I, X>(given, plan_).record(); });
                return r.finish(nullptr);
            },
            groups_of(groups, items));
    }

    /// Calls a function for each cut with few parts and each group of columns.
    template <class PushArguments>
    tape of_few_cuts(const function_pointer& f, trace::type type, const PushArguments& push_arguments) const {
        tape p;
        p.push_value(step::kind::index, scalar::i64, 0);
        p.size = static_cast<std::int64_t>(few_cuts() * form_.groups);
        p.push_memory(m_.tiles.cuts);
        std::uint16_t arity = 2;
        push_arguments(p, arity);
        if (form_.known_groups() == 0) {
            p.push_value(step::kind::scalar, scalar::i64, form_.groups);
            ++arity;
        }
        p.push_call(f, type, arity);
        return p;
    }
    void add_up_cuts() {
        if (few_cuts() == 0) return;
        tape sums = of_few_cuts(cut_function(form_), into_.type(), [&](tape& p, std::uint16_t& arity) {
            p.push_value(step::kind::scalar, scalar::i64, m_.tiles.cut_count);
            p.push_memory(tails_);
            p.push_memory(heads_);
            arity = 5;
        });
        const tape rows = of_few_cuts(place_function(form_), scalar::i64, [](tape&, std::uint16_t&) {});
        const target into{&into_, &rows};
        assign({&into, 1}, std::move(sums));
    }

    const stored_matrix& m_;
    const vector_state& x_;
    vector_state& into_;
    const operand_form form_;
    runtime::device_state& device_;
    const ir::launch_facts facts_;
    balanced_plan plan_;
    std::shared_ptr<vector_state> heads_, tails_;
};

}  // namespace

void multiply_balanced(const stored_matrix& matrix, const std::shared_ptr<vector_state>& x,
                       vector_state& into, const operand_form& form) {
    multiplication(matrix, *x, into, form).start();
}

}  // namespace balm::array
