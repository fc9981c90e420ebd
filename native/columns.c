/* One column of a batch: its cells as ids and numbers. Values may lie anywhere, so they are copied before use. */

#include "arrow.h"

/* ---- Types ---- */

static const CellType TYPES[] = {
    {"u", TEXT32, 4},   {"U", TEXT64, 8}, {"vu", TEXT_VIEW, 16}, {"c", SIGNED, 1}, {"C", UNSIGNED, 1},
    {"s", SIGNED, 2},   {"S", UNSIGNED, 2}, {"i", SIGNED, 4},    {"I", UNSIGNED, 4}, {"l", SIGNED, 8},
    {"L", UNSIGNED, 8}, {"f", FLOAT, 4},  {"g", FLOAT, 8},
};

static const CellType *type_of(const char *format)
{
    for (size_t i = 0; format && i < sizeof TYPES / sizeof *TYPES; i++)
        if (strcmp(TYPES[i].format, format) == 0)
            return &TYPES[i];
    return NULL;
}

static int is_text(const CellType *type)
{
    return type->kind == TEXT32 || type->kind == TEXT64 || type->kind == TEXT_VIEW;
}

static int is_whole(const CellType *type)
{
    return type->kind == SIGNED || type->kind == UNSIGNED;
}

/* Whether the metadata of a column, which are pairs of texts after their lengths, say that it means something else. */
static int is_extension(const struct ArrowSchema *schema)
{
    static const char WANTED[] = "ARROW:extension:name";
    const char *at = schema->metadata;
    int32_t pairs, length;
    if (!at)
        return 0;
    memcpy(&pairs, at, sizeof pairs);
    at += sizeof pairs;
    for (int64_t i = 0; i < 2 * (int64_t)pairs; i++) {
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if (length < 0)
            return 1;
        if (i % 2 == 0 && (size_t)length == sizeof WANTED - 1 && memcmp(at, WANTED, sizeof WANTED - 1) == 0)
            return 1;
        at += length;
    }
    return 0;
}

/* ---- Text ---- */

static int is_ascii(const char *text, size_t length)
{
    uint64_t word = 0, all = 0;
    size_t at = 0;
    for (; at + sizeof word <= length; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        all |= word;
    }
    for (; at < length; at++)
        all |= (unsigned char)text[at] & 0x80u;
    return !(all & 0x8080808080808080u);
}

/* The length of the character that begins here in UTF-8, 0 if none does. */
static size_t character(const unsigned char *text, size_t left)
{
    static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    uint32_t point = length == 1 ? text[0] : text[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2)
            return 0;
        point = point << 6 | (text[i] & 0x3Fu);
    }
    return point >= LEAST[length] && point <= 0x10FFFF && point >> 11 != 0x1B ? length : 0; /* 0x1B: surrogates */
}

static int is_utf8(const char *text, size_t length)
{
    if (is_ascii(text, length))
        return 1;
    for (size_t at = 0, size; at < length; at += size)
        if (!(size = character((const unsigned char *)text + at, length - at)))
            return 0;
    return 1;
}

static int64_t offset_at(const Column *column, size_t at)
{
    int32_t narrow;
    int64_t wide;
    if (column->type->kind == TEXT64) {
        memcpy(&wide, column->values + at * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, column->values + at * sizeof narrow, sizeof narrow);
    return narrow;
}

/* ---- Columns ---- */

static int any_missing(const struct ArrowArray *array, size_t first, size_t length)
{
    const unsigned char *bits = array->n_buffers > 0 ? array->buffers[0] : NULL;
    if (array->null_count == 0 || !bits)
        return 0;
    for (size_t at = first; at < first + length; at++)
        if (!(bits[at / 8] >> at % 8 & 1))
            return 1;
    return 0;
}

/* Whether an array has all the rows of a range, with a value in each; and where they begin in its buffers. */
static int rows_of(const struct ArrowArray *array, Range range, size_t *first)
{
    if (array->length < 0 || array->offset < 0 || (size_t)array->length < range.skipped ||
        (size_t)array->length - range.skipped < range.length)
        return 0;
    *first = (size_t)array->offset + range.skipped;
    return !any_missing(array, *first, range.length);
}

static int buffers_of(Column *column, const struct ArrowArray *array)
{
    if (array->n_buffers < (is_text(column->type) ? 3 : 2) || !array->buffers[1])
        return 0;
    column->values = array->buffers[1];
    if (column->type->kind == TEXT_VIEW) {
        column->more = array->buffers + 2;
        column->num_more = (size_t)array->n_buffers - 3;
        column->sizes = array->buffers[array->n_buffers - 1];
    } else if (is_text(column->type)) {
        column->bytes = array->buffers[2];
    }
    return 1;
}

static int plain_column(Column *column, const struct ArrowSchema *schema, const struct ArrowArray *array, Range range)
{
    *column = (Column){.type = type_of(schema->format), .num_values = range.length};
    return column->type && !schema->dictionary && !is_extension(schema) && rows_of(array, range, &column->first) &&
           (range.length == 0 || buffers_of(column, array));
}

/* A dictionary: its values are a column of their own, and the rows are numbers of values. */
static int dictionary_column(Column *column, const struct ArrowSchema *schema, const struct ArrowArray *array,
                             Range range)
{
    size_t first;
    const CellType *number_type = type_of(schema->format);
    const struct ArrowArray *values = array->dictionary;
    if (!number_type || !is_whole(number_type) || is_extension(schema) || !values || values->length < 0 ||
        !rows_of(array, range, &first) || array->n_buffers < 2 || (range.length && !array->buffers[1]) ||
        !plain_column(column, schema->dictionary, values, (Range){0, (size_t)values->length}) || !is_text(column->type))
        return 0;
    column->number_type = number_type;
    column->first_number = first;
    column->numbers = array->buffers[1];
    return 1;
}

int column_of_ids(Column *column, const struct ArrowSchema *schema, const struct ArrowArray *array, Range range)
{
    if (schema->dictionary)
        return dictionary_column(column, schema, array, range);
    if (!plain_column(column, schema, array, range) || column->type->kind == FLOAT)
        return 0;
    if (range.length && (column->type->kind == TEXT32 || column->type->kind == TEXT64)) {
        int64_t start = offset_at(column, column->first), stop = offset_at(column, column->first + range.length);
        if (start < 0 || stop < start || (stop > start && !column->bytes))
            return 0;
        column->is_ascii = stop == start || is_ascii(column->bytes + start, (size_t)(stop - start));
    }
    return 1;
}

int column_of_numbers(Column *column, const struct ArrowSchema *schema, const struct ArrowArray *array, Range range)
{
    return plain_column(column, schema, array, range) && !is_text(column->type);
}

/* ---- Cells ---- */

/* An integer without its sign, and whether it has one. */
static uint64_t whole_at(const CellType *type, const char *values, size_t at, int *is_negative)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t bits;
    const char *place = values + at * type->size;
    switch (type->size) {
    case 1:
        memcpy(&one, place, sizeof one);
        bits = one;
        break;
    case 2:
        memcpy(&two, place, sizeof two);
        bits = two;
        break;
    case 4:
        memcpy(&four, place, sizeof four);
        bits = four;
        break;
    default:
        memcpy(&bits, place, sizeof bits);
    }
    uint64_t sign = (uint64_t)1 << (8 * type->size - 1);
    *is_negative = type->kind == SIGNED && (bits & sign);
    return *is_negative ? sign - (bits ^ sign) : bits;
}

