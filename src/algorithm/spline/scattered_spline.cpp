// Points are sorted once, by their cell on the finest level, in an order in which the points of each cell of
// every level are contiguous (a Z curve in each cell of the first level). Each control point then gathers the
// contributions of the points in the 4^D cells around it. There are no atomic additions, so the same points
// give the same bits. If cells are full, several work-items share the points of a control point.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "algorithm/spline/scattered_strategy.hpp"
#include "algorithm/spline/spline_bounds.hpp"
#include "algorithm/spline/spline_functions.hpp"
#include "balm/along.hpp"
#include "balm/error.hpp"
#include "balm/reduce.hpp"
#include "balm/search.hpp"
#include "balm/sort.hpp"

namespace balm::array {

namespace {

constexpr int most_levels = 31;
constexpr std::size_t cells_a_point = 4;  ///< of the last level, unless the levels are specified

std::atomic<bool> fits_are_of_gpus = false;

/// How many work-items share the points around a control point.
struct gather_strategy {
    std::size_t points_an_item;  ///< of a cell, at least, before they are split further
    std::size_t most_items;      ///< in total
};
/// GPUs: enough work-items to hide the latency of loads. CPUs: a few per core.
gather_strategy gather_strategy_of(const vector_state& near) {
    const bool is_cpu = near.device().info().type == device_type::cpu && !fits_are_of_gpus;
    return is_cpu ? gather_strategy{4096, 64} : gather_strategy{32, std::size_t{1} << 18};
}

/// The power of two by which the points of a cell are divided among work-items.
std::size_t splits_of(const gather_strategy& how, std::size_t fullest_cell, std::size_t control_points) {
    const std::size_t wanted = std::bit_ceil(fullest_cell / how.points_an_item + 1);
    const std::size_t possible = std::bit_floor(std::max<std::size_t>(how.most_items / control_points, 1));
    return std::min(wanted, possible);
}

/// The bits of a number, `apart` places apart.
std::uint32_t spread_bits(std::uint32_t number, int bits, int apart) {
    std::uint32_t made = 0;
    for (int b = 0; b < bits; ++b) made |= (number >> b & 1) << b * apart;
    return made;
}

/// The contribution of a cell's number along each dimension to its code at a level: the row-major code of the
/// first level's cell, then one bit per dimension for each further level.
std::vector<std::uint32_t> code_table(const spline_request& first_level, int level) {
    const int dimensions = first_level.dimensions;
    std::vector<std::uint32_t> table;
    for (int d = 0; d < dimensions; ++d) {
        std::size_t stride = 1;
        for (int inner = d + 1; inner < dimensions; ++inner)
            stride *= first_level.cells[static_cast<std::size_t>(inner)];
        const std::size_t cells = first_level.cells[static_cast<std::size_t>(d)] << level;
        for (std::uint32_t cell = 0; cell < cells; ++cell)
            table.push_back((static_cast<std::uint32_t>((cell >> level) * stride) << dimensions * level) |
                            spread_bits(cell, level, dimensions) << (dimensions - 1 - d));
    }
    return table;
}

/// A linear function of coordinates that are 0 and 1 at the bounds.
struct linear_function {
    double at_lower = 0;
    std::array<double, 3> rise{};
};

/// The least-squares solution of moments * rise = products. Directions in which the points hardly differ get
/// no rise. Gauss-Jordan elimination, largest pivot first.
std::array<double, 3> rises_of(std::array<std::array<double, 3>, 3> moments, std::array<double, 3> products,
                               std::size_t dimensions) {
    // A standard deviation of a thousandth of the bounds.
    constexpr double least_variance = 1e-6;
    std::array<double, 3> rise{};
    std::array<bool, 3> is_done{};
    for (std::size_t step = 0; step < dimensions; ++step) {
        std::size_t pivot = dimensions;
        for (std::size_t d = 0; d < dimensions; ++d)
            if (!is_done[d] && (pivot == dimensions || moments[d][d] > moments[pivot][pivot])) pivot = d;
        if (!(moments[pivot][pivot] > least_variance)) break;
        is_done[pivot] = true;
        for (std::size_t row = 0; row < dimensions; ++row) {
            if (row == pivot) continue;
            const double factor = moments[row][pivot] / moments[pivot][pivot];
            for (std::size_t d = 0; d < dimensions; ++d) moments[row][d] -= factor * moments[pivot][d];
            products[row] -= factor * products[pivot];
        }
    }
    for (std::size_t d = 0; d < dimensions; ++d)
        if (is_done[d]) rise[d] = products[d] / moments[d][d];
    return rise;
}

/// One fit.
template <int D, class T, class = std::make_index_sequence<D>>
class scattered_fit;
template <int D, class T, std::size_t... K>
class scattered_fit<D, T, std::index_sequence<K...>> {
public:
    scattered_fit(std::array<vector<T>, D>&& points, vector<T>&& values, const spline_request& asked)
        : asked_(asked), points_(std::move(points)), values_(std::move(values)), count_(values_.size()) {}

