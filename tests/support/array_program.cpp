// What array programs share: types of elements and results, functions.

#include "support/array_program.hpp"

namespace balm::test {

const std::vector<scalar>& numbers_of(element_form form) {
    using enum scalar;
    static const std::vector<scalar> all[] = {{},
                                              {f32, f32, f32, f32},
                                              {i32, i32},
                                              {u8, u8, u8, u8},
                                              {f64, f64},
                                              {f32, f32, f32},
                                              {f32, f32},
                                              {f64, f64},
                                              {f32, i32, u8},
                                              {f16, f16, f16},
                                              {f16, f16, f16, f16}};
    return all[static_cast<std::size_t>(form)];
}

const char* name_of(reduction_row row) {
    constexpr const char* names[] = {"sum",       "sum_compensated", "product",   "min",         "max",
                                     "arg_min",   "arg_max",         "any",       "all",         "count",
                                     "fold_join", "fold_multiply",   "fold_wrap", "fold_farther"};
    return names[static_cast<std::size_t>(row)];
}
bool gives_position(reduction_row row) {
    return row == reduction_row::arg_min || row == reduction_row::arg_max;
}

scalar reduced_type(reduction_row row, scalar type) {
    switch (row) {
        case reduction_row::sum:
        case reduction_row::product:
            if (type >= scalar::i32) return promoted(type);
            return type == scalar::u8 || type == scalar::u16 ? scalar::u64 : scalar::i64;
        case reduction_row::any:
        case reduction_row::all: return scalar::boolean;
        case reduction_row::count: return scalar::i64;
        case reduction_row::fold_join:
        case reduction_row::fold_multiply: return scalar::u32;
        case reduction_row::fold_wrap: return scalar::u64;
        case reduction_row::fold_farther: return scalar::f64;
        default: return type;
    }
}

double identity_of(reduction_row row) { return row == reduction_row::fold_multiply ? 1 : 0; }

number host_call_of(const std::vector<number>& given) {
    const auto twice_and = array_functions[0].compute;
    const number both[] = {twice_and(twice_and(given[0], given[1]), given[2]), given[3]};
    return computed(builtin::mul, scalar::f32, both);
}

const std::vector<array_function> array_functions{
    {"twice_and", scalar::f32, scalar::f32, scalar::f32,
     [](const number& a, const number& b) {
         const number twice[] = {a, {2, 0, true}, b};
         return computed(builtin::fma, scalar::f32, twice);
     }},
    {"bits_of_both", scalar::i32, scalar::u32, scalar::u32,
     [](const number& a, const number& b) {
         const number shifted[] = {converted(scalar::u32, scalar::i32, a), {3, 0, true}};
         const number both[] = {computed(builtin::shl, scalar::u32, shifted), b};
         return computed(builtin::bit_xor, scalar::u32, both);
     }},
    {"greater_of", scalar::i64, scalar::i64, scalar::i64,
     [](const number& a, const number& b) { return a.value > b.value ? a : b; }}};

}  // namespace balm::test
