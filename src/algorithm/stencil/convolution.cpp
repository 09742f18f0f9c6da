// Convolutions whose weights are in memory, as leaves of expressions: chooses tiles, finds or traces the
// kernel and launches it.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "algorithm/divided_up.hpp"
#include "algorithm/stencil/convolution_kernels.hpp"
#include "algorithm/stencil/convolution_strategy.hpp"
#include "array/map/overlap.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

std::atomic<bool> of_gpus{false};

/// Work-items per group on GPUs: for rows, and for columns side by side, where more work-items share what is
/// staged.
constexpr std::size_t items_of_rows = 128, items_of_columns = 256;
/// Results per work-item: the largest number that fits. With 13, 13 of 15 instructions are FMA.
constexpr int most_each[] = {13, 7, 3, 1};
/// Steps of a chunk, at most, and how many suffice to prefer a larger number of results.
constexpr std::size_t most_steps = 32, enough_steps = 4;
/// Bytes of local memory per group, and the unit that the memory of a tile is rounded up to.
constexpr std::size_t local_bytes = 40960, room_unit = 4096;
/// Groups per compute unit: with fewer, smaller tiles are better.
constexpr std::size_t groups_per_unit = 2;
/// Weights per pass on CPUs, and bytes of a tile's results, which stay in the L1 cache with its values.
constexpr int weights_of_pass = 8;
constexpr std::size_t cpu_tile_bytes = 8192;
/// Maximum number of host weights that are kernel arguments: along rows, whose neighbours are shared in
/// registers, and along other dimensions. There each weight loads a row: on GPUs from the L2 cache, which
/// local memory avoids; on CPUs 5 weights take 20 ms and 33 take 375 for 2^24 floats, in memory 84 and 90
/// (PoCL 3.1, 2 cores).
constexpr std::size_t most_arguments = 64, most_rows_of_gpus = 2, most_rows_of_cpus = 8;
/// Maximum number of elements and weights together for which positions are counted in 32 bits.
constexpr std::size_t most_narrow = std::size_t{1} << 29;

/// An array as rows x length x inner.
struct lines {
    std::size_t rows = 1, length = 1, inner = 1;

    lines(const shape& box, int along) {
        for (int d = 0; d < box.dimensions(); ++d) (d < along ? rows : d == along ? length : inner) *= box[d];
    }
    std::size_t of_row() const { return length * inner; }
    std::size_t count() const { return rows * of_row(); }
};

/// Contiguous elements, and the rows and positions along the length that contain them.
struct results {
    std::size_t begin, end;
    std::size_t first_row, end_row, first, last;

    results(const lines& of, std::size_t from, std::size_t to)
        : begin(from), end(to), first_row(from / of.of_row()), end_row(divided_up(to, of.of_row())) {
        const bool is_of_one_row = end_row - first_row == 1;
        const std::size_t row = first_row * of.of_row();
        first = is_of_one_row ? (begin - row) / of.inner : 0;
        last = is_of_one_row ? divided_up(end - row, of.inner) : of.length;
    }
};

struct element_range {
    std::size_t low, high;
};

struct tile_shape {
    std::size_t length = 1;  ///< results along the convolution
    std::size_t strips = 1;  ///< of work-items, that make up the length
    std::size_t rows = 1;
    std::size_t chunk = 1;  ///< weights
};

class convolution_producer : public producer {
public:
    convolution_producer(const shape& extents, std::shared_ptr<vector_state> near, tape&& x, tape&& weights,
                         tape&& constant, border beyond, const convolution_terms& terms, std::size_t centre,
                         int along)
        : producer(extents, terms.result, std::move(near)),
          x_(std::move(x)),
          weights_(std::move(weights)),
          constant_(std::move(constant)),
          beyond_(beyond),
          terms_(terms),
          centre_(centre),
          weight_count_(element_count(weights_)),
          lines_(extents, along) {}

    std::shared_ptr<vector_state> compute() const override {
        auto made = make_like(*near(), type(), extents().count());
        write(*made);
        return made;
    }
    bool compute_into(vector_state& into) const override {
        if (reads(x_, into) || reads(weights_, into)) return false;
        write(into);
        return true;
    }

private:
    void write(vector_state& into) const;
    void launch(tape values, vector_state& into, const results& part, const element_range& held) const;
    element_range read_for(const results&) const;
    std::shared_ptr<vector_state> weights_on(const std::shared_ptr<runtime::device_state>&) const;

    const tape x_, weights_, constant_;
    const border beyond_;
    const convolution_terms terms_;
    const std::size_t centre_, weight_count_;
    const lines lines_;

    friend class launch_of_convolution;
};

std::shared_ptr<vector_state> convolution_producer::weights_on(
    const std::shared_ptr<runtime::device_state>& device) const {
    tape p = weights_;
    materialise(p);
    const vector_state near(device, terms_.weight, 0);
    if (!p.vectors.empty()) p = std::move(localizer(device).pieces(p, box_of(p), 0, weight_count_)[0].values);
    return as_vector(p, terms_.weight, weight_count_, near);
}

