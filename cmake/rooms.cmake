# Rooms in order of dependency: a room sees itself and those before it (tools/check-layers.py holds it to that).
set(FLX_ROOMS base math sparse kernels constraints mesh scene contact model solver recording reduce study)

add_library(flx_flags INTERFACE)
target_compile_options(flx_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wno-sign-conversion -fno-math-errno
                                           -fno-trapping-math -ffp-contract=off)
target_compile_definitions(flx_flags INTERFACE _GNU_SOURCE $<$<BOOL:${FLEXOR_ONLY_SCALAR}>:FLX_ONLY_SCALAR=1>)
target_include_directories(flx_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)

set(FLX_OBJECTS "")
foreach(room IN LISTS FLX_ROOMS)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  if(sources)
    add_library(flx_${room} OBJECT ${sources})
    target_link_libraries(flx_${room} PRIVATE flx_flags flx_dependencies)
    list(APPEND FLX_OBJECTS $<TARGET_OBJECTS:flx_${room}>)
  endif()
endforeach()
include(cmake/kernels.cmake)

# Orders and factors kept on disk belong to the code that made them: a change of these files asks for new ones.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/sparse/*.[chi]*)
set(flx_code "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_C_FLAGS} ${CMAKE_BUILD_TYPE}")
foreach(source IN LISTS sources ITEMS ${PROJECT_SOURCE_DIR}/src/solver/solver.c)
  file(SHA256 ${source} digest)
  string(APPEND flx_code " ${digest}")
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endforeach()
string(SHA256 flx_code "${flx_code}")
set_source_files_properties(src/sparse/factor_cache.c PROPERTIES COMPILE_DEFINITIONS "FLX_FACTOR_CODE=\"${flx_code}\"")

# The static library serves the command line and everything in this tree; the shared one is for others.
add_library(flexor STATIC ${FLX_OBJECTS})
set(FLX_LIBRARIES flexor)
if(FLEXOR_SHARED)
  add_library(flexor_shared SHARED ${FLX_OBJECTS})
  set_target_properties(flexor_shared PROPERTIES OUTPUT_NAME flexor VERSION ${PROJECT_VERSION} SOVERSION 0)
  string(FIND "${FLEXOR_SANITIZE}${CMAKE_C_FLAGS}" "sanitize" flx_at) # clang leaves the sanitizer's symbols to the program
  if(FLEXOR_SANITIZE OR NOT flx_at EQUAL -1)
    set(flx_sanitized ON)
  endif()
  target_link_options(flexor_shared PRIVATE $<$<NOT:$<BOOL:${flx_sanitized}>>:-Wl,--no-undefined>)
  list(APPEND FLX_LIBRARIES flexor_shared)
endif()
foreach(library IN LISTS FLX_LIBRARIES)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:flx_dependencies>)
endforeach()
add_library(Flexor::flexor ALIAS flexor)
