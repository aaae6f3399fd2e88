#include "base/base.h"

#include <string.h>

// FNV-1a: for identity of runs and meshes, not for security.
uint64_t flx__hash(uint64_t seed, const void* data, int64_t bytes)
{
    const uint64_t       prime = UINT64_C(1099511628211);
    uint64_t             h     = seed ? seed : UINT64_C(14695981039346656037);
    const unsigned char* p     = data;
    for (int64_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * prime;
    return h ? h : 1;
}

#define LANES 8
#define LANE_BYTES (LANES * (int64_t)sizeof(uint64_t))

static uint64_t rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/// Every bit of x decides every bit of the result (the output function of SplitMix64).
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/// For a given word, old and new lane are in one-to-one relation, so a difference cannot get lost; two products, before
/// and after the turn, so that none stays in few bits that the next word could undo (as in the rounds of xxHash64).
static void absorb(uint64_t lane[LANES], const unsigned char* from)
{
    for (int l = 0; l < LANES; ++l)
    {
        uint64_t word;
        memcpy(&word, from + 8 * l, sizeof word);
        lane[l] = rotated(lane[l] + word * UINT64_C(0xd1342543de82ef95), 29) * UINT64_C(0x9e3779b97f4a7c15);
    }
}

void flx__digest_add(flx__digest* d, const void* data, int64_t bytes)
{
    const unsigned char* p = data;
    uint64_t             lane[LANES];
    unsigned char        rest[LANE_BYTES] = {0};
    for (uint64_t l = 0; l < LANES; ++l) lane[l] = mixed(d->word[l & 1] + l + 1);
    for (int64_t k = 0; k < bytes / LANE_BYTES; ++k) absorb(lane, p + k * LANE_BYTES);
    if (bytes % LANE_BYTES) memcpy(rest, p + bytes / LANE_BYTES * LANE_BYTES, (size_t)(bytes % LANE_BYTES));
    absorb(lane, rest);

    uint64_t a = d->word[0] ^ (uint64_t)bytes, b = d->word[1] + (uint64_t)bytes;
    for (int l = 0; l < LANES; ++l)
    {
        a = mixed(a ^ lane[l]);
        b = mixed(b + rotated(lane[l], 32));
    }
    d->word[0] = a;
    d->word[1] = b;
}
