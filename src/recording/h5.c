#include "recording/h5.h"

#include <hdf5.h>
#include <pthread.h>
#include <string.h>

// The one thing here that outlives a call: the HDF5 library keeps process-wide tables, and images of the same name
// opened by two threads at once would be taken for the same file.
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

struct flx__h5
{
    flx_context* ctx;
    const char*  path;  // for messages
    hid_t        file;  // < 0: none
    H5E_auto2_t  print; // what printed errors before us
    void*        print_user;
    const void*  image; // being read
    void*        block; // being written
    int64_t      capacity, used;
    bool         reading;
};

// --- failure --------------------------------------------------------------------------------------

static herr_t innermost(unsigned n, const H5E_error2_t* error, void* user)
{
    const char** text = user;
    if (n == 0) *text = error->desc; // literals of the library, or owned by its stack until its next call
    return 0;
}

static flx_status fail(flx__h5* h5, const char* name)
{
    const char* text = NULL;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &text);
    if (!text) text = "no reason given";
    if (h5->reading)
        return flx__fail(h5->ctx, FLX_ERR_FORMAT, "%s: '%s' cannot be read: HDF5: %s", h5->path, name, text);
    return flx__fail(h5->ctx, FLX_ERR_MEMORY, "'%s' cannot be put in a frame: HDF5: %s", name, text);
}

// --- images live in the context's memory ----------------------------------------------------------

// HDF5 cannot close a file whose image could not grow: it stays open for ever. So the whole image is allocated before
// HDF5 hears of it, what is put into it is counted against that room, and the library always gets the one block.

#define ROOM_FOR_FILE 16384
#define ROOM_FOR_DATASET 8192 // its header, and the groups on the way
#define ROOM_FOR_ATTRIBUTE 1024
#define ROOM_FOR_FACTS 131072 // all of the above, for a file as recordings have them

static flx_status take_room(flx__h5* h5, const char* name, int64_t bytes)
{
    if (h5->reading) return FLX_OK;
    if (bytes > h5->capacity - h5->used)
        return flx__fail(h5->ctx, FLX_ERR_MEMORY, "'%s' does not fit into the %lld bytes set aside for a frame", name,
                         (long long)h5->capacity);
    h5->used += bytes;
    return FLX_OK;
}

static void* image_allocate(size_t bytes, H5FD_file_image_op_t op, void* user)
{
    flx__h5* h5 = user;
    (void)op;
    if (h5->reading) return (void*)(uintptr_t)h5->image;
    return (int64_t)bytes <= h5->capacity ? h5->block : NULL;
}

static void* image_copy(void* to, const void* from, size_t bytes, H5FD_file_image_op_t op, void* user)
{
    (void)op;
    (void)user;
    if (to != from) memcpy(to, from, bytes); // equal while reading: nothing is copied
    return to;
}

static void* image_grow(void* image, size_t bytes, H5FD_file_image_op_t op, void* user)
{
    (void)image; // NULL or already the block
    return ((flx__h5*)user)->reading ? NULL : image_allocate(bytes, op, user);
}

static herr_t image_release(void* image, H5FD_file_image_op_t op, void* user)
{
    (void)image;
    (void)op;
    (void)user;
    return 0;
}

static void* same_user(void* user)
{
    return user;
}
static herr_t keep_user(void* user)
{
    (void)user;
    return 0;
}

static hid_t access_in_memory(flx__h5* h5, int64_t increment)
{
    H5FD_file_image_callbacks_t callbacks = {.image_malloc  = image_allocate,
                                             .image_memcpy  = image_copy,
                                             .image_realloc = image_grow,
                                             .image_free    = image_release,
                                             .udata_copy    = same_user,
                                             .udata_free    = keep_user,
                                             .udata         = h5};
    const hid_t                 access    = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) return access;
    if (H5Pset_fapl_core(access, (size_t)increment, 0) >= 0 && H5Pset_file_image_callbacks(access, &callbacks) >= 0)
        return access;
    H5Pclose(access);
    return -1;
}

