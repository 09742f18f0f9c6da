// expect: return_(Float(1.f)), not 1.f
#include <balm/balm.hpp>

void define();
void define() {
    [[maybe_unused]] const auto one = balm::function("one", [](balm::dsl::Float x) {
        balm::dsl::return_(1.f);
        return x;
    });
}
