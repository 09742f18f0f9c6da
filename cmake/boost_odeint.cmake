# boost_odeint: Boost.odeint's headers, where they are found (Debian: libboost-dev), for the tests, examples and the
# benchmark of balm/odeint.hpp. The library does without.
find_path(BALM_ODEINT_INCLUDE boost/numeric/odeint.hpp)
mark_as_advanced(BALM_ODEINT_INCLUDE)
if(BALM_ODEINT_INCLUDE)
    add_library(boost_odeint INTERFACE)
    target_include_directories(boost_odeint SYSTEM INTERFACE "${BALM_ODEINT_INCLUDE}")
else()
    message(STATUS "No Boost.odeint: its tests, examples and benchmark are left out")
endif()
