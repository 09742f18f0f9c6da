// Random statements of VexCL's interface against closures on the host. All values are small integers,
// whatever their type, so that both sides are exact. BALM_TEST_CASES says how many programs, BALM_TEST_SEED
// the first one's seed.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

VEX_FUNCTION(double, crossed, (double, a)(double, b), return 2 * b - a;);
VEX_FUNCTION(int, looked_up, (const int*, table)(int, i), return table[i];);

/// Values do not grow beyond this.
constexpr int most = 64;

/// An expression, and its element i on the host.
template <class T>
struct term {
    vex::expression<T> device;
    std::function<T(std::size_t)> host;
};

template <class T>
struct host_vector {
    std::vector<T> host;
    vex::vector<T> device;
};

class program {
public:
    program(const vex::Context& ctx, std::uint64_t seed)
        : ctx_(ctx),
          random_(seed),
          rows_(1 + below(7)),
          columns_(1 + below(below(2) == 0 ? 20 : 3000)),
          n_(rows_ * columns_),
          sum_int_(ctx),
          sum_double_(ctx),
          max_float_(ctx) {
        for (auto& each : doubles_) fill(each);
        for (auto& each : floats_) fill(each);
        for (auto& each : ints_) fill(each);
        for (auto& each : longs_) fill(each);
        for (auto& each : shorts_) fill(each);
        make_matrix();
    }
    /// Runs some statements; stops at the first that fails.
    void run() {
        for (int k = 0; k < 8 && !testing::Test::HasFailure(); ++k) statement();
    }
    const std::string& text() const { return text_; }

private:
    std::size_t below(std::size_t n) { return random_() % n; }
    int number(int from, int to) {
        return from + static_cast<int>(below(static_cast<std::size_t>(to - from + 1)));
    }
    void say(const std::string& what) { text_ += what + '\n'; }

