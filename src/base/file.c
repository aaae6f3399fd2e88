// Whole files. Writing goes to `path`.<pid>-<n>.part in the same folder and is renamed at the end, so that a reader, a
// full disk or a killed run never sees half a file under the real name.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES 65536

struct flx_file
{
    flx_context* ctx;
    char*        path;      // as the caller named it: for messages
    char*        target;    // where it ends: symbolic links followed
    char*        temporary; // NULL: written straight through
    char*        buffer;    // [BUFFER_BYTES]
    int64_t      used;
    int          descriptor; // -1: none
    bool         overwrite;
    flx_status   status;       // the first failure
    int          error_number; // errno that belongs to it
    locale_t     c_locale;
};

// --- writing --------------------------------------------------------------------------------------

static void release(flx_file* file)
{
    if (file->descriptor >= 0) close(file->descriptor);
    if (file->temporary) unlink(file->temporary);
    if (file->c_locale) freelocale(file->c_locale);
    flx_context* ctx = file->ctx;
    flx__free(ctx, file->path);
    flx__free(ctx, file->target);
    flx__free(ctx, file->temporary);
    flx__free(ctx, file->buffer);
    flx__free(ctx, file);
}

void flx__file_abort(flx_file* file)
{
    if (file) release(file);
}

static flx_status fail_exists(flx_context* ctx, const char* path)
{
    return flx__fail(ctx, FLX_ERR_EXISTS, "%s exists already; it is not overwritten unless asked", path);
}

flx_status flx__file_claim(flx_context* ctx, const char* path, bool overwrite)
{
    struct stat info;
    return !overwrite && stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fail_exists(ctx, path) : FLX_OK;
}

static flx_status fail_errno(flx_file* file)
{
    if (file->status == FLX_ERR_EXISTS) return fail_exists(file->ctx, file->path);
    if (file->status == FLX_ERR_MEMORY) return FLX_ERR_MEMORY; // the text is there already
    const int e = file->error_number;
    if (e == ENOENT)
        return flx__fail(file->ctx, FLX_ERR_IO, "%s: cannot be written: its folder does not exist", file->path);
    return flx__fail(file->ctx, FLX_ERR_IO, "%s: cannot be written: %s", file->path,
                     e == ENOSPC ? "the disk is full" : strerror(e));
}

static flx_status remember(flx_file* file, flx_status status, int error_number)
{
    if (file->status == FLX_OK)
    {
        file->status       = status;
        file->error_number = error_number;
        (void)fail_errno(file);
    }
    return file->status;
}

// A name in the same folder that nobody has. The folder must be the same: rename() does not cross file systems.
static flx_status open_temporary(flx_file* file)
{
    flx_context* ctx = file->ctx;
    for (int attempt = 0; attempt < 1000; ++attempt)
    {
        char* name = flx__format(ctx, "%s.%ld-%d.part", file->target, (long)getpid(), attempt);
        if (!name) return file->status = FLX_ERR_MEMORY;
        file->descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->descriptor >= 0)
        {
            file->temporary = name;
            return FLX_OK;
        }
        const int e = errno;
        flx__free(ctx, name);
        if (e != EEXIST) return remember(file, FLX_ERR_IO, e);
    }
    return remember(file, FLX_ERR_IO, EEXIST);
}

static flx_status open_target(flx_file* file)
{
    struct stat info;
    if (stat(file->target, &info) != 0) return open_temporary(file);
    if (S_ISDIR(info.st_mode)) return remember(file, FLX_ERR_IO, EISDIR);
    if (S_ISREG(info.st_mode))
    {
        if (!file->overwrite) return remember(file, FLX_ERR_EXISTS, 0);
        return open_temporary(file);
    }
    file->descriptor = open(file->target, O_WRONLY | O_CLOEXEC); // a device or pipe: there is nothing to replace
    return file->descriptor >= 0 ? FLX_OK : remember(file, FLX_ERR_IO, errno);
}

