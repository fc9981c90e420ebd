/* Streams of batches: the rows of each, with the columns that are needed of them. */

#include "arrow.h"

/* The only column of a name, or -1. */
static int64_t column_named(const struct ArrowSchema *schema, const char *name)
{
    int64_t found = -1;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (!schema->children[i]->name || strcmp(schema->children[i]->name, name) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* Finds the columns of all roles in a batch; 0 if one of them is not known. */
static int columns_of(const struct ArrowSchema *schema, const struct ArrowArray *batch, const Names names,
                      Column *columns)
{
    Range range = {(size_t)batch->offset, (size_t)batch->length};
    for (int role = 0; role < NUM_ROLES; role++) {
        if (!names[role])
            continue;
        int64_t place = column_named(schema, names[role]);
        if (place < 0)
            return 0;
        const struct ArrowSchema *type = schema->children[place];
        const struct ArrowArray *array = batch->children[place];
        if (!(role == NUMBER ? column_of_numbers : column_of_ids)(&columns[role], type, array, range))
            return 0;
    }
    return 1;
}

static Status rows_of_batch(const struct ArrowSchema *schema, const struct ArrowArray *batch, const Names names,
                            ReadRow read, void *context)
{
    Column columns[NUM_ROLES];
    int is_whole = batch->n_buffers < 1 || !batch->buffers || !batch->buffers[0] || batch->null_count == 0;
    if (!is_whole || batch->length < 0 || batch->offset < 0 || batch->n_children != schema->n_children ||
        !columns_of(schema, batch, names, columns))
        return READ_BAD_LINE;
    Status status = READ_ON;
    for (size_t row = 0; status == READ_ON && row < (size_t)batch->length; row++)
        status = read(context, columns, row);
    return status;
}

Status each_row(struct ArrowArrayStream *stream, const Names names, ReadRow read, void *context)
{
    struct ArrowSchema schema;
    if (stream->get_schema(stream, &schema) != 0)
        return READ_BAD_LINE;
    Status status = schema.format && strcmp(schema.format, "+s") == 0 ? READ_ON : READ_BAD_LINE;
    while (status == READ_ON) {
        struct ArrowArray batch;
        if (stream->get_next(stream, &batch) != 0)
            status = READ_BAD_LINE;
        else if (!batch.release) /* the end */
            break;
        else {
            status = rows_of_batch(&schema, &batch, names, read, context);
            batch.release(&batch);
        }
    }
    schema.release(&schema);
    return status;
}
