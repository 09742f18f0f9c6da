// Scans of expressions, by key, and into views of what they read.

#include "algorithm/random_program/program.hpp"

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

#define BALM_INSTANTIATE(T)                  \
    template void program<T>::scan();        \
    template void program<T>::scan_by_key(); \
    template void program<T>::scan_in_place();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
