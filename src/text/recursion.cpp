// Finds recursive functions of a text: devices have no recursion.

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <vector>

#include "text/rewriter.hpp"

namespace balm::opencl_c {

void refuse_recursion(const tokens& list, const outline& declared) {
    // Removes functions that call none of those left, until none is left or each calls another.
    const std::size_t count = declared.functions.size();
    std::vector<std::vector<std::size_t>> callers(count);
    std::vector<std::size_t> calls(count);
    for (std::size_t f = 0; f < count; ++f) {
        const range body = declared.functions[f].body;
        std::set<const function*> called;
        for (std::size_t k = body.first; k + 1 < body.last; ++k)
            if (list[k].is_word() && list[k + 1].is("("))
                if (const function* callee = declared.definition(list[k].words)) called.insert(callee);
        calls[f] = called.size();
        for (const function* callee : called)
            callers[static_cast<std::size_t>(callee - declared.functions.data())].push_back(f);
    }
    std::vector<std::size_t> done;
    for (std::size_t f = 0; f < count; ++f)
        if (calls[f] == 0) done.push_back(f);
    for (std::size_t next = 0; next < done.size(); ++next)
        for (const std::size_t caller : callers[done[next]])
            if (--calls[caller] == 0) done.push_back(caller);
    // The functions left are in a cycle or call into one: from any of them, callees that are left lead into
    // it.
    if (done.size() == count) return;
    const auto calls_one_left = [&](std::size_t f) { return calls[f] > 0; };
    std::vector<std::size_t> callee_left(count);
    for (std::size_t f = 0; f < count; ++f)
        if (calls_one_left(f))
            for (const std::size_t caller : callers[f])
                if (calls_one_left(caller)) callee_left[caller] = f;
    std::size_t in_circle = 0;
    while (!calls_one_left(in_circle)) ++in_circle;
    for (std::size_t k = 0; k < count; ++k) in_circle = callee_left[in_circle];
    const function& f = declared.functions[in_circle];
    refuse(f.where, fmt::format("'{}' calls itself, directly or through others; devices have no recursion",
                                shortened(f.name)));
}

}  // namespace balm::opencl_c
