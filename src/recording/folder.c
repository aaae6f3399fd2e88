#include "recording/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char* text, const char* end)
{
    const size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

static char* last_part(char* path)
{
    char* slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// --- names ----------------------------------------------------------------------------------------

flx_status flx__folder_name(flx_context* ctx, const char* path, flx__folder* out)
{
    static const char* const endings[] = {".xdmf", ".h5", ".frames"};

    flx_status  status = FLX_OK;
    flx__folder folder = {0};

    memset(out, 0, sizeof *out);
    char* base = flx__strdup(ctx, path);
    if (!base) return FLX_ERR_MEMORY;
    for (size_t n = strlen(base); n > 1 && base[n - 1] == '/'; --n) base[n - 1] = '\0';
    for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i)
        if (ends_with(base, endings[i]))
        {
            base[strlen(base) - strlen(endings[i])] = '\0';
            break;
        }
    if (*last_part(base) == '\0') FLX_TRY(flx__fail(ctx, FLX_ERR_ARGUMENT, "'%s' gives a recording no name", path));

    folder.path     = flx__format(ctx, "%s.frames", base);
    folder.xdmf     = flx__format(ctx, "%s.xdmf", base);
    folder.topology = flx__format(ctx, "%s.frames/topology.h5", base);
    if (!folder.path || !folder.xdmf || !folder.topology)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    folder.name = last_part(folder.path);
    *out        = folder;
    folder      = (flx__folder){0};

done:
    flx__folder_release(ctx, &folder);
    flx__free(ctx, base);
    return status;
}

void flx__folder_release(flx_context* ctx, flx__folder* folder)
{
    flx__free(ctx, folder->path);
    flx__free(ctx, folder->xdmf);
    flx__free(ctx, folder->topology);
    memset(folder, 0, sizeof *folder);
}

char* flx__folder_frame(flx_context* ctx, const flx__folder* folder, int32_t frame)
{
    return flx__format(ctx, "%s/frame_%06d.h5", folder->path, frame);
}

// "frame_000012.h5" -> 12; anything else -> -1.
static int32_t frame_number(const char* name)
{
    if (strncmp(name, "frame_", 6) != 0) return -1;
    int64_t     number = 0;
    const char* p      = name + 6;
    for (; *p >= '0' && *p <= '9' && number < INT32_MAX / 10; ++p) number = 10 * number + (*p - '0');
    return p - name >= 12 && strcmp(p, ".h5") == 0 ? (int32_t)number : -1;
}

// --- what is there --------------------------------------------------------------------------------

flx_status flx__folder_make(flx_context* ctx, const flx__folder* folder)
{
    struct stat info;
    if (mkdir(folder->path, 0777) == 0) return FLX_OK;
    const int e = errno;
    if (e == EEXIST && stat(folder->path, &info) == 0 && S_ISDIR(info.st_mode)) return FLX_OK;
    if (e == EEXIST) return flx__fail(ctx, FLX_ERR_IO, "%s: is not a folder", folder->path);
    if (e == ENOENT)
        return flx__fail(ctx, FLX_ERR_IO, "%s: cannot be made: the folder it goes into does not exist", folder->path);
    return flx__fail(ctx, FLX_ERR_IO, "%s: cannot be made: %s", folder->path, strerror(e));
}

bool flx__folder_has_topology(const flx__folder* folder)
{
    struct stat info;
    return stat(folder->topology, &info) == 0;
}

bool flx__folder_is_taken(const flx__folder* folder)
{
    struct stat info;
    if (lstat(folder->xdmf, &info) == 0) return true;
    DIR* dir = opendir(folder->path);
    if (!dir) return lstat(folder->path, &info) == 0; // a file in the way
    bool taken = false;
    for (struct dirent* entry = readdir(dir); entry && !taken; entry = readdir(dir)) taken = entry->d_name[0] != '.';
    closedir(dir);
    return taken;
}

flx_status flx__folder_count(flx_context* ctx, const flx__folder* folder, int32_t* frame_count)
{
    struct stat info;
    for (int32_t n = 0;; ++n)
    {
        char* path = flx__folder_frame(ctx, folder, n);
        if (!path) return FLX_ERR_MEMORY;
        const bool there = stat(path, &info) == 0;
        flx__free(ctx, path);
        if (there) continue;
        *frame_count = n;
        return FLX_OK;
    }
}

// --- removal --------------------------------------------------------------------------------------

flx_status flx__folder_remove_frames(flx_context* ctx, const flx__folder* folder, int32_t count, int32_t keep)
{
    for (int32_t n = count - 1; n >= keep; --n)
    {
        char* path = flx__folder_frame(ctx, folder, n);
        if (!path) return FLX_ERR_MEMORY;
        const int        failed = unlink(path) != 0 ? errno : 0;
        const flx_status status = failed && failed != ENOENT
                                      ? flx__fail(ctx, FLX_ERR_IO, "%s: cannot be removed: %s", path, strerror(failed))
                                      : FLX_OK;
        flx__free(ctx, path);
        if (status != FLX_OK) return status;
    }
    return FLX_OK;
}

// Names as base/file.c gives them to unfinished files: NAME.<pid>-<n>.part
static bool is_unfinished(const char* name, const char* prefix)
{
    if (strncmp(name, prefix, strlen(prefix)) != 0 || !ends_with(name, ".part")) return false;
    const char* p = name + strlen(name) - 5;
    while (p > name && strchr("0123456789-", p[-1])) --p;
    return p >= name + strlen(prefix) && p[-1] == '.' && *p != '.';
}

static flx_status remove_matching(flx_context* ctx, const char* folder, const char* prefix, int32_t first_frame)
{
    DIR* dir = opendir(folder);
    if (!dir) return FLX_OK;
    flx_status status = FLX_OK;
    for (struct dirent* entry = readdir(dir); entry && status == FLX_OK; entry = readdir(dir))
    {
        const bool stray = first_frame >= 0 && frame_number(entry->d_name) >= first_frame;
        if (!stray && !is_unfinished(entry->d_name, prefix)) continue;
        char* path = flx__format(ctx, "%s/%s", folder, entry->d_name);
        if (!path)
            status = FLX_ERR_MEMORY;
        else if (unlink(path) != 0 && errno != ENOENT)
            status = flx__fail(ctx, FLX_ERR_IO, "%s: cannot be removed: %s", path, strerror(errno));
        flx__free(ctx, path);
    }
    closedir(dir);
    return status;
}

flx_status flx__folder_tidy(flx_context* ctx, const flx__folder* folder, int32_t first)
{
    flx_status status = FLX_OK;
    char*      parent = flx__strdup(ctx, folder->xdmf);
    char*      prefix = flx__format(ctx, "%s.", folder->xdmf);
    if (!parent || !prefix)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    char* name = last_part(parent);
    FLX_TRY(remove_matching(ctx, folder->path, "frame_", first));
    FLX_TRY(remove_matching(ctx, folder->path, "topology.h5.", -1));
    *name = '\0'; // what is left is the folder, with its slash
    FLX_TRY(remove_matching(ctx, *parent ? parent : ".", last_part(prefix), -1));

done:
    flx__free(ctx, prefix);
    flx__free(ctx, parent);
    return status;
}
