// Reduces the operands to few strides, finds or traces the kernels, and launches them.

#include "algorithm/contract/product_computation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "algorithm/contract/product_kernels.hpp"
#include "algorithm/contract/product_method.hpp"
#include "algorithm/contract/product_shapes.hpp"
#include "algorithm/divided_up.hpp"
#include "array/map/overlap.hpp"
#include "array/run_kernel.hpp"
#include "balm/along.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// An operand as a batch of matrices: a row for each row or column of the result.
struct matrices {
    labelled of;  ///< over the axes of batch, rows, inner
    std::int64_t offset = 0, row = 0, inner = 0;
    std::int64_t slow = 0;  ///< between rows of inner elements, if these are not contiguous
};

/// A loop over the batch. Axes that are contiguous in both operands and the result are fused; the slowest is
/// first.
struct batch_loop {
    std::size_t count = 1;
    std::int64_t a = 0, b = 0, out = 0;
};

/// The stride of dimensions [first, last) as one; nullopt if they are not contiguous.
std::optional<std::int64_t> fused(const affine_map& map, std::size_t first, std::size_t last) {
    std::optional<std::int64_t> stride;
    std::int64_t next = 0;
    for (std::size_t d = last; d-- > first;) {
        const auto extent = static_cast<std::int64_t>(map.box[static_cast<int>(d)]);
        if (extent == 1) continue;
        if (!stride)
            stride = map.strides[d];
        else if (map.strides[d] != next)
            return std::nullopt;
        next = map.strides[d] * extent;
    }
    return stride.value_or(0);
}

/// The map from the axes of batch, rows and columns to positions in the result.
affine_map result_map(const product_letters& letters, const letter_extents& extents) {
    const affine_map stored = row_major(extents.of(letters.output));
    const std::string order = letters.batch + letters.rows + letters.columns;
    affine_map made{extents.of(order), {}, 0};
    for (std::size_t d = 0; d < order.size(); ++d)
        made.strides[d] = stored.strides[letters.output.find(order[d])];
    return made;
}

tape vector_over(std::shared_ptr<vector_state> v, const shape& box) {
    tape p, elements;
    p.push_position(row_major(box));
    elements.push_vector(std::move(v));
    p.append_at(std::move(elements));
    return p;
}

class computation {
public:
    computation(const labelled& a, const labelled& b, const product_letters& letters,
                const letter_extents& extents, const product_extents& sizes, bool by_library,
                vector_state& into)
        : letters_(letters),
          extents_(extents),
          sizes_(sizes),
          type_(into.type()),
          element_(type_.element),
          by_library_(by_library),
          into_(into),
          device_(into.device_handle()),
          facts_(kernels::facts_for(*device_)),
          on_cpu_(facts_.on_cpu && !forced_products().as_on_gpus) {
        order_inner(a, b);
        a_ = prepared(a, letters_.rows);
        b_ = prepared(b, letters_.columns);
        const affine_map result = result_map(letters_, extents_);
        out_row_ = fused(result, batch_dimensions(), batch_dimensions() + letters_.rows.size()).value_or(0);
        note_batch(result);
    }

    void start() {
        if (by_library_) return multiply_by_library();
        on_cpu_ ? multiply_panels() : multiply_tiles();
    }

private:
    // ---- Operands

