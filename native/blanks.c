/* Blanks: one finder in plain C, which says what is meant, and others that ask the processor for many bytes at once.
 *
 * Each finder makes masks of 64 bytes, with the first byte as the lowest bit whatever the order of bytes in a
 * word is; what the masks mean is written once. */

#include "blanks.h"
#include "masks.h"
#include "parts.h"

#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#define HAS_X86 1
#include <immintrin.h>
#endif
#if defined(__GNUC__) && defined(__aarch64__)
#define HAS_NEON 1
#include <arm_neon.h>
#endif

static inline size_t num_bits(uint64_t mask)
{
#if defined(__GNUC__)
    return (size_t)__builtin_popcountll(mask);
#else
    size_t count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
#endif
}

/* Where there is no bit, 64: processors with an instruction for this need no more than that. */
static inline size_t lowest_or_64(uint64_t mask)
{
    return mask ? (size_t)lowest_bit(mask) : 64;
}

/* Writes twelve places whether there are as many or not: how often a loop runs is hard to predict, and a line of a run
 * seldom has more in 64 bytes. */
static inline void put_places(Blanks *blanks, uint64_t mask, size_t start)
{
    size_t count = num_bits(mask);
    uint16_t *places = blanks->places + blanks->count;
    for (size_t i = 0; i < 12; i++, mask &= mask - 1)
        places[i] = (uint16_t)(start + lowest_or_64(mask));
    for (size_t i = 12; i < count; i++, mask &= mask - 1)
        places[i] = (uint16_t)(start + lowest_or_64(mask));
    blanks->count += count;
}

/* What the finders have seen so far. */
typedef struct {
    uint64_t nul, pairs, last; /* whether the last byte was a blank; a line begins after one */
    size_t num_newlines;
} Seen64;

static inline void take_masks(Blanks *blanks, Seen64 *seen, Masks masks, size_t start)
{
    seen->nul |= masks.nul;
    seen->pairs |= masks.blank & (masks.blank << 1 | seen->last);
    seen->last = masks.blank >> 63;
    seen->num_newlines += num_bits(masks.newline);
    put_places(blanks, masks.blank, start);
}

#define DEFINE_FINDER(name, attributes, classify)                                                                    \
    attributes static void name(const char *text, size_t length, Blanks *blanks)                                     \
    {                                                                                                                \
        Seen64 seen = {.last = 1};                                                                                   \
        size_t at = 0;                                                                                               \
        blanks->count = 0;                                                                                           \
        for (; at + 64 <= length; at += 64)                                                                          \
            take_masks(blanks, &seen, classify(text + at), at);                                                      \
        if (at < length) {                                                                                           \
            char rest[64];                                                                                           \
            memset(rest, 'x', sizeof rest);                                                                          \
            memcpy(rest, text + at, length - at);                                                                    \
            take_masks(blanks, &seen, classify(rest), at);                                                           \
        }                                                                                                            \
        blanks->num_newlines = seen.num_newlines;                                                                    \
        blanks->has_nul = seen.nul != 0;                                                                             \
        blanks->has_pairs = seen.pairs != 0;                                                                         \
    }

DEFINE_FINDER(find_plain, , classify_plain)

#ifdef HAS_X86
DEFINE_FINDER(find_sse2, , classify_sse2)

#define AVX2 __attribute__((target("avx2,popcnt,bmi")))

AVX2 static inline Masks classify_avx2(const char *text)
{
    const __m256i space = _mm256_set1_epi8(' '), tab = _mm256_set1_epi8('\t'), span = _mm256_set1_epi8('\r' - '\t');
    Masks masks = {0};
    for (int i = 0; i < 64; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(text + i));
        __m256i above_tab = _mm256_sub_epi8(bytes, tab);
        __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(above_tab, span), above_tab);
        __m256i blank = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, space), control);
        masks.blank |= (uint64_t)(uint32_t)_mm256_movemask_epi8(blank) << i;
        masks.newline |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n'))) << i;
        masks.nul |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())) << i;
    }
    return masks;
}

DEFINE_FINDER(find_avx2, AVX2, classify_avx2)
#endif

#ifdef HAS_NEON
/* A bit for each byte: every byte keeps the bit of its place in a group of eight, and neighbours are added up. */
static inline uint64_t bits_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t low = vpaddq_u8(vandq_u8(a, bits), vandq_u8(b, bits));
    uint8x16_t high = vpaddq_u8(vandq_u8(c, bits), vandq_u8(d, bits));
    uint8_t bytes[16];
    low = vpaddq_u8(low, high);
    vst1q_u8(bytes, vpaddq_u8(low, low));
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= (uint64_t)bytes[i] << 8 * i;
    return mask;
}

static inline Masks classify_neon(const char *text)
{
    uint8x16_t blank[4], newline[4], nul[4];
    for (int i = 0; i < 4; i++) {
        uint8x16_t bytes = vld1q_u8((const uint8_t *)text + 16 * i);
        uint8x16_t control = vcleq_u8(vsubq_u8(bytes, vdupq_n_u8('\t')), vdupq_n_u8('\r' - '\t'));
        blank[i] = vorrq_u8(vceqq_u8(bytes, vdupq_n_u8(' ')), control);
        newline[i] = vceqq_u8(bytes, vdupq_n_u8('\n'));
        nul[i] = vceqq_u8(bytes, vdupq_n_u8(0));
    }
    return (Masks){
        .blank = bits_of(blank[0], blank[1], blank[2], blank[3]),
        .newline = bits_of(newline[0], newline[1], newline[2], newline[3]),
        .nul = bits_of(nul[0], nul[1], nul[2], nul[3]),
    };
}

DEFINE_FINDER(find_neon, , classify_neon)
#endif

FindBlanks blank_finder(const char *name)
{
    const struct {
        const char *name;
        FindBlanks find;
        int is_here;
    } finders[] = {
#ifdef HAS_X86
        {"avx2", find_avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi")},
        {"sse2", find_sse2, 1},
#endif
#ifdef HAS_NEON
        {"neon", find_neon, 1},
#endif
        {"plain", find_plain, 1},
    };
    for (size_t i = 0; i < sizeof finders / sizeof *finders; i++)
        if (finders[i].is_here && (!name || strcmp(name, finders[i].name) == 0))
            return finders[i].find;
    return NULL;
}
