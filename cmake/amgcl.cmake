# amgcl_headers: AMGCL's headers, where they are found (set BALM_AMGCL_INCLUDE to their folder's parent), and Boost's property
# trees, or none with AMGCL_NO_BOOST, for the tests, the example and the benchmark of balm/amgcl.hpp. The library does
# without.
find_path(BALM_AMGCL_INCLUDE amgcl/amg.hpp)
find_path(BALM_PROPERTY_TREE_INCLUDE boost/property_tree/ptree.hpp)
mark_as_advanced(BALM_AMGCL_INCLUDE BALM_PROPERTY_TREE_INCLUDE)
if(BALM_AMGCL_INCLUDE)
    add_library(amgcl_headers INTERFACE)
    target_include_directories(amgcl_headers SYSTEM INTERFACE "${BALM_AMGCL_INCLUDE}")
    if(BALM_PROPERTY_TREE_INCLUDE)
        target_include_directories(amgcl_headers SYSTEM INTERFACE "${BALM_PROPERTY_TREE_INCLUDE}")
    else()
        target_compile_definitions(amgcl_headers INTERFACE AMGCL_NO_BOOST)
    endif()
else()
    message(STATUS "No AMGCL: its tests, example and benchmark are left out")
endif()
