// Whole files: read one at once, or write one that appears complete or not at all.
#ifndef FLX_BASE_FILE_H
#define FLX_BASE_FILE_H

#include "base/base.h"

typedef struct flx_file flx_file;

/// Start writing `path`. Bytes go to a temporary neighbour; flx__file_commit() gives it the real name. A device or pipe
/// (/dev/stdout) is written straight through.
///
/// Returns FLX_ERR_EXISTS (there already, and `overwrite` is false), FLX_ERR_IO, FLX_ERR_MEMORY.
flx_status flx__file_begin(flx_context* ctx, const char* path, bool overwrite, flx_file** out);

/// FLX_ERR_EXISTS as flx__file_begin(), for whoever wants to know before the work that fills the file.
flx_status flx__file_claim(flx_context* ctx, const char* path, bool overwrite);

/// Add bytes or text. The first failure is remembered: later calls do nothing and return it, so callers may check only
/// the commit. Numbers are printed as in the C locale, whatever setlocale() said.
flx_status flx__file_write(flx_file* file, const void* data, int64_t bytes);
FLX_PRINTF(2, 3) flx_status flx__file_printf(flx_file* file, const char* format, ...);

/// Flush, fsync and rename; on failure the temporary file is removed and what `path` held before is untouched.
/// Frees `file` in every case. The reason (disk full, ...) is in the context's error text.
flx_status flx__file_commit(flx_file* file);

/// The same without waiting for the disk, for files that are checked when read and can be made anew: after a power cut
/// the name may stand for an incomplete file.
flx_status flx__file_commit_unsynced(flx_file* file);

/// Drop everything written and free `file`. NULL is welcome.
void flx__file_abort(flx_file* file);

/// snprintf as in the C locale. Returns the length the whole text has, like snprintf.
FLX_PRINTF(3, 4) int flx__print_c(char* text, size_t capacity, const char* format, ...);

/// Read a whole file. *data [*bytes + 1] ends with an extra NUL and is the caller's to flx__free(). A path that does
/// not exist but does with '\' taken as '/' is read with a notice.
///
/// Returns FLX_ERR_IO (missing, a directory, not permitted: the text says which), FLX_ERR_FORMAT (empty),
/// FLX_ERR_MEMORY.
flx_status flx__file_read_all(flx_context* ctx, const char* path, char** data, int64_t* bytes);

#endif
