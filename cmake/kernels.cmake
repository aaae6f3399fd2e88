# One file per instruction set gets that set's flags; everything else stays portable.
if(TARGET flx_kernels AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT FLEXOR_ONLY_SCALAR)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/kernels/isa_avx2.c PROPERTIES COMPILE_OPTIONS
                              "-mavx2;-mfma;-ffp-contract=fast")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/kernels/isa_avx512.c PROPERTIES COMPILE_OPTIONS
                              "-mavx512f;-mavx512dq;-mavx512vl;-mfma;-mprefer-vector-width=512;-ffp-contract=fast")
endif()
if(TARGET flx_sparse AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT FLEXOR_ONLY_SCALAR)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/sparse/substitute_avx2.c PROPERTIES COMPILE_OPTIONS
                              "-mavx2;-mfma;-ffp-contract=fast")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/sparse/substitute_avx512.c PROPERTIES COMPILE_OPTIONS
                              "-mavx512f;-mavx512dq;-mavx512vl;-mfma;-mprefer-vector-width=512;-ffp-contract=fast")
endif()
if(TARGET flx_constraints AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT FLEXOR_ONLY_SCALAR)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/constraints/projections_avx2.c PROPERTIES COMPILE_OPTIONS
                              "-mavx2;-mfma;-ffp-contract=fast")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/constraints/projections_avx512.c PROPERTIES COMPILE_OPTIONS
                              "-mavx512f;-mavx512dq;-mavx512vl;-mfma;-mprefer-vector-width=512;-ffp-contract=fast")
endif()
if(TARGET flx_reduce AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT FLEXOR_ONLY_SCALAR)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/reduce/panel_avx2.c PROPERTIES COMPILE_OPTIONS
                              "-mavx2;-mfma;-ffp-contract=fast")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/reduce/panel_avx512.c PROPERTIES COMPILE_OPTIONS
                              "-mavx512f;-mavx512dq;-mavx512vl;-mfma;-mprefer-vector-width=512;-ffp-contract=fast")
endif()
