// expect: and not be mutable, as several threads may run it at once
#include <balm/balm.hpp>

using namespace balm::dsl;

const balm::module<int()> module([](balm::module_builder& m) {
    return m.entry([count = 0](balm::program&) mutable { return ++count; });
});
