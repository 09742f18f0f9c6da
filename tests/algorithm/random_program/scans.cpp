// Scans of expressions, by key, along dimensions, several at once, and into views of what they read.

#include <numeric>
#include <string>

#include "algorithm/random_program/program.hpp"
#include "balm/scan_along.hpp"
#include "balm/scan_into.hpp"

namespace balm::test::random_algorithms {

template <class T>
void program<T>::scan() {
    say("scan");
    operand<T> of = values();
    const bool is_inclusive = toss(), has_init = toss();
    say(is_inclusive ? " inclusive" : " exclusive");
    if (has_init) say(" from 3");
    const sum_type init = has_init ? sum_type(3) : sum_type(0);
    const std::vector<sum_type> wanted = scanned_on_host<sum_type>(of.on_host, is_inclusive, init, plus);
    if (has_init)
        yields<sum_type>(is_inclusive ? inclusive_scan(of.values, T(3)) : exclusive_scan(of.values, T(3)),
                         wanted);
    else
        yields<sum_type>(is_inclusive ? inclusive_scan(of.values) : exclusive_scan(of.values), wanted);
}
template <class T>
void program<T>::scan_by_key() {
    say("scan by key");
    operand<std::int32_t> by = keys();
    operand<T> of = values();
    const bool is_inclusive = toss();
    say(is_inclusive ? " inclusive" : " exclusive");
    if (toss()) {
        say(" latest");
        const std::vector<T> wanted =
            scanned_on_host<T>(of.on_host, is_inclusive, T(0), latest<T>, &by.on_host);
        yields<T>(is_inclusive ? inclusive_scan_by_key(by.values, latest_of(of.values))
                               : exclusive_scan_by_key(by.values, latest_of(of.values)),
                  wanted);
    } else {
        const std::vector<sum_type> wanted =
            scanned_on_host<sum_type>(of.on_host, is_inclusive, sum_type(2), plus, &by.on_host);
        yields<sum_type>(is_inclusive ? inclusive_scan_by_key(by.values, of.values, T(2))
                                      : exclusive_scan_by_key(by.values, of.values, T(2)),
                         wanted);
    }
}
template <class T>
void program<T>::scan_in_place() {
    const std::size_t from = below(margin + 1), to = below(margin + 1);
    const bool is_inclusive = toss();
    say("base(" + std::to_string(to) + "…) = scan of latest of base(" + std::to_string(from) + "…)");
    const std::vector<T> made = scanned_on_host<T>(host_part(from), is_inclusive, T(0), latest<T>);
    const expr<T> of(part_of_base(from));
    part_of_base(to) = is_inclusive ? inclusive_scan(latest_of(of)) : exclusive_scan(latest_of(of));
    std::copy(made.begin(), made.end(), base_.on_host.begin() + static_cast<std::ptrdiff_t>(to));
    if (toss()) return;
    say(", x = its scan");
    x_.on_host = scanned_on_host<T>(x_.on_host, is_inclusive, T(0), latest<T>);
    const expr<T> own(x_.on_device);
    x_.on_device = is_inclusive ? inclusive_scan(latest_of(own)) : exclusive_scan(latest_of(own));
}

template <class T>
void program<T>::scan_along() {
    const auto factor = [&](std::size_t of) { return std::gcd(of, 1 + below(60)); };
    const std::size_t inner = factor(n_), outer = inner > 0 ? factor(n_ / inner) : 1,
                      rows = inner > 0 ? n_ / inner / outer : n_;
    const std::string box =
        std::to_string(outer) + " x " + std::to_string(rows) + " x " + std::to_string(inner);
    say("scan along the second dimension of " + box + " of latest of");
    const operand<T> of = values();
    const bool is_inclusive = toss(), has_init = toss();
    say(is_inclusive ? " inclusive" : " exclusive");
    if (has_init) say(" from 1");
    std::vector<T> wanted(n_);
    for (std::size_t first = 0; first < n_; ++first) {
        if (first / inner % rows != 0) continue;
        T last = has_init ? T(1) : T(0);
        for (std::size_t k = first; k < first + rows * inner; k += inner) {
            const T next = latest(last, of.on_host[k]);
            wanted[k] = is_inclusive ? next : last;
            last = next;
        }
    }
    const auto elements = latest_of(expr<T>(view(of.values, {outer, rows, inner})));
    const auto along_rows = along(1);
    if (has_init)
        yields<T>(is_inclusive ? inclusive_scan(elements, T(1), along_rows)
                               : exclusive_scan(elements, T(1), along_rows),
                  wanted);
    else
        yields<T>(is_inclusive ? inclusive_scan(elements, along_rows) : exclusive_scan(elements, along_rows),
                  wanted);
}
template <class T>
void program<T>::scan_two_in_pieces() {
    say("two scans, twice: the sum of");
    const operand<T> of = values();
    say(", the latest of x into x");
    const bool is_inclusive = toss();
    say(is_inclusive ? " inclusive" : " exclusive");
    const vector<T> elements(of.values);  // which may read x
    vector<sum_type> sums(ctx_, n_), carried_sum(ctx_, 1, sum_type(3));
    vector<T> carried(ctx_, 1, T(2));
    sum_type sum = 3;
    T last = 2;
    for (int k = 0; k < 2; ++k) {
        const std::vector<sum_type> wanted = scanned_on_host<sum_type>(of.on_host, is_inclusive, sum, plus);
        const std::vector<T> own = x_.on_host;
        x_.on_host = scanned_on_host<T>(own, is_inclusive, last, latest<T>);
        const auto targets = std::tie(sums, x_.on_device);
        const auto carries = std::tie(carried_sum, carried);
        if (is_inclusive)
            inclusive_scan_into(targets, carries, elements, latest_of(expr<T>(x_.on_device)));
        else
            exclusive_scan_into(targets, carries, elements, latest_of(expr<T>(x_.on_device)));
        sum = std::accumulate(of.on_host.begin(), of.on_host.end(), sum,
                              [](sum_type a, T b) { return plus(a, static_cast<sum_type>(b)); });
        last = std::accumulate(own.begin(), own.end(), last, latest<T>);
        same(sums, wanted, "sums", true);
        same(carried_sum, {sum}, "the sum that is carried", true);
        same(carried, {last}, "the latest that is carried");
        same(x_, "x");
    }
}

#define BALM_INSTANTIATE(T)                    \
    template void program<T>::scan();          \
    template void program<T>::scan_by_key();   \
    template void program<T>::scan_in_place(); \
    template void program<T>::scan_along();    \
    template void program<T>::scan_two_in_pieces();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
