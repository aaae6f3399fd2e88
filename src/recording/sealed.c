// The header, little endian:
//
//    0  char[8]  kind                     32  u64  model hash
//    8  u32      version of the kind      40  f64  time, s
//   12  u32      header bytes = 512       48  i64  frame or step
//   16  u64      payload bytes            56  u64  checksum of bytes 0..55
//   24  u64      checksum of the payload  64  zeros
#include "recording/sealed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CHECKED_BYTES 56

static const char magic[4][9]      = {"FLXTOPOL", "FLXFRAME", "FLXSTATE", "FLXREDUC"};
static const int  version[4]       = {1, 1, 1, 2};
static const char kind_name[4][20] = {"recording topology", "recording frame", "checkpoint", "reduced model"};

static void put64(unsigned char* to, uint64_t v)
{
    for (int i = 0; i < 8; ++i) to[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get64(const unsigned char* from)
{
    uint64_t v; // one load: the checksum lives on it
    memcpy(&v, from, sizeof v);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

static uint64_t real_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static double bits_real(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15); // odd: no information is lost
    return h ^ (h >> 29);
}

// Four independent lanes of eight bytes, because one multiply waits for the one before it.
uint64_t flx__checksum(const void* data, int64_t bytes)
{
    const unsigned char* p       = data;
    uint64_t             lane[4] = {1, 2, 3, 4};
    int64_t              left    = bytes;
    for (; left >= 32; left -= 32, p += 32)
        for (int k = 0; k < 4; ++k) lane[k] = mix(lane[k], get64(p + 8 * k));

    uint64_t h = (uint64_t)bytes;
    for (int k = 0; k < 4; ++k) h = mix(h, lane[k]);
    for (; left > 0; --left, ++p) h = mix(h, *p);
    return h;
}

flx_status flx__sealed_begin(flx_context* ctx, const char* path, flx__seal_kind kind, const flx__seal* seal,
                             const void* payload, int64_t bytes, bool overwrite, flx_file** out)
{
    unsigned char header[FLX__SEAL_BYTES] = {0};
    memcpy(header, magic[kind], 8);
    put64(header + 8, (uint64_t)version[kind] | (uint64_t)FLX__SEAL_BYTES << 32);
    put64(header + 16, (uint64_t)bytes);
    put64(header + 24, flx__checksum(payload, bytes));
    put64(header + 32, seal->model_hash);
    put64(header + 40, real_bits(seal->time));
    put64(header + 48, (uint64_t)seal->index);
    put64(header + 56, flx__checksum(header, CHECKED_BYTES));

    flx_status status = FLX_OK;
    flx_file*  file   = NULL;
    *out              = NULL;
    FLX_TRY(flx__file_begin(ctx, path, overwrite, &file));
    FLX_TRY(flx__file_write(file, header, FLX__SEAL_BYTES));
    FLX_TRY(flx__file_write(file, payload, bytes));
    *out = file;
    file = NULL;

done:
    flx__file_abort(file);
    return status;
}

static flx_status check_header(flx_context* ctx, const char* path, flx__seal_kind kind, const unsigned char* header,
                               int64_t size, flx__seal* seal, int64_t* payload_bytes)
{
    if (size < 8 || memcmp(header, magic[kind], 8) != 0)
        return flx__fail(ctx, FLX_ERR_FORMAT, "%s: is not a Flexor %s", path, kind_name[kind]);
    if (size < FLX__SEAL_BYTES)
        return flx__fail(ctx, FLX_ERR_FORMAT, "%s: cut short: the header alone has %d bytes, the file %lld", path,
                         FLX__SEAL_BYTES, (long long)size);
    const uint64_t words = get64(header + 8);
    if ((uint32_t)words != (uint32_t)version[kind])
        return flx__fail(ctx, FLX_ERR_FORMAT, "%s: %s of format version %u; this program reads version %d", path,
                         kind_name[kind], (unsigned)(uint32_t)words, version[kind]);
    if (get64(header + 56) != flx__checksum(header, CHECKED_BYTES) || words >> 32 != FLX__SEAL_BYTES)
        return flx__fail(ctx, FLX_ERR_FORMAT, "%s: damaged: the header's checksum does not match", path);

    *payload_bytes   = (int64_t)get64(header + 16);
    seal->model_hash = get64(header + 32);
    seal->time       = bits_real(get64(header + 40));
    seal->index      = (int64_t)get64(header + 48);
    return FLX_OK;
}

flx_status flx__sealed_read(flx_context* ctx, const char* path, flx__seal_kind kind, flx__seal* seal, char** block,
                            int64_t* bytes)
{
    flx_status status  = FLX_OK;
    char*      data    = NULL;
    int64_t    size    = 0;
    int64_t    payload = 0;

    *block = NULL;
    *bytes = 0;
    FLX_TRY(flx__file_read_all(ctx, path, &data, &size));
    const unsigned char* header = (const unsigned char*)data;
    FLX_TRY(check_header(ctx, path, kind, header, size, seal, &payload));
    if (size - FLX__SEAL_BYTES < payload)
        FLX_TRY(flx__fail(ctx, FLX_ERR_FORMAT, "%s: cut short: %lld of %lld bytes are there", path, (long long)size,
                          (long long)payload + FLX__SEAL_BYTES));
    if (size - FLX__SEAL_BYTES > payload)
        FLX_TRY(flx__fail(ctx, FLX_ERR_FORMAT, "%s: damaged: %lld bytes follow its end", path,
                          (long long)(size - FLX__SEAL_BYTES - payload)));
    if (get64(header + 24) != flx__checksum(header + FLX__SEAL_BYTES, payload))
        FLX_TRY(flx__fail(ctx, FLX_ERR_FORMAT, "%s: damaged: the checksum does not match", path));
    *block = data;
    *bytes = payload;
    data   = NULL;

done:
    flx__free(ctx, data);
    return status;
}

flx_status flx__sealed_peek(flx_context* ctx, const char* path, flx__seal_kind kind, flx__seal* seal)
{
    unsigned char header[FLX__SEAL_BYTES];
    int64_t       payload = 0;

    FILE* file = fopen(path, "rbe");
    if (!file) return flx__fail(ctx, FLX_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    const int64_t size = (int64_t)fread(header, 1, sizeof header, file);
    fclose(file);
    return check_header(ctx, path, kind, header, size, seal, &payload);
}
