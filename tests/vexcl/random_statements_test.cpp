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
    template <class T>
    term<T> converted(int depth) {
        if (below(2) == 0) {
            const term<int> a = draw<int>(depth - 1);
            return made<T>(a.device, [h = a.host](std::size_t i) { return static_cast<T>(h(i)); });
        }
        const term<double> a = draw<double>(depth - 1);
        return made<T>(a.device, [h = a.host](std::size_t i) { return static_cast<T>(h(i)); });
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
    term<int> special(const term<int>& a, const term<int>& b) {
        const auto x = a.host, y = b.host;
        switch (below(8)) {
            case 0:
                return {a.device / (vex::abs(b.device) + 1),
                        [=](std::size_t i) { return x(i) / (std::abs(y(i)) + 1); }};
            case 1:
                return {a.device % (vex::abs(b.device) + 1),
                        [=](std::size_t i) { return x(i) % (std::abs(y(i)) + 1); }};
            case 2: return {a.device & b.device, [=](std::size_t i) { return x(i) & y(i); }};
            case 3: return {(a.device | b.device) ^ 5, [=](std::size_t i) { return (x(i) | y(i)) ^ 5; }};
            case 4:
                return {a.device << (b.device & 3), [=](std::size_t i) {
                            return static_cast<int>(static_cast<unsigned>(x(i)) << (y(i) & 3));
                        }};
            case 5: return {~a.device >> 1, [=](std::size_t i) { return ~x(i) >> 1; }};
            case 6: {
                if (ctx_.size() > 1) return a;
                const int last = static_cast<int>(n_) - 1;
                auto& table = any_vector<int>();
                return {looked_up(vex::raw_pointer(table.device), vex::clamp(a.device, 0, last)),
                        [=, values = table.host](std::size_t i) {
                            return values[static_cast<std::size_t>(std::clamp(x(i), 0, last))];
                        }};
            }
            default:
                return {vex::mad24(a.device, b.device, 1), [=](std::size_t i) { return x(i) * y(i) + 1; }};
        }
    }
    template <std::floating_point T>
    term<T> special(const term<T>& a, const term<T>& b) {
        const auto x = a.host, y = b.host;
        switch (below(8)) {
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
    void statement() {
        switch (below(10)) {
            case 0: return tied();
            case 1: return multi();
            case 2: return reduction();
            case 3: return of_rows();
            case 4: return scan_and_sort();
            case 5:
            case 6: return assignment<int>();
            case 7: return assignment<float>();
            default: return assignment<double>();
        }
    }

    const vex::Context& ctx_;
    std::mt19937_64 random_;
    std::size_t rows_, columns_, n_;
    host_vector<double> doubles_[3];
    host_vector<float> floats_[2];
    host_vector<int> ints_[2];
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