    scattered_lattice<T> made() {
        check_points();
        const int levels = level_count();
        sort_points(levels - 1);
        lattice_ = level_lattice(0);
        lattice_.control = trend();
        find_residual();
        int level = 0;
        for (;; ++level) {
            if (level > 0) refine(level);
            add_level(level, levels);
            find_residual();
            residual_max_ = static_cast<double>(max(abs(residual_)));
            if (level + 1 == levels || residual_max_ <= asked_.tolerance) break;
        }
        return {std::move(lattice_), count_, level + 1, residual_max_, residual_rms()};
    }

private:
    const vector_state& near() const { return *values_.state(); }

    /// Applies a function to the points' coordinates, and to the cells of a lattice.
    template <class F, class... More>
    auto at_points(const F& function, const spline_lattice<T>& in, const More&... more) const {
        return function(points_[K]..., in.lower[K]..., in.scale[K]..., in.cells[K]..., more...);
    }

    spline_request level_request(int level) const {
        spline_request at = asked_;
        for (std::size_t d = 0; d < D; ++d) {
            const bool are_too_many = at.cells[d] > most_control_points >> level;
            at.cells[d] = are_too_many ? most_control_points : at.cells[d] << level;
        }
        return at;
    }
    spline_lattice<T> level_lattice(int level) const { return lattice_of<T>(level_request(level)); }
    std::size_t cell_count(int level) const { return (asked_.cells[K] * ... * 1) << D * level; }
    std::size_t control_point_count(int level) const { return (((asked_.cells[K] << level) + 3) * ... * 1); }

    /// Throws usage_error for the first point that is out of bounds, or whose value is not finite.
    void check_points() const {
        const auto is_within = [](const vector<T>& x, T lower, T upper) { return x >= lower && x <= upper; };
        const auto end = static_cast<std::int64_t>(count_);
        const auto first_where_not = [&](const auto& holds) {
            return min(select(holds, end, element_index(0, count_)));
        };
        for (std::size_t d = 0; d < D; ++d) {
            const T lower = static_cast<T>(asked_.lower[d]), upper = static_cast<T>(asked_.upper[d]);
            const std::int64_t first = first_where_not(is_within(points_[d], lower, upper));
            if (first == end) continue;
            const auto at = static_cast<std::size_t>(first);
            throw usage_error(
                fmt::format("point {} of a scattered spline has the coordinate {} along dimension {}, which "
                            "is outside the bounds {} and {}; the points' coordinates there are from {} to "
                            "{}: set bounds that contain them",
                            at, points_[d][at], d, lower, upper, min(points_[d]), max(points_[d])));
        }
        constexpr T most = std::numeric_limits<T>::max();
        const std::int64_t first = first_where_not(is_within(values_, -most, most));
        if (first != end)
            throw usage_error(
                fmt::format("the value of point {} of a scattered spline is {}; values must be finite", first,
                            values_[static_cast<std::size_t>(first)]));
    }

    int level_count() const {
        if (asked_.levels > 0) {
            control_points_of(level_request(asked_.levels - 1),
                              fmt::format("level {} of a scattered spline", asked_.levels),
                              "ask for fewer levels or cells");
            return asked_.levels;
        }
        control_points_of(asked_, "the first level of a scattered spline", "ask for fewer cells");
        int levels = 1;
        while (levels < most_levels && cell_count(levels) <= cells_a_point * count_ &&
               control_point_count(levels) <= most_control_points)
            ++levels;
        return levels;
    }

    vector<std::uint32_t> table_of(int level) const {
        const std::vector<std::uint32_t> table =
            D == 1 ? std::vector<std::uint32_t>{0} : code_table(asked_, level);
        vector<std::uint32_t> there = vector_like<std::uint32_t>(near(), table.size());
        there.write(table);
        return there;
    }