    std::size_t batch_dimensions() const { return letters_.batch.size(); }
    /// Inner axes in an order, of which the first ones are slow: a kernel of tiles finishes all elements
    /// along the others before it takes a step along these.
    struct inner_axes {
        std::string order;
        std::size_t slow = 0;
    };
    /// Whether an operand is addressed with one stride along its rows, along the slow and along the fast
    /// inner axes; contiguous inner elements must be among the fast ones.
    bool is_fused(const labelled& x, const std::string& rows, const inner_axes& inner) const {
        const labelled over = rearranged(x, letters_.batch + rows + inner.order, extents_);
        const std::size_t first = batch_dimensions(), middle = first + rows.size(),
                          slow = middle + inner.slow;
        const auto along_slow = fused(over.map(), middle, slow);
        return fused(over.map(), first, middle) && along_slow && std::abs(*along_slow) != 1 &&
               fused(over.map(), slow, middle + inner.order.size());
    }
    /// Chooses the order of inner axes in which fewer elements have to be copied, with no slow ones if
    /// possible.
    void order_inner(const labelled& a, const labelled& b) {
        std::size_t least = ~std::size_t{0};
        for (const labelled* x : {&a, &b}) {
            inner_axes axes{letters_.inner};
            std::stable_sort(axes.order.begin(), axes.order.end(),
                             [&](char p, char q) { return x->stride_of(p) > x->stride_of(q); });
            for (; axes.slow == 0 || axes.slow < axes.order.size(); ++axes.slow) {
                if (axes.slow > 0 && !can_be_slow(axes)) continue;
                const std::size_t copied = (is_fused(a, letters_.rows, axes) ? 0 : sizes_.rows) +
                                           (is_fused(b, letters_.columns, axes) ? 0 : sizes_.columns);
                if (copied < least) inner_ = axes;
                least = std::min(copied, least);
            }
        }
        letters_.inner = inner_.order;
    }
    bool can_be_slow(const inner_axes& axes) const {
        return !on_cpu_ && !by_library_ && fast_extent(axes) % common_depth == 0;
    }
    std::size_t fast_extent(const inner_axes& axes) const {
        return extents_.of(axes.order.substr(axes.slow)).count();
    }
    matrices prepared(const labelled& x, const std::string& rows) const {
        const std::string order = letters_.batch + rows + letters_.inner;
        if (is_fused(x, rows, inner_) && x.is_of_vector()) {
            matrices made = of_strides(rearranged(x, order, extents_), rows);
            if (!by_library_ || is_for_library(made, extents_.of(rows).count())) return made;
        }
        return of_strides(rearranged(copied(x, rows), order, extents_), rows);
    }
    matrices of_strides(labelled over, const std::string& rows) const {
        const std::size_t first = batch_dimensions(), middle = first + rows.size(),
                          fast = middle + inner_.slow;
        const affine_map& map = over.map();
        matrices made;
        made.offset = map.offset;
        made.row = fused(map, first, middle).value_or(0);
        made.slow = fused(map, middle, fast).value_or(0);
        made.inner = fused(map, fast, middle + letters_.inner.size()).value_or(0);
        made.of = std::move(over);
        return made;
    }
    /// Neighbours remain neighbours, so that neither the loads nor the stores of the copy are far apart.
    labelled copied(const labelled& x, const std::string& rows) const {
        char fastest = letters_.inner.back();
        for (const char c : x.letters)
            if (extents_[c] > 1 &&
                (extents_[fastest] == 1 || std::abs(x.stride_of(c)) < std::abs(x.stride_of(fastest))))
                fastest = c;
        const std::string& inner = letters_.inner;
        labelled over =
            rearranged(x, letters_.batch + (has(rows, fastest) ? inner + rows : rows + inner), extents_);
        const shape box = over.map().box;
        auto made = std::make_shared<vector_state>(device_, type_, box.count());
        assign(*made, std::move(over.values));
        return {vector_over(std::move(made), box), over.letters};
    }
    void note_batch(const affine_map& result) {
        for (std::size_t d = 0; d < batch_dimensions(); ++d) {
            const batch_loop own{extents_[letters_.batch[d]], a_.of.map().strides[d], b_.of.map().strides[d],
                                 result.strides[d]};
            if (own.count == 1) continue;
            const auto reach = static_cast<std::int64_t>(own.count);
            const auto is_next = [&](const batch_loop& of) {
                return of.a == own.a * reach && of.b == own.b * reach && of.out == own.out * reach;
            };
            if (!batch_.empty() && is_next(batch_.back()))
                batch_.back() = {batch_.back().count * own.count, own.a, own.b, own.out};
            else
                batch_.push_back(own);
        }
    }

    // ---- The vendor's library

