// expect: Balm: the definition of a module must end with return m.entry
#include <balm/balm.hpp>

using namespace balm::dsl;

const balm::module<void()> module([](balm::module_builder& m) { m.entry([](balm::program&) {}); });