    void sort_points(int last_level) {
        codes_ = at_points(cell_code<D, T>(), level_lattice(last_level), table_of(last_level));
        sort_by_key(codes_, points_[K]..., values_);
    }

    /// The control points of the trend on the first level.
    vector<T> trend() const {
        vector<T> control = vector_like<T>(near(), control_point_count(0));
        const linear_function f = trend_function();
        control = plane_point<D, T>()(element_index(0, control.size()), static_cast<T>(f.at_lower),
                                      static_cast<T>(f.rise[K])..., lattice_.cells[K]...);
        return control;
    }
    linear_function trend_function() const {
        linear_function f;
        if (asked_.trend == spline_trend::none) return f;
        const auto points = static_cast<double>(count_);
        // Coordinates that are 0 and 1 at the bounds, and the values.
        const auto variable = [&](std::size_t d, double mean) {
            const bool is_value = d == D;
            const T lower = is_value ? T(0) : lattice_.lower[d];
            const T scale = is_value ? T(1) : lattice_.scale[d] / static_cast<T>(lattice_.cells[d]);
            return ((is_value ? values_ : points_[d]) - lower) * scale - static_cast<T>(mean);
        };
        std::array<double, D + 1> mean{};
        for (std::size_t d = 0; d <= D; ++d) mean[d] = static_cast<double>(sum(variable(d, 0))) / points;
        f.at_lower = mean[D];
        if (asked_.trend == spline_trend::mean) return f;
        std::array<std::array<double, 3>, 3> moments{};
        std::array<double, 3> products{};
        for (std::size_t row = 0; row < D; ++row) {
            const auto moment = [&](std::size_t d) {
                return static_cast<double>(sum(variable(row, mean[row]) * variable(d, mean[d]))) / points;
            };
            for (std::size_t d = row; d < D; ++d) moments[row][d] = moments[d][row] = moment(d);
            products[row] = moment(D);
        }
        f.rise = rises_of(moments, products, D);
        for (std::size_t d = 0; d < D; ++d) f.at_lower -= f.rise[d] * mean[d];
        return f;
    }

    void find_residual() {
        residual_ = values_ - balm::detail::spline_value<D, T>()(lattice_.control, points_[K]...,
                                                                 lattice_.lower[K]..., lattice_.scale[K]...,
                                                                 lattice_.cells[K]...);
    }
    double residual_rms() const {
        if (residual_max_ == 0) return 0;
        const auto share = residual_ / static_cast<T>(residual_max_);
        return residual_max_ *
               std::sqrt(static_cast<double>(sum(share * share)) / static_cast<double>(count_));
    }

    /// The same spline on the lattice of this level.
    void refine(int level) {
        spline_lattice<T> finer = level_lattice(level);
        finer.control = vector_like<T>(near(), control_point_count(level));
        finer.control = refined_point<D, T>()(element_index(0, finer.control.size()), lattice_.control,
                                              finer.cells[K]...);
        lattice_ = std::move(finer);
    }

    /// Adds an approximation of the residual to the lattice: the mean of w f over the points around a control
    /// point, with the weights w^2 (gather_points).
    void add_level(int level, int levels) {
        const std::size_t cells = cell_count(level), control_points = lattice_.control.size();
        vector<std::uint32_t> starts = vector_like<std::uint32_t>(near(), cells + 1);
        starts = cast<std::uint32_t>(lower_bound(
            codes_, cast<std::uint32_t>(element_index(0, cells + 1) << D * (levels - 1 - level))));
        const auto last = static_cast<std::int64_t>(cells);
        const auto fullest_cell =
            static_cast<std::size_t>(max(starts(balm::slice(1, last + 1)) - starts(balm::slice(0, last))));
        const std::size_t splits = splits_of(gather_strategy_of(near()), fullest_cell, control_points);
        const std::size_t items = control_points * splits;

        const vector<T> share = residual_ / at_points(sum_of_squares<D, T>(), lattice_);
        vector<T> sums = vector_like<T>(near(), items), squares = vector_like<T>(near(), items);
        const vector<std::uint32_t> table = table_of(level);
        const event gathered = sums.elements().device().execute(
            gather_points<D, T>()(static_cast<std::uint32_t>(splits), starts, table, share, points_[K]...,
                                  lattice_.lower[K]..., lattice_.scale[K]..., lattice_.cells[K]..., sums,
                                  squares),
            {items});
        if (splits > 1) {
            const shape rows(control_points, splits);
            const auto total = [&](const vector<T>& of) { return vector<T>(sum(view(of, rows), along(1))); };
            sums = total(sums);
            squares = total(squares);
        }
        lattice_.control += select(squares > T(0), sums / squares, T(0));
    }

