// Numbers of either byte order from the binary part of a file. The caller has checked that the bytes are there.
#ifndef FLX_MESH_BYTE_READER_H
#define FLX_MESH_BYTE_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t flx__bytes_unsigned(const char* at, int bytes, bool big_endian)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | (unsigned char)at[big_endian ? i : bytes - 1 - i];
    return value;
}

static inline int32_t flx__bytes_i32(const char* at, bool big_endian)
{
    return (int32_t)(uint32_t)flx__bytes_unsigned(at, 4, big_endian);
}

static inline float flx__bytes_f32(const char* at, bool big_endian)
{
    const uint32_t bits = (uint32_t)flx__bytes_unsigned(at, 4, big_endian);
    float          value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double flx__bytes_f64(const char* at, bool big_endian)
{
    const uint64_t bits = flx__bytes_unsigned(at, 8, big_endian);
    double         value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
