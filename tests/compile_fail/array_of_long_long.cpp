// expect: write the type of fixed width
#include <balm/balm.hpp>

balm::vector<long long> numbers;
