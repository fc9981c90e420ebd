/* Counts over a matrix of scores: how many documents of a row come before some of them. No sort, no list.
 *
 * Plain C, to be tested without Python. formats/rowcounts.py defines what is counted, and does the same in numpy.
 */
#ifndef LEXIRECALL_COUNTS_H
#define LEXIRECALL_COUNTS_H

#include <stddef.h>
#include <stdint.h>

/* Documents of each row: those of row r lie at offsets[r] to offsets[r + 1]. */
typedef struct {
    const int64_t *offsets; /* one more than there are rows */
    const int64_t *documents;
} Marked;

typedef struct {
    const void *scores; /* row after row */
    int is_double;      /* else they are floats */
    int most_bytes;     /* of a vector: with less than 32, as if the processor did not have these */
    size_t num_rows, num_documents;
    Marked wanted;   /* whose places are asked for */
    Marked excluded; /* as if they were not in the row */
} Matrix;

/* Returns 0 if the marks do not lie within the matrix; the other functions rely on that. */
int marks_fit(const Matrix *matrix, size_t num_wanted, size_t num_excluded);

/* For each wanted document, how many have a higher score and how many the same, itself among them; for each row, how many
 * scores are NaN. */
void count_scores(const Matrix *matrix, int64_t *above, int64_t *tied, int64_t *num_nan);

/* For each wanted document that is not alone with its score, how many with the same score are of a higher order. */
void count_before(const Matrix *matrix, const int64_t *tied, const int32_t *order, int64_t *before);

#endif
