// The kernels of matrix products on CPUs (Goto & van de Geijn, Anatomy of high-performance matrix
// multiplication, 2008). Operands are packed into panels, in which the rows (or columns) of a register tile
// are contiguous for each inner element. A work-item computes a block of the result, which it keeps in
// private memory while it iterates over the inner elements.

#include <vector>

#include "algorithm/block/values.hpp"
#include "algorithm/contract/product_kernels.hpp"
#include "array/map/placement.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using block::node_of;

class panel_recorder {
public:
    panel_recorder(const parameter_list& given, const panel_plan& plan)
        : given_(given),
          plan_(plan),
          shape_(plan.shape),
          element_(plan.element),
          vector_(plan.element, lanes_of(plan)) {}

    void record() const {
        const std::int64_t most_tiles = block_row_panels * block_column_panels;
        const block::arrays block("block", {vector_},
                                  static_cast<std::size_t>(most_tiles * shape_.rows * shape_.vectors),
                                  space::private_);
        const Index blocks = given("row_blocks") * given("column_blocks");
        Index unit = named("unit", group_id(0));
        Index matrix = named("matrix", unit / blocks), in_matrix = named("in_matrix", unit - matrix * blocks);
        Index split = plan_.has_splits ? named("split", matrix / given("batches")) : Index(0);
        Index batch = plan_.has_splits ? named("batch", matrix - split * given("batches")) : matrix;
        Index row_block = named("row_block", in_matrix / given("column_blocks"));
        Index column_block = named("column_block", in_matrix - row_block * given("column_blocks"));
        Index first_row = named("first_row", row_block * given("block_rows"));  // panels of rows
        Index row_count = named("row_count", min(given("row_panels") - first_row, given("block_rows")));
        Index first_column = named("first_column", column_block * given("block_columns"));
        Index column_count =
            named("column_count", min(given("column_panels") - first_column, given("block_columns")));
        Index begin = named("begin", split * given("share"));
        Index end = named("end", min(begin + given("share"), given("inner")));

        const std::int64_t tile = shape_.rows * shape_.vectors;
        for (Index k : named("k", range(row_count * column_count * tile))) block.store(k, {zero()});
        for (Index from : named("from", range(begin, end, std::int64_t{block_depth}))) {
            Index to = named("to", min(from + std::int64_t{block_depth}, end));
            for (Index column : named("column", range(column_count)))
                for (Index row : named("row", range(row_count))) {
                    Index a =
                        named("panel_of_a", (batch * given("row_panels") + first_row + row) * given("inner"));
                    Index b = named("panel_of_b", (batch * given("column_panels") + first_column + column) *
                                                      given("inner"));
                    add_tile(block, (row * column_count + column) * tile, a, b, from, to);
                }
        }
        Index start = plan_.has_splits ? Index(split * given("result")) : Index(0);
        const std::vector<trace::node> at = batch_coordinates(given_, batch, plan_.batch_loops, false);
        for (std::size_t d = 0; d < at.size(); ++d) start += Index(at[d]) * given({"out_batch", d});
        store(block, {start, first_row, row_count, first_column, column_count});
    }

private:
    static std::uint8_t lanes_of(const panel_plan& plan) {
        return static_cast<std::uint8_t>(plan.shape.lanes);
    }
    Index given(parameter_name name) const { return Index(given_[name]); }
    trace::node zero() const {
        const trace::node scalar = trace::constant(element_, 0);
        return trace::compose(vector_, &scalar, 1);
    }

    /// Adds the products of inner elements [from, to) to a register tile.
    void add_tile(const block::arrays& block, const Index& at, const Index& a, const Index& b,
                  const Index& from, const Index& to) const {
        const trace::node vectors_of_b =
            trace::reinterpret(given_["b"], pointer_to(vector_, space::global, true));
        block::values sums;
        for (std::int64_t k = 0; k < shape_.rows * shape_.vectors; ++k)
            sums.push_back(block::variables("sum", block.load(at + k))[0]);
        for (Index k : named("inner_k", range(from, to))) {
            block::values columns;
            Index first_of_b = named("at_b", (b + k) * std::int64_t{shape_.vectors});
            for (std::int64_t v = 0; v < shape_.vectors; ++v)
                columns.push_back(trace::load(vectors_of_b, node_of(first_of_b + v), {}));
            Index first_of_a = named("at_a", (a + k) * std::int64_t{shape_.rows});
            for (std::int64_t r = 0; r < shape_.rows; ++r) {
                const trace::node one = trace::load(given_["a"], node_of(first_of_a + r), {});
                const trace::node row = trace::compose(vector_, &one, 1);
                for (std::int64_t v = 0; v < shape_.vectors; ++v) {
                    const trace::node& sum = sums[static_cast<std::size_t>(r * shape_.vectors + v)];
                    const trace::node term =
                        trace::apply(builtin::mul, row, columns[static_cast<std::size_t>(v)]);
                    trace::write(sum, trace::apply(builtin::add, trace::read(sum), term));
                }
            }
        }
        for (std::int64_t k = 0; k < shape_.rows * shape_.vectors; ++k)
            block.store(at + k, {trace::read(sums[static_cast<std::size_t>(k)])});
    }

