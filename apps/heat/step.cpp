// The heat step on a device. In: a world, dt, a device. Out: the world n steps later. Here the world is laid
// out for its plan, and launches follow each other on the device's queue; the kernels are in
// step_kernels.cpp.

#include "step.hpp"

#include <algorithm>
#include <balm/balm.hpp>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "conductance.hpp"
#include "reference.hpp"
#include "step_kernels.hpp"

namespace heat {
namespace {

std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

/// A world with a border around it and its size rounded up to whole tiles.
struct grid {
    grid(const world& world, const plan& plan)
        : width(world.width),
          height(world.height),
          border(plan.border()),
          tiles_x(round_up(width, plan.inner_width()) / plan.inner_width()),
          tiles_y(round_up(height, plan.inner_height()) / plan.inner_height()),
          pitch(tiles_x * plan.inner_width() + 2 * border),
          rows(tiles_y * plan.inner_height() + 2 * border) {}

    std::size_t size() const { return pitch * rows; }
    std::size_t row_start(std::size_t y) const { return (y + border) * pitch + border; }

    template <class T>
    std::vector<T> spread(const std::vector<T>& cells, T outside) const {
        std::vector<T> result(size(), outside);
        for (std::size_t y = 0; y < height; ++y)
            std::copy_n(cells.begin() + static_cast<std::ptrdiff_t>(y * width), width,
                        result.begin() + static_cast<std::ptrdiff_t>(row_start(y)));
        return result;
    }

