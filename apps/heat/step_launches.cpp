// Launches of the heat step. In: a plan and what the kernels take. Out: a function that launches them over
// rows of tiles; the kernels are in step_kernels.cpp.

#include "step_launches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "step_kernels.hpp"

namespace heat {
namespace {

using launch = std::function<balm::event(const state_pair&, unsigned steps, const tile_rows&)>;

/// A cell a work-item, in a layout of any plan.
launch single_launch(const balm::device& device, const plan& plan, const layout& where, const conductance& c,
                     const cell_buffers& cells) {
    const heat::plan group = single_plan(device.info().type);
    auto weights = device.in_buffer<float>(code_count);
    weights.write(c.weight);
    const std::size_t local_x = std::gcd(group.tile_width, plan.inner_width());
    const std::size_t local_y = std::gcd(group.tile_height, plan.inner_height());
    return [=, kernel = make_single_kernel(static_cast<unsigned>(where.border))](
               const state_pair& state, unsigned, const tile_rows& tiles) -> balm::event {
        const std::size_t first = tiles.first * where.tile_height;
        const std::size_t rows = std::min(tiles.count * where.tile_height, where.height - first);
        return device.execute(
            kernel(where.pitch, first, c.inner, c.outer, weights, cells.codes, state.now, state.next),
            {round_up(where.width, local_x), round_up(rows, local_y)}, {local_x, local_y});
    };
}

/// keep and take by code, one after the other.
balm::in_buffer<float> coefficients(const balm::device& device, const conductance& c) {
    std::vector<float> both(c.keep.begin(), c.keep.end());
    both.insert(both.end(), c.take.begin(), c.take.end());
    auto buffer = device.in_buffer<float>(both.size());
    buffer.write(std::move(both));
    return buffer;
}

launch tile_launch(const balm::device& device, const plan& plan, const layout& where, const conductance& c,
                   const cell_buffers& cells) {
    const std::size_t local_x = plan.tile_width / plan.item_width,
                      local_y = plan.tile_height / plan.item_height;
    return [=, kernel = make_tile_kernel(plan), table = coefficients(device, c),
            words = cells.codes.as<std::uint32_t>(), shared = balm::local<float>(tile_shared_size(plan))](
               const state_pair& state, unsigned steps, const tile_rows& tiles) -> balm::event {
        return device.execute(kernel(static_cast<int>(steps), where.pitch, tiles.first, c.keep[plain_code],
                                     c.take[plain_code], table, words, state.now, state.next, shared),
                              {where.tiles_x * local_x, tiles.count * local_y}, {local_x, local_y});
    };
}

launch stream_launch(const balm::device& device, const plan& plan, const layout& where, const conductance& c,
                     const cell_buffers& cells) {
    return [=, kernel = make_stream_kernel(plan), table = coefficients(device, c),
            kept = balm::local<float>(stream_rows_size(plan)),
            weights = balm::local<float>(stream_weights_size(plan))](const state_pair& state, unsigned,
                                                                     const tile_rows& tiles) -> balm::event {
        return device.execute(
            kernel(where.pitch, where.tiles_x, tiles.first, c.keep[plain_code], c.take[plain_code], table,
                   cells.codes, cells.plain, state.now, state.next, kept, kept, weights),
            {where.tiles_x, tiles.count}, {1, 1});
    };
}

}  // namespace

cell_buffers::cell_buffers(const balm::device& device, const plan& plan, const layout& where)
    : codes(device.in_buffer<std::uint8_t>(where.size())),
      plain(device.in_buffer<std::uint8_t>(needs_plain_rows(plan) ? where.tiles_x * where.rows : 1)) {}

unsigned steps_of_launch(const plan& plan, unsigned left) {
    switch (plan.method) {
        case method::tile: return std::min(left, plan.steps);
        case method::stream: return left >= plan.steps ? plan.steps : 1;
        default: return 1;
    }
}

step_launches::step_launches(const balm::device& device, const plan& plan, const layout& where,
                             const conductance& c, const cell_buffers& cells)
    : steps_(plan.steps) {
    if (plan.method != method::tile) one_step_ = single_launch(device, plan, where, c, cells);
    if (plan.method == method::tile) several_steps_ = tile_launch(device, plan, where, c, cells);
    if (plan.method == method::stream) several_steps_ = stream_launch(device, plan, where, c, cells);
}

balm::event step_launches::run(const state_pair& state, unsigned steps, const tile_rows& rows) const {
    const bool at_once = several_steps_ && (steps == steps_ || !one_step_);
    return (at_once ? several_steps_ : one_step_)(state, steps, rows);
}

}  // namespace heat