    /// How the library addresses the operand, except for its batch: one index is contiguous, and the other
    /// has a stride that leaves no overlap. nullopt if it cannot.
    std::optional<runtime::batched_matrix> stored_for_library(const matrices& x, std::size_t rows,
                                                              bool is_a) const {
        const vector_state& v = vector_of(x);
        const std::size_t inner = sizes_.inner;
        const auto stride = [](std::int64_t given, std::size_t extent, std::size_t contiguous) {
            return extent == 1 ? static_cast<std::int64_t>(contiguous) : given;
        };
        const auto is_apart = [](std::int64_t given, std::size_t contiguous) {
            constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
            return given >= static_cast<std::int64_t>(contiguous) && given <= most;
        };
        const std::int64_t of_row = stride(x.row, rows, inner), of_inner = stride(x.inner, inner, rows);
        const bool by_rows = (x.inner == 1 || inner == 1) && is_apart(of_row, inner),
                   by_columns = (x.row == 1 || rows == 1) && is_apart(of_inner, rows);
        if (v.type() != type_ || (!by_rows && !by_columns)) return std::nullopt;
        runtime::batched_matrix made;
        made.native = v.memory()->native();
        made.offset = v.offset() + static_cast<std::size_t>(x.offset) * v.element_size();
        made.stride = static_cast<std::size_t>(by_rows ? of_row : of_inner);
        made.is_transposed = by_rows != is_a;  // b has a row for each column of the result
        return made;
    }
    bool is_for_library(const matrices& x, std::size_t rows) const {
        for (std::size_t d = 0; d < batch_dimensions(); ++d)
            if (x.of.map().strides[d] < 0) return false;
        return stored_for_library(x, rows, true).has_value();
    }
    void multiply_by_library() const {
        runtime::matrix_product of;
        of.element = *product_element_of(type_);
        of.rows = sizes_.rows;
        of.columns = sizes_.columns;
        of.inner = sizes_.inner;
        of.a = stored_for_library(a_, sizes_.rows, true).value();
        of.b = stored_for_library(b_, sizes_.columns, false).value();
        of.result.native = into_.memory()->native();
        of.result.offset = into_.offset();
        of.result.stride = sizes_.rows == 1 ? sizes_.columns : static_cast<std::size_t>(out_row_);
        // The longest loop is the library's batch, the others are the host's.
        std::vector<batch_loop> loops = batch_;
        std::sort(loops.begin(), loops.end(),
                  [](const batch_loop& x, const batch_loop& y) { return x.count > y.count; });
        if (!loops.empty()) {
            of.count = loops[0].count;
            of.a.next = static_cast<std::size_t>(loops[0].a);
            of.b.next = static_cast<std::size_t>(loops[0].b);
            of.result.next = static_cast<std::size_t>(loops[0].out);
            loops.erase(loops.begin());
        }
        multiply_batches(of, loops);
    }
    void multiply_batches(runtime::matrix_product of, std::span<const batch_loop> loops) const {
        if (loops.empty()) {
            runtime::storage* const reads[] = {vector_of(a_).memory().get(), vector_of(b_).memory().get()};
            runtime::storage* const writes[] = {into_.memory().get()};
            return device_->default_queue().enqueue_multiply(of, reads, writes);
        }
        const batch_loop& loop = loops[0];
        const auto bytes = [&](std::int64_t stride) {
            return static_cast<std::size_t>(stride) * into_.element_size();
        };
        for (std::size_t k = 0; k < loop.count; ++k) {
            multiply_batches(of, loops.subspan(1));
            of.a.offset += bytes(loop.a);
            of.b.offset += bytes(loop.b);
            of.result.offset += bytes(loop.out);
        }
    }

    // ---- Splits

    /// Memory for the results of the splits; null for a single one.
    std::shared_ptr<vector_state> memory_for(std::size_t splits) const {
        if (splits == 1) return nullptr;
        return std::make_shared<vector_state>(device_, element_, shape(splits, into_.size()).count());
    }
    /// Adds up the splits, in order.
    void add_up(std::shared_ptr<vector_state> partials, std::size_t splits) const {
        dimension_list first;
        first.count = 1;
        assign(into_, reduced_along(vector_over(std::move(partials), shape(splits, into_.size())),
                                    {reduction_kind::sum, element_}, first));
    }

    // ---- CPUs