    std::size_t width, height, border, tiles_x, tiles_y, pitch, rows;
};

/// Insulators hold 0 on the device.
std::vector<float> conducting_state(const world& world) {
    std::vector<float> state = world.state;
    for (std::size_t i = 0; i < state.size(); ++i)
        if (world.properties[i] == insulator) state[i] = 0;
    return state;
}

/// The state on the device, twice: steps go from one to the other.
struct state_pair {
    balm::mixed_buffer<float> now, next;
};

/// What a launch needs to know of the world; the kernel and its buffers are captured.
using launch = std::function<balm::event(const state_pair& state, unsigned steps)>;

/// `codes` and the grid are laid out alike, by `plan`.
launch single_launch(const balm::device& device, const plan& plan, const grid& grid, const conductance& c,
                     const balm::in_buffer<std::uint8_t>& codes) {
    const heat::plan group = single_plan(device.info().type);
    auto weights = device.in_buffer<float>(code_count);
    weights.write(c.weight);
    const balm::extent<2> local{std::gcd(group.tile_width, plan.inner_width()),
                                std::gcd(group.tile_height, plan.inner_height())};
    const balm::extent<2> global{round_up(grid.width, local[0]), round_up(grid.height, local[1])};
    return [=, pitch = grid.pitch, kernel = make_single_kernel(static_cast<unsigned>(grid.border))](
               const state_pair& state, unsigned) {
        return device.execute(kernel(pitch, c.inner, c.outer, weights, codes, state.now, state.next), global,
                              local);
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

launch tile_launch(const balm::device& device, const plan& plan, const grid& grid, const conductance& c,
                   const std::vector<std::uint8_t>& codes) {
    std::vector<std::uint32_t> words(codes.size() / 4);
    std::memcpy(words.data(), codes.data(), codes.size());
    auto cells = device.in_buffer<std::uint32_t>(words.size());
    cells.write(std::move(words));
    const balm::extent<2> local{plan.tile_width / plan.item_width, plan.tile_height / plan.item_height};
    const balm::extent<2> global{grid.tiles_x * local[0], grid.tiles_y * local[1]};
    return [=, pitch = grid.pitch, kernel = make_tile_kernel(plan), table = coefficients(device, c),
            shared = balm::local<float>(tile_shared_size(plan))](const state_pair& state, unsigned steps) {
        return device.execute(kernel(steps, pitch, c.keep[plain_code], c.take[plain_code], table, cells,
                                     state.now, state.next, shared),
                              global, local);
    };
}

/// For each strip of tiles, for each row of the grid: whether all its cells in the strip are plain.
std::vector<std::uint8_t> plain_rows(const plan& plan, const grid& grid,
                                     const std::vector<std::uint8_t>& codes) {
    std::vector<std::uint8_t> plain(grid.tiles_x * grid.rows);
    for (std::size_t strip = 0; strip < grid.tiles_x; ++strip)
        for (std::size_t row = 0; row < grid.rows; ++row) {
            const auto first =
                codes.begin() + static_cast<std::ptrdiff_t>(row * grid.pitch + strip * plan.inner_width());
            plain[strip * grid.rows + row] = std::all_of(
                first, first + plan.tile_width, [](std::uint8_t code) { return code == plain_code; });
        }
    return plain;
}

launch stream_launch(const balm::device& device, const plan& plan, const grid& grid, const conductance& c,
                     const std::vector<std::uint8_t>& codes, const balm::in_buffer<std::uint8_t>& cells) {
    std::vector<std::uint8_t> flags = plain_rows(plan, grid, codes);
    auto plain = device.in_buffer<std::uint8_t>(flags.size());
    plain.write(std::move(flags));
    const balm::extent<2> global{grid.tiles_x, grid.tiles_y};
    return [=, pitch = grid.pitch, rows = grid.rows, kernel = make_stream_kernel(plan),
            table = coefficients(device, c), kept = balm::local<float>(stream_rows_size(plan)),
            weights = balm::local<float>(stream_weights_size(plan))](const state_pair& state, unsigned) {
        return device.execute(kernel(pitch, rows, c.keep[plain_code], c.take[plain_code], table, cells, plain,
                                     state.now, state.next, kept, kept, weights),
                              global, {1, 1});
    };
}

/// The caller's plan where it serves: several steps at once need steps that are means.
plan usable(const plan& wanted, const conductance& c, const balm::device_info& device) {
    return c.is_mean() ? wanted : single_plan(device.type);
}

conductance checked_conductance(const world& world, float dt) {
    check(world);
    check_step(world.alpha, dt);
    return make_conductance(world.alpha, dt);
}

}  // namespace

struct stepper::implementation {
    implementation(const world& world, const conductance& c, const balm::device& on, const plan& how)
        : device(on),
          plan(how),
          grid(world, how),
          start(world.state),
          properties(world.properties),
          state{device.mixed_buffer<float>(grid.rows, grid.pitch),
                device.mixed_buffer<float>(grid.rows, grid.pitch)} {
        const std::vector<std::uint8_t> codes = grid.spread(cell_codes(world), hold_code);
        if (plan.method == method::tile) {
            several_steps = tile_launch(device, plan, grid, c, codes);
        } else {
            auto cells = device.in_buffer<std::uint8_t>(codes.size());
            cells.write(codes);
            one_step = single_launch(device, plan, grid, c, cells);
            if (plan.method == method::stream)
                several_steps = stream_launch(device, plan, grid, c, codes, cells);
        }
        const std::vector<float> cells = grid.spread(conducting_state(world), 0.0f);
        state.now.write(cells);
        state.next.write(cells);
    }

    void prepare() {
        last = (several_steps ? several_steps : one_step)(state, plan.steps);
        last.wait();
    }

    void advance(unsigned n) {
        while (n > 0) {
            const bool at_once = several_steps && (n >= plan.steps || !one_step);
            const unsigned count = at_once ? std::min(n, plan.steps) : 1;
            last = (at_once ? several_steps : one_step)(state, count);
            std::swap(state.now, state.next);
            n -= count;
        }
    }

    /// Borders, excess and insulators hold 0 in both states.
    float largest_change() const {
        const balm::vector<float> now = balm::as_vector(state.now.from(0)),
                                  before = balm::as_vector(state.next.from(0));
        return balm::max(abs(now - before));
    }

    /// Insulators have the temperature that they came with.
    std::vector<float> current() const {
        const balm::host_array<float> cells = state.now.read();
        std::vector<float> result = start;
        for (std::size_t y = 0, i = 0; y < grid.height; ++y)
            for (std::size_t x = 0; x < grid.width; ++x, ++i)
                if (properties[i] != insulator) result[i] = cells[grid.row_start(y) + x];
        return result;
    }

    balm::device device;
    heat::plan plan;
    heat::grid grid;
    std::vector<float> start;
    std::vector<std::uint32_t> properties;
    state_pair state;
    launch one_step,
        several_steps;  // either may be missing; several_steps does up to, or exactly, plan.steps
    balm::event last;
};

stepper::stepper(const world& world, float dt, balm::context& context)
    : stepper(world, dt, context, plan_for(context.device(0).info().type)) {}

stepper::stepper(const world& world, float dt, balm::context& context, const plan& plan) {
    const conductance c = checked_conductance(world, dt);
    const balm::device& device = context.device(0);
    implementation_ = std::make_unique<implementation>(world, c, device, usable(plan, c, device.info()));
}

stepper::stepper(stepper&&) noexcept = default;
stepper& stepper::operator=(stepper&&) noexcept = default;
stepper::~stepper() = default;

void stepper::prepare() { implementation_->prepare(); }

void stepper::advance(unsigned n) { implementation_->advance(n); }

float stepper::advance_and_compare() {
    implementation_->advance(1);
    return implementation_->largest_change();
}

void stepper::finish() { implementation_->last.wait(); }

std::vector<float> stepper::state() { return implementation_->current(); }

void step(world& world, float dt, unsigned n, balm::context& context) {
    stepper stepper(world, dt, context);
    stepper.advance(n);
    world.state = stepper.state();
}

}  // namespace heat
