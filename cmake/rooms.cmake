# Rooms in order of dependency: a room sees itself and those before it (tools/check-layers.py holds it to that).
set(FLX_ROOMS base math sparse kernels mesh scene contact model solver recording)

add_library(flx_flags INTERFACE)
target_compile_options(flx_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wno-sign-conversion -fno-math-errno
                                           -fno-trapping-math -ffp-contract=off)
target_compile_definitions(flx_flags INTERFACE _GNU_SOURCE $<$<BOOL:${FLEXOR_ONLY_SCALAR}>:FLX_ONLY_SCALAR=1>)
target_include_directories(flx_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)

set(FLX_OBJECTS "")
foreach(room IN LISTS FLX_ROOMS)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.c)
  if(sources)
    add_library(flx_${room} OBJECT ${sources})
    target_link_libraries(flx_${room} PRIVATE flx_flags flx_dependencies)
    list(APPEND FLX_OBJECTS $<TARGET_OBJECTS:flx_${room}>)
  endif()
endforeach()
include(cmake/kernels.cmake)

add_library(flexor ${FLX_OBJECTS})
add_library(Flexor::flexor ALIAS flexor)
target_include_directories(flexor PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                                         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(flexor PRIVATE $<BUILD_INTERFACE:flx_dependencies>)
set_target_properties(flexor PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
