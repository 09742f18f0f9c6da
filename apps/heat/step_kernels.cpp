// The kernels of the heat step. In: a plan, whose numbers are constants of the kernel; C++ loops over them
// are unrolled while the kernel is traced. Out: kernels. The last two use temporal blocking with overlapped
// tiles: several steps per pass through memory.

#include "step_kernels.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <vector>

#include "conductance.hpp"

namespace heat {

using namespace balm::dsl;

namespace {

/// For numbers and vectors.
template <class T>
T clamped_to_unit_range(const T& value) {
    return select(value > 0, select(value < 1, value, T(1.f)), T(0.f));
}

}  // namespace

Float to_unit_range(const Float& value) { return clamped_to_unit_range(value); }

// ---- the tile

namespace {

/// The dimensions of a tile kernel.
struct tile_shape {
    explicit tile_shape(const plan& p)
        : width(static_cast<int>(p.tile_width)),
          height(static_cast<int>(p.tile_height)),
          columns(static_cast<int>(p.item_width)),
          rows(static_cast<int>(p.item_height)),
          margin(static_cast<int>(p.margin())),
          items_x(width / columns),
          items_y(height / rows),
          items(items_x * items_y),
          staged_rows(std::min(rows, edge_size() / (items_y * staged_pitch()))) {
        while (rows % staged_rows != 0) --staged_rows;
        const bool fits = columns == 4 && items % width == 0 && staged_rows % rows_at_once() == 0 &&
                          margin % rows_at_once() == 0 && margin % columns == 0;
        if (!fits) throw std::invalid_argument("a heat tile of this shape cannot be loaded evenly");
    }

    /// The pitch of the staging area: one more cell every 32, so that work-items `columns` apart have no bank
    /// conflicts.
    int staged_pitch() const { return width + width / 32; }
    /// Rows that the work-group loads at once.
    int rows_at_once() const { return items / width; }
    /// Elements for the edges of all blocks.
    int edge_size() const { return 2 * (rows + columns) * items; }
    int staging_size() const { return staged_rows * items_y * staged_pitch(); }

    int width, height;     // cells of the tile
    int columns, rows;     // cells of a work-item's block
    int margin;            // cells at each side that are not written
    int items_x, items_y;  // work-items
    int items;
    int staged_rows;  // rows of each block that are staged at once
};

/// The block of cells that a work-item holds.
class block {
public:
    block(const tile_shape& shape, Local<float> shared, const Int& tx, const Int& ty)
        : shape_(shape),
          shared_(shared),
          item_(named("item", ty * shape.items_x + tx)),
          column_(named("column", item_ % shape.width)),
          row_(named("row", item_ / shape.width)),
          loaded_(named("loaded", row_ * shape.staged_pitch() + column_ + column_ / 32)),
          own_(named("own", ty * (shape.staged_rows * shape.staged_pitch()) + tx * shape.columns +
                                tx * shape.columns / 32)) {}

    /// The work-group reads whole rows, and each work-item takes its block from them.
    void load(const In<float>& from, const Index& corner, const Index& pitch) {
        const Index first = named("first", corner + row_ * pitch + column_);
        cells_.reserve(static_cast<std::size_t>(shape_.rows * shape_.columns));
        for (int pass = 0; pass < shape_.rows; pass += shape_.staged_rows) {
            if (pass > 0) local_barrier();
            for_staged_rows(pass, [&](const Int& slot, const Int& row) {
                shared_[loaded_ + slot] = from[first + row * pitch];
            });
            local_barrier();
            for (int r = 0; r < shape_.staged_rows; ++r)
                for (int c = 0; c < shape_.columns; ++c)
                    cells_.emplace_back([&] { return named("cell", Float(shared_[own_ + staged(r, c)])); });
        }
    }

    /// The inverse of load, for the cells that are valid.
    void store(const Out<float>& to, const Index& corner, const Index& pitch) {
        const Index first = named("first_out", corner + row_ * pitch + column_);
        for (int pass = 0; pass < shape_.rows; pass += shape_.staged_rows) {
            local_barrier();
            for (int r = 0; r < shape_.staged_rows; ++r)
                for (int c = 0; c < shape_.columns; ++c)
                    shared_[own_ + staged(r, c)] = to_unit_range(cell(pass + r, c));
            local_barrier();
            IF (column_ >= shape_.margin && column_ < shape_.width - shape_.margin) {
                for_staged_rows(pass, [&](const Int& slot, const Int& row) {
                    IF (row >= shape_.margin && row < shape_.height - shape_.margin) {
                        to[first + row * pitch] = shared_[loaded_ + slot];
                    }
                });
            }
        }
    }

