// The identity of a function. In: a simplified function, whose order of values does not depend on the C++
// compiler. Out: a hash over its structure, with values numbered in order; it includes the names that the
// printed source uses, but no C++ lines. Two functions with the same identity would share a program, so every
// list is hashed with its length: no text can be mistaken for a parameter.

#include <algorithm>

#include "ir/ir.hpp"

namespace balm::ir {

namespace {

class fingerprint {
public:
    explicit fingerprint(const function& f) : f_(f), number_(f.code.size(), 0) {}

    runtime::digest run() {
        hash_.text(f_.name).number(static_cast<std::uint64_t>(f_.dimensions)).number(code(f_.result));
        hash_.number(f_.is_widened);
        hash_.number(f_.parameters.size());
        for (const parameter& p : f_.parameters) {
            hash_.number(code(p.what))
                .number(static_cast<std::uint64_t>(p.use))
                .text(p.name)
                .number(p.is_restrict);
            if (p.origin.from == runtime::origin::extent) hash_.number(p.origin.number);
        }
        hash_.number(f_.callees.size());
        for (const auto& callee : f_.callees) {
            for (const std::uint64_t word : callee->identity.words) hash_.number(word);
            hash_.number(callee->given.size());
            for (const auto& data : callee->given) given(*data);
        }
        hash_.number(f_.constants.size());
        for (const auto& data : f_.constants) {
            hash_.text(data->name).number(code(data->element)).number(data->bits.size());
            for (std::uint64_t bits : data->bits) hash_.number(bits);
            hash_.number(data->is_given());
            if (data->is_given()) given(*data);
        }
        hash_.number(f_.text ? f_.text->texts.size() + 1 : 0);
        if (f_.text)
            for (const auto& each : f_.text->texts) hash_.text(each->name).text(each->words);
        hash_.number(f_.formats.size());
        for (const auto& format : f_.formats) hash_.text(format->key);
        block_(0);
        return hash_.result();
    }

private:
    /// A constant that launches pass, by its position among those of the function: two functions that share a
    /// constant are a different program than two functions with one each.
    void given(const constant_data& data) {
        const auto found = std::find_if(f_.given.begin(), f_.given.end(),
                                        [&](const auto& each) { return each.get() == &data; });
        hash_.number(data.given_count).number(static_cast<std::uint64_t>(found - f_.given.begin()));
    }
    void block_(block_id b) {
        hash_.number(f_.blocks[b].size());
        for (value_id v : f_.blocks[b]) {
            number_[v] = ++last_;
            const instruction& i = f_.code[v];
            hash_.number(static_cast<std::uint64_t>(i.op)).number(i.detail).number(code(i.result));
            hash_.number(i.bits).number(i.operand_count);
            hash_.number(i.blocks[0] != none).number(i.blocks[1] != none).number(i.name != none);
            if (i.name != none) hash_.text(f_.names[i.name]);
            const bool later =
                i.op == opcode::while_ || i.op == opcode::logic_and || i.op == opcode::logic_or;
            if (!later) operands(v);
            for (block_id inner : i.blocks)
                if (inner != none) block_(inner);
            if (later) operands(v);
        }
    }
    void operands(value_id v) {
        for (value_id o : f_.operands_of(v)) hash_.number(o == none ? 0 : number_[o]);
    }

    const function& f_;
    runtime::hasher hash_;
    std::vector<std::uint64_t> number_;
    std::uint64_t last_ = 0;
};

}  // namespace

runtime::digest hash(const function& f) { return fingerprint(f).run(); }

}  // namespace balm::ir
