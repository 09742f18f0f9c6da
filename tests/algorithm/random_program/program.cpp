// How a program goes: steps at random, after each of which all arrays are as on the host.

#include "algorithm/random_program/program.hpp"

#include <iterator>

namespace balm::test::random_algorithms {

template <class T>
void program<T>::run() {
    for (std::size_t steps = 2 + below(3); steps > 0 && !testing::Test::HasFailure(); --steps) {
        say("\n  ");
        step();
        same(x_, "x");
        same(y_, "y");
        same(base_, "base");
        same(special_, "special");
        same(keys_, "keys");
        same(wide_, "wide");
    }
}

template <class T>
void program<T>::step() {
    using one_step = void (program::*)();
    constexpr one_step all[] = {&program::scan,
                                &program::scan_by_key,
                                &program::scan_in_place,
                                &program::scan_along,
                                &program::scan_two_in_pieces,
                                &program::combine_other_elements,
                                &program::unique_structures,
                                &program::count_with_other_weights,
                                &program::sort_special,
                                &program::sort_with_values,
                                &program::sort_several_keys,
                                &program::sort_by_comparison,
                                &program::sort_positions,
                                &program::sort_along,
                                &program::select_some,
                                &program::part,
                                &program::unique_ones,
                                &program::reduce_runs,
                                &program::count_bins,
                                &program::count_even_bins,
                                &program::search,
                                &program::move_some,
                                &program::merge_two,
                                &program::merge_with_values,
                                &program::merge_several_keys,
                                &program::merge_by_comparison,
                                &program::merge_other_keys,
                                &program::combine_sets,
                                &program::find_first,
                                &program::find_rank,
                                &program::find_first_by_comparison,
                                &program::find_first_of_other_keys,
                                &program::sort_in_segments,
                                &program::sort_other_keys_in_segments,
                                &program::reduce_in_segments,
                                &program::reduce_any_elements,
                                &program::reduce_any_elements,
                                &program::multiply,
                                &program::multiply_rectangular,
                                &program::multiply_reals};
    (this->*all[below(std::size(all))])();
}

#define BALM_INSTANTIATE(T) template void program<T>::run();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