    /// Panels of `width` rows, which are contiguous for each inner element.
    std::shared_ptr<vector_state> packed(const matrices& x, std::size_t rows, int width, bool is_a) const {
        const vector_state& from = vector_of(x);
        const std::size_t panels = divided_up(rows, static_cast<std::size_t>(width));
        auto made = std::make_shared<vector_state>(device_, element_,
                                                   shape(sizes_.batch, panels, sizes_.inner, width).count());
        const pack_plan plan{width, element_, from.type(), x.row == 1,
                             static_cast<std::uint8_t>(batch_.size())};
        // Divides long panels, so that all compute units have work.
        constexpr std::size_t chunk = 1024;
        const std::size_t chunks = divided_up(sizes_.inner, chunk);
        const auto declare = [&](auto& to) {
            to.number("rows", rows);
            to.number("inner", sizes_.inner);
            to.number("panels", panels);
            to.number("chunk", chunk);
            to.number("chunks", chunks);
            to.number("offset", x.offset);
            if (!plan.has_unit_rows) to.number("row_stride", x.row);
            to.number("inner_stride", x.inner);
            declare_batch_counts(to);
            for (std::size_t k = 0; k < batch_.size(); ++k)
                to.number({"batch_stride", k}, is_a ? batch_[k].a : batch_[k].b);
            to.vector("from", from, trace::access::in);
            to.vector("to", *made, trace::access::out);
        };
        launch({"pack_panels", "rows of a matrix, side by side"}, plan, declare, trace_pack,
               groups_of(sizes_.batch * panels * chunks, 1));
        return made;
    }
    template <class List>
    void declare_batch_counts(List& to) const {
        for (std::size_t k = 1; k < batch_.size(); ++k) to.number({"batch", k}, batch_[k].count);
    }
    /// The strides of the result, and the distance between splits.
    template <class List>
    void declare_result(List& to, std::size_t splits) const {
        to.number("out_row", out_row_);
        for (std::size_t k = 0; k < batch_.size(); ++k) to.number({"out_batch", k}, batch_[k].out);
        if (splits > 1) to.number("result", into_.size());
    }
    struct kernel_words {
        const char *name, *description;
    };
    template <class Plan, class Declare, class Trace>
    void launch(const kernel_words& words, const Plan& plan, const Declare& declare, const Trace& trace_of,
                const runtime::grid& g) const {
        run_kernel(
            {words.name, *device_, facts_}, plan, declare,
            [&](trace::recording& r, const parameter_list& given) {
                r.describe(words.description);
                return trace_of(r, given, plan);
            },
            g);
    }

    void multiply_panels() const {
        panel_plan plan{panels_for(element_, device_->info()), element_,
                        static_cast<std::uint8_t>(batch_.size())};
        const auto tile_rows = static_cast<std::size_t>(plan.shape.rows),
                   tile_columns = static_cast<std::size_t>(plan.shape.columns());
        const std::size_t row_panels = divided_up(sizes_.rows, tile_rows),
                          column_panels = divided_up(sizes_.columns, tile_columns);
        // Shrinks blocks, and splits inner elements, until all compute units have work.
        std::size_t block_rows = block_row_panels, block_columns = block_column_panels;
        const auto blocks = [&] {
            return divided_up(row_panels, block_rows) * divided_up(column_panels, block_columns) *
                   sizes_.batch;
        };
        const std::size_t wanted = 4 * std::max<std::size_t>(device_->info().compute_units, 1);
        while (blocks() < wanted && (block_rows > 1 || block_columns > 1))
            (block_rows >= block_columns ? block_rows : block_columns) /= 2;
        constexpr std::size_t least_share = 4 * block_depth;
        std::size_t splits = 1;
        if (blocks() < wanted)
            splits = std::clamp<std::size_t>(wanted / blocks(), 1,
                                             std::max<std::size_t>(sizes_.inner / least_share, 1));
        if (forced_products().splits > 0) splits = forced_products().splits;
        const std::size_t share = divided_up(sizes_.inner, splits);
        splits = divided_up(sizes_.inner, share);
        plan.has_splits = splits > 1;

        const std::shared_ptr<vector_state> a = packed(a_, sizes_.rows, plan.shape.rows, true),
                                            b = packed(b_, sizes_.columns, plan.shape.columns(), false),
                                            partials = memory_for(splits);
        const auto declare = [&](auto& to) {
            to.number("rows", sizes_.rows);
            to.number("columns", sizes_.columns);
            to.number("inner", sizes_.inner);
            to.number("share", share);
            to.number("batches", sizes_.batch);
            to.number("row_panels", row_panels);
            to.number("column_panels", column_panels);
            to.number("block_rows", block_rows);
            to.number("block_columns", block_columns);
            to.number("row_blocks", divided_up(row_panels, block_rows));
            to.number("column_blocks", divided_up(column_panels, block_columns));
            declare_batch_counts(to);
            declare_result(to, splits);
            to.vector("a", *a, trace::access::in);
            to.vector("b", *b, trace::access::in);
            to.vector("out", partials ? *partials : into_, trace::access::out);
        };
        launch({"multiply_panels", "products of packed matrices"}, plan, declare, trace_panels,
               groups_of(blocks() * splits, 1));
        if (partials) add_up(partials, splits);
    }

