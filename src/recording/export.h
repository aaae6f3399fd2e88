// What exporters share: the selected frames, the surface in its own compact numbering, and a set of files that appear
// together. One file per format, each with one function of type flx__exporter.
#ifndef FLX_RECORDING_EXPORT_H
#define FLX_RECORDING_EXPORT_H

#include "base/base.h"
#include "base/file.h"
#include "flexor/recording.h"

/// Files that appear together: all are claimed, then written under other names, then renamed.
typedef struct flx__output
{
    char* path;
    char* staged; // where it is written; NULL until it is
} flx__output;

typedef struct flx__export
{
    flx_context*       ctx;
    flx_recording*     recording;
    flx_recording_info info;
    flx_export_options options;
    const char*        path;

    int32_t frame_count; // selected
    bool    turn;        // (x, y, z) -> (x, z, -y)

    // Programs drop vertices that no triangle uses, and then caches of the rest no longer fit: these leave them out.
    int32_t        point_count;
    int32_t*       point;    // [point_count] surface vertex, ascending
    int32_t*       triangle; // [surface_triangle_count][3], into `point`
    float*         surface;  // [surface_vertex_count][3] of the frame read last, m
    unsigned char* buffer;   // [FLX__EXPORT_BUFFER]

    flx__output* output;
    int32_t      output_count;
    int64_t      output_capacity;
} flx__export;

#define FLX__EXPORT_BUFFER 49152 // a multiple of 4, 8 and 12

typedef flx_status (*flx__exporter)(flx__export* e);
flx_status flx__export_pc2(flx__export* e);
flx_status flx__export_mdd(flx__export* e);
flx_status flx__export_pvd(flx__export* e);
flx_status flx__export_ply(flx__export* e);
flx_status flx__export_obj(flx__export* e);

/// The recording's number of the k-th selected frame.
int32_t flx__export_frame(const flx__export* e, int32_t k);

/// Announce an output; takes `path` over in every case (NULL: FLX_ERR_MEMORY). FLX_ERR_EXISTS without overwrite.
flx_status flx__export_claim(flx__export* e, char* path);
/// Write the output claimed as number `index`. Commit `*out` when it is complete.
flx_status flx__export_open(flx__export* e, int32_t index, flx_file** out);

/// Read the surface of the k-th selected frame into e->surface.
flx_status flx__export_read_surface(flx__export* e, int32_t k, double* time);
/// A position as it goes out: scaled, and turned for formats that are.
void flx__export_point(const flx__export* e, const float* x, float out[3]);

/// Arrays of 32-bit words in the byte order asked for.
void flx__export_words(const flx__export* e, flx_file* file, const void* words, int64_t count, bool big_endian);
/// e->surface's compact points.
void flx__export_points(const flx__export* e, flx_file* file, bool big_endian);

/// x.obj for x.EXT: the path, or NULL.
char* flx__export_sibling(const flx__export* e, const char* ending);
/// An OBJ mesh of `points` ([surface_vertex_count][3] m).
flx_status flx__export_obj_mesh(flx__export* e, int32_t output, const float* points, double time);

/// "dir/x_%04d.ply" -> one claimed output for each selected frame.
flx_status flx__export_claim_sequence(flx__export* e);

#endif
