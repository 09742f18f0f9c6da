#pragma once
// Which loads may return the same value: those through pointers of one root while nothing changes the memory
// behind it. A change of everything in an address space, as a barrier makes, costs as little as one of a
// single array, so that passes are linear in the program.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/ir.hpp"

namespace balm::ir {

class memory_versions {
public:
    /// The version of memory that is never changed is `initial`.
    memory_versions(const function&, std::uint32_t initial);
    void resize(std::size_t instructions) { number_of_.resize(instructions, none); }

    /// The version of the memory that a load reads is a pair: of the last change of just this memory, and of
    /// the last one of its address space.
    struct version {
        std::uint32_t own, of_space;
    };
    version of(value_id load);
    /// Only memory of loads that were noted, or asked for, is changed.
    void note(value_id load) { static_cast<void>(number_of(load)); }
    void change(const effects&, std::uint32_t to);

    /// The number of changes so far; shrink() undoes those after the first `count`.
    std::size_t size() const { return undo_.size(); }
    void shrink(std::size_t count);

private:
    struct memory {
        value_id load;  ///< a load through a pointer into it
        std::uint32_t version;
    };
    struct previous {
        std::uint32_t number, version;
    };

    std::uint32_t number_of(value_id load);
    void set(std::uint32_t number, std::uint32_t to);

    const function& f_;
    const std::uint32_t initial_;
    std::vector<std::uint32_t> number_of_;  ///< by root; none: not noted
    std::vector<memory> memories_;          ///< first the address spaces
    std::vector<std::uint32_t> others_;     ///< numbers of memory that is not an array of the kernel
    std::vector<previous> undo_;
};

}  // namespace balm::ir
