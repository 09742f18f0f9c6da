// expect: use a fixed-width type
#include <balm/balm.hpp>

balm::vector<long long> numbers;
