#pragma once
// Adds parameters to a kernel that the user does not see, and passes them on to the functions that need them.
// Each such parameter has an origin (runtime::parameter_origin), by which a call finds the caller's value,
// and a launch the argument to bind.

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/ir.hpp"

namespace balm::ir {

/// The values of a function's hidden parameters.
class hidden_values {
public:
    void add(const runtime::parameter_origin& origin, value_id value) { all_.emplace_back(origin, value); }
    /// The value with this origin, which must exist.
    value_id operator()(const runtime::parameter_origin& origin) const {
        return std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each.first == origin; })
            ->second;
    }
    value_id operator()(runtime::origin from, std::size_t number = 0) const {
        return (*this)({from, static_cast<std::uint16_t>(number)});
    }

private:
    std::vector<std::pair<runtime::parameter_origin, value_id>> all_;
};

/// A pass that needs hidden parameters. Derived classes define which, and rewrite each function with their
/// values.
class hidden_parameter_pass {
public:
    hidden_parameter_pass() = default;
    hidden_parameter_pass(const hidden_parameter_pass&) = delete;
    hidden_parameter_pass& operator=(const hidden_parameter_pass&) = delete;
    virtual ~hidden_parameter_pass() = default;

    /// Returns the kernel, or a function that it calls, rewritten with the hidden parameters.
    function apply(const function&);

protected:
    /// Whether a function, or one that it calls, is rewritten.
    virtual bool concerns(const function&) const = 0;
    /// The hidden parameters of a function that the pass concerns, in order. Those of its callees are among
    /// them, or are made by derive.
    virtual std::vector<parameter> parameters(const function&) const = 0;
    /// Adds values that are computed from others at the top of the function.
    virtual void derive(function&, builder&, hidden_values&) {}
    /// Rewrites a function that already has its parameters, and whose calls pass them on.
    virtual void rewrite(function&, const hidden_values&) = 0;

private:
    std::map<const function*, std::shared_ptr<const function>> rewritten_;
};

/// The origins of a function's parameters, in the order in which a launch binds them; shifted ones are
/// followed by their offsets.
std::vector<runtime::parameter_origin> origins_of(const function& lowered);

/// The number of a callee, which is added if it is missing.
std::uint64_t callee_number(function&, const std::shared_ptr<const function>&);

}  // namespace balm::ir
