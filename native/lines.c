/* Lines: where their fields begin and end. */

#include "masks.h"
#include "parts.h"

#include <string.h>

#ifdef __SSE2__
#define CLASSIFY classify_sse2
#else
#define CLASSIFY classify_plain
#endif

/* The masks of the next bytes of a line: beyond its end all is blank. `readable` says how far memory may be read. */
static Masks classify_line(const char *text, size_t length, const char *readable)
{
    char rest[64];
    if (readable - text < 64) {
        memset(rest, ' ', sizeof rest);
        memcpy(rest, text, length < 64 ? length : 64);
        text = rest;
    }
    Masks masks = CLASSIFY(text);
    if (length < 64) {
        uint64_t beyond = ~(uint64_t)0 << length;
        masks.blank |= beyond;
        masks.nul &= ~beyond;
    }
    return masks;
}

/* Splits a line at its blanks; returns the number of fields, of which it keeps the first seven, or -1 for a NUL. */
int split(const char *line, size_t length, const char *readable, Field *fields)
{
    int begun = 0, ended = 0;
    uint64_t inside = 0, nul = 0; /* whether the byte before was text */
    for (size_t at = 0; at < length; at += 64) {
        Masks masks = classify_line(line + at, length - at, readable);
        uint64_t text = ~masks.blank, shifted = text << 1 | inside;
        nul |= masks.nul;
        inside = text >> 63;
        for (uint64_t starts = text & ~shifted; starts && begun < MOST_FIELDS; starts &= starts - 1)
            fields[begun++].start = line + at + lowest_bit(starts);
        for (uint64_t ends = ~text & shifted; ends && ended < begun; ends &= ends - 1, ended++)
            fields[ended].length = (size_t)(line + at + lowest_bit(ends) - fields[ended].start);
    }
    if (ended < begun)
        fields[ended].length = (size_t)(line + length - fields[ended].start);
    return nul ? -1 : begun;
}

int number_of(const Settings *settings, Field field, double *value)
{
    if (decimal_number(field.start, field.length, settings->powers, value))
        return 1;
    int may_be = field.start[0] != 0 && strchr("+-.0123456789iInN", field.start[0]) != NULL; /* asking Python takes long */
    return may_be && settings->slow_number(settings->context, field.start, field.length, value);
}

static int is_whole_number(Field field)
{
    size_t at = field.start[0] == '+' || field.start[0] == '-';
    size_t first = at;
    while (at < field.length && (unsigned char)(field.start[at] - '0') < 10)
        at++;
    return at == field.length && at > first;
}

/* Whether a line has the fields of a run. Fields after the tag are ignored, unless they may be there because an id
 * holds a blank: then the rank is not a number, or the score is where the tag should be. */
int has_run_fields(const Settings *settings, const Field *fields, int count)
{
    double score;
    if (count <= 6)
        return count >= 5;
    return !settings->strict && is_whole_number(fields[3]) && !number_of(settings, fields[5], &score);
}

void skip_byte_order_mark(int64_t number, const char **line, size_t *length)
{
    if (number == 1 && *length >= 3 && memcmp(*line, "\xEF\xBB\xBF", 3) == 0) {
        *line += 3;
        *length -= 3;
    }
}

int has_lone_return(Lines *lines, const char *block, size_t length)
{
    const char *at = block, *end = block + length;
    if (length && lines->ends_in_return && *block != '\r' && *block != '\n')
        return 1;
    lines->ends_in_return = length ? end[-1] == '\r' : lines->ends_in_return;
    while (at < end && (at = memchr(at, '\r', (size_t)(end - at))) && ++at < end)
        if (*at != '\r' && *at != '\n')
            return 1;
    return 0;
}

/* Counts the blank lines at the beginning of a block; returns where the next line begins, or one that is too long. */
static const char *skip_blank_lines(Lines *lines, const char *block, const char *end)
{
    const char *line = block;
    for (; block < end && is_blank(*block) && (size_t)(block - line) <= lines->longest; block++)
        if (*block == '\n') {
            lines->number++;
            line = block + 1;
        }
    return line;
}

Status each_line(Lines *lines, const char *block, size_t length, ReadLine read, void *context)
{
    const char *end = block + length;
    Buffer *unfinished = &lines->unfinished;
    Status status = READ_ON;
    while (status == READ_ON) {
        if (unfinished->used == 0)
            block = skip_blank_lines(lines, block, end);
        if (block == end)
            break;
        const char *newline = memchr(block, '\n', (size_t)(end - block));
        size_t more = (size_t)((newline ? newline : end) - block);
        if (newline || more > lines->longest - unfinished->used)
            lines->number++;
        if (more > lines->longest - unfinished->used)
            return READ_LONG_LINE;
        if (newline && unfinished->used == 0) {
            status = read(context, block, more, end);
        } else if (!buffer_append(unfinished, block, more)) {
            return READ_NO_MEMORY;
        } else if (newline) {
            status = read(context, unfinished->data, unfinished->used, unfinished->data + unfinished->used);
            unfinished->used = 0;
        }
        block = newline ? newline + 1 : end;
    }
    return status;
}

Status last_line(Lines *lines, ReadLine read, void *context)
{
    Buffer *unfinished = &lines->unfinished;
    if (unfinished->used == 0)
        return READ_ON;
    lines->number++;
    Status status = read(context, unfinished->data, unfinished->used, unfinished->data + unfinished->used);
    unfinished->used = 0;
    return status;
}