    /// Publishes the edges of the block to its neighbours.
    void publish() {
        for (int r = 0; r < shape_.rows; ++r) {
            shared_[left_edge(r)] = cell(r, 0);
            shared_[right_edge(r)] = cell(r, shape_.columns - 1);
        }
        for (int c = 0; c < shape_.columns; ++c) {
            shared_[top_edge(c)] = cell(0, c);
            shared_[bottom_edge(c)] = cell(shape_.rows - 1, c);
        }
    }

    /// The coefficients of a cell.
    struct weights {
        Float keep, take;
    };
    /// Advances by one step, from the top row to the bottom row. Calls `each_row(row, update)` for each row,
    /// which calls update(weights_of_column) on each of its branches.
    template <class EachRow>
    void advance(EachRow each_row) {
        std::vector<Float> upper = sums_above_left(0);
        for (int r = 0; r < shape_.rows; ++r) {
            const std::vector<Float> lower = sums_above_left(r + 1);
            each_row(r, [&](const std::function<weights(int column)>& weights_of) {
                for (int c = 0; c < shape_.columns; ++c) {
                    const auto k = static_cast<std::size_t>(c);
                    const weights of_cell = weights_of(c);
                    cell(r, c) = of_cell.keep * cell(r, c) + of_cell.take * (upper[k] + lower[k + 1]);
                }
            });
            upper = lower;
        }
    }

private:
    /// A variable constructed in place, so that it keeps its name.
    struct variable {
        template <class Make>
        explicit variable(Make make) : value(make()) {}
        Float value;
    };

    Float& cell(int r, int c) { return cells_[static_cast<std::size_t>(r * shape_.columns + c)].value; }
    int staged(int r, int c) const { return r * shape_.staged_pitch() + c; }

    // In this order, the neighbours of work-items at the tile's edge lie in another array, never out of
    // bounds.
    Int top_edge(int c) const { return item_ + c * shape_.items; }
    Int left_edge(int r) const { return item_ + (shape_.columns + r) * shape_.items; }
    Int right_edge(int r) const { return item_ + (shape_.columns + shape_.rows + r) * shape_.items; }
    Int bottom_edge(int c) const { return item_ + (shape_.columns + 2 * shape_.rows + c) * shape_.items; }

    /// A cell of the block, or of the neighbours' edges.
    Float at(int r, int c) {
        if (r < 0) return shared_[bottom_edge(c) - shape_.items_x];
        if (r == shape_.rows) return shared_[top_edge(c) + shape_.items_x];
        if (c < 0) return shared_[right_edge(r) - 1];
        if (c == shape_.columns) return shared_[left_edge(r) + 1];
        return cell(r, c);
    }
    /// For each column the cell above plus the cell to the left. The sum for (r + 1, c + 1) is also that of
    /// the cells to the right of and below (r, c), so a cell's four neighbours cost two additions.
    std::vector<Float> sums_above_left(int r) {
        std::vector<Float> sums;
        sums.reserve(static_cast<std::size_t>(shape_.columns) + 1);
        for (int c = 0; c <= shape_.columns; ++c) {
            const bool is_used = (r > 0 || c < shape_.columns) && (r < shape_.rows || c > 0);
            sums.push_back(is_used ? named("pair", at(r - 1, c) + at(r, c - 1)) : Float());
        }
        return sums;
    }

    /// Calls body(offset in the staging area, row of the tile), both relative to those of the work-item.
    template <class Body>
    void for_staged_rows(int pass, Body body) const {
        for (Int band : range(shape_.items_y))
            for (Int r : range(0, shape_.staged_rows, shape_.rows_at_once()))
                body((band * shape_.staged_rows + r) * shape_.staged_pitch(),
                     named("tile_row", band * shape_.rows + (r + pass)));
    }

