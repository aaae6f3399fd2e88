// Files of a cache folder: a header, then the parts one after the other.
//
// The header is digested by itself, so that sizes can be trusted before anything is allocated by them. The contents are
// digested in pieces by all workers while they are read, and the digests of the pieces once more.
#include "base/cache.h"

#include "base/context.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x0a656863584c46ff) // also tells the byte order
#define FORMAT 1
#define ENDING ".flexor-cache"
#define PIECE_BYTES ((int64_t)4 << 20)
#define ABANDONED_S 86400 // temporary files older than this belong to runs that were killed

typedef struct header
{
    uint64_t    magic;
    uint32_t    format;
    int32_t     part_count;
    char        kind[16];
    flx__digest key;
    int64_t     bytes[FLX__CACHE_PARTS];
    flx__digest contents;
    flx__digest check; // of all before
} header;

bool flx__cache_wanted(const flx_context* ctx)
{
    return ctx->cache_dir != NULL;
}

static int64_t contents_bytes(const flx__cache_entry* e)
{
    int64_t bytes = 0;
    for (int32_t k = 0; k < e->part_count; ++k) bytes += e->part[k].bytes;
    return bytes;
}

static char* path_of(flx_context* ctx, const flx__cache_entry* e)
{
    return flx__format(ctx, "%s/%s-%016llx%016llx%s", ctx->cache_dir, e->kind, (unsigned long long)e->key.word[0],
                       (unsigned long long)e->key.word[1], ENDING);
}

static header header_of(const flx__cache_entry* e, flx__digest contents)
{
    header h = {.magic = MAGIC, .format = FORMAT, .part_count = e->part_count, .key = e->key, .contents = contents};
    FLX_ASSERT(strlen(e->kind) < sizeof h.kind && e->part_count <= FLX__CACHE_PARTS);
    memcpy(h.kind, e->kind, strlen(e->kind));
    for (int32_t k = 0; k < e->part_count; ++k) h.bytes[k] = e->part[k].bytes;
    flx__digest_add(&h.check, &h, offsetof(header, check));
    return h;
}

static void warn(flx_context* ctx, const flx__cache_entry* e, const char* what)
{
    char* path = path_of(ctx, e);
    if (path) flx__log(ctx, FLX_LOG_WARNING, "%s: %s; it is made anew", path, what);
    flx__free(ctx, path);
}

// --- pieces of the contents ---------------------------------------------------------------------------------

typedef struct pieces
{
    const flx__cache_part* part;
    int64_t                at;         // of the part in the file
    int                    descriptor; // -1: only digest
    flx__digest*           digest;     // [pieces of the part]; {0} = could not be read
} pieces;

static int64_t piece_count(const flx__cache_part* part)
{
    return (part->bytes + PIECE_BYTES - 1) / PIECE_BYTES;
}

