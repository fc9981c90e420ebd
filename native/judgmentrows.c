/* Rows of judgments: those of a query must come together. */

#include "arrow.h"

/* Whether a number is not whole; all large ones are. */
static int is_fraction(double number)
{
    const double large = 9007199254740992.0;
    return number > -large && number < large && number != (double)(int64_t)number;
}

static Status read_row(void *context, Column *columns, size_t row)
{
    JudgmentTable *table = context;
    Field query, document;
    double grade = table->names[NUMBER] ? cell_number(&columns[NUMBER], row) : 1;
    if (grade - grade != 0 || (table->whole_only && is_fraction(grade))) /* the first holds for infinity and NaN */
        return READ_BAD_LINE;
    if (!cell_text(&columns[QUERY], row, &query) || !cell_text(&columns[DOCUMENT], row, &document))
        return READ_BAD_LINE;
    table->num_rows++;
    return judgments_add(table->reader, query, document, grade);
}

Status judgment_table_feed(JudgmentTable *table, struct ArrowArrayStream *stream)
{
    Status status = each_row(stream, table->names, read_row, table);
    return judgments_stop(table->reader, status);
}
