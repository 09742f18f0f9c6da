#include "algorithm/fft/fft_transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <limits>
#include <vector>

#include "algorithm/divided_up.hpp"
#include "algorithm/fft/fft_strategy.hpp"
#include "algorithm/fft/roots.hpp"
#include "array/map/overlap.hpp"
#include "array/run_kernel.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

std::atomic<const forced_fft*> forced{nullptr};
std::atomic<std::size_t> forced_least_exchanged{0};

using vector_handle = std::shared_ptr<vector_state>;

/// Work-items of a group of a GPU, and numbers that each has in registers, or more if a radix has more. 2^18
/// rows of 64 f32 take 96 us, with 16 numbers 176 (H100).
constexpr std::size_t group_items = 256, numbers_of_item = 8;
/// The minimum number of contiguous bytes that neighbouring work-items load, so that no part of a memory
/// transaction is wasted; short rows go through local memory instead.
constexpr std::size_t least_bytes = 64;
/// The register limit of a work-item of a GPU: four groups share a compute unit, two of f64. Without a limit
/// the compiler takes up to 72 and 168 (sm_90).
constexpr std::uint32_t most_registers(scalar element) { return element == scalar::f32 ? 64 : 128; }
/// A work-item of a CPU transforms at least this many numbers.
constexpr std::size_t least_of_cpu_item = 8192;
constexpr std::size_t items_per_compute_unit = 4;
/// Rows of up to this size stay in a core's cache from one pass to the next, so one kernel computes both;
/// shorter ones do so in private memory, which is on a thread's stack.
constexpr std::size_t most_bytes_of_row = std::size_t{1} << 18, most_private_bytes = std::size_t{1} << 16;
/// CPUs have 16 registers, and lines of 512 numbers in all lanes take 64 KiB. One transform of 2^20 f32 takes
/// 2.4 ms in three passes of at most 512, 3.9 in two of 1024. Radices of 16 gain nothing, and take twice as
/// long to compile (PoCL 3.1, Zen 4, two cores).
constexpr fft_limits cpu_limits{1024, 512, 8};
/// Longer rows take two passes. Lanes then hold neighbours of one row, which vector instructions load and
/// store; in one pass, they hold elements of several rows (1024 rows of 1024 f32: 1.8 ms in one pass, 0.75 in
/// two; of f64: 2.7 and 2.0; 2048 rows of 512 f32: 1.3 and 0.58; up to 256 there is no difference. PoCL 3.1,
/// EPYC, two cores).
constexpr std::size_t most_of_row_alone = 256;
/// The size of short vectors of a CPU.
constexpr std::size_t cpu_vector_bytes = 32;

/// How a device computes transforms.
struct strategy {
    fft_shape shape;
    fft_limits limits;
};
strategy strategy_of(const runtime::device_state& device) {
    if (const forced_fft* const asked = forced.load()) return {asked->shape, asked->limits};
    const bool on_cpu = kernels::facts_for(device).on_cpu;
    if (on_cpu) return {fft_shape::lines_an_item, cpu_limits};
    return {fft_shape::tile_a_group, {}};
}
std::size_t units_of(const runtime::device_state& device) {
    return std::max<std::size_t>(device.info().compute_units, 1);
}
/// Whether work-items of CPUs transform whole rows, of which there are enough.
bool are_rows_of_items(const runtime::device_state& device, const strategy& how, const fft_lines& lines) {
    return how.shape == fft_shape::lines_an_item && lines.inner == 1 &&
           lines.outer >= units_of(device) * items_per_compute_unit;
}
fft_limits limits_for(const runtime::device_state& device, const strategy& how, const fft_lines& lines) {
    fft_limits made = how.limits;
    if (are_rows_of_items(device, how, lines) && lines.count <= most_of_row_alone * most_of_row_alone) {
        made.alone = std::min(made.alone, most_of_row_alone);
        made.together = std::min(made.together, most_of_row_alone);
    }
    // If lines are across rows, a group would have too few of them side by side in one long pass.
    if (lines.inner > 1 && how.shape == fft_shape::tile_a_group) made.alone = made.together;
    return made;
}

