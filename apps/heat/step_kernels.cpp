// The kernels of the heat step. In: a plan, whose numbers are constants of the kernel; C++ loops over them
// are unrolled while the kernel is traced. Out: kernels. The last two use temporal blocking with overlapped
// tiles: several steps per pass through memory.

#include "step_kernels.hpp"

#include <algorithm>
#include <functional>
#include <optional>
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

/// A vector of cells: a cache line.
constexpr int stream_lanes = 16;
using row_part = Float16;

/// Vectors before the first row that is kept and after the last, for the neighbours of invalid columns.
constexpr int stream_padding = 1;

/// A part of a row, with the one before it, as both move along the row.
class row_window {
public:
    /// `part(k)` is the row's k-th part.
    template <class Part>
    explicit row_window(Part part) : before_(named("before", part(-1))), own_(named("own", part(0))) {}

    const row_part& own() const { return own_; }
    /// For each cell of the part, the sum of those to its left and right.
    row_part sides(const row_part& after) const {
        const Float8 first(own_.lo), last(own_.hi);
        const row_part left(before_.sf, own_.lo, last.lo, own_.sc, own_.sd, own_.se);
        const row_part right(own_.s1, own_.s2, own_.s3, first.hi, own_.hi, after.s0);
        return left + right;
    }
    void move(const row_part& after) {
        before_ = own_;
        own_ = after;
    }

private:
    row_part before_, own_;
};

}  // namespace

bool is_stream(const plan& plan) {
    return plan.margin() % stream_lanes == 0 && plan.inner_width() % stream_lanes == 0 &&
           2 * plan.margin() < std::min(plan.tile_width, plan.tile_height);
}

