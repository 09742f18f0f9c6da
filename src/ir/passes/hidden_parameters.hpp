#pragma once
// Gives a kernel parameters that the user does not see, and passes them on to the functions that need them.
// Each such parameter says where its argument comes from (runtime::parameter_origin): by that a call finds
// the caller's value, and the launch what to bind.

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
    /// Of an origin that is among them.
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

/// A pass that needs hidden parameters. Derived classes say which, and rewrite each function by their values.
class hidden_parameter_pass {
public:
    hidden_parameter_pass() = default;
    hidden_parameter_pass(const hidden_parameter_pass&) = delete;
    hidden_parameter_pass& operator=(const hidden_parameter_pass&) = delete;
    virtual ~hidden_parameter_pass() = default;

    /// The kernel, or a function that it calls, with its parameters, rewritten.
    function apply(const function&);

protected:
    /// Whether a function, or one that it calls, is rewritten.
    virtual bool concerns(const function&) const = 0;
    /// What a function that the pass concerns is given, in order; what those that it calls are given is among
    /// it, or made by derive.
    virtual std::vector<parameter> parameters(const function&) const = 0;
    /// Adds values that are computed from others at the function's top.
    virtual void derive(function&, builder&, hidden_values&) {}
    /// The parameters are there, and calls pass them on.
    virtual void rewrite(function&, const hidden_values&) = 0;

private:
    std::map<const function*, std::shared_ptr<const function>> rewritten_;
};

/// A function's parameters as a launch binds them; those that are shifted are followed by their offsets.
std::vector<runtime::parameter_origin> origins_of(const function& lowered);

/// The number of a callee, which is added if it is not there.
std::uint64_t callee_number(function&, const std::shared_ptr<const function>&);

}  // namespace balm::ir