// ---- tables

enum class fft_table : std::uint8_t { stages, turns, lane_turns, chirp, spectrum, roots };
struct fft_table_key {
    fft_table what;
    scalar element;
    std::uint64_t n, m;
    std::vector<int> radices;
    std::uint64_t step = 1, first = 0;
    friend bool operator==(const fft_table_key&, const fft_table_key&) = default;
};

vector_handle table_of(runtime::device_state& device, const fft_table_key& key, std::size_t size,
                       const std::function<std::vector<wide_complex>()>& numbers) {
    return kept_table(device, key, trace::type(key.element, 2), size, [&](vector_state& made) {
        const std::vector<std::byte> bytes = as_elements(key.element, numbers());
        write(made, 0, bytes.data(), size);
    });
}

vector_handle stage_table(runtime::device_state& device, scalar element, const std::vector<int>& radices) {
    return table_of(device, {fft_table::stages, element, 0, 0, radices}, stage_roots(radices), [&] {
        std::vector<wide_complex> list;
        std::uint64_t before = static_cast<std::uint64_t>(radices[0]);
        for (std::size_t s = 1; s < radices.size(); ++s) {
            const auto radix = static_cast<std::uint64_t>(radices[s]);
            for (std::uint64_t q = 1; q < radix; ++q)
                for (std::uint64_t k = 0; k < before; ++k)
                    list.push_back(root_of_unity(q * k, before * radix));
            before *= radix;
        }
        return list;
    });
}

/// exp(-2 π i p l / n) for each element p of a line and lane l: the real parts of all lanes, then the
/// imaginary ones.
vector_handle lane_turn_table(runtime::device_state& device, scalar element, std::size_t n, int length,
                              int lanes) {
    const fft_table_key key{fft_table::lane_turns, element, n, static_cast<std::uint64_t>(length), {lanes}};
    const auto size = static_cast<std::size_t>(length) * static_cast<std::size_t>(lanes);
    return table_of(device, key, size, [&] {
        std::vector<long double> parts;
        for (std::uint64_t p = 0; p < static_cast<std::uint64_t>(length); ++p)
            for (const bool is_imaginary : {false, true})
                for (std::uint64_t l = 0; l < static_cast<std::uint64_t>(lanes); ++l) {
                    const wide_complex root = root_of_unity(p * l % n, n);
                    parts.push_back(is_imaginary ? root.im : root.re);
                }
        std::vector<wide_complex> list;
        for (std::size_t k = 0; k < parts.size(); k += 2) list.push_back({parts[k], parts[k + 1]});
        return list;
    });
}

/// exp(-π i k² / n)
wide_complex chirp(std::uint64_t k, std::uint64_t n) { return root_of_unity(k * k % (2 * n), 2 * n); }
vector_handle chirp_table(runtime::device_state& device, scalar element, std::size_t n) {
    return table_of(device, {fft_table::chirp, element, n, 0, {}}, n, [&] {
        std::vector<wide_complex> list;
        for (std::uint64_t k = 0; k < n; ++k) list.push_back(chirp(k, n));
        return list;
    });
}

// ---- passes

/// The input and the output of a sequence of passes.
struct ends {
    fft_end in, out;
    std::size_t in_count, out_count;  ///< elements of the dimension in memory
    vector_handle in_factors, out_factors;
    bool is_scaled = false;
    long double scale = 1;
};

class passes {
public:
    passes(runtime::device_state& device, scalar element, const fft_lines& lines)
        : device_(device),
          element_(element),
          lines_(lines),
          how_(strategy_of(device)),
          facts_(kernels::facts_for(device)),
          lengths_(pass_lengths(lines.count, limits_for(device, how_, lines))) {}

    const std::vector<std::size_t>& lengths() const { return lengths_; }

    /// Whether one kernel computes all passes, row by row.
    bool takes_rows() const {
        return lengths_.size() == 2 && are_rows_of_items(device_, how_, lines_) &&
               bytes_of_line() <= most_bytes_of_row;
    }

