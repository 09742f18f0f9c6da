// The kernel of matrix products on GPUs. A group computes a tile of the result. It loads the next tiles of
// both operands from global memory into registers while it multiplies those in local memory, which is
// double-buffered, so that one barrier per step suffices (Nath, Tomov & Dongarra, An improved MAGMA GEMM for
// Fermi GPUs, 2010; Thakkar et al., CUTLASS). Rows beyond the result repeat the last one and are never
// stored, so that only the loads of the last inner elements need a test.

#include <bit>
#include <optional>
#include <vector>

#include "algorithm/block/group.hpp"
#include "algorithm/contract/product_kernels.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using block::node_of;

constexpr unsigned log2(int power) {
    return static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(power)));
}

/// Two tiles of an operand in local memory; the rows are contiguous for each inner element.
class local_tiles {
public:
    /// The padding makes the rows of a tile begin in different banks.
    local_tiles(const char* word, const product_tile_plan& plan, int rows)
        : lanes_(plan.lanes()),
          pitch_(rows + lanes_),
          size_(pitch_ * plan.shape.depth),
          vector_(plan.element, static_cast<std::uint8_t>(lanes_)),
          vectors_(trace::object(vector_, static_cast<std::uint64_t>(2 * size_ / lanes_), space::local, false,
                                 {})),
          scalars_(trace::reinterpret(vectors_, trace::pointer_to(plan.element, space::local))) {
        trace::name(vectors_, word);
    }
    int pitch() const { return pitch_; }
    int size() const { return size_; }
    int lanes() const { return lanes_; }
    /// Loads 16 bytes; the index is in units of 16 bytes.
    trace::node load(const Int& at) const { return trace::load(vectors_, node_of(at), {}); }
    /// Stores an element, or as many neighbours as the value has lanes; the index is in units of the value.
    void store(const Int& at, const trace::node& value) const {
        const trace::node memory =
            value.type.lanes == 1 ? scalars_
                                  : trace::reinterpret(vectors_, trace::pointer_to(value.type, space::local));
        trace::store(memory, node_of(at), value, {});
    }

private:
    int lanes_, pitch_, size_;
    trace::type vector_;
    trace::node vectors_, scalars_;
};

trace::node lane_of(const trace::node& vector, int lane) {
    return vector.type.lanes == 1 ? vector : trace::swizzle(vector, static_cast<std::uint64_t>(lane), 1);
}

/// The loads of a work-item from one operand, tile by tile. Number is Int or Index.
template <class Number>
class tile_loader {
public:
    struct names {
        const char *memory, *offset, *row, *inner, *slow, *batch, *rows;
    };
    tile_loader(const parameter_list& given, const names& called, const product_tile_plan& plan,
                const tile_loads& how, int rows, const Int& item, const Number& first_row,
                const std::vector<trace::node>& batch)
        : how_(how),
          depth_(plan.shape.depth),
          rows_(rows),
          type_(plan.element, static_cast<std::uint8_t>(how.width)),
          memory_(how.width == 1
                      ? given[called.memory]
                      : trace::reinterpret(given[called.memory], pointer_to(type_, space::global, true))) {
        const int across = (how.has_unit_inner ? depth_ : rows) / how.width;
        step_ = plan.shape.items() / across;
        const int count = rows * depth_ / (how.width * plan.shape.items());
        fast_ = named("fast", item & (across - 1));
        slow_ = named("slow", item >> static_cast<int>(log2(across)));
        Number start = Index(given[called.offset]);
        for (std::size_t d = 0; d < batch.size(); ++d)
            start += Number(Index(batch[d])) * Number(Index(given[{called.batch, d}]));
        if (!how.has_unit_inner) inner_stride_ = Index(given[called.inner]);
        if (plan.has_slow_inner) slow_stride_.emplace(Index(given[called.slow]));
        if (plan.has_slow_inner) fast_count_.emplace(Index(given["fast"]));
        const Number last = Number(Index(given[called.rows])) - 1;
        for (int j = 0; j < count; ++j) {
            if (how.has_unit_inner) {
                const Number row = min(first_row + (slow_ + j * step_), last);
                at_.push_back(named("at", start + row * Number(Index(given[called.row])) + Number(fast_)));
            } else if (j == 0) {
                const Number row =
                    how.width == 1 ? Number(min(first_row + fast_, last))
                                   : Number(min((first_row >> width_bits()) + fast_, last >> width_bits()));
                at_.push_back(named(
                    "at", start + (how.has_unit_rows ? row : Number(row * Number(Index(given[called.row])))) +
                              Number(slow_) * inner_stride_));
            } else {
                at_.push_back(named("at", at_[0] + (j * step_) * inner_stride_));
            }
            loaded_.push_back(block::variables("next", {zero()})[0]);
        }
    }