    // ---- GPUs

    /// How an operand is loaded: up to 16 bytes at once, if its offset and strides are multiples of that.
    tile_loads loads_of(const matrices& x, std::size_t rows, bool is_a, int tile_rows,
                        const product_tile_shape& shape) const {
        const vector_state& v = vector_of(x);
        tile_loads made;
        made.has_unit_inner = x.inner == 1 || (sizes_.inner == 1 && x.row != 1);
        made.has_unit_rows = !made.has_unit_inner && x.row == 1;
        made.stored = v.type();
        if (v.type() != trace::type(element_) || !v.is_whole()) return made;
        const int most = static_cast<int>(16 / size_of(element_)),
                  of_item = tile_rows * shape.depth / shape.items();
        for (int width = std::min(most, of_item); width > 1; width /= 2) {
            const auto is_multiple = [&](std::int64_t n) { return n % width == 0; };
            const bool along_inner = made.has_unit_inner, along_rows = made.has_unit_rows;
            const bool fits =
                is_multiple(x.offset) && is_multiple(x.slow) &&
                ((along_inner && is_multiple(x.row) &&
                  is_multiple(static_cast<std::int64_t>(sizes_.inner))) ||
                 (along_rows && is_multiple(x.inner) && is_multiple(static_cast<std::int64_t>(rows)))) &&
                std::all_of(batch_.begin(), batch_.end(),
                            [&](const batch_loop& loop) { return is_multiple(is_a ? loop.a : loop.b); });
            if (!fits) continue;
            made.width = width;
            break;
        }
        return made;
    }
    static const vector_state& vector_of(const matrices& x) {
        return *x.of.values.vectors[x.of.values.steps[2].leaf];
    }
    bool has_narrow_indices(const tile_division& d, const vector_state& out) const {
        constexpr std::int64_t limit = std::int64_t{1} << 30;
        const auto is_narrow = [&](const matrices& x) {
            const auto [low, high] = range_of(x.of.map());
            return low > -limit && high < limit;
        };
        const std::size_t most = std::max({sizes_.rows, sizes_.columns, sizes_.inner, d.share});
        return is_narrow(a_) && is_narrow(b_) && out.size() < static_cast<std::size_t>(limit) &&
               most < static_cast<std::size_t>(limit);
    }