/// The range of elements that are read for these results. It covers whole rows if values are taken from the
/// other end.
element_range convolution_producer::read_for(const results& part) const {
    const std::size_t of_row = lines_.of_row(), low = part.first_row * of_row, high = part.end_row * of_row;
    const std::size_t reach = std::max(centre_, weight_count_ - 1 - centre_);
    if (beyond_ == border::wrap || reach >= lines_.length) return {low, high};
    const std::size_t by = reach * lines_.inner;
    return {part.begin - std::min(by, part.begin - low), std::min(part.end + by, high)};
}

void convolution_producer::write(vector_state& into) const {
    const std::size_t n = lines_.count();
    if (n == 0) return;
    tape p = x_;
    materialise(p);
    if (!is_spread(p) && !into.is_spread()) return launch(std::move(p), into, {lines_, 0, n}, {0, n});
    check_same_devices(into, *near());
    tape flat;
    flat.push_vector(as_vector(p, terms_.value, n, *near()));
    for (const vector_state::part& own : into.parts()) {
        vector_state& elements = *own.elements;
        if (elements.size() == 0) continue;
        const results part(lines_, own.first, own.first + elements.size());
        const element_range held = read_for(part);
        tape local = std::move(localizer(elements.device_handle())
                                   .pieces(flat, shape(n), held.low, held.high - held.low)[0]
                                   .values);
        launch(std::move(local), elements, part, held);
    }
}

/// Computes the results of a part on one device.
class launch_of_convolution {
public:
    launch_of_convolution(const convolution_producer& of, const tape& p, vector_state& into,
                          const results& part, const element_range& held)
        : of_(of),
          p_(p),
          into_(into),
          part_(part),
          held_(held),
          device_(into.device_handle()),
          facts_(kernels::facts_for(*device_)),
          leaves_(p),
          weights_(of.weights_on(device_)) {
        plan_.terms = of.terms_;
        plan_.beyond = of.beyond_;
        plan_.has_constant = !of.constant_.steps.empty();
        plan_.is_narrow = of.lines_.count() < most_narrow && of.weight_count_ < most_narrow;
        plan_.is_part = held.high - held.low < of.lines_.count();
        plan_.columns = static_cast<int>(std::min<std::size_t>(of.lines_.inner, most_columns));
        if (facts_.on_cpu && !of_gpus)
            choose_for_items();
        else
            choose_for_groups();
        plan_.rest = static_cast<int>(of.weight_count_ % static_cast<std::size_t>(plan_.each));
    }

    void launch() const {
        run_kernel(
            {"convolution", *device_, facts_, p_, leaves_}, plan_, [&](auto& to) { declare_parameters(to); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_convolution(r, given, plan_, p_, leaves_);
            },
            groups_of(group_count(), plan_.group));
    }

private:
    std::size_t columns() const { return static_cast<std::size_t>(plan_.columns); }
    std::size_t length() const { return part_.last - part_.first; }
    std::size_t tiles() const { return divided_up(length(), tile_.length); }
    std::size_t across() const { return divided_up(of_.lines_.inner, columns()); }
    std::size_t group_count() const {
        return tiles() * across() * divided_up(part_.end_row - part_.first_row, tile_.rows);
    }
    /// The steps that take all weights, at most those of a chunk.
    std::size_t steps(std::size_t each) const {
        return std::min(divided_up(of_.weight_count_, each), most_steps);
    }

    void choose_for_items() {
        const std::size_t widest =
            std::max(trace::size_of(plan_.terms.value), trace::size_of(plan_.terms.result));
        const std::size_t most = std::max<std::size_t>(cpu_tile_bytes / widest / columns(), 1);
        const auto each = static_cast<std::size_t>(weights_of_pass);
        const std::size_t most_chunk = divided_up(most, each) * each;
        plan_.each = weights_of_pass;
        plan_.results = most * columns();
        plan_.values = (most + most_chunk - 1) * columns();
        tile_.length = std::min(most, length());
        tile_.chunk = std::min(divided_up(of_.weight_count_, each) * each, most_chunk);
    }
    void choose_for_groups() {
        const device_info& about = device_->info();
        plan_.group = std::min<std::size_t>(plan_.has_exchange() ? items_of_rows : items_of_columns,
                                            std::bit_floor(about.max_work_group_size));
        const std::size_t units = std::max<std::size_t>(about.compute_units, 1);
        for (const int each : most_each) {
            const bool is_last = each == 1;
            if (!fits(static_cast<std::size_t>(each), is_last)) continue;
            if (group_count() >= units * groups_per_unit || is_last) return;
        }
    }
    /// Lays out a tile for `each` results per work-item; returns whether that is worthwhile.
    bool fits(std::size_t each, bool is_last) {
        plan_.each = static_cast<int>(each);
        const std::size_t units = std::max<std::size_t>(plan_.group / columns(), 1);
        const std::size_t strips = divided_up(length(), each);
        const std::size_t tiles = divided_up(strips, units);
        tile_.strips = divided_up(strips, tiles);
        tile_.length = tile_.strips * each;
        tile_.rows = std::min(units / tile_.strips, part_.end_row - part_.first_row);
        std::size_t steps = this->steps(each);
        const std::size_t enough = std::min(steps, enough_steps);
        while (steps > 1 && bytes(steps * each) > local_bytes) --steps;
        while (tile_.rows > 1 && bytes(steps * each) > local_bytes) --tile_.rows;
        tile_.chunk = steps * each;
        plan_.most_chunk = most_steps * each;
        plan_.room = divided_up(bytes_of_tile(tile_.chunk), room_unit) * room_unit;
        return is_last || (steps >= enough && bytes(tile_.chunk) <= local_bytes);
    }
    std::size_t bytes_of_tile(std::size_t chunk) const {
        const std::size_t values = tile_.rows * (tile_.length + chunk - 1) * columns(),
                          results = plan_.has_exchange() ? tile_.rows * tile_.length * columns() : 0;
        return std::max(values * trace::size_of(plan_.terms.value),
                        results * trace::size_of(plan_.terms.result));
    }
    std::size_t bytes(std::size_t chunk) const {
        return bytes_of_tile(chunk) + chunk * trace::size_of(plan_.terms.weight);
    }

