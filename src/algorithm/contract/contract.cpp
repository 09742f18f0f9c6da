// Contractions as tapes. Axes that only one operand has are summed first. The rest is an elementwise product
// if nothing is summed, a reduction along axes if the result has few elements, and else a batch of matrix
// products.

#include "balm/contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "algorithm/contract/labelled.hpp"
#include "algorithm/contract/product.hpp"
#include "algorithm/contract/product_method.hpp"
#include "array/layout.hpp"
#include "array/spread/parts.hpp"
#include "balm/along.hpp"
#include "balm/error.hpp"

namespace balm::array {

namespace {

/// Throws usage_error if the vectors are on different devices.
void check_devices(const tape& a, const tape& b) {
    const vector_state* first = nullptr;
    for (const tape* p : {&a, &b})
        for (const auto& v : p->vectors) {
            if (first != nullptr) check_same_devices(*first, *v);
            first = v.get();
        }
}

labelled product_over(const labelled& a, const labelled& b, std::string_view letters,
                      const letter_extents& extents, scalar element) {
    labelled both = rearranged(a, letters, extents);
    both.values.append(rearranged(b, letters, extents).values);
    step& s = both.values.push(step::kind::apply);
    s.type = element;
    s.detail = static_cast<std::uint16_t>(builtin::mul);
    s.arity = 2;
    both.letters = letters;
    return both;
}

/// The sums of products over all axes that are not in the result.
tape sums_of_products(const labelled& a, const labelled& b, const std::string& output,
                      const std::string& inner, const letter_extents& extents, scalar element) {
    dimension_list along_inner;
    for (std::size_t d = 0; d < inner.size(); ++d)
        along_inner.each[static_cast<std::size_t>(along_inner.count++)] =
            static_cast<std::int64_t>(output.size() + d);
    return reduced_along(product_over(a, b, output + inner, extents, element).values,
                         {reduction_kind::sum, element}, along_inner);
}

tape contracted(const subscripts& words, const letter_extents& extents, const tape& first, const tape& second,
                const contraction& how) {
    const scalar element = how.element.element;
    const bool is_real = how.element.is_scalar();
    refuse_writing(first);
    refuse_writing(second);
    check_devices(first, second);
    labelled a = with_letters(first, words.operands[0], extents);
    labelled b = with_letters(second, words.operands[1], extents);
    const std::string& output = words.output;
    const std::string only_a = common(a.letters, output + b.letters),
                      only_b = common(b.letters, output + a.letters);
    if (!is_real && (only_a != a.letters || only_b != b.letters)) return {};
    if (only_a != a.letters) a = summed(a, only_a, extents, element);
    if (only_b != b.letters) b = summed(b, only_b, extents, element);

    // Neighbouring elements of the result become columns of the product.
    const bool is_swapped =
        !output.empty() && has(a.letters, output.back()) && !has(b.letters, output.back());
    if (is_swapped) std::swap(a, b);
    const std::string inner = without(common(a.letters, b.letters), output);
    if (inner.empty() && !is_real) return {};
    const std::string batch = common(common(output, a.letters), b.letters),
                      rows = without(common(output, a.letters), batch),
                      columns = without(common(output, b.letters), batch);
    const bool has_axes_left = (output + inner).size() <= static_cast<std::size_t>(shape::max_dimensions);
    const product_extents sizes{extents.of(batch).count(), extents.of(rows).count(),
                                extents.of(columns).count(), extents.of(inner).count()};
    const bool wants_library = how.by == multiply_by::vendor_library;
    const auto describe = [&](std::string_view method, std::string_view fault) {
        product_extents given = sizes;
        if (is_swapped) std::swap(given.rows, given.columns);
        *how.plan += product_words(given, how.element, method, wants_library ? fault : "");
    };
    if (inner.empty()) {
        if (how.plan != nullptr) describe("fused into the expression that contains it", "nothing is summed");
        return product_over(a, b, output, extents, element).values;
    }
    const std::shared_ptr<vector_state> near =
        vector_near(a.values.vectors.empty() ? b.values : a.values, how.element);
    if (has_axes_left && is_reduction(sizes, *near)) {
        if (!is_real) return {};
        if (how.plan != nullptr) describe("sums along dimensions", "the result is empty or too narrow");
        return sums_of_products(a, b, output, inner, extents, element);
    }

    product_letters letters{batch, rows, columns, inner, output};
    const bool is_in_order = is_stored_in_order(letters, extents);
    if (!is_in_order) letters.output = batch + rows + columns;
    const std::string stored = letters.output;
    const std::string fault =
        wants_library ? fault_for_library(letters, extents, sizes, how.element, *near) : "";
    const bool by_library = wants_library && fault.empty();
    if (!is_real && !by_library) return {};
    if (how.plan != nullptr)
        describe(by_library ? library_words(*near) : own_kernel_words(sizes, element, *near), fault);
    tape p = batched_product(std::move(a), std::move(b), letters, extents, how.element, by_library, near);
    return is_in_order ? p : rearranged(with_letters(p, stored, extents), output, extents).values;
}

/// The letters of `count` axes, from number `first` on.
std::string letters_from(int first, int count) {
    std::string made;
    for (int k = 0; k < count; ++k) made += static_cast<char>('a' + first + k);
    return made;
}

void check_axes(const shape& box, std::span<const int> axes, const char* operand) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
        if (axes[k] < 0 || axes[k] >= box.dimensions())
            throw usage_error(
                fmt::format("a contraction names axis {} of its {} operand, which is out of range for an "
                            "array of {}: its axes are 0 to {}",
                            axes[k], operand, to_string(box), box.dimensions() - 1));
        if (std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(k), axes[k]) !=
            axes.begin() + static_cast<std::ptrdiff_t>(k))
            throw usage_error(fmt::format(
                "a contraction names axis {} of its {} operand twice; name each one once", axes[k], operand));
    }
}

}  // namespace

