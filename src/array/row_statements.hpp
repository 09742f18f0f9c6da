#pragma once
// Statements over rows of one length, and reductions of these rows, as one tape: a reduction along the rows
// needs all elements of a row, but no other row, so one kernel can hold a row and compute everything that
// concerns it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array/fused_statements.hpp"
#include "array/layout.hpp"

namespace balm::array {

/// Rows of elements that are contiguous in row-major order.
struct row_box {
    std::size_t rows = 0, columns = 0;
    std::size_t count() const { return rows * columns; }
    friend bool operator==(const row_box&, const row_box&) = default;
};

/// What a kernel of rows computes.
struct fused_rows {
    enum class part_kind : std::uint8_t {
        elements,  ///< statements of every element
        row,       ///< statements of one element for each row
        reduction  ///< reduces the part's value, for every element, to one of the row
    };
    /// Consecutive steps of the tape. Kept values of a row are the same for its elements; that of a reduction
    /// is its result.
    struct part {
        part_kind what = part_kind::elements;
        std::size_t end = 0;  ///< of its steps
    };
    /// A kept value that is stored after a part, or, for one of the row, at the end.
    struct store {
        vector_handle into;
        std::size_t keep = 0;  ///< the step that numbers the value
        std::size_t after = 0;
        bool is_of_row = false;
    };
    row_box box;
    tape values;
    std::vector<part> parts;
    std::vector<store> stores;
};

/// A reduction along rows that a recording holds back.
class held_row_reduction {
public:
    held_row_reduction() = default;
    held_row_reduction(const held_row_reduction&) = delete;
    held_row_reduction& operator=(const held_row_reduction&) = delete;
    virtual ~held_row_reduction() = default;
    /// Whether one kernel can compute both with the results of two.
    virtual bool shares_kernel_with(const held_row_reduction&) const = 0;
    /// The elements of a row that one work-item holds.
    virtual std::size_t elements_of_item() const = 0;
    /// Launches the kernel of the reduction alone.
    virtual void launch(const tape& operand, vector_state& result) = 0;
    /// Launches the kernel of the rows with these reductions, of which this is the first.
    virtual void launch(const fused_rows&, std::span<const std::unique_ptr<held_row_reduction>> all) = 0;
};

class row_statements {
public:
    explicit row_statements(const row_box& box) : box_(box) {}
    /// Statements over a box of the same elements come first.
    row_statements(const row_box&, const fused_statements&, const shape& box);
    /// Whether their views can be those of rows.
    static bool can_begin_with(const tape& statements, const row_box&);

    const row_box& box() const { return box_; }
    /// Adds a statement of all elements or of one for each row; returns false if it must follow in another
    /// kernel.
    bool add(target_list, const tape&, const shape& box);
    /// Adds a reduction of all rows, which it takes if it returns true. The operand is as the reduction alone
    /// computes it, since its views decide the order of the elements, and with_own_elements().
    bool add(std::unique_ptr<held_row_reduction>&, const tape& operand, const tape& own_elements,
             const vector_handle& result);

    bool must_precede(const vector_accesses& s) const {
        return elements_.conflict_with(s) || rows_.conflict_with(s);
    }
    template <class F>
    void for_each_vector(F&& f) const {
        elements_.for_each_vector(f);
        rows_.for_each_vector(f);
    }
    void enqueue(const unread_test&);

private:
    using part_kind = fused_rows::part_kind;
    /// Statements over the same elements, or a reduction.
    struct part {
        part_kind what = part_kind::elements;
        shape box;
        fused_statements statements;
        tape operand, own_elements;  ///< of a reduction
        vector_handle result;
    };

    bool can_add(const vector_accesses& of_elements, const vector_accesses& of_rows, const tape&) const;
    fused_rows fused() const;

    row_box box_;
    std::size_t steps_ = 0;
    bool computes_places_ = false;  ///< from elements
    std::vector<part> parts_;
    std::vector<std::unique_ptr<held_row_reduction>> reductions_;  ///< of the parts that are one, in order
    fused_accesses elements_, rows_;
};

}  // namespace balm::array