flx_status flx__file_begin(flx_context* ctx, const char* path, bool overwrite, flx_file** out)
{
    FLX_ASSERT(ctx && path && out);
    flx_status status = FLX_OK;
    flx_file*  file   = NULL;
    char*      real   = NULL;

    *out = NULL;
    FLX_NEW_ZERO(ctx, file, 1);
    file->ctx        = ctx;
    file->overwrite  = overwrite;
    file->descriptor = -1;
    file->c_locale   = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    file->path       = flx__strdup(ctx, path);
    FLX_NEW(ctx, file->buffer, BUFFER_BYTES);
    real         = realpath(path, NULL); // so that a link keeps pointing at the new file
    file->target = flx__strdup(ctx, real ? real : path);
    free(real);
    if (!file->path || !file->target || !file->c_locale)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    FLX_TRY(open_target(file));
    *out = file;
    file = NULL;

done:
    flx__file_abort(file);
    return status;
}

static flx_status write_through(flx_file* file, const char* data, int64_t bytes)
{
    while (bytes > 0)
    {
        const ssize_t n = write(file->descriptor, data, (size_t)bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return remember(file, FLX_ERR_IO, n < 0 ? errno : ENOSPC);
        data += n;
        bytes -= n;
    }
    return FLX_OK;
}

static flx_status flush(flx_file* file)
{
    const int64_t bytes = file->used;
    file->used          = 0;
    return write_through(file, file->buffer, bytes);
}

flx_status flx__file_write(flx_file* file, const void* data, int64_t bytes)
{
    if (file->status != FLX_OK) return file->status;
    if (file->used + bytes > BUFFER_BYTES && flush(file) != FLX_OK) return file->status;
    if (bytes > BUFFER_BYTES) return write_through(file, data, bytes);
    memcpy(file->buffer + file->used, data, (size_t)bytes);
    file->used += bytes;
    return FLX_OK;
}

static int print_in(locale_t c_locale, char* text, size_t capacity, const char* format, va_list args)
{
    const locale_t before = uselocale(c_locale); // this thread only
    const int      length = vsnprintf(text, capacity, format, args);
    uselocale(before);
    return length;
}

int flx__print_c(char* text, size_t capacity, const char* format, ...)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    va_list        args;
    va_start(args, format);
    const int length = print_in(c_locale, text, capacity, format, args);
    va_end(args);
    freelocale(c_locale);
    return length;
}

flx_status flx__file_printf(flx_file* file, const char* format, ...)
{
    if (file->status != FLX_OK) return file->status;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int64_t room   = BUFFER_BYTES - file->used;
    const int     length = print_in(file->c_locale, file->buffer + file->used, (size_t)room, format, args);
    if (length < 0)
        (void)remember(file, FLX_ERR_IO, EINVAL);
    else if (length < room)
        file->used += length;
    else
    {
        char* text = flx__alloc(file->ctx, (int64_t)length + 1, 1);
        if (text)
        {
            print_in(file->c_locale, text, (size_t)length + 1, format, again);
            (void)flx__file_write(file, text, length);
        }
        else
            file->status = FLX_ERR_MEMORY;
        flx__free(file->ctx, text);
    }
    va_end(again);
    va_end(args);
    return file->status;
}

// Give the temporary file its name. Without `overwrite` nobody who came meanwhile loses a file either: link() refuses.
static flx_status publish(flx_file* file)
{
    if (!file->overwrite)
    {
        if (link(file->temporary, file->target) == 0) return FLX_OK; // release() unlinks the temporary name
        if (errno == EEXIST) return remember(file, FLX_ERR_EXISTS, 0);
        struct stat info; // a file system without links
        if (lstat(file->target, &info) == 0) return remember(file, FLX_ERR_EXISTS, 0);
    }
    if (rename(file->temporary, file->target) != 0) return remember(file, FLX_ERR_IO, errno);
    flx__free(file->ctx, file->temporary);
    file->temporary = NULL;
    return FLX_OK;
}

