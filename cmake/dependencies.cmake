# Libraries Flexor stands on, all Debian packages; tools/install-deps.sh installs them.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)
find_path(METIS_INCLUDE metis.h REQUIRED)
find_library(METIS_LIBRARY metis REQUIRED)
find_path(LAPACKE_INCLUDE lapacke.h REQUIRED)

add_library(flx_dependencies INTERFACE)
target_include_directories(flx_dependencies INTERFACE ${METIS_INCLUDE})
target_link_libraries(flx_dependencies INTERFACE PkgConfig::YAML PkgConfig::PNG PkgConfig::OPENBLAS PkgConfig::HDF5
                                                 ${METIS_LIBRARY} Threads::Threads m)