    /// `spare`: memory for the results between passes, allocated when needed. The tape may read one of the
    /// two.
    void run(const tape& p, vector_state& into, const ends& at, std::array<vector_handle, 2>& spare) {
        const std::size_t count = lengths_.size();
        // Chosen backwards: the last pass leaves lines in place, the others do not.
        std::vector<std::size_t> spare_of(count, 0);
        for (std::size_t k = count - 1; k-- > 0;) spare_of[k] = k + 2 < count ? 1 - spare_of[k + 1] : 0;
        const bool is_by_rows = takes_rows() && !reads_elsewhere(p, into);
        if (is_by_rows && bytes_of_line() <= most_private_bytes)
            return launch(p, {0, 2, 1}, nullptr, into, at);
        const vector_handle& nearest = spare[spare_of[0]];
        if (count > 1 && nearest && reads(p, *nearest))
            for (std::size_t& each : spare_of) each = 1 - each;
        std::size_t earlier = 1;
        tape from = p;
        for (std::size_t k = 0; k < count; ++k) {
            const bool is_last = k + 1 == count;
            vector_handle& between = spare[spare_of[k]];
            if (!is_last && between == nullptr) between = made(lines_.size());
            if (is_by_rows) return launch(p, {0, 2, 1}, between.get(), into, at);
            launch(from, {k, 1, earlier}, nullptr, is_last ? into : *between, at);
            if (is_last) break;
            earlier *= lengths_[k];
            from = tape();
            from.push_vector(between);
        }
    }
    vector_handle made(std::size_t size) const {
        return std::make_shared<vector_state>(device_.shared_from_this(), trace::type(element_, 2), size);
    }

    fft_plan_of_pass plan_of(std::size_t number, std::size_t earlier) const {
        fft_plan_of_pass plan;
        plan.shape = how_.shape;
        plan.element = element_;
        plan.length = static_cast<int>(lengths_[number]);
        plan.radices = radices_of(lengths_[number], how_.limits.registers);
        const std::size_t distance = lines_.count * lines_.inner / lengths_[number];
        const std::size_t out_distance = earlier * lines_.inner;
        plan.is_rows = distance == 1 && out_distance == 1;
        plan.keeps_places = distance == out_distance;
        plan.is_turned = earlier > 1;
        plan.has_inner = lines_.inner > 1;
        if (how_.shape == fft_shape::lines_an_item)
            choose_lanes(plan, distance, out_distance, line_count(number));
        else
            share_out(plan, out_distance);
        return plan;
    }

private:
    /// Whether computing elements leaves registers free; otherwise a limit would make the compiler spill.
    static bool is_light(const tape& p) {
        constexpr std::size_t few = 4;
        return p.steps.size() <= few && p.functions.empty();
    }
    std::size_t bytes_of_line() const { return lines_.count * 2 * size_of(element_); }
    /// Whether rows of the tape may need elements of the target that other rows replace.
    static bool reads_elsewhere(const tape& p, vector_state& into) {
        const target in_place{&into};
        return reads(p, into) && needs_temporary(p, {&in_place, 1}, box_of(p));
    }
    std::size_t line_count(std::size_t number) const { return lines_.size() / lengths_[number]; }