    /// Loads the tile that begins at inner element `from`; elements from `end` on are 0.
    void load(const Number& from, const Number& end) const {
        const Number ahead = ahead_of(from);
        const auto load_one = [&](std::size_t j) {
            return trace::convert(trace::load(memory_, node_of(at_[j] + ahead), {}), type_.element);
        };
        IF (from + depth_ <= end) {
            for (std::size_t j = 0; j < at_.size(); ++j) trace::write(loaded_[j], load_one(j));
        }
        ELSE {
            for (std::size_t j = 0; j < at_.size(); ++j) {
                trace::write(loaded_[j], zero());
                const Int inner =
                    how_.has_unit_inner ? Int(fast_ * how_.width) : Int(slow_ + static_cast<int>(j) * step_);
                IF (from + inner < end) {
                    trace::write(loaded_[j], load_one(j));
                }
            }
        }
    }
    /// Stores the loaded elements in the tile at `base`.
    void store(const local_tiles& to, const Int& base) const {
        for (std::size_t j = 0; j < at_.size(); ++j) {
            const trace::node value = trace::read(loaded_[j]);
            const Int own = slow_ + static_cast<int>(j) * step_;
            if (how_.has_unit_inner) {
                for (int c = 0; c < how_.width; ++c)
                    to.store(base + (fast_ * how_.width + c) * to.pitch() + own, lane_of(value, c));
            } else if (how_.width == 1) {
                to.store(base + own * to.pitch() + fast_, value);
            } else {
                to.store((base >> width_bits()) + own * (to.pitch() / how_.width) + fast_, value);
            }
        }
    }

private:
    int width_bits() const { return static_cast<int>(log2(how_.width)); }
    /// The distance from inner element 0 to inner element `from`.
    Number ahead_of(const Number& from) const {
        const auto along_fast = [this](const Number& at) {
            return how_.has_unit_inner ? Number(at >> width_bits()) : Number(at * inner_stride_);
        };
        if (!slow_stride_) return along_fast(from);
        const Number slow = named("slow_inner", from / *fast_count_);
        return slow * *slow_stride_ + along_fast(from - slow * *fast_count_);
    }
    trace::node zero() const {
        const trace::node scalar = trace::constant(type_.element, 0);
        return how_.width == 1 ? scalar : trace::compose(type_, &scalar, 1);
    }

    const tile_loads how_;
    const int depth_, rows_;
    int step_ = 0;
    const trace::type type_;
    const trace::node memory_;
    Int fast_, slow_;
    Number inner_stride_;
    std::optional<Number> slow_stride_, fast_count_;
    std::vector<Number> at_;
    block::values loaded_;
};

class tile_recorder {
public:
    tile_recorder(const parameter_list& given, const product_tile_plan& plan)
        : given_(given), plan_(plan), shape_(plan.shape) {}

