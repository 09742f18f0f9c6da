// A world in parts, one per device. In: a world, devices, a plan. Out: commands. Each launch of T steps needs
// T rows of both neighbours' state, which lie in the border of a part. The commands of a launch, for each
// part:
//
//     queue:        edge tiles → stage edges → other tiles → copy received edges into the border
//     second queue:                   └ copy to the neighbour ┘
//
// Staged and received edges have separate buffers, since commands that share a buffer wait for each other.

#include "resident.hpp"

#include <algorithm>
#include <balm/balm.hpp>
#include <utility>

#include "step_launches.hpp"

namespace heat {
namespace {

/// Rows are read with their borders, 64 MiB at a time: contiguous transfers are fastest.
constexpr std::size_t staged_elements = std::size_t{16} << 20;

/// The granularity of parts, in rows.
std::size_t unit_rows(const plan& plan) { return round_up(plan.border(), plan.inner_height()); }

/// The first row of each part, and the height of the world.
std::vector<std::size_t> part_bounds(std::size_t height, const plan& plan, std::size_t devices) {
    const std::size_t unit = unit_rows(plan), units = round_up(height, unit) / unit;
    const std::size_t parts = std::min(devices, units);
    std::vector<std::size_t> bounds;
    for (std::size_t p = 0; p <= parts; ++p) bounds.push_back(std::min(p * units / parts * unit, height));
    return bounds;
}

/// The rows of a world on one device.
struct part {
    part(const balm::device& on, const plan& plan, const layout& at, std::size_t row, const conductance& c)
        : device(on),
          where(at),
          first(row),
          cells(on, plan, at),
          launches(on, plan, at, c, cells),
          state{on.mixed_buffer<float>(at.rows, at.pitch), on.mixed_buffer<float>(at.rows, at.pitch)},
          transfers(on.make_queue(false)) {}

    /// As many rows of a state as a border has, from `row_of_memory` on.
    balm::buffer_range<float, balm::access::mixed> rows(const balm::mixed_buffer<float>& of,
                                                        std::size_t row_of_memory) const {
        return of.range(row_of_memory * where.pitch, (row_of_memory + where.border) * where.pitch);
    }

    balm::device device;
    layout where;
    std::size_t first;  // its first row in the world
    cell_buffers cells;
    step_launches launches;
    state_pair state;
    balm::queue transfers;
    tile_rows top, middle, bottom;  // tiles at an edge with a neighbour, and the others
    balm::event last;
};

/// Buffers for the edges that a part and the next exchange: staged by one, received by the other.
struct seam {
    balm::mixed_buffer<float> down_sent, down_come, up_sent, up_come;
};

class resident final : public advancing {
public:
    resident(const world& world, const conductance& c, const std::vector<balm::device>& devices,
             const plan& plan)
        : plan_(plan) {
        const std::vector<std::size_t> bounds = part_bounds(world.height, plan, devices.size());
        for (std::size_t p = 0; p + 1 < bounds.size(); ++p)
            parts_.emplace_back(devices[p], plan, layout(world.width, bounds[p + 1] - bounds[p], plan),
                                bounds[p], c);
        const std::size_t edge = unit_rows(plan) / plan.inner_height();
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            cut(parts_[p], p > 0 ? edge : 0, p + 1 < parts_.size() ? edge : 0);
            if (p > 0) seams_.push_back(make_seam(parts_[p - 1], parts_[p]));
        }
        send(world);
    }

    void prepare(std::span<const unsigned> advances) override {
        for (part& each : parts_)
            for (const unsigned steps : launch_steps(plan_, advances))
                each.last = each.launches.run(each.state, steps, each.where.all_tiles());
        finish();
    }

    void advance(unsigned n) override {
        while (n > 0) {
            const unsigned steps = std::min(n, plan_.steps);
            for (std::size_t p = 0; p < parts_.size(); ++p) launch_edges(p, steps);
            for (std::size_t p = 0; p + 1 < parts_.size(); ++p) exchange(p);
            for (part& each : parts_)
                if (each.middle.count > 0) each.last = each.launches.run(each.state, steps, each.middle);
            for (std::size_t p = 0; p < parts_.size(); ++p) receive(p);
            n -= steps;
        }
    }

    float advance_and_compare(unsigned n) override {
        if (n > 1) advance(n - 1);
        advance(1);
        // Borders, excess and insulators hold 0 in both states, or a neighbour's results.
        std::vector<balm::vector<float>> changes;
        for (const part& each : parts_) {
            const balm::vector<float> now = balm::as_vector(each.state.now.from(0)),
                                      before = balm::as_vector(each.state.next.from(0));
            balm::max_into(changes.emplace_back(balm::context({each.device}), 1), abs(now - before));
        }
        float largest = 0;
        for (const balm::vector<float>& each : changes) largest = std::max<float>(largest, each[0]);
        return largest;
    }