    void choose_lanes(fft_plan_of_pass& plan, std::size_t distance, std::size_t out_distance,
                      std::size_t lines) const {
        const std::size_t lanes = std::min(std::bit_ceil(lines), cpu_vector_bytes / size_of(element_));
        plan.lanes = static_cast<int>(lanes);
        if (distance % lanes != 0) return;
        if (plan.keeps_places || out_distance % lanes == 0)
            plan.out_apart = 1;
        else if (out_distance == 1)
            plan.out_apart = plan.length;
        if (!plan.is_turned || lanes == 1 || plan.out_apart != 1) return;
        if (!plan.has_inner)
            plan.turns = lane_turns::consecutive;
        else if (lines_.inner % lanes == 0)
            plan.turns = lane_turns::equal;
    }
    /// Chooses the work-items and lines of a group.
    void share_out(fft_plan_of_pass& plan, std::size_t out_distance) const {
        const auto length = static_cast<std::size_t>(plan.length);
        const auto radix =
            static_cast<std::size_t>(*std::max_element(plan.radices.begin(), plan.radices.end()));
        const std::size_t most_items =
            std::min<std::size_t>(2 * group_items, device_.info().max_work_group_size);
        std::size_t numbers = std::max(numbers_of_item / radix, std::size_t{1}) * radix;
        while (divided_up(length, numbers) > most_items) numbers += radix;
        plan.items = static_cast<int>(divided_up(length, numbers));
        const std::size_t pair = 2 * size_of(element_);
        plan.splits_parts = element_ == scalar::f64;
        plan.loads_across = plan.stores_across = !plan.is_rows;
        if (!plan.keeps_places && plan.radices.size() > 1)
            plan.stores_across = out_distance * pair >= least_bytes;
        plan.is_staged =
            plan.is_rows && length > 1 && static_cast<std::size_t>(plan.items) * pair < 2 * least_bytes;
        // A larger group, if possible, has enough lines side by side to fill a memory transaction.
        const auto items = static_cast<std::size_t>(plan.items);
        const bool is_thin = plan.loads_across && group_items / items * pair < least_bytes;
        const std::size_t room = std::min(is_thin ? 2 * group_items : group_items, most_items) / items;
        plan.lines = static_cast<int>(std::bit_floor(std::max(room, std::size_t{1})));
        const std::size_t most_room =
            std::min(device_.info().local_memory, kernels::features_of(device_).most_local_array);
        while (plan.lines > 1 && fft_room(plan) * 8 > most_room) plan.lines /= 2;
    }

    /// The passes of a kernel: `count` from `first` on, after passes whose lengths have the product
    /// `earlier`.
    struct selection {
        std::size_t first, count, earlier;
    };
    struct kernel {
        fft_plan_of_kernel plan;
        selection which;
        const ends& at;
        vector_state* between;  ///< the memory between two passes; null if it is private
        vector_state& into;
    };

