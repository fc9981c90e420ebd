/* Tables in memory, as the Arrow C data interface hands them over.
 *
 * Plain C, to be tested without Python; tables.c makes Python functions of it. Rows mean what formats/rows.py says. If
 * something here does not know a column or a value, it stops, and the table is read there.
 */
#ifndef LEXIRECALL_ARROW_H
#define LEXIRECALL_ARROW_H

#include "parts.h"

/* The three structures of the interface: their layout is fixed there, and so are the names of their capsules. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* What the cells of a column are, and how many bytes lie from one to the next. */
typedef enum { TEXT32, TEXT64, TEXT_VIEW, SIGNED, UNSIGNED, FLOAT } CellKind;

typedef struct {
    const char *format; /* as a schema writes it */
    CellKind kind;
    size_t size;
} CellType;

/* One column of a batch. Values of a dictionary are found by numbers; other columns have no type of these. */
typedef struct {
    const CellType *type, *number_type;
    const char *numbers;
    size_t first_number, num_values;
    const char *values;      /* numbers, offsets or views */
    size_t first;            /* where its rows begin among the values */
    const char *bytes;       /* of texts with offsets */
    const void *const *more; /* buffers of the bytes of views, and their sizes as int64 */
    size_t num_more;
    const char *sizes;
    int is_ascii;            /* known to hold no other text */
    char digits[24];         /* room for an integer as text */
} Column;

/* Which of the rows of a column belong to a batch. */
typedef struct {
    size_t skipped, length;
} Range;

/* These return 0 if the column, or the cell, is not known here: a type that is not listed in columns.c, a value that is
 * missing, text that is not UTF-8, a place outside its buffer. */
int column_of_ids(Column *column, const struct ArrowSchema *schema, const struct ArrowArray *array, Range range);
int column_of_numbers(Column *column, const struct ArrowSchema *schema, const struct ArrowArray *array, Range range);
int cell_text(Column *column, size_t row, Field *text);

/* Whether a cell is known to hold the same id as the one before it. */
int cell_repeats(Column *column, size_t row);
double cell_number(const Column *column, size_t row);

/* What the columns of a table are for: the number is a score, a rank or a grade. */
enum { RUN, QUERY, DOCUMENT, NUMBER, NUM_ROLES };

/* The names of columns, which the caller keeps; NULL for a role without a column. */
typedef const char *Names[NUM_ROLES];

/* Gives each row of the batches of a stream to `read`, until it returns a status other than READ_ON, and returns that
 * status; READ_BAD_LINE if a column is not known here. */
typedef Status (*ReadRow)(void *context, Column *columns, size_t row);
Status each_row(struct ArrowArrayStream *stream, const Names names, ReadRow read, void *context);

/* Runs: a table of one run need not name it. */
typedef struct {
    Names names;
    int is_rank; /* the first rank is the highest score */
    int float32; /* round scores to float32 first */
    TieRule ties;
    uint64_t key;
} TableSettings;

/* What came out. Rankings are numbered run · queries + query; the rest is as in Result. */
typedef struct {
    Buffer found;
    Buffer num_retrieved; /* int64 for each ranking */
    Buffer num_unjudged;  /* int64 for each run */
    Buffer repeated;      /* int64, four for each ranking that lists a document twice, of which nothing is in `found`: its
                             first row, the row behind its last, the run and the query */
    IdSet runs;        /* in the order of rows; empty if the table names none */
    int64_t num_rows;
} TableResult;

typedef struct TableReader TableReader;

TableReader *table_new(const Judged *judged, const TableSettings *settings);
void table_free(TableReader *reader);

/* The status stays once it is not READ_ON. After table_finish, which ends a ranking, more may be fed. */
Status table_feed(TableReader *reader, struct ArrowArrayStream *stream);
Status table_finish(TableReader *reader);
const TableResult *table_result(const TableReader *reader);
void table_take_repeated(TableReader *reader); /* empties that part of the result */

/* After READ_BAD_LINE: forgets the current ranking, to read on. Returns its first row, with which that must begin. */
int64_t table_forget(TableReader *reader);

/* Judgments; without a column of grades, each row has grade 1. */
typedef struct {
    JudgmentReader *reader;
    Names names;
    int whole_only; /* a fraction is not a grade */
    int64_t num_rows;
} JudgmentTable;

Status judgment_table_feed(JudgmentTable *table, struct ArrowArrayStream *stream);

#endif