// --- open and close -------------------------------------------------------------------------------

static flx__h5* enter(flx_context* ctx, const char* path)
{
    flx__h5* h5 = flx__alloc_zero(ctx, 1, sizeof *h5);
    if (!h5) return NULL;
    pthread_mutex_lock(&library_lock);
    h5->ctx  = ctx;
    h5->path = path;
    h5->file = -1;
    H5Eget_auto2(H5E_DEFAULT, &h5->print, &h5->print_user);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return h5;
}

void flx__h5_close(flx__h5* h5)
{
    if (!h5) return;
    if (h5->file >= 0) H5Fclose(h5->file);
    H5Eset_auto2(H5E_DEFAULT, h5->print, h5->print_user);
    pthread_mutex_unlock(&library_lock);
    flx__free(h5->ctx, h5->block);
    flx__free(h5->ctx, h5);
}

flx_status flx__h5_create(flx_context* ctx, int64_t expected_bytes, int32_t user_block, flx__h5** out)
{
    flx_status status   = FLX_OK;
    hid_t      access   = -1;
    hid_t      creation = -1;

    *out        = NULL;
    flx__h5* h5 = enter(ctx, "frame");
    if (!h5) return FLX_ERR_MEMORY;
    h5->capacity = expected_bytes + ROOM_FOR_FILE + ROOM_FOR_FACTS;
    h5->block    = flx__alloc_zero(ctx, h5->capacity, 1);
    if (!h5->block)
    {
        status = FLX_ERR_MEMORY;
        goto done;
    }
    FLX_TRY(take_room(h5, "/", ROOM_FOR_FILE));
    access   = access_in_memory(h5, h5->capacity);
    creation = H5Pcreate(H5P_FILE_CREATE);
    if (access >= 0 && creation >= 0 && H5Pset_userblock(creation, (hsize_t)user_block) >= 0)
        h5->file = H5Fcreate("flexor image", H5F_ACC_TRUNC, creation, access);
    if (h5->file < 0) FLX_TRY(fail(h5, "/"));
    *out = h5;
    h5   = NULL;

done:
    if (creation >= 0) H5Pclose(creation);
    if (access >= 0) H5Pclose(access);
    flx__h5_close(h5);
    return status;
}

flx_status flx__h5_open(flx_context* ctx, const char* path, const void* image, int64_t bytes, flx__h5** out)
{
    flx_status status = FLX_OK;
    hid_t      access = -1;

    *out        = NULL;
    flx__h5* h5 = enter(ctx, path);
    if (!h5) return FLX_ERR_MEMORY;
    h5->image   = image;
    h5->reading = true;
    access      = access_in_memory(h5, 65536);
    if (access >= 0 && H5Pset_file_image(access, (void*)(uintptr_t)image, (size_t)bytes) >= 0)
        h5->file = H5Fopen("flexor image", H5F_ACC_RDONLY, access);
    if (h5->file < 0) FLX_TRY(fail(h5, "/"));
    *out = h5;
    h5   = NULL;

done:
    if (access >= 0) H5Pclose(access);
    flx__h5_close(h5);
    return status;
}

flx_status flx__h5_image(flx__h5* h5, void** image, int64_t* bytes)
{
    flx_status status = FLX_OK;
    char*      copy   = NULL;

    *image = NULL;
    *bytes = 0;
    if (H5Fflush(h5->file, H5F_SCOPE_GLOBAL) < 0) FLX_TRY(fail(h5, "/"));
    const ssize_t size = H5Fget_file_image(h5->file, NULL, 0);
    if (size <= 0) FLX_TRY(fail(h5, "/"));
    FLX_NEW(h5->ctx, copy, size);
    if (H5Fget_file_image(h5->file, copy, (size_t)size) != size) FLX_TRY(fail(h5, "/"));
    *image = copy;
    *bytes = size;
    copy   = NULL;

done:
    flx__free(h5->ctx, copy);
    return status;
}

