# Run by cpack when the files of all components are in place: each package holds its copyright (Debian's policy, 12.5).
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(doc "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    file(COPY_FILE "${CPACK_RESOURCE_FILE_LICENSE}" "${CPACK_TEMPORARY_DIRECTORY}/copyright")
    file(MAKE_DIRECTORY "${doc}")
    file(RENAME "${CPACK_TEMPORARY_DIRECTORY}/copyright" "${doc}/copyright")
endforeach()
