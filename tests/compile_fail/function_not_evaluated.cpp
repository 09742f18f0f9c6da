// expect warning: balm::eval(f(x))
#include <balm/balm.hpp>

void calls_nothing(balm::vector<float>& x);
void calls_nothing(balm::vector<float>& x) {
    const auto clear =
        balm::function("clear", [](balm::dsl::Index i, balm::dsl::Mixed<float> of) { of[i] = 0.f; });
    clear(balm::element_index(0, 10), x);
}