    void finish() override {
        for (const part& each : parts_) each.last.wait();
    }

    heat::division division() const override { return {parts_.size(), 1, plan_.steps}; }

    void read(float* state) override {
        for (const part& each : parts_) {
            const layout& at = each.where;
            const std::size_t rows_at_once = std::max<std::size_t>(1, staged_elements / at.pitch);
            balm::host_array<float> staged;
            for (std::size_t y = 0; y < at.height; y += rows_at_once) {
                const std::size_t rows = std::min(rows_at_once, at.height - y);
                staged = each.state.now.range(at.row_start(y), at.row_start(y + rows)).read();
                for (std::size_t r = 0; r < rows; ++r)
                    std::copy_n(staged.data() + r * at.pitch + at.border, at.width,
                                state + (each.first + y + r) * at.width);
            }
        }
    }

private:
    static void cut(part& of, std::size_t top, std::size_t bottom) {
        const std::size_t tiles = of.where.tiles_y;
        if (top + bottom >= tiles) {
            of.top = of.where.all_tiles();
        } else {
            of.top = {0, top};
            of.middle = {top, tiles - top - bottom};
            of.bottom = {tiles - bottom, bottom};
        }
    }

    static seam make_seam(const part& above, const part& below) {
        const std::size_t elements = above.where.border * above.where.pitch;
        return {above.device.mixed_buffer<float>(elements), below.device.mixed_buffer<float>(elements),
                below.device.mixed_buffer<float>(elements), above.device.mixed_buffer<float>(elements)};
    }

    void send(const world& world) {
        const std::vector<std::uint8_t> codes = cell_codes(world);
        for (part& each : parts_) {
            const layout& at = each.where;
            const memory_rows rows{
                static_cast<std::ptrdiff_t>(each.first) - static_cast<std::ptrdiff_t>(at.border), at.rows,
                at.pitch, at.border};
            std::vector<std::uint8_t> own(at.size(), hold_code);
            spread_codes(world, codes, rows, own.data());
            if (needs_plain_rows(plan_)) {
                std::vector<std::uint8_t> plain = plain_rows(plan_, at, own.data(), at.rows);
                each.launches.balance(plain);
                each.cells.plain.write(std::move(plain));
            }
            each.cells.codes.write(std::move(own));
            std::vector<float> state(at.size());
            spread_state(world, rows, state.data());
            each.state.now.write(state);
            each.state.next.write(std::move(state));
        }
    }

    void launch_edges(std::size_t p, unsigned steps) {
        part& own = parts_[p];
        for (const tile_rows& edge : {own.top, own.bottom})
            if (edge.count > 0) own.last = own.launches.run(own.state, steps, edge);
        if (p > 0) own.last = own.rows(own.state.next, own.where.border).copy_to(seams_[p - 1].up_sent);
        if (p + 1 < parts_.size())
            own.last = own.rows(own.state.next, own.where.height).copy_to(seams_[p].down_sent);
    }

    void exchange(std::size_t p) {
        const balm::queue_scope above(parts_[p].transfers), below(parts_[p + 1].transfers);
        seam& at = seams_[p];
        const balm::event down = at.down_sent.copy_to(at.down_come), up = at.up_sent.copy_to(at.up_come);
    }

    void receive(std::size_t p) {
        part& own = parts_[p];
        if (p > 0) own.last = seams_[p - 1].down_come.copy_to(own.rows(own.state.next, 0));
        if (p + 1 < parts_.size())
            own.last =
                seams_[p].up_come.copy_to(own.rows(own.state.next, own.where.height + own.where.border));
        std::swap(own.state.now, own.state.next);
    }

    plan plan_;
    std::vector<part> parts_;
    std::vector<seam> seams_;  // between part p and p + 1
};

}  // namespace

std::size_t rows_of_largest_part(std::size_t height, const plan& plan, std::size_t devices) {
    const std::vector<std::size_t> bounds = part_bounds(height, plan, devices);
    std::size_t largest = 0;
    for (std::size_t p = 0; p + 1 < bounds.size(); ++p)
        largest = std::max(largest, bounds[p + 1] - bounds[p]);
    return largest;
}

std::unique_ptr<advancing> make_resident(const world& world, const conductance& c,
                                         const std::vector<balm::device>& devices, const plan& plan) {
    return std::make_unique<resident>(world, c, devices, plan);
}

}  // namespace heat
