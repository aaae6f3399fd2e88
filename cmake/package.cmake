# What `cmake --install` puts where, so that find_package(Flexor) and pkg-config find it (tests/consumer holds it to that).
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/flexor TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC)

set_target_properties(flexor PROPERTIES EXPORT_NAME flexor_static)
# those who link the archive must link what it stands on; FlexorConfig.cmake defines the name
target_link_libraries(flexor INTERFACE $<INSTALL_INTERFACE:Flexor::dependencies>)

install(TARGETS ${FLX_LIBRARIES} EXPORT FlexorTargets)
install(EXPORT FlexorTargets NAMESPACE Flexor:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Flexor)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/FlexorConfig.cmake.in ${PROJECT_BINARY_DIR}/FlexorConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Flexor)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/FlexorConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/FlexorConfig.cmake ${PROJECT_BINARY_DIR}/FlexorConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Flexor)

configure_file(${PROJECT_SOURCE_DIR}/cmake/flexor.pc.in ${PROJECT_BINARY_DIR}/flexor.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/flexor.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
