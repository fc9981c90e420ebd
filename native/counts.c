/* Counts over rows of scores, in loops that the compiler turns into vector instructions. */

#include "counts.h"

#include <string.h>

/* Vectors of 16 bytes, which every processor of today has, or of 32, which most have; where the compiler does not know
 * vectors, one has one lane. A condition is -1 in each lane where it holds. */
#if defined(__GNUC__)
#define VECTOR(TYPE, NAME, BYTES) typedef TYPE NAME __attribute__((vector_size(BYTES)))
#define LANES(TYPE, BYTES) (BYTES / sizeof(TYPE))
#define LANE(VECTOR, I) (VECTOR)[I]
#define WHERE(CONDITION) (CONDITION)
#else
#define VECTOR(TYPE, NAME, BYTES) typedef TYPE NAME
#define LANES(TYPE, BYTES) 1
#define LANE(VECTOR, I) (VECTOR)
#define WHERE(CONDITION) (-(CONDITION))
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define WITH_WIDE_VECTORS __attribute__((target("avx2")))
#endif
#define WITH_ANY_VECTORS

/* A piece of a row stays in the nearest cache while all wanted documents are compared with it. */
enum { PIECE = 2048, TOGETHER = 4 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int fit(const Marked *marked, size_t num_rows, size_t num_documents, size_t count)
{
    if (marked->offsets[0] != 0 || marked->offsets[num_rows] != (int64_t)count)
        return 0;
    for (size_t row = 0; row < num_rows; row++)
        if (marked->offsets[row] > marked->offsets[row + 1])
            return 0;
    for (size_t i = 0; i < count; i++)
        if (marked->documents[i] < 0 || marked->documents[i] >= (int64_t)num_documents)
            return 0;
    return 1;
}

int marks_fit(const Matrix *matrix, size_t num_wanted, size_t num_excluded)
{
    return fit(&matrix->wanted, matrix->num_rows, matrix->num_documents, num_wanted) &&
           fit(&matrix->excluded, matrix->num_rows, matrix->num_documents, num_excluded);
}

/* The same functions for floats and doubles. Counters are as wide as scores, so that vectors of both have the same
 * number of lanes; a piece is too short for them to overflow. */
#define DEFINE_COUNTS(SCORE, COUNTER, NAME, BYTES, TARGET)                                                             \
    VECTOR(SCORE, scores_##NAME, BYTES);                                                                               \
    VECTOR(COUNTER, counts_##NAME, BYTES);                                                                             \
                                                                                                                       \
    TARGET static scores_##NAME all_##NAME(SCORE score)                                                                \
    {                                                                                                                  \
        scores_##NAME all = {0};                                                                                       \
        for (size_t i = 0; i < LANES(SCORE, BYTES); i++)                                                               \
            LANE(all, i) = score;                                                                                      \
        return all;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    TARGET static int64_t sum_##NAME(counts_##NAME counts)                                                             \
    {                                                                                                                  \
        int64_t sum = 0;                                                                                               \
        for (size_t i = 0; i < LANES(SCORE, BYTES); i++)                                                               \
            sum += LANE(counts, i);                                                                                    \
        return sum;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    TARGET static int64_t nan_##NAME(const SCORE *row, size_t length)                                                  \
    {                                                                                                                  \
        int64_t total = 0;                                                                                             \
        for (size_t start = 0; start < length; start += PIECE) {                                                       \
            size_t stop = smaller(start + PIECE, length), i = start;                                                   \
            counts_##NAME counts = {0};                                                                                \
            for (; i + LANES(SCORE, BYTES) <= stop; i += LANES(SCORE, BYTES)) {                                        \
                scores_##NAME scores;                                                                                  \
                memcpy(&scores, row + i, sizeof scores);                                                               \
                counts -= (counts_##NAME)WHERE(scores != scores);                                                      \
            }                                                                                                          \
            for (; i < stop; i++)                                                                                      \
                total += row[i] != row[i];                                                                             \
            total += sum_##NAME(counts);                                                                               \
        }                                                                                                              \
        return total;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    TARGET static void four_##NAME(const SCORE *piece, size_t length, const SCORE *with, int64_t *above,               \
                                   int64_t *tied)                                                                      \
    {                                                                                                                  \
        const scores_##NAME a = all_##NAME(with[0]), b = all_##NAME(with[1]);                                          \
        const scores_##NAME c = all_##NAME(with[2]), d = all_##NAME(with[3]);                                          \
        counts_##NAME above_a = {0}, above_b = {0}, above_c = {0}, above_d = {0};                                      \
        counts_##NAME as_a = {0}, as_b = {0}, as_c = {0}, as_d = {0};                                                  \
        size_t i = 0;                                                                                                  \
        for (; i + LANES(SCORE, BYTES) <= length; i += LANES(SCORE, BYTES)) {                                          \
            scores_##NAME scores;                                                                                      \
            memcpy(&scores, piece + i, sizeof scores);                                                                 \
            above_a -= (counts_##NAME)WHERE(scores > a);                                                               \
            above_b -= (counts_##NAME)WHERE(scores > b);                                                               \
            above_c -= (counts_##NAME)WHERE(scores > c);                                                               \
            above_d -= (counts_##NAME)WHERE(scores > d);                                                               \
            as_a -= (counts_##NAME)WHERE(scores == a);                                                                 \
            as_b -= (counts_##NAME)WHERE(scores == b);                                                                 \
            as_c -= (counts_##NAME)WHERE(scores == c);                                                                 \
            as_d -= (counts_##NAME)WHERE(scores == d);                                                                 \
        }                                                                                                              \
        const counts_##NAME higher[] = {above_a, above_b, above_c, above_d}, equal[] = {as_a, as_b, as_c, as_d};       \
        for (size_t j = 0; j < TOGETHER; j++) {                                                                        \
            above[j] = sum_##NAME(higher[j]);                                                                          \
            tied[j] = sum_##NAME(equal[j]);                                                                            \
            for (size_t k = i; k < length; k++) {                                                                      \
                above[j] += piece[k] > with[j];                                                                        \
                tied[j] += piece[k] == with[j];                                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    TARGET static void piece_##NAME(const SCORE *row, size_t start, size_t stop, const int64_t *documents, size_t count,   \
                                    int64_t *above, int64_t *tied)                                                     \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i += TOGETHER) {                                                                 \
            SCORE with[TOGETHER];                                                                                      \
            int64_t higher[TOGETHER], equal[TOGETHER];                                                                 \
            for (size_t j = 0; j < TOGETHER; j++) /* the last one fills what is left of four */                        \
                with[j] = row[documents[smaller(i + j, count - 1)]];                                                       \
            four_##NAME(row + start, stop - start, with, higher, equal);                                               \
            for (size_t j = i; j < smaller(i + TOGETHER, count); j++) {                                                \
                above[j] += higher[j - i];                                                                             \
                tied[j] += equal[j - i];                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    TARGET static void row_##NAME(const SCORE *row, size_t length, const int64_t *documents, size_t count,                 \
                                  const int64_t *out, size_t num_out, int64_t *above, int64_t *tied)                   \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            above[i] = tied[i] = 0;                                                                                    \
        for (size_t start = 0; start < length; start += PIECE)                                                         \
            piece_##NAME(row, start, smaller(start + PIECE, length), documents, count, above, tied);                       \
        for (size_t i = 0; i < count; i++)                                                                             \
            for (size_t j = 0; j < num_out; j++) {                                                                     \
                above[i] -= row[out[j]] > row[documents[i]];                                                               \
                tied[i] -= row[out[j]] == row[documents[i]];                                                               \
            }                                                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    TARGET static int64_t before_##NAME(const SCORE *row, size_t length, size_t document, const int64_t *out,              \
                                        size_t num_out, const int32_t *order)                                          \
    {                                                                                                                  \
        const SCORE score = row[document];                                                                                 \
        const int32_t own = order[document];                                                                               \
        int64_t total = 0;                                                                                             \
        for (size_t start = 0; start < length; start += PIECE) {                                                       \
            size_t stop = smaller(start + PIECE, length);                                                              \
            COUNTER count = 0;                                                                                         \
            for (size_t i = start; i < stop; i++)                                                                      \
                count += (row[i] == score) & (order[i] > own);                                                         \
            total += count;                                                                                            \
        }                                                                                                              \
        for (size_t j = 0; j < num_out; j++)                                                                           \
            total -= (row[out[j]] == score) & (order[out[j]] > own);                                                   \
        return total;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    TARGET static void all_rows_##NAME(const Matrix *matrix, int64_t *above, int64_t *tied, int64_t *num_nan)          \
    {                                                                                                                  \
        for (size_t r = 0; r < matrix->num_rows; r++) {                                                                \
            const SCORE *row = (const SCORE *)matrix->scores + r * matrix->num_documents;                                  \
            const int64_t first = matrix->wanted.offsets[r], out = matrix->excluded.offsets[r];                        \
            row_##NAME(row, matrix->num_documents, matrix->wanted.documents + first,                                           \
                       (size_t)(matrix->wanted.offsets[r + 1] - first), matrix->excluded.documents + out,                  \
                       (size_t)(matrix->excluded.offsets[r + 1] - out), above + first, tied + first);                  \
            num_nan[r] = nan_##NAME(row, matrix->num_documents);                                                           \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    TARGET static void all_before_##NAME(const Matrix *matrix, const int64_t *tied, const int32_t *order,              \
                                         int64_t *before)                                                              \
    {                                                                                                                  \
        for (size_t r = 0; r < matrix->num_rows; r++) {                                                                \
            const SCORE *row = (const SCORE *)matrix->scores + r * matrix->num_documents;                                  \
            const int64_t out = matrix->excluded.offsets[r];                                                           \
            const size_t num_out = (size_t)(matrix->excluded.offsets[r + 1] - out);                                    \
            for (int64_t i = matrix->wanted.offsets[r]; i < matrix->wanted.offsets[r + 1]; i++)                        \
                before[i] = tied[i] < 2 ? 0                                                                            \
                                        : before_##NAME(row, matrix->num_documents, (size_t)matrix->wanted.documents[i],       \
                                                        matrix->excluded.documents + out, num_out, order);                 \
        }                                                                                                              \
    }

DEFINE_COUNTS(float, int32_t, float, 16, WITH_ANY_VECTORS)
DEFINE_COUNTS(double, int64_t, double, 16, WITH_ANY_VECTORS)

#if defined(WITH_WIDE_VECTORS)
DEFINE_COUNTS(float, int32_t, wide_float, 32, WITH_WIDE_VECTORS)
DEFINE_COUNTS(double, int64_t, wide_double, 32, WITH_WIDE_VECTORS)

static int is_wide(const Matrix *matrix)
{
    return matrix->most_bytes >= 32 && __builtin_cpu_supports("avx2");
}
#endif

void count_scores(const Matrix *matrix, int64_t *above, int64_t *tied, int64_t *num_nan)
{
#if defined(WITH_WIDE_VECTORS)
    if (is_wide(matrix)) {
        (matrix->is_double ? all_rows_wide_double : all_rows_wide_float)(matrix, above, tied, num_nan);
        return;
    }
#endif
    (matrix->is_double ? all_rows_double : all_rows_float)(matrix, above, tied, num_nan);
}

void count_before(const Matrix *matrix, const int64_t *tied, const int32_t *order, int64_t *before)
{
#if defined(WITH_WIDE_VECTORS)
    if (is_wide(matrix)) {
        (matrix->is_double ? all_before_wide_double : all_before_wide_float)(matrix, tied, order, before);
        return;
    }
#endif
    (matrix->is_double ? all_before_double : all_before_float)(matrix, tied, order, before);
}