    void multiply_tiles() const {
        const tile_division d = tiles_for(sizes_, element_, device_->info());
        const std::shared_ptr<vector_state> partials = memory_for(d.splits);
        vector_state& out = partials ? *partials : into_;
        product_tile_plan plan;
        plan.shape = d.shape;
        plan.element = element_;
        plan.a = loads_of(a_, sizes_.rows, true, d.shape.rows, d.shape);
        plan.b = loads_of(b_, sizes_.columns, false, d.shape.columns, d.shape);
        plan.is_narrow = has_narrow_indices(d, out);
        const auto is_of_vectors = [&](auto n) { return n % plan.lanes() == 0; };
        plan.stores_vectors = out.is_whole() && is_of_vectors(static_cast<std::int64_t>(sizes_.columns)) &&
                              is_of_vectors(out_row_) &&
                              std::all_of(batch_.begin(), batch_.end(),
                                          [&](const batch_loop& l) { return is_of_vectors(l.out); });
        plan.batch_loops = static_cast<std::uint8_t>(batch_.size());
        plan.has_splits = d.splits > 1;
        plan.has_slow_inner = inner_.slow > 0;

        const std::size_t across = divided_up(sizes_.columns, static_cast<std::size_t>(d.shape.columns)),
                          down = divided_up(sizes_.rows, static_cast<std::size_t>(d.shape.rows));
        const auto groups = balm::detail::checked_product(across * down * d.splits, sizes_.batch);
        constexpr std::size_t most_groups = (std::size_t{1} << 31) - 1;
        if (!groups || *groups > most_groups)
            throw usage_error(
                fmt::format("{} products of {} x {} and {} x {} need more work-groups than a launch can "
                            "have; multiply fewer at a time",
                            sizes_.batch, sizes_.rows, sizes_.inner, sizes_.inner, sizes_.columns));
        const auto declare = [&](auto& to) {
            to.number("rows", sizes_.rows);
            to.number("columns", sizes_.columns);
            to.number("inner", sizes_.inner);
            if (plan.has_slow_inner) to.number("fast", fast_extent(inner_));
            to.number("tiles", across * down);
            to.number("tiles_across", across);
            to.number("tiles_down", down);
            if (plan.has_splits) {
                to.number("share", d.share);
                to.number("batches", sizes_.batch);
            }
            declare_batch_counts(to);
            declare_result(to, d.splits);
            declare_operand(to, a_, plan.a, true);
            declare_operand(to, b_, plan.b, false);
            to.vector("a", vector_of(a_), trace::access::in);
            to.vector("b", vector_of(b_), trace::access::in);
            to.vector("out", out, trace::access::out);
        };
        launch({"multiply_tiles", "products of matrices"}, plan, declare, trace_tiles,
               groups_of(*groups, static_cast<std::size_t>(d.shape.items())));
        if (partials) add_up(partials, d.splits);
    }
    template <class List>
    void declare_operand(List& to, const matrices& x, const tile_loads& how, bool is_a) const {
        // Offsets and strides are in units of the load width.
        const std::int64_t width = how.width;
        to.number(is_a ? "a_offset" : "b_offset", x.offset / width);
        if (!how.has_unit_rows) to.number(is_a ? "a_row" : "b_column", x.row / width);
        if (!how.has_unit_inner) to.number(is_a ? "a_inner" : "b_inner", x.inner / width);
        if (inner_.slow > 0) to.number(is_a ? "a_slow" : "b_slow", x.slow / width);
        for (std::size_t k = 0; k < batch_.size(); ++k)
            to.number({is_a ? "a_batch" : "b_batch", k}, (is_a ? batch_[k].a : batch_[k].b) / width);
    }

    product_letters letters_;
    const letter_extents& extents_;
    const product_extents& sizes_;
    trace::type type_;
    scalar element_;  ///< the same, of Balm's kernels
    bool by_library_;
    vector_state& into_;
    std::shared_ptr<runtime::device_state> device_;
    ir::launch_facts facts_;
    bool on_cpu_;
    inner_axes inner_;
    matrices a_, b_;
    std::int64_t out_row_ = 0;  ///< the stride between rows of the result
    std::vector<batch_loop> batch_;
};

}  // namespace

void multiply(const labelled& a, const labelled& b, const product_letters& letters,
              const letter_extents& extents, const product_extents& sizes, bool by_library,
              vector_state& into) {
    computation(a, b, letters, extents, sizes, by_library, into).start();
}

std::size_t result_row_stride(const product_letters& letters, const letter_extents& extents) {
    const std::size_t first = letters.batch.size();
    const auto stride = fused(result_map(letters, extents), first, first + letters.rows.size());
    return static_cast<std::size_t>(stride.value_or(0));
}

bool is_stored_in_order(const product_letters& letters, const letter_extents& extents) {
    const affine_map result = result_map(letters, extents);
    const std::size_t first = letters.batch.size(), middle = first + letters.rows.size();
    const auto columns = fused(result, middle, middle + letters.columns.size());
    return fused(result, first, middle) && columns &&
           (*columns == 1 || extents.of(letters.columns).count() == 1);
}

}  // namespace balm::array