    const tile_shape& shape_;
    Local<float> shared_;
    Int item_;          // index of the work-item
    Int column_, row_;  // of the tile, which it loads and stores
    Int loaded_;        // where it stages them
    Int own_;           // where its block begins in the staging area
    std::vector<variable> cells_;
};

}  // namespace

single_kernel make_single_kernel(unsigned border) {
    return balm::kernel<2>(
        "heat_step(pitch, first, inner, outer, weights, cells, from, to)",
        [border](Index pitch, Index first, Float inner, Float outer, In<float> weights,
                 In<std::uint8_t> cells, In<float> from, Out<float> to) {
            const Index i = named("i", (global_id(1) + first + border) * pitch + global_id(0) + border);
            const UChar code = named("code", cells[i]);
            const Float own = named("own", from[i]);
            const Float around =
                named("around", (from[i - pitch] + from[i + pitch]) + (from[i - 1] + from[i + 1]));
            const Float mean = named("mean", (inner * own + outer * around) / weights[code]);
            to[i] = select(code == hold_code, own, to_unit_range(mean));
        });
}

tile_kernel make_tile_kernel(const plan& plan) {
    const tile_shape shape(plan);
    return balm::kernel<2>(
        "heat_tile(steps, pitch, first, keep, take, coefficients, cells, from, to, shared)",
        [&](Int steps, Index pitch, Index first, Float keep, Float take, In<float> coefficients,
            In<std::uint32_t> cells, In<float> from, Out<float> to, Local<float> shared) {
            const Int tx = named("tx", cast<int>(local_id(0))), ty = named("ty", cast<int>(local_id(1)));
            const Index corner =
                named("corner", (group_id(1) + first) * static_cast<int>(plan.inner_height()) * pitch +
                                    group_id(0) * static_cast<int>(plan.inner_width()));
            block own(shape, shared, tx, ty);
            own.load(from, corner, pitch);

            const Index word = named("word", (corner + ty * shape.rows * pitch) / 4 + tx);
            const Index word_pitch = named("word_pitch", pitch / 4);
            const auto codes_of = [&](const Int& r) { return UInt(cells[word + r * word_pitch]); };
            constexpr std::uint32_t all_plain = 0x01010101u * plain_code;
            UInt other = named("other", UInt(0u));
            for (Int r : range(shape.rows)) other |= codes_of(r) ^ all_plain;

            for ([[maybe_unused]] Int step : range(steps)) {
                local_barrier();
                own.publish();
                local_barrier();
                const auto plain = [&](int) { return block::weights{keep, take}; };
                IF (other == 0u) {
                    own.advance([&](int, auto update) { update(plain); });
                }
                ELSE {
                    // One branch per row: rows without special cells stay cheap, and values loaded for one
                    // row take no registers in others (sm_90: 128 registers, without 167, so two work-groups
                    // are resident on a multiprocessor instead of one).
                    own.advance([&](int r, auto update) {
                        const UInt codes = named("codes", codes_of(r));
                        IF (codes == all_plain) {
                            update(plain);
                        }
                        ELSE {
                            update([&](int c) {
                                const UInt code = named("code", (codes >> (8 * c)) & 0xFFu);
                                return block::weights{coefficients[code],
                                                      coefficients[code + static_cast<unsigned>(code_count)]};
                            });
                        }
                    });
                }
            }
            own.store(to, corner, pitch);
        });
}

bool is_tile(const plan& plan) {
    try {
        static_cast<void>(tile_shape(plan));
        return true;
    } catch (const std::invalid_argument&) {
        return false;
    }
}

std::size_t tile_shared_size(const plan& plan) {
    const tile_shape shape(plan);
    return static_cast<std::size_t>(std::max(shape.edge_size(), shape.staging_size()));
}

// ---- the stream

namespace {

/// A vector of cells: 64 bytes, so that neighbouring work-items never write to the same cache line.
constexpr int stream_lanes = 16;
using cells_of_row = Float16;
using codes_of_row = Int16;

/// Elements before the first row that is kept and after the last, for the neighbours of invalid columns; as
/// many as keep rows aligned.
constexpr int stream_padding = stream_lanes;

/// The cells from an index on.
template <class M>
cells_of_row cells_at(const M& memory, const Index& first) {
    return vload<stream_lanes>(memory.data() + first, 0);
}

}  // namespace

bool is_stream(const plan& plan) {
    return plan.tile_width % stream_lanes == 0 && plan.inner_width() % stream_lanes == 0 &&
           2 * plan.steps < std::min(plan.tile_width, plan.tile_height);
}

stream_kernel make_stream_kernel(const plan& plan, unsigned steps_of_launch) {
    if (!is_stream(plan)) throw std::invalid_argument("a heat stream of this shape has no whole vectors");
    const int steps = static_cast<int>(steps_of_launch), width = static_cast<int>(plan.tile_width);
    const int height = static_cast<int>(plan.tile_height), margin = static_cast<int>(plan.margin());
    // Rows and columns of the margin that this many steps do not read.
    const int unused = margin - steps;
    return balm::kernel<2>(
        "heat_stream(pitch, strips, first, keep, take, coefficients, cells, plain, from, to, odd, even, "
        "weights)",
        [&](Index pitch, Index strips, Index first, Float keep, Float take, In<float> coefficients,
            In<std::uint8_t> cells, In<std::uint8_t> plain, In<float> from, Mixed<float> to, Local<float> odd,
            Local<float> even, Local<float> weights) {
            const Index top = named("top", (global_id(1) + first) * static_cast<int>(plan.inner_height()));
            const Index corner =
                named("corner", top * pitch + global_id(0) * static_cast<int>(plan.inner_width()));
            const Index flags = named("flags", top * strips + global_id(0));
            // The offsets of the last three rows of each step.
            Index upper = named("upper", Index(stream_padding)),
                  middle = named("middle", Index(stream_padding + width)),
                  lower = named("lower", Index(stream_padding + 2 * width));

            // Codes are converted to weights once, so that no step has to look them up (a random world on
            // PoCL with 2 cores: 2.8 Gcell/s with eight look-ups, 5.1 with this one). The weights are
            // selected, not loaded: vector units compare faster than they gather.
            std::vector<Float> keeps, takes;
            for (int open = 0; open < plain_code; ++open) {
                keeps.push_back(named("keep_open", Float(coefficients[open])));
                takes.push_back(named("take_open", Float(coefficients[open + static_cast<int>(code_count)])));
            }
            const auto chosen = [](const codes_of_row& code, const std::vector<Float>& few,
                                   const Float& plain_value, float hold) {
                cells_of_row value = select(code == static_cast<int>(hold_code), cells_of_row(hold),
                                            cells_of_row(plain_value));
                for (int open = 0; open < plain_code; ++open)
                    value = select(code == open, cells_of_row(few[static_cast<std::size_t>(open)]), value);
                return value;
            };
            const auto look_up = [&](const Index& start, const Index& kept) {
                for (Index x : range(Index(0), Index(width), stream_lanes)) {
                    const codes_of_row code =
                        named("code", cast<balm::int16>(vload<stream_lanes>(cells.data() + (start + x), 0)));
                    vstore(chosen(code, keeps, keep, 1), weights.data() + (kept + x), 0);
                    vstore(chosen(code, takes, take, 0), weights.data() + (kept + x + width), 0);
                }
            };
            // Once row y is available, row y - step of each step can be computed.
            const auto advance = [&](int step, const Index& y) {
                const Index row = named("row", y - step);
                const Index start = named("start", corner + row * pitch);
                const Local<float>& source = step % 2 == 0 ? odd : even;
                const Local<float>& target = step % 2 == 0 ? even : odd;
                const int source_rows = (step - 2) / 2 * 3 * width, target_rows = (step - 1) / 2 * 3 * width;
                const auto old = [&](const Index& kept, int below, const Index& x) {
                    if (step > 1) return cells_at(source, kept + x + source_rows);
                    return cells_at(from, below < 0   ? start - pitch + x
                                          : below > 0 ? start + pitch + x
                                                      : start + x);
                };
                // All columns of the rows that are kept are computed, although in step s only those from s to
                // width - s are valid: whole vectors need no remainder.
                const auto line = [&](const std::function<cells_of_row(const Index&)>& keep_of,
                                      const std::function<cells_of_row(const Index&)>& take_of) {
                    const bool is_last = step == steps;
                    for (Index x : range(Index(is_last ? margin : 0), Index(is_last ? width - margin : width),
                                         stream_lanes)) {
                        const cells_of_row around =
                            named("around", (old(upper, -1, x) + old(lower, 1, x)) +
                                                (old(middle, 0, x - 1) + old(middle, 0, x + 1)));
                        const cells_of_row next =
                            named("next", keep_of(x) * old(middle, 0, x) + take_of(x) * around);
                        if (is_last)
                            vstore(clamped_to_unit_range(next), to.data() + (start + x), 0);
                        else
                            vstore(next, target.data() + (lower + x + target_rows), 0);
                    }
                };
                IF (plain[flags + row * strips] != 0) {
                    line([&](const Index&) { return cells_of_row(keep); },
                         [&](const Index&) { return cells_of_row(take); });
                }
                ELSE {
                    const Index kept = named("kept", row % steps * (2 * width));
                    if (step == 1) look_up(start, kept);
                    line([&](const Index& x) { return cells_at(weights, kept + x); },
                         [&](const Index& x) { return cells_at(weights, kept + x + width); });
                }
            };
            for (Index y : range(Index(2 + unused), height - unused)) {
                advance(1, y);
                for (int step = 2; step <= steps; ++step)
                    IF (y >= unused + 2 * step) {
                        advance(step, y);
                    }
                const Index free = named("free", upper);
                upper = middle;
                middle = lower;
                lower = free;
            }
        });
}

std::size_t stream_rows_size(const plan& plan) {
    return std::size_t{plan.steps + 1} / 2 * 3 * plan.tile_width + 2 * stream_padding;
}

std::size_t stream_weights_size(const plan& plan) { return std::size_t{2} * plan.steps * plan.tile_width; }

}  // namespace heat