static flx_status commit(flx_file* file, bool synced)
{
    FLX_ASSERT(file);
    flx_status status = FLX_OK;

    FLX_TRY(file->status);
    FLX_TRY(flush(file));
    if (synced && file->temporary && fsync(file->descriptor) != 0) FLX_TRY(remember(file, FLX_ERR_IO, errno));
    const int closed = close(file->descriptor); // quota and network file systems may only fail here
    file->descriptor = -1;
    if (closed != 0) FLX_TRY(remember(file, FLX_ERR_IO, errno));
    if (file->temporary) FLX_TRY(publish(file));

done:
    if (status != FLX_OK) (void)fail_errno(file); // others may have failed since: say this file's reason
    release(file);
    return status;
}

flx_status flx__file_commit(flx_file* file)
{
    return commit(file, true);
}
flx_status flx__file_commit_unsynced(flx_file* file)
{
    return commit(file, false);
}

// --- reading --------------------------------------------------------------------------------------

static flx_status fail_open(flx_context* ctx, const char* path, int e)
{
    if (e == ENOENT || e == ENOTDIR) return flx__fail(ctx, FLX_ERR_IO, "%s: no such file", path);
    if (e == EISDIR) return flx__fail(ctx, FLX_ERR_IO, "%s: is a directory, not a file", path);
    if (e == EACCES) return flx__fail(ctx, FLX_ERR_IO, "%s: may not be read (permission denied)", path);
    return flx__fail(ctx, FLX_ERR_IO, "%s: cannot be read: %s", path, strerror(e));
}

// Scenes written on Windows name files with '\'. Only when the plain name does not exist.
static int open_with_slashes(flx_context* ctx, const char* path)
{
    if (!strchr(path, '\\')) return -1;
    char* other = flx__strdup(ctx, path);
    if (!other) return -1;
    for (char* p = other; *p; ++p)
        if (*p == '\\') *p = '/';
    const int descriptor = open(other, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) flx__log(ctx, FLX_LOG_NOTICE, "%s: no such file; %s is read instead", path, other);
    flx__free(ctx, other);
    return descriptor;
}

// Read to the end; `size` is what stat said, which pipes do not know and growing files exceed.
static flx_status read_to_end(flx_context* ctx, const char* path, int descriptor, int64_t size, char** data,
                              int64_t* bytes)
{
    flx_status status   = FLX_OK;
    int64_t    capacity = size > 0 ? size + 2 : 65536; // one for the NUL, one to see the end without growing
    int64_t    used     = 0;
    char*      buffer   = NULL;

    FLX_NEW(ctx, buffer, capacity);
    for (;;)
    {
        FLX_RESERVE(ctx, buffer, capacity, used + 2);
        const int64_t room = capacity - used - 1;
        const ssize_t n    = read(descriptor, buffer + used, room < INT_MAX ? (size_t)room : INT_MAX);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) FLX_TRY(fail_open(ctx, path, errno));
        if (n == 0) break;
        used += n;
    }
    if (used == 0) FLX_TRY(flx__fail(ctx, FLX_ERR_FORMAT, "%s: the file is empty", path));
    buffer[used] = '\0';
    *data        = buffer;
    *bytes       = used;
    buffer       = NULL;

done:
    flx__free(ctx, buffer);
    return status;
}

flx_status flx__file_read_all(flx_context* ctx, const char* path, char** data, int64_t* bytes)
{
    FLX_ASSERT(ctx && path && data && bytes);
    flx_status status     = FLX_OK;
    int        descriptor = -1;

    *data      = NULL;
    *bytes     = 0;
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR))
    {
        descriptor = open_with_slashes(ctx, path);
        if (descriptor < 0) FLX_TRY(fail_open(ctx, path, ENOENT));
    }
    if (descriptor < 0) FLX_TRY(fail_open(ctx, path, errno));

    struct stat info;
    if (fstat(descriptor, &info) != 0) FLX_TRY(fail_open(ctx, path, errno));
    if (S_ISDIR(info.st_mode)) FLX_TRY(fail_open(ctx, path, EISDIR));
    FLX_TRY(read_to_end(ctx, path, descriptor, S_ISREG(info.st_mode) ? (int64_t)info.st_size : 0, data, bytes));

done:
    if (descriptor >= 0) close(descriptor);
    return status;
}
