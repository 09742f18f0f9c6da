#include "algorithm/block/values.hpp"

#include <fmt/format.h>

#include "balm/dsl/control.hpp"
#include "balm/error.hpp"

namespace balm::block {

types types_of(const values& list) {
    types made;
    for (const trace::node& each : list) made.push_back(each.type);
    return made;
}

values variables(std::string_view word, const values& initial) {
    values made;
    for (const trace::node& each : initial) {
        made.push_back(trace::read(each));
        trace::name(made.back(), word);
    }
    return made;
}
values read(const values& variables) {
    values made;
    for (const trace::node& each : variables) made.push_back(trace::read(each));
    return made;
}
void write(const values& variables, const values& now) {
    for (std::size_t v = 0; v < variables.size(); ++v) trace::write(variables[v], now[v]);
}
values chosen(const Bool& condition, const values& if_true, const values& if_false) {
    values made;
    for (std::size_t v = 0; v < if_true.size(); ++v) {
        if (if_true[v].type.is_scalar()) {
            made.push_back(trace::select(node_of(condition), if_true[v], if_false[v]));
            continue;
        }
        const values one = variables("chosen", {if_false[v]});
        IF (condition) {
            write(one, {if_true[v]});
        }
        made.push_back(read(one)[0]);
    }
    return made;
}
values joined(values first, const values& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

arrays::arrays(std::string_view word, const types& of, std::size_t count, space where) {
    for (const trace::type& each : of) {
        pointers_.push_back(trace::object(each, count, where, false, {}));
        trace::name(pointers_.back(), word);
    }
}
values arrays::loaded(const trace::node& k) const {
    values made;
    for (const trace::node& each : pointers_) made.push_back(trace::load(each, k, {}));
    return made;
}
void arrays::stored(const trace::node& k, const values& now) const {
    for (std::size_t v = 0; v < pointers_.size(); ++v) trace::store(pointers_[v], k, now[v], {});
}
arrays arrays::as(const types& others) const {
    values made;
    for (std::size_t v = 0; v < pointers_.size(); ++v)
        made.push_back(
            trace::reinterpret(pointers_[v], trace::pointer_to(others[v], pointers_[v].type.where)));
    return arrays(std::move(made));
}

namespace {

/// The widest alignment of any element type.
constexpr std::size_t unit_bytes = 16;
std::size_t units_of(const trace::type& each, std::size_t count) {
    return (trace::size_of(each) * count + unit_bytes - 1) / unit_bytes;
}

}  // namespace

room::room(std::size_t bytes)
    : memory_(
          trace::object(trace::type(scalar::u32, 4), units_of(scalar::u8, bytes), space::local, false, {})),
      bytes_(units_of(scalar::u8, bytes) * unit_bytes) {
    trace::name(memory_, "room");
}
arrays room::of(const types& list, std::size_t count) const {
    if (bytes_of(list, count) > bytes_)
        throw trace_error(fmt::format("arrays of {} bytes do not fit in {} bytes of local memory",
                                      bytes_of(list, count), bytes_));
    values pointers;
    std::size_t unit = 0;
    for (const trace::type& each : list) {
        pointers.push_back(trace::reinterpret(trace::offset(memory_, node_of(static_cast<int>(unit))),
                                              trace::pointer_to(each, space::local)));
        unit += units_of(each, count);
    }
    return arrays(std::move(pointers));
}
std::size_t room::bytes_of(const types& list, std::size_t count) {
    std::size_t units = 0;
    for (const trace::type& each : list) units += units_of(each, count);
    return units * unit_bytes;
}

}  // namespace balm::block
