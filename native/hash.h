/* The hash of an id. */
#ifndef LEXIRECALL_HASH_H
#define LEXIRECALL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_load(const char *bytes, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, bytes, count);
    return word;
}

/* Both halves of a product, folded into one word: every bit of it depends on all of both factors. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)cross;
    return (other << 32 | (uint32_t)low) ^ (a1 * b1 + (cross >> 32) + (other >> 32));
#endif
}

/* Takes sixteen bytes at a time. The last words of a long id overlap with what came before; those of a short one
 * overlap each other. Without the key nobody can tell which ids will collide. */
static inline uint64_t id_hash(const char *id, size_t length, uint64_t key)
{
    const uint64_t other = key ^ (length * 0x9E3779B97F4A7C15u);
    uint64_t hash = key * 0xD6E8FEB86659FD93u;
    size_t at = 0;
    for (; length - at > 16; at += 16)
        hash = hash_fold(hash ^ hash_load(id + at, 8), other ^ hash_load(id + at + 8, 8));
    if (length >= 8) /* at most sixteen bytes are left: the last ones, or the first and the last eight */
        hash = hash_fold(hash ^ hash_load(at ? id + length - 16 : id, 8), other ^ hash_load(id + length - 8, 8));
    else if (length >= 4)
        hash = hash_fold(hash ^ hash_load(id, 4), other ^ hash_load(id + length - 4, 4));
    else if (length)
        hash = hash_fold(hash ^ hash_load(id, 1), other ^ hash_load(id + length / 2, 1) ^ hash_load(id + length - 1, 1) << 8);
    return hash_fold(hash ^ 0xCA9B0C7EBA1DA115u, other ^ 0xA0761D6478BD642Fu);
}

/* What tables keep of it. */
static inline uint32_t short_hash(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

#endif