    /// The panels of a block.
    struct block_place {
        const Index &start, &first_row, &row_count, &first_column, &column_count;
    };
    /// Stores the elements of the block that are inside the result, row by row.
    void store(const block::arrays& block, const block_place& at) const {
        const block::arrays scalars = block.as({element_});
        const std::int64_t rows = shape_.rows, columns = shape_.columns();
        for (Index row : named("row", range(at.row_count * rows))) {
            Index panel = named("panel", row / rows);
            Index in_result = named("row_of_result", at.first_row * rows + row);
            IF (in_result < given("rows")) {
                Index first_of_row = named("first_of_row", at.start + in_result * given("out_row"));
                for (Index column : named("column", range(at.column_count))) {
                    Index from = named(
                        "from", ((panel * at.column_count + column) * rows + (row - panel * rows)) * columns);
                    Index first = named("first", (at.first_column + column) * columns);
                    Index count = named("count", min(given("columns") - first, Index(columns)));
                    for (Index c : named("c", range(count)))
                        trace::store(given_["out"], node_of(first_of_row + first + c),
                                     scalars.load(from + c)[0], {});
                }
            }
        }
    }

    const parameter_list& given_;
    const panel_plan plan_;
    const panel_shape shape_;
    const scalar element_;
    const trace::type vector_;
};

/// A work-item packs a chunk of the inner elements of a panel.
void record_pack(const parameter_list& parameters, const pack_plan& plan) {
    const auto given = [&](parameter_name name) { return Index(parameters[name]); };
    const std::int64_t width = plan.width;
    Index unit = named("unit", group_id(0));
    Index panel_of_all = named("panel_of_all", unit / given("chunks"));
    Index begin = named("begin", (unit - panel_of_all * given("chunks")) * given("chunk"));
    Index end = named("end", min(begin + given("chunk"), given("inner")));
    Index batch = named("batch", panel_of_all / given("panels"));
    Index first = named("first", (panel_of_all - batch * given("panels")) * width);
    Index start = named("start", given("offset"));
    const std::vector<trace::node> at = batch_coordinates(parameters, batch, plan.batch_loops, false);
    for (std::size_t d = 0; d < at.size(); ++d) start += Index(at[d]) * given({"batch_stride", d});
    const auto place_of = [&](const Index& row) {
        return plan.has_unit_rows ? row : row * given("row_stride");
    };
    const auto copy = [&](const Index& to, const Index& from) {
        const trace::node value = trace::load(parameters["from"], node_of(from), {});
        trace::store(parameters["to"], node_of(to), trace::convert(value, plan.element), {});
    };
    const auto each_inner = [&](auto&& body) {
        for (Index k : named("k", range(begin, end)))
            body(named("to", (panel_of_all * given("inner") + k) * width),
                 named("from", start + k * given("inner_stride")));
    };
    IF (first + width <= given("rows")) {
        each_inner([&](const Index& to, const Index& from) {
            for (std::int64_t lane = 0; lane < width; ++lane) copy(to + lane, from + place_of(first + lane));
        });
    }
    ELSE {
        each_inner([&](const Index& to, const Index& from) {
            for (Index lane : named("lane", range(width)))
                copy(to + lane, from + place_of(min(first + lane, given("rows") - 1)));
        });
    }
}

}  // namespace

std::vector<trace::node> batch_coordinates(const parameter_list& given, const Index& matrix,
                                           std::size_t loops, bool is_narrow) {
    if (loops == 0) return {};
    std::vector<trace::node> counts;
    for (std::size_t d = 1; d < loops; ++d) counts.push_back(given[{"batch", d}]);
    return row_major_coordinates(node_of(matrix), counts, is_narrow);
}

std::shared_ptr<const ir::function> trace_pack(trace::recording& r, const parameter_list& given,
                                               const pack_plan& plan) {
    record_pack(given, plan);
    return r.finish(nullptr);
}

std::shared_ptr<const ir::function> trace_panels(trace::recording& r, const parameter_list& given,
                                                 const panel_plan& plan) {
    panel_recorder(given, plan).record();
    return r.finish(nullptr);
}

}  // namespace balm::array
