// expect: a function's parameters have types
#include <balm/balm.hpp>

void define();
void define() {
    [[maybe_unused]] const auto f = balm::function("f", [](auto x) { return x + 1; });
}
