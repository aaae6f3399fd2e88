# Studies: programs on the public headers whose results are kept in results/.
add_library(bench_study STATIC study.c plot.c)
target_compile_options(bench_study PUBLIC -Wall -Wextra -Wconversion -Wshadow -Wno-sign-conversion)
target_link_libraries(bench_study PUBLIC flexor m)
foreach(study study_disentangle study_precision)
  add_executable(${study} ${study}.c)
  target_link_libraries(${study} PRIVATE bench_study flx_dependencies)
endforeach()