    template <class T>
    auto& vectors() {
        if constexpr (std::is_same_v<T, double>)
            return doubles_;
        else if constexpr (std::is_same_v<T, float>)
            return floats_;
        else if constexpr (std::is_same_v<T, cl_long>)
            return longs_;
        else if constexpr (std::is_same_v<T, short>)
            return shorts_;
        else
            return ints_;
    }
    template <class T>
    host_vector<T>& any_vector() {
        auto& all = vectors<T>();
        return all[below(std::size(all))];
    }
    template <class T>
    void fill(host_vector<T>& v) {
        v.host.resize(n_);
        for (T& each : v.host) each = static_cast<T>(number(-8, 8));
        v.device.resize(ctx_, v.host);
    }
    void make_matrix() {
        row_.push_back(0);
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t k = below(4); k > 0; --k) {
                column_.push_back(static_cast<int>(below(n_)));
                entry_.push_back(number(-2, 2));
            }
            row_.push_back(static_cast<int>(column_.size()));
        }
        matrix_ = vex::sparse::matrix<double>(ctx_, n_, n_, row_, column_, entry_);
    }

    // ---- terms ----

    template <class T, class E>
    static term<T> made(const E& device, std::function<T(std::size_t)> host) {
        return {vex::cast<T>(device), std::move(host)};
    }
    /// The term, with values that do not exceed `most`.
    template <class T>
    static term<T> bounded(const term<T>& a) {
        return made<T>(vex::min(vex::max(a.device, T(-most)), T(most)),
                       [h = a.host](std::size_t i) { return std::min(std::max(h(i), T(-most)), T(most)); });
    }
    template <class T>
    term<T> leaf() {
        switch (below(6)) {
            case 0: {
                const T value = static_cast<T>(number(-8, 8));
                auto& v = any_vector<T>();
                return made<T>(0 * v.device + value, [value](std::size_t) { return value; });
            }
            case 1: {
                const int period = number(1, 9);
                return made<T>(vex::element_index(0, n_) % period, [period](std::size_t i) {
                    return static_cast<T>(i % static_cast<std::size_t>(period));
                });
            }
            case 2: {
                auto& v = any_vector<T>();
                const auto step = static_cast<std::int64_t>(below(n_)), from = step / 2;
                const auto n = static_cast<std::int64_t>(n_);
                return made<T>(vex::permutation((vex::element_index(0, n_) * step + from) % n)(v.device),
                               [host = v.host, step, from, n](std::size_t i) {
                                   const auto at = (static_cast<std::int64_t>(i) * step + from) % n;
                                   return host[static_cast<std::size_t>(at)];
                               });
            }
            default: {
                auto& v = any_vector<T>();
                const auto host = [values = v.host](std::size_t i) { return values[i]; };
                if (below(2) == 0) return made<T>(vex::tag<1>(v.device), host);
                return made<T>(v.device, host);
            }
        }
    }
    template <class To, class From>
    term<To> converted_from(int depth) {
        const term<From> a = draw<From>(depth - 1);
        return made<To>(a.device, [h = a.host](std::size_t i) { return static_cast<To>(h(i)); });
    }
    template <class T>
    term<T> converted(int depth) {
        switch (below(5)) {
            case 0: return converted_from<T, int>(depth);
            case 1: return converted_from<T, cl_long>(depth);
            case 2: return converted_from<T, short>(depth);
            case 3: return converted_from<T, float>(depth);
            default: return converted_from<T, double>(depth);
        }
    }
    term<bool> condition(int depth) {
        const term<double> a = draw<double>(depth - 1);
        const term<float> b = draw<float>(depth - 1);
        switch (below(4)) {
            case 0: return {a.device < b.device, [=](std::size_t i) { return a.host(i) < b.host(i); }};
            case 1:
                return {a.device != b.device && b.device >= 0.0,
                        [=](std::size_t i) { return a.host(i) != b.host(i) && b.host(i) >= 0; }};
            case 2:
                return {!(a.device <= b.device), [=](std::size_t i) { return !(a.host(i) <= b.host(i)); }};
            default:
                return {a.device == b.device || a.device > 0,
                        [=](std::size_t i) { return a.host(i) == b.host(i) || a.host(i) > 0; }};
        }
    }
    /// What only some types have.
    template <std::integral T>
    term<T> special(const term<T>& a, const term<T>& b) {
        const auto x = a.host, y = b.host;
        const auto from = [](const auto& device, auto host) {
            return made<T>(device, [=](std::size_t i) { return static_cast<T>(host(i)); });
        };
        switch (below(9)) {
            case 0:
                return from(a.device / (vex::abs(b.device) + 1),
                            [=](std::size_t i) { return x(i) / (std::abs(y(i)) + 1); });
            case 1:
                return from(a.device % (vex::abs(b.device) + 1),
                            [=](std::size_t i) { return x(i) % (std::abs(y(i)) + 1); });
            case 2: return from(a.device & b.device, [=](std::size_t i) { return x(i) & y(i); });
            case 3: return from((a.device | b.device) ^ 5, [=](std::size_t i) { return (x(i) | y(i)) ^ 5; });
            case 4:
                return from(a.device << (b.device & 3),
                            [=](std::size_t i) { return x(i) * (1 << (y(i) & 3)); });
            case 5: return from(~a.device >> 1, [=](std::size_t i) { return ~x(i) >> 1; });
            case 6: {
                if (ctx_.size() > 1) return a;
                const int last = static_cast<int>(n_) - 1;
                auto& table = any_vector<int>();
                return from(
                    looked_up(vex::raw_pointer(table.device), vex::clamp(vex::cast<int>(a.device), 0, last)),
                    [=, values = table.host](std::size_t i) {
                        const int at = std::clamp(static_cast<int>(x(i)), 0, last);
                        return values[static_cast<std::size_t>(at)];
                    });
            }
            case 7: {
                const term<bool> c = condition(1);
                return from(c.device + a.device,
                            [=, holds = c.host](std::size_t i) { return holds(i) + x(i); });
            }
            default:
                return from(vex::mad24(vex::cast<int>(a.device), vex::cast<int>(b.device), 1),
                            [=](std::size_t i) { return x(i) * y(i) + 1; });
        }
    }
    template <std::floating_point T>
    term<T> special(const term<T>& a, const term<T>& b) {
        const auto x = a.host, y = b.host;
        switch (below(11)) {
            case 8: {
                const auto square_of_sum = vex::generator::make_function<T(T, T)>([](auto u, auto v) {
                    auto sum = u + v;
                    return sum * sum;
                });
                return made<T>(square_of_sum(a.device, b.device),
                               [=](std::size_t i) { return (x(i) + y(i)) * (x(i) + y(i)); });
            }
            case 9: {
                // A matrix of rows_ x columns_ elements, as one of columns_ x rows_.
                const std::size_t rows = rows_, columns = columns_;
                return made<T>(vex::reshape(a.device, vex::extents[columns][rows], vex::extents[1][0]),
                               [=](std::size_t i) { return x(i % rows * columns + i / rows); });
            }
            case 10: {
                const int power = number(-1, 3);
                return made<T>(vex::floor(vex::ldexp(a.device, power)),
                               [=](std::size_t i) { return std::floor(std::ldexp(x(i), power)); });
            }
            case 0:
                return made<T>(vex::floor(a.device * T(0.5)),
                               [=](std::size_t i) { return std::floor(x(i) / 2); });
            case 1:
                return made<T>(vex::fabs(a.device) + vex::trunc(b.device / 2),
                               [=](std::size_t i) { return std::abs(x(i)) + std::trunc(y(i) / 2); });
            case 2:
                return made<T>(vex::fma(a.device, b.device, T(3)),
                               [=](std::size_t i) { return x(i) * y(i) + 3; });
            case 3:
                return made<T>(vex::copysign(a.device, T(0.5) + b.device),
                               [=](std::size_t i) { return std::copysign(x(i), T(0.5) + y(i)); });
            case 4:
                return made<T>(crossed(a.device, b.device),
                               [=](std::size_t i) { return static_cast<T>(2 * y(i) - x(i)); });
            case 5: {
                const std::vector<int>&row = row_, &column = column_;
                const std::vector<double>& entry = entry_;
                return made<T>(matrix_ * a.device, [=](std::size_t i) {
                    double total = 0;
                    for (auto j = static_cast<std::size_t>(row[i]); j < static_cast<std::size_t>(row[i + 1]);
                         ++j)
                        total += entry[j] * x(static_cast<std::size_t>(column[j]));
                    return static_cast<T>(total);
                });
            }
            case 6: {
                const std::vector<T> weights{T(number(-2, 2)), 1, T(number(-2, 2)), 2};
                const auto centre = static_cast<unsigned>(below(4));
                const vex::stencil<T> s(ctx_, weights, centre);
                return made<T>(a.device * s, [=, n = static_cast<std::int64_t>(n_)](std::size_t i) {
                    T total = 0;
                    for (std::int64_t k = 0; k < 4; ++k) {
                        const std::int64_t at =
                            static_cast<std::int64_t>(i) + k - static_cast<std::int64_t>(centre);
                        total += weights[static_cast<std::size_t>(k)] *
                                 x(static_cast<std::size_t>(std::clamp(at, std::int64_t{0}, n - 1)));
                    }
                    return total;
                });
            }
            default:
                return made<T>(vex::fmax(a.device, vex::fmin(b.device, T(2))),
                               [=](std::size_t i) { return std::max(x(i), std::min(y(i), T(2))); });
        }
    }
    template <class T>
    term<T> draw(int depth) {
        if (depth <= 0) return leaf<T>();
        if (below(6) == 0) return converted<T>(depth);
        const term<T> a = draw<T>(depth - 1), b = draw<T>(depth - 1);
        const auto x = a.host, y = b.host;
        switch (below(8)) {
            case 0: return bounded(made<T>(a.device + b.device, [=](std::size_t i) { return x(i) + y(i); }));
            case 1: return bounded(made<T>(a.device - b.device, [=](std::size_t i) { return x(i) - y(i); }));
            case 2: return bounded(made<T>(a.device * b.device, [=](std::size_t i) { return x(i) * y(i); }));
            case 3: {
                const term<bool> c = condition(depth);
                return made<T>(vex::if_else(c.device, a.device, b.device),
                               [=, chosen = c.host](std::size_t i) { return chosen(i) ? x(i) : y(i); });
            }
            case 4: {
                const auto t = vex::make_temp<1>(a.device);
                return bounded(made<T>(t * t - t, [=](std::size_t i) { return x(i) * x(i) - x(i); }));
            }
            default: return bounded(special(a, b));
        }
    }

    // ---- statements ----

    template <class T>
    void compare(const host_vector<T>& v) {
        const std::vector<T> got = on_host(v.device);
        for (std::size_t i = 0; i < n_; ++i)
            if (got[i] != v.host[i]) {
                ADD_FAILURE() << "element " << i << " of " << n_ << " is " << got[i] << ", not " << v.host[i];
                return;
            }
    }
    template <class T>
    std::vector<T> values(const term<T>& a) const {
        std::vector<T> made(n_);
        for (std::size_t i = 0; i < n_; ++i) made[i] = a.host(i);
        return made;
    }
    template <class T>
    static void bound(host_vector<T>& v) {
        for (T& each : v.host) each = std::clamp(each, T(-most), T(most));
        v.device = vex::min(vex::max(v.device, T(-most)), T(most));
    }
    template <class T>
    void assignment() {
        host_vector<T>& to = any_vector<T>();
        const term<T> a = draw<T>(number(1, 4));
        const std::vector<T> computed = values(a);
        const std::size_t kind = below(6);
        say("assignment of kind " + std::to_string(kind) + " of type " + vex::type_name<T>());
        switch (kind) {
            case 0:
                to.device += a.device;
                for (std::size_t i = 0; i < n_; ++i) to.host[i] += computed[i];
                break;
            case 1:
                to.device *= a.device;
                for (std::size_t i = 0; i < n_; ++i) to.host[i] *= computed[i];
                break;
            case 2: {  // backwards
                vex::permutation(n_ - 1 - vex::element_index(0, n_))(to.device) = a.device;
                for (std::size_t i = 0; i < n_; ++i) to.host[n_ - 1 - i] = computed[i];
                break;
            }
            case 3: {  // some columns
                const std::size_t from = below(columns_), step = 1 + below(3);
                const vex::slicer<2> slice(vex::extents[rows_][columns_]);
                slice[vex::_][vex::range(from, step, columns_)](to.device) =
                    slice[vex::_][vex::range(from, step, columns_)](a.device);
                for (std::size_t i = 0; i < n_; ++i)
                    if (i % columns_ >= from && (i % columns_ - from) % step == 0) to.host[i] = computed[i];
                break;
            }
            case 4: {
                const std::vector<vex::command_queue>& queues = ctx_.queue();
                vex::enqueue(queues, to.device) = a.device;
                to.host = computed;
                break;
            }
            default: to.device = a.device; to.host = computed;
        }
        compare(to);
        bound(to);
    }
    void tied() {
        say("tie");
        const term<double> a = draw<double>(2);
        const term<int> b = draw<int>(2);
        const std::vector<double> of_a = values(a);
        const std::vector<int> of_b = values(b);
        host_vector<double>& x = any_vector<double>();
        host_vector<int>& y = any_vector<int>();
        vex::tie(x.device, y.device) = std::make_tuple(a.device, b.device);
        x.host = of_a;
        y.host = of_b;
        compare(x);
        compare(y);
    }
    void multi() {
        say("multivector");
        const term<double> a = draw<double>(2), b = draw<double>(2);
        vex::multivector<double, 2> m(ctx_, n_);
        m = std::tie(a.device, b.device);
        m = m * std::make_tuple(2, 3) - m(1);
        for (int k = 0; k < 2; ++k) {
            const std::vector<double> got = on_host(m(static_cast<std::size_t>(k)));
            for (std::size_t i = 0; i < n_; ++i)
                ASSERT_EQ(got[i], (k == 0 ? 2 * a.host(i) : 3 * b.host(i)) - b.host(i))
                    << "component " << k << ", element " << i;
        }
    }
    void reduction() {
        say("reduction");
        const term<int> a = draw<int>(2);
        const term<double> b = draw<double>(3);
        const term<float> c = draw<float>(2);
        int total = 0;
        double sum = 0;
        float largest = c.host(0);
        for (std::size_t i = 0; i < n_; ++i) {
            total += a.host(i);
            sum += b.host(i) * a.host(i);
            largest = std::max(largest, c.host(i));
        }
        EXPECT_EQ(sum_int_(a.device), total);
        EXPECT_EQ(sum_double_(b.device * a.device), sum);
        EXPECT_EQ(max_float_(c.device), largest);
    }
    void of_rows() {
        say("reduction of rows");
        const term<double> a = draw<double>(2);
        if (!a.device.queues()) return;  // without vectors, it is of the default device
        vex::vector<double> of_row(ctx_, rows_);
        const vex::slicer<2> slice(vex::extents[rows_][columns_]);
        of_row = vex::reduce<vex::SUM>(slice[vex::_](a.device), 1);
        const std::vector<double> got = on_host(of_row);
        for (std::size_t r = 0; r < rows_; ++r) {
            double total = 0;
            for (std::size_t c = 0; c < columns_; ++c) total += a.host(r * columns_ + c);
            ASSERT_EQ(got[r], total) << "row " << r;
        }
    }
    void scan_and_sort() {
        say("scan and sort");
        host_vector<int> x;
        const term<int> a = draw<int>(2);
        x.host = values(a);
        x.device.resize(ctx_, n_);
        x.device = a.device;
        vex::sort(x.device);
        std::sort(x.host.begin(), x.host.end());
        compare(x);
        host_vector<int> sums = x;
        vex::inclusive_scan(x.device, sums.device);
        int total = 0;
        for (int& each : sums.host) each = total += each;
        compare(sums);
    }
    void by_key() {
        say("by key");
        const term<int> k = draw<int>(1), a = draw<int>(2);
        std::vector<int> keys = values(k), of_keys = values(a);
        for (int& each : keys) each = std::min(std::max(each, 0), 2);
        vex::vector<int> device_keys(ctx_, n_), device_values(ctx_, n_), scanned(ctx_, n_), distinct, sums;
        device_keys = vex::min(vex::max(k.device, 0), 2);
        device_values = a.device;
        vex::exclusive_scan_by_key(device_keys, device_values, scanned, 3);
        const int runs = vex::reduce_by_key(device_keys, device_values, distinct, sums);
        std::vector<int> wanted(n_), wanted_keys, wanted_sums;
        for (std::size_t i = 0; i < n_; ++i) {
            const bool begins = i == 0 || keys[i] != keys[i - 1];
            wanted[i] = begins ? 3 : wanted[i - 1] + of_keys[i - 1];
            if (begins) {
                wanted_keys.push_back(keys[i]);
                wanted_sums.push_back(0);
            }
            wanted_sums.back() += of_keys[i];
        }
        EXPECT_EQ(runs, static_cast<int>(wanted_keys.size()));
        EXPECT_EQ(on_host(scanned), wanted);
        EXPECT_EQ(on_host(distinct), wanted_keys);
        EXPECT_EQ(on_host(sums), wanted_sums);

        std::vector<std::size_t> order(n_);
        for (std::size_t i = 0; i < n_; ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](auto l, auto r) { return keys[l] > keys[r]; });
        vex::sort_by_key(device_keys, device_values, vex::greater<int>());
        const std::vector<int> sorted = on_host(device_values);
        for (std::size_t i = 0; i < n_; ++i)
            ASSERT_EQ(sorted[i], of_keys[order[i]]) << "sorted element " << i;
    }
    void elements() {
        say("elements");
        host_vector<double>& v = any_vector<double>();
        const std::size_t at = below(n_), first = below(n_), last = first + below(n_ - first + 1);
        v.device[at] = 7;
        v.host[at] = 7;
        EXPECT_EQ(v.device[first], v.host[first]);
        std::vector<double> some(last - first), found{0, 0, 0};
        vex::copy(v.device.begin() + static_cast<std::ptrdiff_t>(first),
                  v.device.begin() + static_cast<std::ptrdiff_t>(last), some.begin());
        EXPECT_TRUE(
            std::equal(some.begin(), some.end(), v.host.begin() + static_cast<std::ptrdiff_t>(first)));
        const std::vector<std::size_t> places{last - (last > first ? 1 : 0), at, 0};
        if (places[0] >= n_) return;
        vex::gather(ctx_, n_, places)(v.device, found);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(found[k], v.host[places[k]]);
        vex::scatter(ctx_, n_, {at})(std::vector<double>{-3}, v.device);
        v.host[at] = -3;
        compare(v);
    }
    /// An expression that outlives a change of its vector has the memory, which other handles may replace.
    void made_and_swapped() {
        say("construction and swap");
        const term<float> a = draw<float>(2);
        if (!a.device.queues()) return;  // without vectors there is no device to construct one on
        host_vector<float> made_of{values(a), vex::vector<float>(a.device)};
        compare(made_of);
        host_vector<float>& other = any_vector<float>();
        std::swap(made_of.host, other.host);
        swap(made_of.device, other.device);
        compare(other);
        compare(made_of);
    }
    void counted() {
        if (ctx_.size() > 1) return;  // atomic functions are of one device
        say("atomic functions");
        const term<int> a = draw<int>(2);
        vex::vector<int> bins(ctx_, 8);
        bins = 0;
        vex::eval(atomic_add(&vex::permutation(a.device & 7)(bins), 2));
        std::vector<int> wanted(8);
        for (std::size_t i = 0; i < n_; ++i) wanted[static_cast<std::size_t>(a.host(i) & 7)] += 2;
        EXPECT_EQ(on_host(bins), wanted);
    }
    void contracted() {
        say("tensordot");
        host_vector<double>&a = any_vector<double>(), &b = any_vector<double>();
        const vex::slicer<2> slice(vex::extents[rows_][columns_]);
        vex::vector<double> c(ctx_, rows_ * rows_);
        c = vex::tensordot(slice[vex::_](a.device), slice[vex::_](b.device), vex::axes_pairs(1, 1));
        const std::vector<double> got = on_host(c);
        for (std::size_t r = 0; r < rows_; ++r)
            for (std::size_t q = 0; q < rows_; ++q) {
                double total = 0;
                for (std::size_t k = 0; k < columns_; ++k)
                    total += a.host[r * columns_ + k] * b.host[q * columns_ + k];
                ASSERT_EQ(got[r * rows_ + q], total) << r << ", " << q;
            }
    }
    void chosen() {
        say("memory by a condition");
        const term<bool> c = condition(2);
        const term<double> a = draw<double>(2);
        const std::vector<double> computed = values(a);
        host_vector<double>&x = doubles_[0], &y = doubles_[1];
        std::vector<bool> first(n_);
        for (std::size_t i = 0; i < n_; ++i) first[i] = c.host(i);
        *vex::if_else(c.device, &x.device, &y.device) = a.device;
        for (std::size_t i = 0; i < n_; ++i) (first[i] ? x : y).host[i] = computed[i];
        compare(x);
        compare(y);
    }
    void statement() {
        switch (below(18)) {
            case 0: return tied();
            case 1: return multi();
            case 2: return reduction();
            case 3: return of_rows();
            case 4: return scan_and_sort();
            case 5: return by_key();
            case 6: return elements();
            case 7: return made_and_swapped();
            case 8: return counted();
            case 9: return contracted();
            case 10: return chosen();
            case 11: return assignment<int>();
            case 12: return assignment<cl_long>();
            case 13: return assignment<short>();
            case 14: return assignment<float>();
            default: return assignment<double>();
        }
    }

    const vex::Context& ctx_;
    std::mt19937_64 random_;
    std::size_t rows_, columns_, n_;
    host_vector<double> doubles_[3];
    host_vector<float> floats_[2];
    host_vector<int> ints_[2];
    host_vector<cl_long> longs_[2];
    host_vector<short> shorts_[2];
    std::vector<int> row_, column_;
    std::vector<double> entry_;
    vex::sparse::matrix<double> matrix_;
    vex::Reductor<int, vex::SUM> sum_int_;
    vex::Reductor<double, vex::SUM> sum_double_;
    vex::Reductor<float, vex::MAX> max_float_;
    std::string text_;
};

TEST(B9_vexcl_random_statements, compute_what_the_host_computes) {
    const char* const given = std::getenv("BALM_TEST_CASES");
    const std::uint64_t cases = given != nullptr ? std::strtoull(given, nullptr, 10) : 2;
    for (std::uint64_t k = 0; k < cases && !HasFailure(); ++k) {
        SCOPED_TRACE("BALM_TEST_CASES=1 BALM_TEST_SEED=" + std::to_string(seed() + k));
        on_one_and_two_devices([&](const vex::Context& ctx) {
            program p(ctx, seed() + k);
            try {
                p.run();
            } catch (const std::exception& e) {
                ADD_FAILURE() << e.what();
            }
            if (HasFailure()) std::cout << p.text();
        });
    }
}

}  // namespace

}  // namespace balm::test
