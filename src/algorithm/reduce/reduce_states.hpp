#pragma once
// The states of reductions within a kernel that is being recorded: as variables, in arrays of private or
// local memory, and in slots of global memory.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithm/reduce/reduce_operations.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"

namespace balm::array {

/// Where states lie in memory: slots of 8 bytes.
struct slot_layout {
    explicit slot_layout(const std::vector<trace::type>&);
    std::vector<std::size_t> first;  ///< slot of each value
    std::size_t count = 0;           ///< slots of all
};

inline trace::node index_of(const dsl::Index& i) { return trace::read(i.node()); }

/// Variables that begin as these values.
inline nodes variables(const char* word, const nodes& initial) {
    nodes made;
    for (const trace::node& value : initial) {
        made.push_back(trace::read(value));
        trace::name(made.back(), word);
    }
    return made;
}
inline nodes read(const nodes& variables) {
    nodes values;
    for (const trace::node& each : variables) values.push_back(trace::read(each));
    return values;
}
inline void write(const nodes& variables, const nodes& values) {
    for (std::size_t k = 0; k < variables.size(); ++k) trace::write(variables[k], values[k]);
}

/// States in arrays of private or local memory, one for each value.
class state_array {
public:
    state_array(const char* word, const operations& does, std::size_t count, space where) {
        for (const trace::type& each : does.state()) {
            pointers_.push_back(trace::object(each, count, where, false, {}));
            trace::name(pointers_.back(), word);
        }
    }
    explicit state_array(nodes pointers) : pointers_(std::move(pointers)) {}
    nodes load(const dsl::Index& k) const {
        nodes values;
        for (const trace::node& each : pointers_) values.push_back(trace::load(each, index_of(k), {}));
        return values;
    }
    void store(const dsl::Index& k, const nodes& values) const {
        for (std::size_t v = 0; v < values.size(); ++v)
            trace::store(pointers_[v], index_of(k), values[v], {});
    }

private:
    nodes pointers_;
};

/// States or results in slots of global memory.
class slots {
public:
    slots(trace::node memory, const std::vector<trace::type>& types, std::size_t begin)
        : memory_(memory), types_(types), layout_(types), begin_(static_cast<std::int64_t>(begin)) {}
    std::size_t count() const { return layout_.count; }

    nodes load(const dsl::Index& k) const {
        nodes values;
        for (std::size_t v = 0; v < types_.size(); ++v)
            values.push_back(trace::load(pointer(k, v), trace::constant(scalar::i32, 0), {}));
        return values;
    }
    void store(const dsl::Index& k, const nodes& values) const {
        for (std::size_t v = 0; v < values.size(); ++v)
            trace::store(pointer(k, v), trace::constant(scalar::i32, 0), values[v], {});
    }

private:
    trace::node pointer(const dsl::Index& k, std::size_t v) const {
        const auto at = begin_ + static_cast<std::int64_t>(layout_.first[v]);
        const dsl::Index slot = k * static_cast<std::int64_t>(layout_.count) + at;
        return trace::reinterpret(trace::offset(memory_, index_of(slot)),
                                  trace::pointer_to(types_[v], space::global));
    }

    trace::node memory_;
    std::vector<trace::type> types_;
    slot_layout layout_;
    std::int64_t begin_;
};

}  // namespace balm::array
