# Makes Balm's source tree a part of this project, and checks that this project stays as it was.

# A library alone needs none of these.
foreach(package IN ITEMS CLI11 GTest nlohmann_json PkgConfig PNG TBB benchmark)
    set(CMAKE_DISABLE_FIND_PACKAGE_${package} ON)
endforeach()
# Many projects have this module, each with other targets.
file(WRITE "${PROJECT_BINARY_DIR}/modules/Findsodium.cmake" "message(FATAL_ERROR [[the outside project's module]])\n")
list(APPEND CMAKE_MODULE_PATH "${PROJECT_BINARY_DIR}/modules")

get_cmake_property(cache_before CACHE_VARIABLES)
if(OUTSIDE_USES STREQUAL "FetchContent")
    set(BUILD_SHARED_LIBS ON)  # of this project: no cache variable
    include(FetchContent)
    FetchContent_Declare(balm SOURCE_DIR "${BALM_SOURCE}")
    FetchContent_MakeAvailable(balm)
    set(wanted_type SHARED_LIBRARY)
else()
    add_subdirectory("${BALM_SOURCE}" balm)
    set(wanted_type STATIC_LIBRARY)
endif()
get_cmake_property(cache_after CACHE_VARIABLES)

list(REMOVE_ITEM cache_after ${cache_before})
list(FILTER cache_after EXCLUDE REGEX "^(BALM_|balm_|fmt_|sodium_|ZLIB_)")
list(FILTER cache_after EXCLUDE REGEX  # CMake's modules
    "^(CMAKE_(HAVE|INSTALL|PROJECT)_|_GNUInstallDirs_|FETCHCONTENT_|FIND_PACKAGE_)")
if(cache_after)
    message(FATAL_ERROR "Balm leaves cache variables: ${cache_after}")
endif()

get_property(folders DIRECTORY "${BALM_SOURCE}" PROPERTY SUBDIRECTORIES)
get_property(targets DIRECTORY "${BALM_SOURCE}" PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER targets EXCLUDE REGEX "^balm(_|$)")
if(folders OR targets)
    message(FATAL_ERROR "Balm brings more than the library: ${folders} ${targets}")
endif()

get_target_property(type balm TYPE)
if(NOT type STREQUAL wanted_type)
    message(FATAL_ERROR "Balm is a ${type} in place of a ${wanted_type}")
endif()
foreach(kind IN ITEMS ARCHIVE LIBRARY RUNTIME)
    if(DEFINED CMAKE_${kind}_OUTPUT_DIRECTORY)
        message(FATAL_ERROR "Balm moves what this project builds")
    endif()
    get_target_property(folder balm ${kind}_OUTPUT_DIRECTORY)
    if(folder)
        message(FATAL_ERROR "Balm is built in ${folder}")
    endif()
endforeach()