tape einsum(std::string_view words, tape&& a, scalar element) {
    const subscripts found = parsed(words, 1);
    const shape boxes[] = {box_of(a)};
    const letter_extents extents(found, boxes, fmt::format("einsum \"{}\"", words));
    refuse_writing(a);
    const labelled all = with_letters(a, found.operands[0], extents);
    return summed(all, found.output, extents, element).values;
}

tape einsum(std::string_view words, tape&& a, tape&& b, const contraction& how) {
    const subscripts found = parsed(words, 2);
    const shape boxes[] = {box_of(a), box_of(b)};
    const letter_extents extents(found, boxes, fmt::format("einsum \"{}\"", words));
    return contracted(found, extents, a, b, how);
}

tape matmul(tape&& a, tape&& b, const contraction& how) {
    const shape boxes[] = {box_of(a), box_of(b)};
    const int of_a = boxes[0].dimensions(), of_b = boxes[1].dimensions();
    if (of_a > 2 || of_b > 2)
        throw usage_error(
            fmt::format("matmul cannot multiply arrays of {} and {}: it takes two dimensions, rows x "
                        "columns, or one; einsum(\"bik,bkj->bij\", A, B) multiplies a batch of matrices",
                        to_string(boxes[0]), to_string(boxes[1])));
    const std::size_t inner[] = {boxes[0][of_a - 1], boxes[1][0]};
    if (inner[0] != inner[1])
        throw usage_error(
            fmt::format("matmul cannot multiply {} by {}: the first operand has {} columns, and the second "
                        "{} rows; these must be equal",
                        to_string(boxes[0]), to_string(boxes[1]), inner[0], inner[1]));
    subscripts words;
    words.operands = {of_a == 2 ? "ik" : "k", of_b == 2 ? "kj" : "k"};
    words.output = std::string(of_a == 2 ? "i" : "") + (of_b == 2 ? "j" : "");
    return contracted(words, letter_extents(words, boxes, "matmul"), a, b, how);
}

tape contract(tape&& a, std::span<const int> axes_of_a, tape&& b, std::span<const int> axes_of_b,
              const contraction& how) {
    const shape boxes[] = {box_of(a), box_of(b)};
    check_axes(boxes[0], axes_of_a, "first");
    check_axes(boxes[1], axes_of_b, "second");
    if (axes_of_a.size() != axes_of_b.size())
        throw usage_error(
            fmt::format("a contraction names {} axes of its first operand and {} of its second; the numbers "
                        "must be equal",
                        axes_of_a.size(), axes_of_b.size()));
    subscripts words;
    words.operands = {letters_from(0, boxes[0].dimensions()),
                      letters_from(boxes[0].dimensions(), boxes[1].dimensions())};
    for (std::size_t k = 0; k < axes_of_a.size(); ++k) {
        const auto of_a = static_cast<std::size_t>(axes_of_a[k]),
                   of_b = static_cast<std::size_t>(axes_of_b[k]);
        if (boxes[0][axes_of_a[k]] != boxes[1][axes_of_b[k]])
            throw usage_error(fmt::format(
                "a contraction pairs axis {} of {} elements with axis {} of {}; their extents must be equal",
                axes_of_a[k], boxes[0][axes_of_a[k]], axes_of_b[k], boxes[1][axes_of_b[k]]));
        words.operands[1][of_b] = words.operands[0][of_a];
    }
    words.output =
        without(words.operands[0], words.operands[1]) + without(words.operands[1], words.operands[0]);
    if (words.output.size() > static_cast<std::size_t>(shape::max_dimensions))
        throw usage_error(
            fmt::format("the contraction of {} and {} over {} axes has {} axes; arrays have at most eight",
                        to_string(boxes[0]), to_string(boxes[1]), axes_of_a.size(), words.output.size()));
    return contracted(words, letter_extents(words, boxes, "a contraction"), a, b, how);
}

}  // namespace balm::array