    /// The parameters of a kernel.
    template <class List>
    void declare_parameters(List& to, const kernel& of, const tape& p, const layout& leaves) const {
        const fft_plan_of_pass &first = of.plan.passes.front(), &last = of.plan.passes.back();
        if (of.plan.is_of_rows())
            to.number("rows", lines_.outer);
        else
            to.number("lines", line_count(of.which.first));
        if (first.shape == fft_shape::lines_an_item) to.number("share", share_of(of));
        if (!first.is_rows) to.number("extent", lines_.count * lines_.inner);
        std::size_t earlier = of.which.earlier;
        for (std::size_t k = 0; k < of.plan.passes.size(); ++k) {
            declare_pass(to, of.plan.passes[k], k, of.which.first + k, earlier);
            earlier *= lengths_[of.which.first + k];
        }
        if (first.has_inner) to.number("inner", lines_.inner);
        if (first.in.is_cut) to.number("in_extent", of.at.in_count * lines_.inner);
        if (last.out.is_cut) to.number("out_extent", of.at.out_count * lines_.inner);
        if (first.in.has_factors) to.vector("in_factors", *of.at.in_factors, trace::access::in);
        if (last.out.has_factors) to.vector("out_factors", *of.at.out_factors, trace::access::in);
        if (last.is_scaled) to.value("scale", element_, scale_bits(of.at.scale));
        if (of.plan.between == fft_between::memory) to.vector("between", *of.between, trace::access::mixed);
        const bool is_read = leaves.number_of(of.into) < leaves.vectors.size() ||
                             (of.plan.is_of_rows() && of.plan.between == fft_between::target);
        to.vector("out", of.into, is_read ? trace::access::mixed : trace::access::out);
        vector_state* const written[] = {&of.into};
        declare_leaves(to, p, leaves, written);
    }
    /// The parameters of pass k of a kernel, which is pass `number` of the transform.
    template <class List>
    void declare_pass(List& to, const fft_plan_of_pass& plan, std::size_t k, std::size_t number,
                      std::size_t earlier) const {
        if (!plan.is_rows) {
            to.number({"distance", k}, lines_.count * lines_.inner / lengths_[number]);
            if (!plan.keeps_places) to.number({"out_distance", k}, earlier * lines_.inner);
        }
        if (plan.radices.size() > 1) to.vector({"roots", k}, *stages_[number], trace::access::in);
        if (plan.is_turned) {
            to.number({"turn_bits", k}, turn_bits(earlier * lengths_[number]));
            to.vector({"turns", k}, *turns_, trace::access::in);
            if (plan.turns == lane_turns::consecutive)
                to.vector({"lane_turns", k}, *lane_turns_[number], trace::access::in);
        }
    }
    std::uint64_t scale_bits(long double scale) const {
        return element_ == scalar::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(scale))
                                       : std::bit_cast<std::uint64_t>(static_cast<double>(scale));
    }
    /// The lines or rows of a work-item of a CPU.
    std::size_t share_of(const kernel& of) const {
        const bool is_of_rows = of.plan.is_of_rows();
        const std::size_t count = is_of_rows ? lines_.outer : line_count(of.which.first),
                          length = is_of_rows ? lines_.count : lengths_[of.which.first],
                          lanes = is_of_rows ? 1 : static_cast<std::size_t>(of.plan.passes[0].lanes);
        const std::size_t enough = divided_up(least_of_cpu_item, length);
        const std::size_t fair = count / (units_of(device_) * items_per_compute_unit);
        return divided_up(std::max<std::size_t>(std::min(enough, fair), 1), lanes) * lanes;
    }

    struct kernel_key {
        fft_plan_of_kernel plan;
        std::uint32_t target;
        friend bool operator==(const kernel_key&, const kernel_key&) = default;
    };

    void launch(const tape& p, const selection& which, vector_state* between, vector_state& into,
                const ends& at) {
        const fft_between place = which.count == 1 || between == &into ? fft_between::target
                                  : between == nullptr                 ? fft_between::item
                                                                       : fft_between::memory;
        kernel now{{{}, place}, which, at, between, into};
        constexpr auto narrow = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
        // CPUs' compilers see that lanes are neighbours only where nothing is converted to 64 bits.
        const bool is_narrow =
            how_.shape == fft_shape::tile_a_group &&
            lines_.outer * std::max({lines_.count, at.in_count, at.out_count}) * lines_.inner <= narrow;
        stages_.resize(lengths_.size());
        lane_turns_.resize(lengths_.size());
        std::size_t earlier = which.earlier;
        for (std::size_t number = which.first; number < which.first + which.count; ++number) {
            fft_plan_of_pass plan = plan_of(number, earlier);
            plan.is_narrow = is_narrow;
            if (number == 0) plan.in = at.in;
            if (number + 1 == lengths_.size()) {
                plan.out = at.out;
                plan.is_scaled = at.is_scaled;
            }
            if (plan.radices.size() > 1) stages_[number] = stage_table(device_, element_, plan.radices);
            if (plan.is_turned) turns_ = turn_table(device_, element_, earlier * lengths_[number]);
            if (plan.turns == lane_turns::consecutive)
                lane_turns_[number] =
                    lane_turn_table(device_, element_, earlier * lengths_[number], plan.length, plan.lanes);
            now.plan.passes.push_back(std::move(plan));
            earlier *= lengths_[number];
        }
        const fft_plan_of_pass& plan = now.plan.passes[0];
        const bool is_of_tiles = plan.shape == fft_shape::tile_a_group;
        facts_.max_registers = is_of_tiles && is_light(p) ? most_registers(element_) : 0;

        const layout leaves(p);
        const std::size_t share = is_of_tiles ? static_cast<std::size_t>(plan.lines) : share_of(now),
                          count = now.plan.is_of_rows() ? lines_.outer : line_count(which.first);
        const char* const name = is_of_tiles ? "fft" : now.plan.is_of_rows() ? "fft_of_rows" : "fft_of_lines";
        run_kernel(
            {name, device_, facts_, p, leaves}, kernel_key{now.plan, leaves.number_of(into)},
            [&](auto& to) { declare_parameters(to, now, p, leaves); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_fft(r, given, now.plan, p, leaves);
            },
            groups_of(divided_up(count, share), static_cast<std::size_t>(plan.group())));
    }

    runtime::device_state& device_;
    scalar element_;
    fft_lines lines_;
    strategy how_;
    ir::launch_facts facts_;
    std::vector<std::size_t> lengths_;
    std::vector<vector_handle> stages_, lane_turns_;  ///< of each pass
    vector_handle turns_;
};