    template <class Number>
    void record() const {
        const block::group g(
            {.most = static_cast<std::size_t>(shape_.items()), .is_exact = true, .is_row = true});
        const local_tiles tile_a("tile_a", plan_, shape_.rows), tile_b("tile_b", plan_, shape_.columns);
        const place<Number> at = here<Number>();
        Number first_row = named("first_row", Number(at.row) * shape_.rows);
        Number first_column = named("first_column", Number(at.column) * shape_.columns);
        const tile_loader<Number> a(given_,
                                    {"a", "a_offset", "a_row", "a_inner", "a_slow", "a_batch", "rows"}, plan_,
                                    plan_.a, shape_.rows, g.item(), first_row, at.batch);
        const tile_loader<Number> b(given_,
                                    {"b", "b_offset", "b_column", "b_inner", "b_slow", "b_batch", "columns"},
                                    plan_, plan_.b, shape_.columns, g.item(), first_column, at.batch);

        // The position of the work-item's elements in the tile; they are in vectors of 16 bytes.
        const int lanes = plan_.lanes(), warps = shape_.columns / shape_.warp_columns();
        Int warp = named("warp", g.item() >> 5), lane = named("lane", g.item() & 31);
        Int row =
            named("row", (warp >> static_cast<int>(log2(warps))) * shape_.warp_rows() + (lane >> 3) * lanes);
        Int column = named("column", (warp & (warps - 1)) * shape_.warp_columns() + (lane & 7) * lanes);

        block::values sums;
        for (int k = 0; k < shape_.item_rows * shape_.item_columns; ++k)
            sums.push_back(block::variables("sum", {trace::constant(plan_.element, 0)})[0]);
        Number begin = named("begin", at.begin), end = named("end", at.end);
        a.load(begin, end);
        b.load(begin, end);
        a.store(tile_a, Int(0));
        b.store(tile_b, Int(0));
        g.barrier();
        Int which = named("which", Int(0));
        for (Number from : named("from", range(begin, end, shape_.depth))) {
            Number next = named("next_from", from + shape_.depth);
            IF (next < end) {
                a.load(next, end);
                b.load(next, end);
            }
            Int at_a = named("at_a", (which * tile_a.size() + row) >> static_cast<int>(log2(lanes)));
            Int at_b = named("at_b", (which * tile_b.size() + column) >> static_cast<int>(log2(lanes)));
            // A loop in the kernel, which compilers unroll. If several steps were one block, its expressions
            // would be ordered by sum, and all operands would be live in registers (255 and spills; 124 like
            // this; f32, 128 x 128).
            for (Int k : named("k", range(shape_.depth)))
                multiply(sums, pieces(tile_a, at_a, k, shape_.item_rows, product_tile_shape::lane_rows),
                         pieces(tile_b, at_b, k, shape_.item_columns, product_tile_shape::lane_columns));
            which = 1 - which;
            IF (next < end) {
                a.store(tile_a, which * tile_a.size());
                b.store(tile_b, which * tile_b.size());
            }
            g.barrier();
        }
        store<Number>(sums, at, first_row + row, first_column + column, first_row, first_column);
    }

private:
    Index given(parameter_name name) const { return Index(given_[name]); }

    /// The tile and the matrix that a group computes, and its range of inner elements.
    template <class Number>
    struct place {
        Int row, column;
        Index split;
        std::vector<trace::node> batch;
        Number begin, end;
    };
    /// Consecutive groups compute bands of eight rows of tiles, whose operands stay in the cache.
    template <class Number>
    place<Number> here() const {
        constexpr int together = 8;
        place<Number> at;
        Int group = named("group", cast<int>(group_id(0)));
        Int tiles = named("tiles", cast<int>(given("tiles"))), across = cast<int>(given("tiles_across")),
            down = cast<int>(given("tiles_down"));
        Int tile = group;
        if (plan_.has_splits || plan_.batch_loops > 0) {
            Int matrix = named("matrix", group / tiles);
            tile = group - matrix * tiles;
            Index in_batch = matrix;
            if (plan_.has_splits) {
                at.split = named("split", in_batch / given("batches"));
                in_batch = in_batch - at.split * given("batches");
            }
            at.batch = batch_coordinates(given_, in_batch, plan_.batch_loops, true);
        }
        Int band = named("band", tile / (across * together));
        Int in_band = named("in_band", tile - band * (across * together));
        Int height = named("height", min(down - band * together, together));
        at.column = named("tile_column", in_band / height);
        at.row = named("tile_row", band * together + (in_band - at.column * height));
        at.begin = Number(0);
        at.end = Number(given("inner"));
        if (plan_.has_splits) {
            at.begin = Number(at.split * given("share"));
            at.end = min(at.begin + Number(given("share")), Number(given("inner")));
        }
        return at;
    }

