#pragma once
// Printing and checks in kernels and functions. Formats are those of {fmt} and std::format, checked when the
// kernel is traced. Work-items write records to device memory; the host formats them once the launch has
// completed and the program waits for it.
//
//     print("blk {:03} thd {:03} {}\n", group_id(0), local_id(0), x);
//     check(i < n, "index {} is beyond {}", i, n);

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/dsl/fields.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/value.hpp"

namespace balm::trace {

/// An argument of a print: a device value, or a host value that becomes part of the text.
struct print_value {
    enum class kind : std::uint8_t { device, number, character, text };
    kind from = kind::device;
    node value;
    scalar type = scalar::nothing;  ///< of a number
    std::uint64_t bits = 0;         ///< of a number or character
    std::string text;
};

/// Records a print of these values. Throws trace_error if the format does not match them.
void print(std::string_view format, location where, const print_value* values, std::size_t count);
/// The same for the message of a failed check.
void report_failed_check(std::string_view format, location where, const print_value* values,
                         std::size_t count);

}  // namespace balm::trace

namespace balm::dsl {

/// A format, from any string, with its C++ line.
struct format_text {
    std::string_view text;
    trace::location where;

    template <std::convertible_to<std::string_view> S>
    format_text(const S& s, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
                std::uint32_t line = __builtin_LINE())
        : text(s), where{file, line} {}
};

namespace detail {

using trace::print_value;

template <class A>
concept host_text = std::convertible_to < const std::remove_cvref_t<A>
&, std::string_view > ;
/// A structure on the device, or a pointer element.
template <class A>
concept in_one_place = requires(const std::remove_cvref_t<A>& a) {
    a.balm_place().load();
};
/// A pointer, or memory.
template <class A>
concept in_a_node = requires(const std::remove_cvref_t<A>& a) {
    { a.node() } -> std::convertible_to<node>;
};
template <class A>
concept printable = operand<A> || host_text<A> || in_one_place<A> || in_a_node<A>;

template <class A>
print_value print_value_of(A&& a) {
    using plain = std::remove_cvref_t<A>;
    print_value v;
    if constexpr (host_text<A>) {
        v.from = print_value::kind::text;
        v.text = std::string_view(a);
    } else if constexpr (scalar_type<plain>) {
        v.from = std::same_as<plain, char> ? print_value::kind::character : print_value::kind::number;
        v.type = scalar_of<plain>;
        v.bits = bits_of(a);
    } else if constexpr (operand<A>) {
        v.value = node_of<scalar::nothing>(static_cast<A&&>(a));
    } else if constexpr (in_one_place<A>) {
        v.value = a.balm_place().load();
    } else if constexpr (in_a_node<A>) {
        v.value = trace::read(a.node());
    } else {
        static_assert(
            always_false<A>,
            "Balm: print takes device values (numbers, vectors, structures, pointers), host numbers, "
            "and strings; print the elements of an array one by one");
    }
    return v;
}

}  // namespace detail

/// Prints from a kernel or function, each time that a work-item reaches the call. No newline is added: end a
/// line with \n. The text of one print is not interleaved with others. The prints of a launch are ordered by
/// work-item (inside grid_range by its index), those of one work-item in program order.
///
/// Values are formatted as {fmt} formats host values: Bool, integers, floating point, Char with {:c}; short
/// vectors as (1, 2, 3, 4) and structures as {pos: (0, 0), id: 3}, with the specification applied to each of
/// their numbers; pointers as addresses. Host numbers and strings become part of the text. Throws trace_error
/// if the format does not match its arguments.
///
///     print("{} of {}: {:.3f}\n", i, n, position);
template <class... A>
void print(format_text format, A&&... arguments) {
    const trace::print_value values[] = {detail::print_value_of(static_cast<A&&>(arguments))...,
                                         trace::print_value{}};
    trace::print(format.text, format.where, values, sizeof...(A));
}
template <class A>
requires detail::is_var<std::remove_cvref_t<A>> BALM_REFUSED(
    "Balm: the first argument of print is a format string: print(\"{}\\n\", x)")
void print(A&& value);

/// A print with its first arguments bound, made by `printer(…)`. Each call with the remaining arguments
/// prints. Bound device values are those at the time of binding.
class Printer {
public:
    Printer(format_text format, std::vector<trace::print_value> first)
        : text_(format.text), where_(format.where), first_(std::move(first)) {}

    template <class... A>
    void operator()(A&&... rest) const {
        std::vector<trace::print_value> values = first_;
        values.reserve(values.size() + sizeof...(A));
        (values.push_back(detail::print_value_of(static_cast<A&&>(rest))), ...);
        trace::print(text_, where_, values.data(), values.size());
    }
    /// The same with more arguments bound.
    template <class... A>
    Printer with(A&&... more) const {
        Printer further(*this);
        (further.first_.push_back(detail::print_value_of(static_cast<A&&>(more))), ...);
        return further;
    }

private:
    std::string text_;
    trace::location where_;
    std::vector<trace::print_value> first_;
};

/// Binds the first arguments of a print; the call that prints passes the rest.
///
///     auto line = printer("blk {:03} thd {:03} {}\n", group_id(0), local_id(0));
///     line("begins");
///     line(x);
template <class... A>
Printer printer(format_text format, A&&... first) {
    std::vector<trace::print_value> values;
    values.reserve(sizeof...(A));
    (values.push_back(detail::print_value_of(static_cast<A&&>(first))), ...);
    return Printer(format, std::move(values));
}

/// Checks that a condition holds. If it does not, waiting for the launch throws check_error with the C++
/// line, the message and the work-item; of several failures the first to arrive is kept. The kernel continues
/// after a failed check, including the work-item that failed. The message's values are computed only if the
/// check fails.
///
///     check(i < n, "index {} is beyond {}", i, n);
template <operand C, class... A>
void check(C&& condition, format_text message, A&&... values) {
    const trace::node failed = (!Bool(detail::condition_of(static_cast<C&&>(condition)))).node();
    const std::uint32_t block = trace::open_if(trace::read(failed), message.where);
    const trace::print_value printed[] = {detail::print_value_of(static_cast<A&&>(values))...,
                                          trace::print_value{}};
    trace::report_failed_check(message.text, message.where, printed, sizeof...(A));
    trace::close(block);
}

}  // namespace balm::dsl
