// Interning of structures and of pointers to pointers.

#include "ir/passes/aggregate.hpp"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <mutex>

#include "balm/error.hpp"

namespace balm {

namespace {

using trace::member;
using trace::structure;
using trace::type;

/// An entry: a structure, or the type of a pointer (then its name is null).
struct entry {
    structure description{};
    type pointer;
};

struct table {
    std::mutex mutex;
    std::deque<entry> entries{entry{}};  // 0 means none; a deque keeps references to entries valid
};
table& the_table() {
    static table& t = *new table;  // kernels may be printed during static destruction
    return t;
}

bool is_same(const structure& a, const structure& b) {
    if (std::strcmp(a.name, b.name) != 0 || a.size != b.size || a.alignment != b.alignment ||
        a.member_count != b.member_count)
        return false;
    for (std::uint32_t k = 0; k < a.member_count; ++k) {
        const member &m = a.members[k], &n = b.members[k];
        if (std::strcmp(m.name, n.name) != 0 || !(m.what == n.what) || m.offset != n.offset ||
            m.count != n.count)
            return false;
    }
    return true;
}

template <class IsSame>
std::uint16_t intern(const entry& wanted, IsSame&& is_it) {
    table& t = the_table();
    const std::lock_guard lock(t.mutex);
    for (std::size_t k = 1; k < t.entries.size(); ++k)
        if (is_it(t.entries[k])) return static_cast<std::uint16_t>(k);
    if (t.entries.size() > UINT16_MAX) throw trace_error("more than 65,535 structure types are in use");
    t.entries.push_back(wanted);
    return static_cast<std::uint16_t>(t.entries.size() - 1);
}

const entry& entry_of(std::uint16_t id) {
    table& t = the_table();
    const std::lock_guard lock(t.mutex);
    return t.entries[id];
}

/// Throws trace_error for members that overlap or are not named in their order.
void check_layout(const structure& s) {
    std::size_t end = 0;
    for (std::uint32_t k = 0; k < s.member_count; ++k) {
        const member& m = s.members[k];
        if (m.offset < end)
            throw trace_error(
                fmt::format("'{}::{}' is at byte {}, before the end of the member listed before it: list the "
                            "members in declaration order, each once",
                            s.name, m.name, m.offset));
        end = m.offset + size_of(m.what) * m.count;
    }
    if (s.alignment > 16)
        throw trace_error(
            fmt::format("'{}' has an alignment of {} bytes; the most that all devices support is 16", s.name,
                        s.alignment));
}

}  // namespace

namespace trace {

type pointer_to(type what, space where, bool is_const) {
    type result = what;
    if (what.is_pointer()) {
        result = {};
        result.aggregate = intern(
            {{}, what}, [&](const entry& e) { return e.description.name == nullptr && e.pointer == what; });
    }
    result.where = where;
    result.is_const = is_const;
    return result;
}

type pointee(type pointer) {
    pointer.where = space::value;
    pointer.is_const = false;
    if (pointer.aggregate == 0) return pointer;
    const entry& e = entry_of(pointer.aggregate);
    return e.description.name ? pointer : e.pointer;
}

std::size_t size_of(type t) noexcept {
    if (t.is_pointer()) return sizeof(std::uint64_t);
    if (t.aggregate != 0) return ir::structure_of(t).size;
    return balm::size_of(t.element) * (t.lanes == 3 ? 4u : t.lanes);
}

std::size_t alignment_of(type t) noexcept {
    if (!t.is_pointer() && t.aggregate != 0) return ir::structure_of(t).alignment;
    return !t.is_pointer() && t.is_packed ? balm::size_of(t.element) : size_of(t);
}

type type_of_structure(const structure& s) {
    check_layout(s);
    type result;
    result.aggregate = intern(
        {s, {}}, [&](const entry& e) { return e.description.name != nullptr && is_same(e.description, s); });
    return result;
}

}  // namespace trace

namespace ir {

const trace::structure& structure_of(trace::type t) noexcept { return entry_of(t.aggregate).description; }

bool is_structure(trace::type t) noexcept {
    return !t.is_pointer() && t.aggregate != 0 && entry_of(t.aggregate).description.name != nullptr;
}

}  // namespace ir
}  // namespace balm
