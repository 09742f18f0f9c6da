// expect: a member of a structure must be a scalar, an enumeration
#include <balm/balm.hpp>

struct precise {
    long double value;
};
BALM_STRUCT(precise, value)
