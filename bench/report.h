// The yardsticks' tables: for people, as Markdown and as CSV.
#ifndef FLX_BENCH_REPORT_H
#define FLX_BENCH_REPORT_H

#include "measure.h"

#include <stdio.h>

typedef struct report
{
    FILE* csv;      // NULL = none
    FILE* markdown; // NULL = none
} report;

/// One yardstick in one race. Negative residual or difference: does not apply.
typedef struct report_row
{
    const char* who;
    samples     first, second, together; // ms; first and second may be empty
    double      residual;                // |b - A x| / |b|, the worst column
    double      difference;              // |x - ours| / |ours|
    char        note[96];
} report_row;

/// A goal: `got` must be at least `want`.
typedef struct report_target
{
    const char* what;
    double      want, got; // got 0: not measured
} report_target;

/// Files are appended to, so that races run one by one end in the same files. NULL paths are left out.
int  report_open(report* r, const char* csv, const char* markdown);
void report_close(report* r);
/// A line of text for all but the CSV.
__attribute__((format(printf, 2, 3))) void report_line(const report* r, const char* format, ...);
/// Processor, cores, system, compiler.
void report_machine(const report* r);
/// `first` and `second` head the two parts of `together`. rows[0] is ours.
void report_race(const report* r, const char* race, const char* title, const char* first, const char* second,
                 const report_row* rows, int count);
void report_targets(const report* r, const report_target* target, int count);

#endif