// ---- Bluestein

/// The transform of the inverse chirp, divided by its length: convolution with it computes a transform of n.
vector_handle spectrum_table(runtime::device_state& device, scalar element, std::size_t n,
                             std::size_t length) {
    const trace::type pair(element, 2);
    const fft_table_key key{fft_table::spectrum, element, n, length, {}};
    return kept_table(device, key, pair, length, [&](vector_state& made) {
        std::vector<wide_complex> list(length, {0, 0});
        for (std::uint64_t k = 0; k < n; ++k) {
            const wide_complex at = chirp(k, n);
            const auto l = static_cast<long double>(length);
            list[k] = {at.re / l, -at.im / l};
            if (k > 0) list[length - k] = list[k];
        }
        const std::vector<std::byte> bytes = as_elements(element, list);
        const auto source = std::make_shared<vector_state>(device.shared_from_this(), pair, length);
        write(*source, 0, bytes.data(), length);
        tape p;
        p.push_vector(source);
        passes whole(device, element, {1, length, 1});
        // The passes use `result`, not the table, which does not keep its device alive.
        const auto result = whole.made(length);
        std::array<vector_handle, 2> spare{result, nullptr};
        whole.run(p, *result, {{}, {}, length, length, nullptr, nullptr}, spare);
        tape values;
        values.push_vector(result);
        assign(made, std::move(values));
    });
}

fft_end swapping(bool first, bool last) {
    fft_end made;
    made.swaps_first = first;
    made.swaps_last = last;
    return made;
}

/// L. Bluestein, A linear filtering approach to the computation of discrete Fourier transform, IEEE Trans.
/// Audio Electroacoustics 18 (1970): the transform as a convolution with a chirp.
void transform_by_convolution(const tape& p, const fft_lines& lines, const fft_manner& how,
                              vector_state& into, scalar element, const fft_limits& limits) {
    runtime::device_state& device = into.device();
    const std::size_t length = convolution_length(lines.count, limits);
    const fft_lines longer{lines.outer, length, lines.inner};
    check_sizes(longer);
    const vector_handle chirps = chirp_table(device, element, lines.count);
    const vector_handle spectrum = spectrum_table(device, element, lines.count, length);
    passes convolution(device, element, longer);

    const vector_handle work = convolution.made(longer.size());
    std::array<vector_handle, 2> spare{work, nullptr};
    fft_end in = swapping(how.swaps_in, false);
    in.has_factors = in.is_cut = true;
    convolution.run(p, *work, {in, {}, lines.count, length, chirps, nullptr}, spare);

    std::swap(spare[0], spare[1]);
    fft_end product = swapping(false, true);
    product.has_factors = true;
    fft_end out = swapping(true, how.swaps_out);
    out.has_factors = out.is_cut = true;
    tape transformed;
    transformed.push_vector(work);
    convolution.run(transformed, into,
                    {product, out, length, lines.count, spectrum, chirps, how.scale != 1, how.scale}, spare);
}

}  // namespace

void force_ffts(const forced_fft* asked) { forced = asked; }

std::size_t least_exchanged() {
    // Complex f32 over two H100 with NVLink, exchanged and by the first device: 4096 x 4096 0.67 and 0.64 ms,
    // 512^3 3.3 and 5.1, 16384 x 16384 6.6 and 16.3; in one dimension 2^24 1.04 and 0.65, 2^27 5.5 and 5.3.
    constexpr std::size_t usual = std::size_t{1} << 25;
    const std::size_t asked = forced_least_exchanged.load();
    return asked > 0 ? asked : usual;
}
void force_least_exchanged(std::size_t asked) { forced_least_exchanged = asked; }

