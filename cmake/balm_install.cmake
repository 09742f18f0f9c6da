# cmake --install: the library, its headers, and a package for find_package(balm).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/balm)

if(TARGET balm_of_each_user)
    install(TARGETS balm_of_each_user EXPORT balmTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS balm EXPORT balmTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/balm "${PROJECT_BINARY_DIR}/include/balm"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
install(EXPORT balmTargets NAMESPACE balm:: DESTINATION ${package_dir})

get_target_property(balm_type balm TYPE)
if(balm_type STREQUAL "STATIC_LIBRARY")
    set(BALM_IS_STATIC ON)
else()
    set(BALM_IS_STATIC OFF)
endif()
configure_package_config_file(cmake/balmConfig.cmake.in "${PROJECT_BINARY_DIR}/package/balmConfig.cmake"
    INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break its users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/balmConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/balmConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/balmConfigVersion.cmake"
              cmake/Findsodium.cmake
    DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
