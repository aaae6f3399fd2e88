// The page of a study: its parts, and the one way in which a number gets into a sentence.
#ifndef FLX_STUDY_PAGE_H
#define FLX_STUDY_PAGE_H

#include "base/file.h"
#include "study/plot.h"
#include "study/study.h"

#include <stdio.h>

typedef struct flx_page
{
    flx_study*  s;
    flx_file*   file;
    const char* path;
    const char* figure; // the section being written
    flx_status  status; // of claims that found no memory
} flx_page;

FLX_PRINTF(2, 3) void flx__page_text(flx_page* page, const char* format, ...);
/// Prints the value, and keeps it with its key as something the page claims. Whole numbers as they are, others with two
/// digits.
FLX_PRINTF(3, 4) void flx__page_number(flx_page* page, double value, const char* key, ...);
/// The text with each "{key}" as the next of the values, claimed as "WHO key", or as "key" when `who` is NULL.
void flx__page_sentence(flx_page* page, const char* who, const double* value, const char* text);
/// Two digits, "1.2e-5"; "inf".
void       flx__page_format(double value, char text[32]);
void       flx__page_section(flx_page* page, const char* figure, const char* title);
flx_status flx__page_picture(flx_page* page, const flx_study_picture* picture); // pictures.c

// Sections, in order. figures.c, cause.c, tables.c
void       flx__page_targets(flx_page* page);
void       flx__page_scoreboard(flx_page* page);
flx_status flx__page_poses(flx_page* page);
void       flx__page_decay(flx_page* page);
void       flx__page_reconstruction(flx_page* page);
void       flx__page_one_at_a_time(flx_page* page);
void       flx__page_failures(flx_page* page); // bending, springs, strain, tets
void       flx__page_energy(flx_page* page);
void       flx__page_others(flx_page* page);
void       flx__page_unseen(flx_page* page); // unseen.c
void       flx__page_cause(flx_page* page);
void       flx__page_speed(flx_page* page);
void       flx__page_table(flx_page* page);

#endif
