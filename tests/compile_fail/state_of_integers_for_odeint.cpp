// expect: states of Boost.odeint must be vectors of float, double, half, complex numbers or short vectors of
// these
#include <balm/balm.hpp>
#include <balm/odeint.hpp>
#include <boost/numeric/odeint.hpp>

boost::numeric::odeint::euler<balm::vector<int>> stepper();
boost::numeric::odeint::euler<balm::vector<int>> stepper() { return {}; }