static bool read_at(int descriptor, char* to, int64_t bytes, int64_t at)
{
    while (bytes > 0)
    {
        const ssize_t n = pread(descriptor, to, (size_t)bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to += n;
        at += n;
        bytes -= n;
    }
    return true;
}

static void do_pieces(void* user, int64_t begin, int64_t end, int32_t worker)
{
    const pieces* p = user;
    (void)worker;
    for (int64_t k = begin; k < end; ++k)
    {
        const int64_t first = k * PIECE_BYTES;
        const int64_t bytes = p->part->bytes - first < PIECE_BYTES ? p->part->bytes - first : PIECE_BYTES;
        char*         data  = (char*)p->part->data + first;
        if (p->descriptor < 0 || read_at(p->descriptor, data, bytes, p->at + first))
            flx__digest_add(&p->digest[k], data, bytes);
    }
}

/// The digest of all parts, read from an open file first unless descriptor = -1. False without memory.
static bool digest_parts(flx_context* ctx, const flx__cache_entry* e, int descriptor, flx__digest* out)
{
    flx_status   status = FLX_OK;
    flx__digest* digest = NULL;
    int64_t      count = 0, at = (int64_t)sizeof(header);
    for (int32_t k = 0; k < e->part_count; ++k) count += piece_count(&e->part[k]);
    FLX_NEW_ZERO(ctx, digest, count);
    for (int32_t k = 0, first = 0; k < e->part_count; ++k)
    {
        pieces p = {.part = &e->part[k], .at = at, .descriptor = descriptor, .digest = digest + first};
        flx__parallel_for(ctx, piece_count(p.part), 1, do_pieces, &p);
        first += (int32_t)piece_count(p.part);
        at += p.part->bytes;
    }
    *out = (flx__digest){0};
    flx__digest_add(out, digest, count * (int64_t)sizeof *digest);
done:
    flx__free(ctx, digest);
    return status == FLX_OK;
}

// --- reading ------------------------------------------------------------------------------------------------

static const char* mistake_in(const flx__cache_entry* e, int64_t file_bytes, const header* h)
{
    const header want = header_of(e, h->contents);
    if (h->magic != MAGIC) return "not a file of this cache";
    if (h->format != FORMAT) return "written by another version";
    if (memcmp(h, &want, sizeof want) != 0) return "its header is damaged";
    if (file_bytes != (int64_t)sizeof *h + contents_bytes(e)) return "cut off or overlong";
    return NULL;
}

bool flx__cache_open(flx_context* ctx, flx__cache_entry* e)
{
    e->descriptor = -1;
    if (!flx__cache_wanted(ctx)) return false;
    char* path = path_of(ctx, e);
    if (!path) return false;
    e->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe of that name must not be waited for
    const int error_number = errno;
    flx__free(ctx, path);
    if (e->descriptor < 0)
    {
        if (error_number != ENOENT && error_number != ENOTDIR) warn(ctx, e, strerror(error_number));
        return false;
    }
    header      h = {0};
    struct stat info;
    const char* mistake = "not a file of this cache";
    if (fstat(e->descriptor, &info) == 0 && S_ISREG(info.st_mode))
        mistake = read_at(e->descriptor, (char*)&h, sizeof h, 0) ? mistake_in(e, (int64_t)info.st_size, &h)
                                                                 : "cut off or overlong";
    if (!mistake) return true;
    warn(ctx, e, mistake);
    flx__cache_close(e);
    return false;
}

bool flx__cache_read(flx_context* ctx, flx__cache_entry* e)
{
    header      h;
    flx__digest contents = {0};
    bool        good     = read_at(e->descriptor, (char*)&h, sizeof h, 0);
    if (good && digest_parts(ctx, e, e->descriptor, &contents))
    {
        good = memcmp(&contents, &h.contents, sizeof contents) == 0;
        if (!good) warn(ctx, e, "its contents are damaged");
    }
    else
        good = false;
    if (good) (void)futimens(e->descriptor, NULL); // just used: the last to make room for others
    flx__cache_close(e);
    return good;
}

void flx__cache_close(flx__cache_entry* e)
{
    if (e->descriptor >= 0) close(e->descriptor);
    e->descriptor = -1;
}

// --- writing ------------------------------------------------------------------------------------------------

static bool make_folder(flx_context* ctx)
{
    char* at   = ctx->cache_dir;
    bool  good = true;
    while (good && (at = strchr(at + 1, '/')) != NULL)
    {
        *at  = 0;
        good = mkdir(ctx->cache_dir, 0700) == 0 || errno == EEXIST;
        *at  = '/';
    }
    return good && (mkdir(ctx->cache_dir, 0700) == 0 || errno == EEXIST);
}

static bool ends_with(const char* name, const char* ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

typedef struct survey
{
    int64_t         bytes; // of all files
    char            oldest[256];
    struct timespec used; // the oldest one, last
} survey;

static bool before(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/// Look through the folder, at our own files only, and remove what killed runs have left behind.
static void survey_folder(DIR* folder, survey* s)
{
    *s = (survey){0};
    rewinddir(folder);
    for (const struct dirent* e; (e = readdir(folder)) != NULL;)
    {
        struct stat info;
        const bool  whole = ends_with(e->d_name, ENDING), part = ends_with(e->d_name, ".part");
        if (!(whole || (part && strstr(e->d_name, ENDING "."))) || strlen(e->d_name) >= sizeof s->oldest) continue;
        if (fstatat(dirfd(folder), e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
        if (part && info.st_mtim.tv_sec + ABANDONED_S < time(NULL) && unlinkat(dirfd(folder), e->d_name, 0) == 0)
            continue;
        s->bytes += (int64_t)info.st_size;
        if (whole && (!*s->oldest || before(info.st_mtim, s->used)))
        {
            strcpy(s->oldest, e->d_name);
            s->used = info.st_mtim;
        }
    }
}

/// Remove the longest unused until `wanted` more bytes fit the limit.
static void make_room(const flx_context* ctx, int64_t wanted)
{
    DIR* folder = opendir(ctx->cache_dir);
    if (!folder) return;
    survey s;
    for (survey_folder(folder, &s); s.bytes + wanted > ctx->desc.cache_bytes && *s.oldest; survey_folder(folder, &s))
        if (unlinkat(dirfd(folder), s.oldest, 0) != 0 && errno != ENOENT) break;
    closedir(folder);
}

static bool write_file(flx_context* ctx, const flx__cache_entry* e, const header* h)
{
    flx_file*  file   = NULL;
    char*      path   = path_of(ctx, e);
    flx_status status = path ? flx__file_begin(ctx, path, true, &file) : FLX_ERR_MEMORY;
    if (status == FLX_OK)
    {
        (void)flx__file_write(file, h, sizeof *h);
        for (int32_t k = 0; k < e->part_count; ++k)
            if (e->part[k].bytes > 0) (void)flx__file_write(file, e->part[k].data, e->part[k].bytes);
        status = flx__file_commit_unsynced(file);
    }
    flx__free(ctx, path);
    return status == FLX_OK;
}

void flx__cache_write(flx_context* ctx, const flx__cache_entry* e)
{
    flx__digest   contents;
    const int64_t bytes = contents_bytes(e) + (int64_t)sizeof(header);
    if (!flx__cache_wanted(ctx) || ctx->cache_unwritable || bytes > ctx->desc.cache_bytes) return;
    if (!digest_parts(ctx, e, -1, &contents)) return;
    const header h = header_of(e, contents);

    const bool good = make_folder(ctx);
    if (!good) (void)flx__fail(ctx, FLX_ERR_IO, "%s: %s", ctx->cache_dir, strerror(errno));
    if (good) make_room(ctx, bytes);
    if (good && write_file(ctx, e, &h)) return;
    ctx->cache_unwritable = true;
    flx__log(ctx, FLX_LOG_NOTICE, "nothing is kept for later runs: %s", flx_context_error(ctx));
}
