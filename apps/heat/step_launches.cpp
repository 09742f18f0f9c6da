// Launches of the heat step. In: a plan and the arguments of the kernels. Out: a function that launches them
// over rows of tiles; the kernels are in step_kernels.cpp.

#include "step_launches.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "segments.hpp"
#include "step_kernels.hpp"

namespace heat {
namespace {

using launch =
    std::function<balm::event(const state_pair&, unsigned steps, const tile_rows&, std::size_t band)>;

launch single_launch(const balm::device& device, const plan& plan, const layout& where, const conductance& c,
                     const cell_buffers& cells) {
    auto weights = device.in_buffer<float>(code_count);
    weights.write(c.weight);
    return [=, kernel = make_single_kernel(plan.border())](
               const state_pair& state, unsigned, const tile_rows& tiles, std::size_t) -> balm::event {
        return device.execute(kernel(where.pitch, tiles.first * plan.tile_height, c.inner, c.outer, weights,
                                     cells.codes, state.now, state.next),
                              {where.tiles_x * plan.tile_width, tiles.count * plan.tile_height},
                              {plan.tile_width, plan.tile_height});
    };
}

/// keep by code, then take by code.
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
               const state_pair& state, unsigned steps, const tile_rows& tiles, std::size_t) -> balm::event {
        return device.execute(kernel(static_cast<int>(steps), where.pitch, tiles.first, c.keep[plain_code],
                                     c.take[plain_code], table, words, state.now, state.next, shared),
                              {where.tiles_x * local_x, tiles.count * local_y}, {local_x, local_y});
    };
}

launch stream_launch(const balm::device& device, const plan& plan, const layout& where, const conductance& c,
                     const cell_buffers& cells) {
    return [=, kernels = std::make_shared<std::map<unsigned, stream_kernel>>(),
            codes = cells.codes.as<balm::uchar16>(), table = coefficients(device, c),
            odd = balm::local<balm::float16>(stream_odd_size(plan)),
            even = balm::local<balm::float16>(stream_even_size(plan)),
            weights = balm::local<balm::float16>(stream_weights_size(plan)),
            pitch = where.pitch * sizeof(float) / sizeof(balm::float16)](
               const state_pair& state, unsigned steps, const tile_rows& tiles, std::size_t) -> balm::event {
        auto made = kernels->find(steps);
        if (made == kernels->end()) made = kernels->emplace(steps, make_stream_kernel(plan, steps)).first;
        return device.execute(
            made->second(pitch, where.tiles_x, tiles.first, c.keep[plain_code], c.take[plain_code], table,
                         codes, cells.plain, state.now.as<balm::float16>(), state.next.as<balm::float16>(),
                         odd, even, weights),
            {where.tiles_x, tiles.count}, {1, 1});
    };
}

/// The segments of a layout's strips on a device, for any rows of tiles of any band.
class device_segments {
public:
    device_segments(const balm::device& device, const plan& plan, const layout& where)
        : device_(device), plan_(plan), where_(where) {}

    void balance(const std::vector<std::uint8_t>& plain, std::size_t band) {
        costs_.insert_or_assign(band, strip_costs(plan_, where_, plain));
        of_.clear();
    }
    const balm::in_buffer<balm::int4>& of(const tile_rows& rows, std::size_t band) {
        const auto key = std::tuple(band, rows.first, rows.count);
        const auto found = of_.find(key);
        if (found != of_.end()) return found->second;
        std::vector<segment> made = cut(costs_.try_emplace(band, where_).first->second, plan_, rows,
                                        std::size_t{device_.info().compute_units} * plan_.at_once);
        auto buffer = device_.in_buffer<balm::int4>(made.size());
        buffer.write(std::move(made));
        return of_.emplace(key, std::move(buffer)).first->second;
    }

private:
    balm::device device_;
    plan plan_;
    layout where_;
    std::map<std::size_t, strip_costs> costs_;  ///< by band
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, balm::in_buffer<balm::int4>> of_;
};

launch sweep_launch(const balm::device& device, const plan& plan, const layout& where, const conductance& c,
                    const cell_buffers& cells, const std::shared_ptr<device_segments>& segments) {
    using sweep = balm::module<balm::event(const state_pair&, const balm::in_buffer<balm::int4>&)>;
    const auto make = [=, coefficients = coefficients(device, c)](unsigned steps) {
        return sweep([&](balm::module_builder& m) {
            m.options({.max_registers = registers_of(plan)});
            return m.entry([=, kernel = m.add(make_sweep_kernel(plan, steps)),
                            words = cells.codes.as<std::uint32_t>(),
                            table = balm::local<balm::float2>(code_count),
                            lanes = plan.work_items()](balm::program& p, const state_pair& state,
                                                       const balm::in_buffer<balm::int4>& of) -> balm::event {
                return p.execute(
                    kernel(static_cast<int>(where.pitch / 4), static_cast<int>(where.tiles_x), of,
                           c.keep[plain_code], c.take[plain_code], coefficients, words, cells.plain,
                           state.now.as<balm::float4>(), state.next.as<balm::float4>(), table),
                    {of.size() * lanes}, {lanes});
            });
        });
    };
    return [=, sweeps = std::make_shared<std::map<unsigned, sweep>>()](const state_pair& state,
                                                                       unsigned steps, const tile_rows& tiles,
                                                                       std::size_t band) -> balm::event {
        auto made = sweeps->find(steps);
        if (made == sweeps->end()) made = sweeps->emplace(steps, make(steps)).first;
        return made->second.on(device)(state, segments->of(tiles, band));
    };
}

}  // namespace

cell_buffers::cell_buffers(const balm::device& device, const plan& plan, const layout& where)
    : codes(device.in_buffer<std::uint8_t>(where.size())),
      plain(device.in_buffer<std::uint8_t>(needs_plain_rows(plan) ? where.tiles_x * where.rows : 1)) {}

step_launches::step_launches(const balm::device& device, const plan& plan, const layout& where,
                             const conductance& c, const cell_buffers& cells) {
    switch (plan.method) {
        case method::single: launch_ = single_launch(device, plan, where, c, cells); break;
        case method::tile: launch_ = tile_launch(device, plan, where, c, cells); break;
        case method::stream: launch_ = stream_launch(device, plan, where, c, cells); break;
        case method::sweep: {
            const auto segments = std::make_shared<device_segments>(device, plan, where);
            launch_ = sweep_launch(device, plan, where, c, cells, segments);
            balance_ = [segments](const std::vector<std::uint8_t>& plain, std::size_t band) {
                segments->balance(plain, band);
            };
        }
    }
}

}  // namespace heat
