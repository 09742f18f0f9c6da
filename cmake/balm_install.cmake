# cmake --install: the library, its headers, a package for find_package(balm), balm.pc for pkg-config, and the pages.
# The components: runtime (a shared library), development, tool (apps/CMakeLists.txt), documentation.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/balm)

if(TARGET balm_of_each_user)
    install(TARGETS balm_of_each_user EXPORT balmTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
install(TARGETS balm EXPORT balmTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(DIRECTORY include/balm "${PROJECT_BINARY_DIR}/include/balm"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
# Beside the library's headers, not among them: an installed VexCL keeps its name.
install(TARGETS balm_vexcl EXPORT balmTargets)
install(DIRECTORY include_vexcl/vexcl DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/balm_vexcl" COMPONENT development)
install(EXPORT balmTargets NAMESPACE balm:: DESTINATION ${package_dir} COMPONENT development)

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
    DESTINATION ${package_dir} COMPONENT development)

# ---- balm.pc ----------------------------------------------------------------------------------------

# Found from where balm.pc is, so that the installed tree may be moved, unless its folders were chosen by full paths.
set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${up}")
endif()
set(pc_libdir "\${prefix}")
cmake_path(APPEND pc_libdir "${CMAKE_INSTALL_LIBDIR}")
set(pc_includedir "\${prefix}")
cmake_path(APPEND pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")

# As in balmConfig.cmake: a static Balm leaves its own libraries to be linked by its user (`pkg-config --static`).
set(pc_libs "-lbalm")
set(pc_requires_private "")
set(pc_libs_private "")
if(BALM_IS_STATIC)
    set(pc_requires_private fmt libsodium zlib)
    list(TRANSFORM CMAKE_DL_LIBS PREPEND "-l" OUTPUT_VARIABLE pc_libs_private)
    list(APPEND pc_libs_private ${CMAKE_THREAD_LIBS_INIT})
    list(JOIN pc_requires_private " " pc_requires_private)
    list(JOIN pc_libs_private " " pc_libs_private)
else()
    string(APPEND pc_libs " -lbalm_of_each_user")
endif()
configure_file(cmake/balm.pc.in "${PROJECT_BINARY_DIR}/package/balm.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/balm.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# ---- the pages --------------------------------------------------------------------------------------

# With all that they link to.
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation
    FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg" PATTERN "*.cpp" PATTERN "*.hpp" PATTERN "*.cl"
    PATTERN docs/site EXCLUDE)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE
    DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
