// A world in bands. In: a world in host memory, devices, a plan. Out: commands. A band is loaded with `halo`
// rows above and below it. Each step invalidates one more of them, from outside, so the band itself is valid
// for `halo` steps. In a pass over the world each band is loaded, advanced, and written back in place:
//
//     queue for loading:    band 1, its halo │ band 2 …                │ band 3 …
//     queue of the device:                   │ launches on band 1      │ launches on band 2 …
//     queue for unloading:                                             │ band 1 …
//
// A band's upper halo and as many of its first rows were loaded with the band above, which keeps a copy of
// them. So every row is loaded once, before it is written back, and one state in host memory is enough.

#include "streamed.hpp"

#include <algorithm>
#include <balm/balm.hpp>
#include <utility>

#include "run.hpp"
#include "step_launches.hpp"

namespace heat {
namespace {

/// The most steps while a band is on a device: those between two checks whether the world is steady, in whole
/// launches. Loading 5 bytes per cell while 4 are unloaded takes as long as some 300 steps of a band with its
/// halos (a link of 50 GB/s each way, 3,000 Gcell/s).
std::size_t longest_stay(const plan& plan) { return round_up(steps_between_checks, plan.steps); }

/// The least number of rows of a band per row of its halo, to limit the share of the work that is done twice.
constexpr std::size_t least_rows_a_halo_row = 6;

constexpr std::size_t slots_a_device = 2;

/// The rows of the largest band that fits with this halo; 0 if none does.
std::size_t rows_of_band(std::size_t width, std::size_t halo, const plan& plan, std::uint64_t memory,
                         std::uint64_t allocation) {
    const layout row(width, 1, plan);
    const std::uint64_t kept = 2 * halo * row.pitch * sizeof(float), share = memory / slots_a_device;
    if (share < kept) return 0;
    const std::uint64_t rows =
        std::min((share - kept) / row_bytes(row), allocation / (row.pitch * sizeof(float)));
    if (rows < 2 * row.border) return 0;
    const std::uint64_t inside = (rows - 2 * row.border) / row.tile_height * row.tile_height;
    return inside > 2 * halo ? inside - 2 * halo : 0;
}

using rows_of_state = balm::buffer_range<float, balm::access::mixed>;

/// The buffers and queues for a band on a device.
struct slot {
    slot(const balm::device& on, const plan& plan, const layout& at, const conductance& c, std::size_t halo)
        : device(on),
          where(at),
          cells(on, plan, at),
          launches(on, plan, at, c, cells),
          state{on.mixed_buffer<float>(at.rows, at.pitch), on.mixed_buffer<float>(at.rows, at.pitch)},
          kept(on.mixed_buffer<float>(2 * halo * at.pitch)),
          loads(on.make_queue(false)),
          unloads(on.make_queue(false)) {
        cells.codes.fill(hold_code);
        cells.plain.fill(0);
        state.now.fill(0);
        state.next.fill(0);
    }

    /// The rows [first, end) of a buffer of rows, counted from the first one inside the border.
    template <class Elements>
    auto rows(const Elements& of, std::size_t first, std::size_t end) const {
        const std::size_t pitch = of.size() / where.rows;
        return of.range((first + where.border) * pitch, (end + where.border) * pitch);
    }

    balm::device device;
    layout where;
    cell_buffers cells;
    step_launches launches;
    state_pair state;
    balm::mixed_buffer<float> kept;  ///< the rows that the next band has in common with this one
    balm::queue loads, unloads;
    std::optional<std::size_t> band;  ///< whose codes it holds
    balm::event last;
};

class streamed final : public advancing {
public:
    streamed(const world& world, const conductance& c, const std::vector<balm::device>& devices,
             const plan& plan, const band_shape& bands)
        : width_(world.width),
          height_(world.height),
          devices_(std::min(devices.size(), bands.count)),
          plan_(plan),
          bands_(bands),
          where_(world.width, bands.rows + 2 * bands.halo, plan),
          unloaded_(bands.count) {
        const std::size_t slots = std::min(slots_a_device * devices_, bands.count);
        for (std::size_t s = 0; s < slots; ++s)
            slots_.emplace_back(devices[s % devices_], plan, where_, c, bands.halo);
        keep(world, devices.front());
    }

    void prepare(std::span<const unsigned> advances) override {
        for (slot& each : slots_)
            for (const unsigned steps : launch_steps(plan_, advances))
                each.last = each.launches.run(each.state, steps, where_.all_tiles());
        for (const slot& each : slots_) each.last.wait();
    }