// --- datasets -------------------------------------------------------------------------------------

static hid_t file_type(flx__h5_type type)
{
    return type == FLX__H5_F32 ? H5T_IEEE_F32LE : type == FLX__H5_F64 ? H5T_IEEE_F64LE : H5T_STD_I32LE;
}

static hid_t memory_type(flx__h5_type type)
{
    return type == FLX__H5_F32 ? H5T_NATIVE_FLOAT : type == FLX__H5_F64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32;
}

flx_status flx__h5_put(flx__h5* h5, const char* name, flx__h5_type type, int64_t rows, int64_t columns,
                       const void* data)
{
    if (rows == 0) return FLX_OK;
    flx_status    status   = FLX_OK;
    const hsize_t shape[2] = {(hsize_t)rows, (hsize_t)columns};
    hid_t         dataset  = -1;
    hid_t         space = -1, create = -1, link = -1;

    const int64_t bytes = rows * (columns > 0 ? columns : 1) * (type == FLX__H5_F64 ? 8 : 4);
    FLX_TRY(take_room(h5, name, bytes + ROOM_FOR_DATASET));
    space  = H5Screate_simple(columns > 0 ? 2 : 1, shape, NULL);
    create = H5Pcreate(H5P_DATASET_CREATE);
    link   = H5Pcreate(H5P_LINK_CREATE);
    if (space < 0 || create < 0 || link < 0) FLX_TRY(fail(h5, name));
    H5Pset_obj_track_times(create, false); // equal frames are equal files
    H5Pset_create_intermediate_group(link, 1);
    dataset = H5Dcreate2(h5->file, name, file_type(type), space, link, create, H5P_DEFAULT);
    if (dataset < 0) FLX_TRY(fail(h5, name));
    if (H5Dwrite(dataset, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) FLX_TRY(fail(h5, name));

done:
    if (dataset >= 0) H5Dclose(dataset);
    if (link >= 0) H5Pclose(link);
    if (create >= 0) H5Pclose(create);
    if (space >= 0) H5Sclose(space);
    return status;
}

flx_status flx__h5_get(flx__h5* h5, const char* name, flx__h5_type type, int64_t rows, int64_t columns, void* data)
{
    if (rows == 0) return FLX_OK;
    flx_status status   = FLX_OK;
    hsize_t    shape[2] = {0, 0};
    hid_t      space    = -1;

    const hid_t dataset = H5Dopen2(h5->file, name, H5P_DEFAULT);
    if (dataset < 0) FLX_TRY(fail(h5, name));
    space              = H5Dget_space(dataset);
    const int rank     = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    const int expected = columns > 0 ? 2 : 1;
    if (rank == 1 || rank == 2) H5Sget_simple_extent_dims(space, shape, NULL);
    if (rank != expected || shape[0] != (hsize_t)rows || shape[1] != (hsize_t)columns)
        FLX_TRY(flx__fail(h5->ctx, FLX_ERR_FORMAT, "%s: '%s' is [%llu][%llu], not [%lld][%lld]", h5->path, name,
                          (unsigned long long)shape[0], (unsigned long long)shape[1], (long long)rows,
                          (long long)columns));
    if (H5Dread(dataset, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) FLX_TRY(fail(h5, name));

done:
    if (space >= 0) H5Sclose(space);
    if (dataset >= 0) H5Dclose(dataset);
    return status;
}

// --- attributes -----------------------------------------------------------------------------------

static flx_status put_attribute(flx__h5* h5, const char* name, hid_t stored, hid_t given, int32_t count,
                                const void* value)
{
    flx_status    status    = FLX_OK;
    hid_t         attribute = -1, space = -1;
    const hsize_t shape = (hsize_t)count;

    FLX_TRY(take_room(h5, name, ROOM_FOR_ATTRIBUTE + (int64_t)H5Tget_size(stored) * count));
    space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &shape, NULL);
    if (space < 0) FLX_TRY(fail(h5, name));
    attribute = H5Acreate2(h5->file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, given, value) < 0) FLX_TRY(fail(h5, name));

done:
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return status;
}