stream_kernel make_stream_kernel(const plan& plan, unsigned steps_of_launch) {
    if (!is_stream(plan)) throw std::invalid_argument("a heat stream of this shape has no whole vectors");
    const int steps = static_cast<int>(steps_of_launch), height = static_cast<int>(plan.tile_height);
    const int width = static_cast<int>(plan.tile_width) / stream_lanes;
    const int inner_width = static_cast<int>(plan.inner_width()) / stream_lanes;
    const int margin = static_cast<int>(plan.margin()) / stream_lanes;
    // Rows of the margin that this many steps do not read.
    const int unused = static_cast<int>(plan.margin()) - steps;
    return balm::kernel<2>(
        "heat_stream(pitch, strips, first, keep, take, coefficients, cells, plain, from, to, odd, even, "
        "weights)",
        [&](Index pitch, Index strips, Index first, Float keep, Float take, In<float> coefficients,
            In<balm::uchar16> cells, In<std::uint8_t> plain, In<balm::float16> from, Out<balm::float16> to,
            Local<balm::float16> odd, Local<balm::float16> even, Local<balm::float16> weights) {
            const Index top = named("top", (global_id(1) + first) * static_cast<int>(plan.inner_height()));
            const Index corner = named("corner", top * pitch + global_id(0) * inner_width);
            const Index flags = named("flags", top * strips + global_id(0));
            const auto is_plain = [&](const Index& row) { return plain[flags + row * strips] != 0; };
            // The offsets of the last three rows of each even step, and of the last two of each odd one.
            Index upper = named("upper", Index(stream_padding)),
                  middle = named("middle", Index(stream_padding + width)),
                  lower = named("lower", Index(stream_padding + 2 * width));
            Index older = named("older", Index(stream_padding)),
                  newer = named("newer", Index(stream_padding + width));

            // Codes are converted to weights once, so that no step has to look them up. The weights are
            // selected, not loaded: vector units compare faster than they gather.
            std::vector<Float> keeps, takes;
            for (int open = 0; open < plain_code; ++open) {
                keeps.push_back(named("keep_open", Float(coefficients[open])));
                takes.push_back(named("take_open", Float(coefficients[open + static_cast<int>(code_count)])));
            }
            const auto chosen = [](const Int16& code, const std::vector<Float>& few, const Float& plain_value,
                                   float hold) {
                row_part value =
                    select(code == static_cast<int>(hold_code), row_part(hold), row_part(plain_value));
                for (int open = 0; open < plain_code; ++open)
                    value = select(code == open, row_part(few[static_cast<std::size_t>(open)]), value);
                return value;
            };
            const auto weights_of = [&](const Index& row) {
                return named("kept", row % steps * (2 * width));
            };
            const auto look_up = [&](const Index& row) {
                const Index start = named("start", corner + row * pitch), kept = weights_of(row);
                for (Index x : range(width)) {
                    const Int16 code = named("code", cast<balm::int16>(cells[start + x]));
                    weights[kept + x] = chosen(code, keeps, keep, 1);
                    weights[kept + x + width] = chosen(code, takes, take, 0);
                }
            };

            // Once row y is available, row y - step of an odd step can be computed, and from that row
            // y - step - 1 of the even one after it, which takes the values while they are in registers.
            const auto advance = [&](int step, const Index& y) {
                const bool is_pair = step < steps, is_last = step + 1 >= steps;
                const Index row = named("row", y - step);
                const Index start = named("start", corner + row * pitch);
                const int source_rows = (step - 3) / 2 * 3 * width, rows = (step - 1) / 2 * 2 * width;
                const int target_rows = (step - 1) / 2 * 3 * width;
                const auto old = [&](const Index& kept, int below, const Index& x) {
                    if (step > 1) return row_part(even[kept + x + source_rows]);
                    return row_part(from[below < 0   ? start - pitch + x
                                         : below > 0 ? start + pitch + x
                                                     : start + x]);
                };
                // All columns of the rows that are kept are computed, although in step s only those from s to
                // the width - s are valid: whole vectors need no remainder.
                const auto line = [&](const auto& mean_of) {
                    row_window of_odd([&](int k) { return old(middle, 0, Index(k)); });
                    std::optional<row_window> of_even;
                    if (is_pair) of_even.emplace([&](int k) { return row_part(odd[newer + (rows + k)]); });
                    const Bool is_stored = named("is_stored", y >= unused + 2 * steps);
                    for (Index x : range(Index(0), Index(width))) {
                        const auto next_of = [&](int of, row_window& row, const row_part& above,
                                                 const row_part& below, const row_part& after) {
                            const row_part around = named("around", (above + below) + row.sides(after));
                            const row_part mean = named("next", mean_of(of, x, row.own(), around));
                            row.move(after);
                            return mean;
                        };
                        row_part next = next_of(0, of_odd, old(upper, -1, x), old(lower, 1, x),
                                                named("after", old(middle, 0, x + 1)));
                        if (is_pair) {
                            const row_part above = named("above", odd[older + x + rows]);
                            odd[older + x + rows] = next;
                            next = next_of(1, *of_even, above, next,
                                           named("after", row_part(odd[newer + (x + 1) + rows])));
                        }
                        if (is_last) {
                            IF (is_stored && x >= margin && x < width - margin) {
                                as_streaming(to)[start - (is_pair ? pitch : Index(0)) + x] =
                                    clamped_to_unit_range(next);
                            }
                        } else {
                            even[lower + x + target_rows] = next;
                        }
                    }
                };
                const Bool are_plain = named(
                    "are_plain", is_pair ? Bool(is_plain(row) && is_plain(row - 1)) : Bool(is_plain(row)));
                IF (are_plain) {
                    line([&](int, const Index&, const row_part& here, const row_part& around) {
                        return row_part(keep * here + take * around);
                    });
                }
                ELSE {
                    std::vector<Index> kept{weights_of(row)};
                    if (is_pair) kept.push_back(weights_of(row - 1));
                    line([&](int of, const Index& x, const row_part& here, const row_part& around) {
                        const Index at = kept[of] + x;
                        return row_part(weights[at] * here + weights[at + width] * around);
                    });
                }
            };
            for (Index y : range(Index(2 + unused), height - unused)) {
                // The row that the next iteration reads: hardware does not foresee it.
                const Index next_row = named("next_row", corner + (y + 1) * pitch);
                for (Index x : range(width)) prefetch(from, next_row + x);
                IF (!(is_plain(y - 2) && is_plain(y - 1) && is_plain(y))) {
                    look_up(y - 1);
                }
                advance(1, y);
                for (int step = 3; step <= steps; step += 2)
                    IF (y >= unused + 2 * step) {
                        advance(step, y);
                    }
                const Index free = named("free", upper);
                upper = middle;
                middle = lower;
                lower = free;
                const Index reused = named("reused", older);
                older = newer;
                newer = reused;
            }
        });
}

std::size_t stream_odd_size(const plan& plan) {
    return std::size_t{(plan.steps + 1) / 2} * 2 * (plan.tile_width / stream_lanes) + 2 * stream_padding;
}

std::size_t stream_even_size(const plan& plan) {
    return std::size_t{plan.steps / 2} * 3 * (plan.tile_width / stream_lanes) + 2 * stream_padding;
}

std::size_t stream_weights_size(const plan& plan) {
    return std::size_t{2} * plan.steps * (plan.tile_width / stream_lanes);
}

}  // namespace heat