    /// The operand's elements of a work-item for one inner element.
    block::values pieces(const local_tiles& tile, const Int& at, const Int& k, int count,
                         int lanes_along) const {
        block::values made;
        for (int piece = 0; piece < count / tile.lanes(); ++piece) {
            const trace::node vector =
                tile.load(at + k * (tile.pitch() / tile.lanes()) + piece * lanes_along);
            for (int c = 0; c < tile.lanes(); ++c) made.push_back(lane_of(vector, c));
        }
        return made;
    }
    void multiply(const block::values& sums, const block::values& a, const block::values& b) const {
        for (std::size_t r = 0; r < a.size(); ++r)
            for (std::size_t c = 0; c < b.size(); ++c) {
                const trace::node& sum = sums[r * b.size() + c];
                trace::write(sum, trace::apply(builtin::add, trace::read(sum),
                                               trace::apply(builtin::mul, a[r], b[c])));
            }
    }

    template <class Number>
    void store(const block::values& sums, const place<Number>& at, const Number& row, const Number& column,
               const Number& first_row, const Number& first_column) const {
        const int lanes = plan_.lanes();
        const Number rows = given("rows"), columns = given("columns"), out_row = given("out_row");
        Number first = named("first", row * out_row + column);
        if (plan_.has_splits) first += Number(at.split) * Number(given("result"));
        for (std::size_t d = 0; d < at.batch.size(); ++d)
            first += Number(Index(at.batch[d])) * Number(given({"out_batch", d}));
        const auto sum_of = [&](int r, int c) {
            return trace::read(sums[static_cast<std::size_t>(r * shape_.item_columns + c)]);
        };
        const auto row_ahead = [&](int r) {
            return r / lanes * product_tile_shape::lane_rows * lanes + r % lanes;
        };
        const auto column_ahead = [&](int piece) { return piece * product_tile_shape::lane_columns * lanes; };
        const auto store_guarded = [&] {
            for (int r = 0; r < shape_.item_rows; ++r) {
                IF (row + row_ahead(r) < rows) {
                    for (int c = 0; c < shape_.item_columns; ++c) {
                        const int ahead = column_ahead(c / lanes) + c % lanes;
                        IF (column + ahead < columns) {
                            trace::store(given_["out"], node_of(first + row_ahead(r) * out_row + ahead),
                                         sum_of(r, c), {});
                        }
                    }
                }
            }
        };
        if (!plan_.stores_vectors) return store_guarded();
        const trace::type vector(plan_.element, static_cast<std::uint8_t>(lanes));
        const trace::node vectors = trace::reinterpret(given_["out"], pointer_to(vector, space::global));
        IF (first_row + shape_.rows <= rows && first_column + shape_.columns <= columns) {
            for (int r = 0; r < shape_.item_rows; ++r)
                for (int piece = 0; piece < shape_.item_columns / lanes; ++piece) {
                    block::values parts;
                    for (int c = 0; c < lanes; ++c) parts.push_back(sum_of(r, piece * lanes + c));
                    const Number index = first + row_ahead(r) * out_row + column_ahead(piece);
                    trace::store(vectors, node_of(index >> static_cast<int>(log2(lanes))),
                                 trace::compose(vector, parts.data(), parts.size()), {});
                }
        }
        ELSE { store_guarded(); }
    }

    const parameter_list& given_;
    const product_tile_plan plan_;
    const product_tile_shape shape_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_tiles(trace::recording& r, const parameter_list& given,
                                                const product_tile_plan& plan) {
    const tile_recorder recorder(given, plan);
    if (plan.is_narrow)
        recorder.record<Int>();
    else
        recorder.record<Index>();
    return r.finish(nullptr);
}

}  // namespace balm::array
