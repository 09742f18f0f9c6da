#pragma once
// Formats the types that have an operator<< with {fmt}: fmt::print("{}", x) writes the same text as
// std::cout << x. This header needs {fmt} (version 8 or later); programs that include it link fmt::fmt.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ios>
#include <locale>
#include <sstream>
#include <string>

#include "balm/complex_value.hpp"
#include "balm/device.hpp"
#include "balm/error.hpp"
#include "balm/host_array.hpp"
#include "balm/shape.hpp"
#include "balm/short_vector.hpp"
#include "balm/vector.hpp"
#include "balm/view.hpp"

namespace balm::detail {

/// The formatter of all these types. Its specification, [.precision][e|f|g], as in "{:.3f}", sets the
/// precision and notation of numbers as std::setprecision, std::scientific and std::fixed do, whatever the
/// locale.
class stream_formatter {
public:
    template <class Context>
    constexpr auto parse(Context& of) {
        auto at = of.begin();
        const auto end = of.end();
        if (at != end && *at == '.') {
            ++at;
            if (at == end || !is_digit(*at)) refuse();
            for (precision_ = 0; at != end && is_digit(*at); ++at) {
                precision_ = 10 * precision_ + (*at - '0');
                if (precision_ > 1000) refuse();
            }
        }
        if (at != end && (*at == 'e' || *at == 'f' || *at == 'g')) notation_ = *at++;
        if (at != end && *at != '}') refuse();
        return at;
    }

    template <class T, class Context>
    auto format(const T& value, Context& to) const {
        std::ostringstream text;
        text.imbue(std::locale::classic());
        if (precision_ >= 0) text.precision(precision_);
        if (notation_ == 'e') text.setf(std::ios::scientific, std::ios::floatfield);
        if (notation_ == 'f') text.setf(std::ios::fixed, std::ios::floatfield);
        text << value;
        const std::string all = text.str();
        auto out = to.out();
        for (const char c : all) *out++ = c;
        return out;
    }

private:
    static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
    static void refuse() {
        throw fmt::format_error("the format of Balm's types is [.precision][e|f|g], as in {:.3f}");
    }

    int precision_ = -1;  // the stream's default
    char notation_ = 0;
};

}  // namespace balm::detail

namespace fmt {

/// Vectors, views and expressions, which are evaluated: `fmt::print("{:.3f}\n", 2 * x + 1)`.
template <class A>
requires balm::array_value<A>
struct formatter<A, char> : balm::detail::stream_formatter {
};
template <class T>
struct formatter<balm::host_array<T>, char> : balm::detail::stream_formatter {};
template <class T, int N>
struct formatter<balm::vec<T, N>, char> : balm::detail::stream_formatter {};
template <class T>
struct formatter<balm::complex_value<T>, char> : balm::detail::stream_formatter {};
template <>
struct formatter<balm::half, char> : balm::detail::stream_formatter {};
template <>
struct formatter<balm::shape, char> : balm::detail::stream_formatter {};
template <>
struct formatter<balm::device, char> : balm::detail::stream_formatter {};

#define BALM_FORMATTED_ERROR(type) \
    template <>                    \
    struct formatter<balm::type, char> : balm::detail::stream_formatter {};
BALM_FORMATTED_ERROR(error)
BALM_FORMATTED_ERROR(usage_error)
BALM_FORMATTED_ERROR(trace_error)
BALM_FORMATTED_ERROR(no_device_error)
BALM_FORMATTED_ERROR(device_error)
BALM_FORMATTED_ERROR(callback_error)
BALM_FORMATTED_ERROR(out_of_memory_error)
BALM_FORMATTED_ERROR(build_error)
BALM_FORMATTED_ERROR(check_error)
#undef BALM_FORMATTED_ERROR

/// Prevents {fmt} from formatting host arrays as ranges.
template <class T>
struct is_range<balm::host_array<T>, char> {
    static constexpr bool value = false;
};

}  // namespace fmt