    void advance(unsigned n) override { run(n, false); }

    float advance_and_compare(unsigned n) override {
        run(n, true);
        float largest = 0;
        for (const balm::vector<float>& each : changes_) largest = std::max<float>(largest, each[0]);
        return largest;
    }

    void finish() override {
        for (const balm::event& each : unloaded_) each.wait();
    }

    heat::division division() const override {
        return {devices_, bands_.count, static_cast<unsigned>(bands_.halo)};
    }

    void read(float* state) override {
        finish();
        for (std::size_t y = 0; y < height_; ++y)
            std::copy_n(state_.data() + (y + bands_.halo) * where_.pitch + where_.border, width_,
                        state + y * width_);
    }

private:
    slot& slot_of(std::size_t band) { return slots_[band % slots_.size()]; }
    /// Rows of a band and its halos.
    std::size_t loaded_rows() const { return where_.height; }
    std::size_t first_row_of(std::size_t band) const { return band * bands_.rows; }  // in host memory

    /// Rows of host memory.
    template <class T>
    static balm::pinned_array<T> host_rows(const balm::pinned_array<T>& of, std::size_t pitch,
                                           std::size_t first, std::size_t last) {
        return of.range(first * pitch, last * pitch);
    }

    void keep(const world& world, const balm::device& by) {
        const memory_rows rows{-static_cast<std::ptrdiff_t>(bands_.halo),
                               bands_.count * bands_.rows + 2 * bands_.halo, where_.pitch, where_.border};
        state_ = by.pinned_array<float>(rows.count * rows.pitch);
        std::fill(state_.begin(), state_.end(), 0.0f);
        spread_state(world, rows, state_.data());
        codes_ = by.pinned_array<std::uint8_t>(rows.count * rows.pitch);
        std::fill(codes_.begin(), codes_.end(), hold_code);
        spread_codes(world, cell_codes(world), rows, codes_.data());
        if (!needs_plain_rows(plan_)) return;
        const std::vector<std::uint8_t> plain = plain_rows(plan_, where_, codes_.data(), rows.count);
        plain_ = by.pinned_array<std::uint8_t>(plain.size());
        std::copy(plain.begin(), plain.end(), plain_.begin());
        std::vector<std::uint8_t> of_band(where_.rows * where_.tiles_x);
        for (std::size_t band = 0; band < bands_.count; ++band) {
            std::copy_n(plain.begin() + static_cast<std::ptrdiff_t>(first_row_of(band) * where_.tiles_x),
                        loaded_rows() * where_.tiles_x,
                        of_band.begin() + static_cast<std::ptrdiff_t>(where_.border * where_.tiles_x));
            slot_of(band).launches.balance(of_band, band);
        }
    }

    /// Advances by n steps; with `compare`, the last one in a launch of its own, and enqueues its comparison.
    void run(unsigned n, bool compare) {
        unsigned left = compare ? n - 1 : n;
        bool is_over = n == 0;
        std::vector<unsigned> launches;
        while (!is_over) {
            launches.clear();
            unsigned room = static_cast<unsigned>(bands_.halo);
            while (left > 0 && std::min(left, plan_.steps) <= room) {
                launches.push_back(std::min(left, plan_.steps));
                left -= launches.back();
                room -= launches.back();
            }
            is_over = left == 0 && (!compare || room > 0);
            if (is_over && compare) launches.push_back(1);
            pass(launches, is_over && compare);
        }
    }

    /// One pass over the world, with the same launches for each band. Commands that conflict with one of
    /// another queue wait for all that has been enqueued there: a device's next band is therefore loaded
    /// before this one's launches.
    void pass(const std::vector<unsigned>& launches, bool compare) {
        changes_.clear();
        for (std::size_t band = 0; band < devices_; ++band) load(band);
        for (std::size_t band = 0; band < bands_.count; ++band) {
            if (band + devices_ < bands_.count) load(band + devices_);
            advance_band(band, launches);
            if (compare) enqueue_comparison(band);
            unload(band);
        }
    }