    template <class List>
    void declare_parameters(List& to) const {
        to.number("weight_count", of_.weight_count_);
        to.number("centre", of_.centre_);
        to.number("length", of_.lines_.length);
        if (plan_.columns > 1) to.number("inner", of_.lines_.inner);
        to.number("tile", tile_.length);
        if (!plan_.is_of_cpus()) to.number("strips", tile_.strips);
        to.number("rows", tile_.rows);
        to.number("chunk", tile_.chunk);
        to.number("tiles", tiles());
        to.number("across", across());
        to.number("first_row", part_.first_row);
        to.number("end_row", part_.end_row);
        to.number("first_result", part_.first);
        to.number("last", part_.last);
        to.number("begin", part_.begin);
        to.number("end", part_.end);
        to.number("base", held_.low);
        if (plan_.is_part) to.number("held", held_.high - held_.low);
        to.vector("out", into_, trace::access::out);
        to.vector("weights", *weights_, trace::access::in);
        declare_leaves(to, p_, leaves_);
    }

    const convolution_producer& of_;
    const tape& p_;
    vector_state& into_;
    const results part_;
    const element_range held_;  ///< of the values, on this device
    const std::shared_ptr<runtime::device_state> device_;
    const ir::launch_facts facts_;
    const layout leaves_;
    const std::shared_ptr<vector_state> weights_;
    convolution_plan plan_;
    tile_shape tile_;
};

void convolution_producer::launch(tape values, vector_state& into, const results& part,
                                  const element_range& held) const {
    values.append(constant_);
    launch_of_convolution(*this, values, into, part, held).launch();
}

}  // namespace

void force_convolutions_of_gpus(bool everywhere) { of_gpus = everywhere; }

tape convolved(tape&& x, tape&& weights, tape&& constant, border beyond, const convolution_terms& terms,
               std::size_t centre, int dimension) {
    refuse_writing(x);
    refuse_writing(weights);
    const shape box = box_of(x);
    std::shared_ptr<vector_state> near = vector_near(x, terms.result);
    tape p;
    p.push_produced(std::make_shared<convolution_producer>(box, std::move(near), std::move(x),
                                                           std::move(weights), std::move(constant), beyond,
                                                           terms, centre, dimension));
    return p;
}

tape weights_near(const tape& x, trace::type type, const void* weights, std::size_t count) {
    auto made = std::make_shared<vector_state>(vector_near(x, type)->device_handle(), type, count);
    write(*made, 0, weights, count);
    tape p;
    p.push_vector(std::move(made));
    return p;
}

bool are_arguments(std::size_t weights, const tape& x, int dimension) {
    // As arguments they multiply shifted elements, each of which several devices would copy by itself.
    if (is_spread(x)) return false;
    if (lines(box_of(x), dimension).inner == 1) return weights <= most_arguments;
    const bool is_cpu = vector_near(x, scalar::i8)->device().info().type == device_type::cpu;
    return weights <= (is_cpu && !of_gpus ? most_rows_of_cpus : most_rows_of_gpus);
}

void check_convolution(std::size_t weights, std::size_t centre, int dimension, const shape& box) {
    if (weights == 0) throw usage_error("a convolution needs at least one weight");
    if (centre >= weights)
        throw usage_error(
            fmt::format("weight {} cannot be the centre of a convolution with {} weights, which count from 0",
                        centre, weights));
    if (dimension < 0 || dimension >= box.dimensions())
        throw usage_error(
            fmt::format("a convolution cannot run along dimension {} of {}, whose dimensions are 0 to {}",
                        dimension, to_string(box), box.dimensions() - 1));
}

std::size_t count_of_weights(const tape& weights) {
    const shape box = box_of(weights);
    if (box.dimensions() != 1)
        throw usage_error(
            fmt::format("the weights of a convolution have the extents {}; they must have one dimension",
                        to_string(box)));
    return box.count();
}

}  // namespace balm::array
