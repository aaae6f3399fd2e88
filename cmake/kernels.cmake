# One file per instruction set gets that set's flags; everything else stays portable.
function(flx_instruction_sets target stem)
  if(NOT TARGET ${target} OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" OR FLEXOR_ONLY_SCALAR)
    return()
  endif()
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/${stem}_avx2.c PROPERTIES COMPILE_OPTIONS
                              "-mavx2;-mfma;-ffp-contract=fast")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/${stem}_avx512.c PROPERTIES COMPILE_OPTIONS
                              "-mavx512f;-mavx512dq;-mavx512vl;-mfma;-mprefer-vector-width=512;-ffp-contract=fast")
endfunction()

flx_instruction_sets(flx_kernels kernels/isa)
flx_instruction_sets(flx_sparse sparse/substitute)
flx_instruction_sets(flx_constraints constraints/projections)
flx_instruction_sets(flx_reduce reduce/panel)