    /// Loads a band into the state that does not hold the result of the slot's previous band, which may still
    /// be being written back.
    void load(std::size_t band) {
        // For the previous pass. The bands before this one keep the devices busy meanwhile, and the number of
        // enqueued commands stays bounded.
        unloaded_[band].wait();
        slot& to = slot_of(band);
        std::swap(to.state.now, to.state.next);
        std::size_t common = 0;
        if (band > 0) {
            const slot& above = slot_of(band - 1);
            common = 2 * bands_.halo;
            const balm::queue_scope from(above.loads), into(to.loads);
            const balm::event copied = above.kept.copy_to(to.rows(to.state.now, 0, common));
        }
        const balm::queue_scope into(to.loads);
        const std::size_t first = first_row_of(band), last = first + loaded_rows();
        const balm::event sent = to.rows(to.state.now, common, loaded_rows())
                                     .write(host_rows(state_, where_.pitch, first + common, last),
                                            written_back(first + common, last));
        if (band + 1 < bands_.count) {
            const balm::event copied = to.rows(to.state.now, bands_.rows, loaded_rows()).copy_to(to.kept);
        }
        if (to.band == band) return;
        to.band = band;
        const balm::event codes =
            to.rows(to.cells.codes, 0, loaded_rows()).write(host_rows(codes_, where_.pitch, first, last));
        if (!needs_plain_rows(plan_)) return;
        const balm::event plain =
            to.rows(to.cells.plain, 0, loaded_rows()).write(host_rows(plain_, where_.tiles_x, first, last));
    }

    /// The events after which rows of host memory are written back from the previous pass.
    balm::wait_list written_back(std::size_t first, std::size_t last) const {
        balm::wait_list all;
        const std::size_t begin = (std::max(first, bands_.halo) - bands_.halo) / bands_.rows;
        const std::size_t end = round_up(last - bands_.halo, bands_.rows) / bands_.rows;
        for (std::size_t band = begin; band < std::min(end, bands_.count); ++band) all.add(unloaded_[band]);
        return all;
    }

    void advance_band(std::size_t band, const std::vector<unsigned>& launches) {
        slot& own = slot_of(band);
        std::size_t left = 0;
        for (const unsigned steps : launches) left += steps;
        for (const unsigned steps : launches) {
            left -= steps;
            own.last =
                own.launches.run(own.state, steps,
                                 where_.tiles_of(bands_.halo - left, bands_.halo + bands_.rows + left), band);
            std::swap(own.state.now, own.state.next);
        }
    }

    void enqueue_comparison(std::size_t band) {
        const slot& own = slot_of(band);
        const balm::vector<float> now = balm::as_vector(own.state.now.from(0)),
                                  before = balm::as_vector(own.state.next.from(0));
        const auto inside =
            balm::element_index((bands_.halo + where_.border) * where_.pitch, bands_.rows * where_.pitch);
        balm::max_into(changes_.emplace_back(balm::context({own.device}), 1),
                       abs(now[inside] - before[inside]));
    }

    void unload(std::size_t band) {
        const slot& own = slot_of(band);
        const balm::queue_scope from(own.unloads);
        const std::size_t first = first_row_of(band) + bands_.halo;
        unloaded_[band] = own.rows(own.state.now, bands_.halo, bands_.halo + bands_.rows)
                              .read_into(host_rows(state_, where_.pitch, first, first + bands_.rows));
    }

    std::size_t width_, height_, devices_;
    plan plan_;
    band_shape bands_;
    layout where_;                     // in each slot
    balm::pinned_array<float> state_;  // row `halo` is the world's first
    balm::pinned_array<std::uint8_t> codes_, plain_;
    std::vector<slot> slots_;                   // bands take them in turn
    std::vector<balm::event> unloaded_;         // of each band, in its last pass
    std::vector<balm::vector<float>> changes_;  // of each band, in the last step that was compared
};

}  // namespace

std::optional<band_shape> shape_of_bands(std::size_t width, std::size_t height, const plan& plan,
                                         std::uint64_t memory, std::uint64_t allocation) {
    for (std::size_t halo = longest_stay(plan); halo >= plan.steps; halo -= plan.steps) {
        const std::size_t rows = rows_of_band(width, halo, plan, memory, allocation);
        if (rows == 0 || (rows < least_rows_a_halo_row * halo && halo > plan.steps)) continue;
        const std::size_t count = round_up(height, rows) / rows;
        return band_shape{round_up(height, count) / count, count, halo};
    }
    return std::nullopt;
}

std::uint64_t least_memory_for_bands(std::size_t width, const plan& plan) {
    const layout least(width, 1 + 2 * plan.steps, plan);
    return slots_a_device * (least.rows * row_bytes(least) + 2 * plan.steps * least.pitch * sizeof(float));
}

std::unique_ptr<advancing> make_streamed(const world& world, const conductance& c,
                                         const std::vector<balm::device>& devices, const plan& plan,
                                         const band_shape& bands) {
    return std::make_unique<streamed>(world, c, devices, plan, bands);
}

}  // namespace heat