flx_status flx__h5_put_reals(flx__h5* h5, const char* name, int32_t count, const double* value)
{
    return put_attribute(h5, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, value);
}

flx_status flx__h5_put_integer(flx__h5* h5, const char* name, int64_t value)
{
    return put_attribute(h5, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &value);
}

flx_status flx__h5_put_hash(flx__h5* h5, const char* name, uint64_t value)
{
    return put_attribute(h5, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, 1, &value);
}

// Fixed length, NUL-terminated, UTF-8: what every HDF5 reader understands.
static hid_t text_type(size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    H5Tset_size(type, bytes);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

flx_status flx__h5_put_text(flx__h5* h5, const char* name, const char* value)
{
    const hid_t      type   = text_type(strlen(value) + 1);
    const flx_status status = type < 0 ? fail(h5, name) : put_attribute(h5, name, type, type, 1, value);
    if (type >= 0) H5Tclose(type);
    return status;
}

static flx_status get_attribute(flx__h5* h5, const char* name, hid_t wanted, int32_t count, void* value)
{
    flx_status status = FLX_OK;
    hid_t      space  = -1;

    const hid_t attribute = H5Aopen(h5->file, name, H5P_DEFAULT);
    if (attribute < 0) FLX_TRY(fail(h5, name));
    space = H5Aget_space(attribute);
    if (space < 0 || H5Sget_simple_extent_npoints(space) != count)
        FLX_TRY(flx__fail(h5->ctx, FLX_ERR_FORMAT, "%s: attribute '%s' has not %d value(s)", h5->path, name, count));
    if (H5Aread(attribute, wanted, value) < 0) FLX_TRY(fail(h5, name));

done:
    if (space >= 0) H5Sclose(space);
    if (attribute >= 0) H5Aclose(attribute);
    return status;
}

flx_status flx__h5_get_reals(flx__h5* h5, const char* name, int32_t count, double* value)
{
    return get_attribute(h5, name, H5T_NATIVE_DOUBLE, count, value);
}

flx_status flx__h5_get_integer(flx__h5* h5, const char* name, int64_t low, int64_t high, int64_t* value)
{
    const flx_status status = get_attribute(h5, name, H5T_NATIVE_INT64, 1, value);
    if (status != FLX_OK) return status;
    if (*value < low || *value > high)
        return flx__fail(h5->ctx, FLX_ERR_FORMAT, "%s: attribute '%s' = %lld is outside [%lld, %lld]", h5->path, name,
                         (long long)*value, (long long)low, (long long)high);
    return FLX_OK;
}

flx_status flx__h5_get_hash(flx__h5* h5, const char* name, uint64_t* value)
{
    return get_attribute(h5, name, H5T_NATIVE_UINT64, 1, value);
}

flx_status flx__h5_get_text(flx__h5* h5, const char* name, char** value)
{
    flx_status status = FLX_OK;
    hid_t      type   = -1;
    char*      text   = NULL;

    *value                = NULL;
    const hid_t attribute = H5Aopen(h5->file, name, H5P_DEFAULT);
    if (attribute < 0) FLX_TRY(fail(h5, name));
    const hsize_t bytes = H5Aget_storage_size(attribute);
    if (bytes > 65536) FLX_TRY(flx__fail(h5->ctx, FLX_ERR_FORMAT, "%s: attribute '%s' is too long", h5->path, name));
    FLX_NEW_ZERO(h5->ctx, text, (int64_t)bytes + 1);
    type = text_type((size_t)bytes + 1);
    if (type < 0) FLX_TRY(fail(h5, name));
    FLX_TRY(get_attribute(h5, name, type, 1, text));
    *value = text;
    text   = NULL;

done:
    if (type >= 0) H5Tclose(type);
    if (attribute >= 0) H5Aclose(attribute);
    flx__free(h5->ctx, text);
    return status;
}