int turn_bits(std::size_t n) { return (std::bit_width(n) + 1) / 2; }
vector_handle turn_table(runtime::device_state& device, scalar element, std::size_t n) {
    const std::uint64_t fine = std::uint64_t{1} << turn_bits(n), coarse = divided_up(n, fine);
    return table_of(device, {fft_table::turns, element, n, 0, {}}, fine + coarse, [&] {
        std::vector<wide_complex> list;
        for (std::uint64_t k = 0; k < fine; ++k) list.push_back(root_of_unity(k, n));
        for (std::uint64_t k = 0; k < coarse; ++k) list.push_back(root_of_unity(k * fine, n));
        return list;
    });
}

std::shared_ptr<vector_state> root_table(runtime::device_state& device, scalar element, const root_list& of) {
    const fft_table_key key{fft_table::roots, element, of.n, of.count, {}, of.step, of.first};
    return table_of(device, key, of.count, [&] {
        std::vector<wide_complex> list;
        for (std::uint64_t k = 0; k < of.count; ++k)
            list.push_back(root_of_unity(of.first + k * of.step, of.n));
        return list;
    });
}

void check_sizes(const fft_lines& lines) {
    constexpr std::size_t most = std::size_t{1} << 30;
    if (lines.count > most / std::max<std::size_t>(lines.inner, 1))
        throw usage_error(
            fmt::format("a transform of {} elements with stride {} is too large: the product of the two may "
                        "be at most 2^30",
                        lines.count, lines.inner));
}

bool is_single_pass(runtime::device_state& device, const fft_lines& lines) {
    return pass_lengths(lines.count, limits_for(device, strategy_of(device), lines)).size() == 1;
}

tape of_vector(const std::shared_ptr<vector_state>& v) {
    tape p;
    p.push_vector(v);
    return p;
}
std::shared_ptr<vector_state> borrowed(vector_state& v) { return {std::shared_ptr<void>(), &v}; }

void transform_lines(const tape& p, const fft_lines& lines, const fft_manner& how, vector_state& into) {
    const scalar element = into.type().element;
    passes direct(into.device(), element, lines);
    if (direct.lengths().empty())
        return transform_by_convolution(p, lines, how, into, element,
                                        limits_for(into.device(), strategy_of(into.device()), lines));
    std::array<vector_handle, 2> spare{borrowed(into), nullptr};
    direct.run(p, into,
               {swapping(how.swaps_in, false), swapping(how.swaps_out, false), lines.count, lines.count,
                nullptr, nullptr, how.scale != 1, how.scale},
               spare);
}

void transform_dimensions(const tape& p, std::span<const fft_lines> dimensions, bool is_inverse,
                          long double scale, vector_state& into) {
    tape from = p;
    for (std::size_t k = 0; k < dimensions.size(); ++k) {
        const bool is_first = k == 0, is_last = k + 1 == dimensions.size();
        transform_lines(from, dimensions[k],
                        {is_inverse && is_first, is_inverse && is_last, is_last ? scale : 1}, into);
        from = of_vector(borrowed(into));
    }
}

std::string describe_lines(runtime::device_state& device, scalar element, const fft_lines& lines) {
    const passes direct(device, element, lines);
    if (direct.lengths().empty()) {
        const std::size_t length =
            convolution_length(lines.count, limits_for(device, strategy_of(device), lines));
        const fft_lines longer{lines.outer, length, lines.inner};
        return fmt::format(
            "{} has a prime factor above 13: a convolution of {} (Bluestein), that is twice\n{}", lines.count,
            length, describe_lines(device, element, longer));
    }
    std::string words;
    std::size_t earlier = 1;
    for (std::size_t k = 0; k < direct.lengths().size(); ++k) {
        const fft_plan_of_pass plan = direct.plan_of(k, earlier);
        words += fmt::format("a pass of {} transforms of {} (radices {})", lines.size() / direct.lengths()[k],
                             plan.length, fmt::join(plan.radices, ", "));
        words += plan.shape == fft_shape::lines_an_item
                     ? fmt::format(", {} in the lanes of a work-item\n", plan.lanes)
                     : fmt::format(", {} in a group of {} work-items\n", plan.lines, plan.group());
        earlier *= direct.lengths()[k];
    }
    if (direct.takes_rows()) words += "one kernel for both passes, row by row\n";
    return words;
}

}  // namespace balm::array
