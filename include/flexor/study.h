/// @file
/// Studies: experiments that are run, judged and written down as a page to read.
#ifndef FLEXOR_STUDY_H
#define FLEXOR_STUDY_H

#include "flexor/base.h"
#include "flexor/model.h"

#ifdef __cplusplus
extern "C"
{
#endif

    /// What is compared with what. Get one from flx_study_options_default(), change what you need. Texts are lists with
    /// commas, NULL = all there are.
    typedef struct flx_study_options
    {
        size_t         struct_size;
        int32_t        cloth_side;  ///< n of the n x n cloths; 30
        const char*    experiments; ///< "S1,T2"; NULL: C1, B1, B1w, B2, S1, S2, T1, T2, T3, V1, V2
        const char*    methods;     ///< "block_deim,secs"; NULL: those of docs/reduction.md
        int32_t        mode_count;  ///< at most 8
        const int32_t* modes;       ///< [mode_count] r, ascending; NULL: 6, 10, 20, 40
        bool           quick;       ///< small cloth, two experiments, few modes: to see that everything works
        bool           overwrite;
    } flx_study_options;

    FLX_API flx_study_options flx_study_options_default(void);

    /// Whether the forces of Projective Dynamics can be reduced by DEIM: train, run and judge every method on every
    /// experiment, and write what came out.
    ///
    /// in   path      of the page: one HTML file that needs no other. Beside it, with the endings .csv and .json in
    /// place of
    ///                .html: every trial, and every number that the page's text states.
    ///      progress  may be NULL; false stops
    ///
    /// Returns FLX_ERR_ARGUMENT for names and numbers that make no sense, FLX_ERR_EXISTS, FLX_ERR_IO, FLX_ERR_MEMORY,
    /// FLX_ERR_CANCELLED.
    FLX_API FLX_MUST_CHECK flx_status flx_study_deim(flx_context* ctx, const flx_study_options* options,
                                                     const char* path, flx_progress_fn progress, void* user);

#ifdef __cplusplus
}
#endif
#endif
