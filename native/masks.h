/* Masks: a bit for each of 64 bytes. */
#ifndef LEXIRECALL_MASKS_H
#define LEXIRECALL_MASKS_H

#include "parts.h"

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Where a byte is a blank, a newline, a NUL. */
typedef struct {
    uint64_t blank, newline, nul;
} Masks;

static inline int lowest_bit(uint64_t mask)
{
#if defined(__GNUC__)
    return __builtin_ctzll(mask);
#else
    int bit = 0;
    while (!(mask >> bit & 1))
        bit++;
    return bit;
#endif
}

static inline Masks classify_plain(const char *text)
{
    Masks masks = {0};
    for (int i = 0; i < 64; i++) {
        masks.blank |= (uint64_t)is_blank(text[i]) << i;
        masks.newline |= (uint64_t)(text[i] == '\n') << i;
        masks.nul |= (uint64_t)(text[i] == 0) << i;
    }
    return masks;
}

#ifdef __SSE2__
static inline Masks classify_sse2(const char *text)
{
    const __m128i space = _mm_set1_epi8(' '), tab = _mm_set1_epi8('\t'), span = _mm_set1_epi8('\r' - '\t');
    Masks masks = {0};
    for (int i = 0; i < 64; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + i));
        __m128i above_tab = _mm_sub_epi8(bytes, tab); /* wraps around: only tab to carriage return is small */
        __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(above_tab, span), above_tab);
        __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(bytes, space), control);
        masks.blank |= (uint64_t)(uint16_t)_mm_movemask_epi8(blank) << i;
        masks.newline |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))) << i;
        masks.nul |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) << i;
    }
    return masks;
}
#endif

#endif