    spline_request asked_;
    std::array<vector<T>, D> points_;
    vector<T> values_;
    std::size_t count_;
    vector<std::uint32_t> codes_;  ///< of the points, on the last level, in order
    spline_lattice<T> lattice_;
    vector<T> residual_;
    double residual_max_ = 0;
};

void check_request(const spline_request& asked) {
    if (asked.levels < 0 || asked.levels > most_levels)
        throw usage_error(fmt::format(
            "a scattered spline cannot have {} levels; set 1 to {}, or 0 to choose by the number of points",
            asked.levels, most_levels));
    if (!(asked.tolerance >= 0) || std::isinf(asked.tolerance))
        throw usage_error(
            fmt::format("the tolerance of a scattered spline cannot be {}; it must be finite and at least 0",
                        asked.tolerance));
}

template <class T>
void check_sizes(std::span<const vector<T>> points, const vector<T>& values) {
    for (std::size_t d = 0; d < points.size(); ++d)
        if (points[d].size() != values.size())
            throw usage_error(
                fmt::format("a scattered spline got {} coordinates along dimension {} and {} values; the "
                            "numbers must be equal",
                            points[d].size(), d, values.size()));
    if (values.empty()) throw usage_error("a scattered spline got no points; it needs at least one");
    if (values.size() > most_control_points)
        throw usage_error(fmt::format("a scattered spline got {} points; it takes at most {}", values.size(),
                                      most_control_points));
}

template <class T>
std::string words_of(const scattered_lattice<T>& s, int dimensions) {
    std::string extents;
    std::size_t count = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
        const std::size_t extent = static_cast<std::size_t>(s.cells[d]) + 3;
        extents += fmt::format("{}{}", d == 0 ? "" : " x ", extent);
        count *= extent;
    }
    return fmt::format(
        "{} level{}, {} control points ({:.1f} KiB); residuals of {} point{}: {:.3g} at most, "
        "{:.3g} rms",
        s.levels, s.levels == 1 ? "" : "s", extents, static_cast<double>(count * sizeof(T)) / 1024, s.points,
        s.points == 1 ? "" : "s", s.residual_max, s.residual_rms);
}

}  // namespace

void force_scattered_fits_of_gpus(bool everywhere) { fits_are_of_gpus = everywhere; }

template <int D, class T>
std::shared_ptr<const scattered_lattice<T>> fitted(std::array<vector<T>, D>&& points, vector<T>&& values,
                                                   const spline_request& given) {
    spline_request asked = given;
    for (std::size_t d = 0; d < D; ++d) asked.cells[d] = std::max<std::size_t>(asked.cells[d], 1);
    check_request(asked);
    check_bounds<T>(asked);
    check_sizes<T>(points, values);
    for (const vector<T>& each : points) compare_devices(*each.state(), *values.state());
    const std::shared_ptr<vector_state> near = values.state();
    for (vector<T>& each : points) each = on_first_device(std::move(each));
    auto made = std::make_shared<scattered_lattice<T>>(
        scattered_fit<D, T>(std::move(points), on_first_device(std::move(values)), asked).made());
    made->control = on_devices_of(*near, std::move(made->control));
    return made;
}

std::string describe(const scattered_lattice<float>& s, int dimensions) { return words_of(s, dimensions); }
std::string describe(const scattered_lattice<double>& s, int dimensions) { return words_of(s, dimensions); }

#define BALM_FITTED(D, T)                                                                         \
    template std::shared_ptr<const scattered_lattice<T>> fitted<D, T>(std::array<vector<T>, D>&&, \
                                                                      vector<T>&&, const spline_request&);
BALM_FITTED(1, float)
BALM_FITTED(2, float)
BALM_FITTED(3, float)
BALM_FITTED(1, double)
BALM_FITTED(2, double)
BALM_FITTED(3, double)
#undef BALM_FITTED

}  // namespace balm::array