static int digits_at(Column *column, size_t at, Field *text)
{
    int is_negative;
    uint64_t whole = whole_at(column->type, column->values, at, &is_negative);
    char *start = column->digits + sizeof column->digits;
    do
        *--start = (char)('0' + whole % 10);
    while (whole /= 10);
    if (is_negative)
        *--start = '-';
    *text = (Field){start, (size_t)(column->digits + sizeof column->digits - start)};
    return 1;
}

/* A view: the length, then up to twelve bytes; or the first four bytes, the number of a buffer and a place in it. */
static int view_at(const Column *column, size_t at, Field *text)
{
    int32_t length, buffer, offset;
    int64_t size;
    const char *view = column->values + at * 16;
    memcpy(&length, view, sizeof length);
    if (length < 0)
        return 0;
    *text = (Field){view + 4, (size_t)length};
    if (length <= 12)
        return 1;
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&offset, view + 12, sizeof offset);
    if (buffer < 0 || (size_t)buffer >= column->num_more || offset < 0 || !column->sizes || !column->more[buffer])
        return 0;
    memcpy(&size, column->sizes + (size_t)buffer * sizeof size, sizeof size);
    text->start = (const char *)column->more[buffer] + offset;
    return (int64_t)offset + length <= size;
}

static int text_at(const Column *column, size_t at, Field *text)
{
    if (column->type->kind == TEXT_VIEW)
        return view_at(column, at, text);
    int64_t start = offset_at(column, at), stop = offset_at(column, at + 1);
    if (start < 0 || stop < start || (stop > start && !column->bytes))
        return 0;
    *text = (Field){stop > start ? column->bytes + start : "", (size_t)(stop - start)};
    return 1;
}

int cell_text(Column *column, size_t row, Field *text)
{
    size_t at = column->first + row;
    if (column->number_type) {
        int is_negative;
        uint64_t number = whole_at(column->number_type, column->numbers, column->first_number + row, &is_negative);
        if (is_negative || number >= column->num_values)
            return 0;
        at = column->first + (size_t)number;
    }
    if (is_whole(column->type))
        return digits_at(column, at, text);
    return text_at(column, at, text) && (column->is_ascii || is_utf8(text->start, text->length));
}

/* Whether a number is the one before it; those of dictionaries most often have four bytes. */
static inline int is_repeated(const char *cell, size_t size)
{
    uint32_t here, before;
    if (size != sizeof here)
        return memcmp(cell, cell - size, size) == 0;
    memcpy(&here, cell, sizeof here);
    memcpy(&before, cell - sizeof before, sizeof before);
    return here == before;
}

int cell_repeats(Column *column, size_t row)
{
    Field here, before;
    const CellType *type = column->number_type ? column->number_type : column->type;
    if (is_whole(type)) {
        const char *cell = column->number_type ? column->numbers + (column->first_number + row) * type->size
                                               : column->values + (column->first + row) * type->size;
        return is_repeated(cell, type->size);
    }
    return text_at(column, column->first + row, &here) && text_at(column, column->first + row - 1, &before) &&
           here.length == before.length && memcmp(here.start, before.start, here.length) == 0;
}

double cell_number(const Column *column, size_t row)
{
    float narrow;
    double wide;
    int is_negative;
    size_t at = column->first + row;
    if (is_whole(column->type)) {
        uint64_t whole = whole_at(column->type, column->values, at, &is_negative);
        return is_negative ? -(double)whole : (double)whole;
    }
    if (column->type->size == sizeof narrow) {
        memcpy(&narrow, column->values + at * sizeof narrow, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, column->values + at * sizeof wide, sizeof wide);
    return wide;
}
