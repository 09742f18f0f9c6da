# Run by cpack when the files of all components are in place: each package holds its copyright and the packaging's
# changelog (Debian's policy, 12.5 and 12.7), and manual pages are compressed (12.1).

find_program(gzip gzip REQUIRED)
# Replaces FILE by FILE.gz, which is the same at any time.
function(compress file)
    execute_process(COMMAND "${gzip}" -9 -n -f "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # that of SOURCE_DATE_EPOCH, if it is set
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}")
    set(doc "${root}/usr/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    file(COPY_FILE "${CPACK_RESOURCE_FILE_LICENSE}" "${CPACK_TEMPORARY_DIRECTORY}/copyright")
    file(MAKE_DIRECTORY "${doc}")
    file(RENAME "${CPACK_TEMPORARY_DIRECTORY}/copyright" "${doc}/copyright")

    set(version "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
    file(WRITE "${doc}/changelog.Debian"
        "${CPACK_PACKAGE_NAME} (${version}) unstable; urgency=medium\n\n"
        "  * Release ${CPACK_PACKAGE_VERSION}; its changes are in CHANGELOG.md of libbalm-doc.\n\n"
        " -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
    compress("${doc}/changelog.Debian")
    file(GLOB pages "${root}/usr/share/man/man*/*.[1-9]")
    foreach(page IN LISTS pages)
        compress("${page}")
    endforeach()
endforeach()
