/* A ranking whose scores descend: the number of a row is its position, so only judged documents leave a trace.
 *
 * Ids are looked at where they are. Of the documents that are not judged only the hash is kept, to notice one that comes
 * twice; what looks like that is read again, by the reader that keeps ids. Rows with equal scores are put in order by
 * ranking.c if there is a judged document among them. */

#include "descending.h"
#include "hash.h"

#include <stdlib.h>

static int clear_slots(Descending *descending, size_t count)
{
    size_t needed = 64;
    while (needed < 4 * count)
        needed *= 2;
    if (needed > descending->room) {
        Slot *slots = malloc(needed * sizeof *slots);
        if (!slots)
            return 0;
        free(descending->slots);
        descending->slots = slots;
        descending->room = needed;
    }
    descending->mask = needed - 1;
    memset(descending->slots, 0, needed * sizeof *descending->slots);
    return 1;
}

/* Makes a filter with sixteen bits for each document looked for: few of the others pass it. */
static int clear_filter(Descending *descending, size_t count)
{
    size_t words = 8;
    while (words < count / 4)
        words *= 2;
    descending->filter.used = 0;
    if (!buffer_reserve(&descending->filter, words * sizeof(uint64_t)))
        return 0;
    memset(descending->filter.data, 0, words * sizeof(uint64_t));
    descending->filter_mask = 64 * (uint64_t)words - 1;
    return 1;
}

static uint64_t *filter_word(const Descending *descending, uint64_t bit)
{
    return (uint64_t *)(void *)descending->filter.data + bit / 64;
}

static uint64_t filter_bit(const Descending *descending, uint64_t hash)
{
    return hash >> 32 & descending->filter_mask;
}

int descending_open(Descending *descending, const Judged *judged, int64_t query)
{
    size_t count = (size_t)judged->num_tracked[query];
    descending->query = query;
    descending->first_document = judged->offsets[query];
    descending->document_ids = judged->document_ids;
    descending->borders = judged->document_borders + judged->offsets[query];
    descending->grades = judged->grades + judged->offsets[query];
    descending->rows = descending->num_kept = descending->num_judged = 0;
    descending->size = descending->hashes.used = descending->kept.used = descending->listed.used = 0;
    if (count > INT32_MAX || !clear_slots(descending, count) || !clear_filter(descending, count) ||
        !buffer_reserve(&descending->listed, count))
        return 0;
    if (count)
        memset(descending->listed.data, 0, count);
    for (size_t i = 0; i < count; i++) {
        const int64_t *border = descending->borders + i;
        uint64_t hash = id_hash(judged->document_ids + border[0], (size_t)(border[1] - border[0]), descending->key);
        size_t at = short_hash(hash) & descending->mask;
        while (descending->slots[at].number)
            at = (at + 1) & descending->mask;
        descending->slots[at] = (Slot){short_hash(hash), (uint32_t)(i + 1)};
        uint64_t bit = filter_bit(descending, hash);
        *filter_word(descending, bit) |= (uint64_t)1 << bit % 64;
    }
    return 1;
}

static Field id_of_row(const Descending *descending, size_t place)
{
    const Tied *row = descending->block + place;
    return (Field){place < descending->num_kept ? descending->kept.data + row->kept_at : row->id, row->length};
}

static int put_found(const Descending *descending, Buffer *found, int64_t position, int64_t entry, size_t start, size_t size)
{
    int64_t row[] = {descending->query, position, descending->first_document + entry, (int64_t)start, (int64_t)size};
    return buffer_append(found, row, sizeof row);
}

/* Says where the judged documents of a block with more than one row are: it is a ranking of its own. */
static int order_block(Descending *descending, Buffer *found)
{
    Ranking *ranking = &descending->ranking;
    const Tied *rows = descending->block;
    size_t size = descending->size, start = descending->rows - size;
    Buffer grades = {0}, entries = {0};
    int done = ranking_clear(ranking, descending->num_judged);
    for (size_t i = 0; done && i < size; i++) {
        Field id = id_of_row(descending, i);
        if (rows[i].entry >= 0)
            done = ranking_track(ranking, id.start, id.length) &&
                   buffer_append(&grades, descending->grades + rows[i].entry, sizeof(double)) &&
                   buffer_append(&entries, &rows[i].entry, sizeof rows[i].entry);
    }
    for (size_t i = 0; done && i < size; i++) {
        Field id = id_of_row(descending, i);
        done = ranking_add(ranking, id.start, id.length, 0, (const double *)(const void *)grades.data);
    }
    done = done && ranking_order(ranking);
    for (size_t i = 0; done && i < num_seen(ranking); i++) {
        const Seen *seen = seen_of(ranking) + i;
        int64_t entry = ((const int64_t *)(const void *)entries.data)[seen->entry];
        done = put_found(descending, found, (int64_t)start + seen->position, entry, start, size);
    }
    buffer_free(&grades);
    buffer_free(&entries);
    return done;
}

int descending_close_block(Descending *descending, Buffer *found)
{
    int done = 1;
    if (descending->num_judged && descending->size == 1)
        done = put_found(descending, found, (int64_t)descending->rows, descending->block->entry, descending->rows - 1, 1);
    else if (descending->num_judged)
        done = order_block(descending, found);
    descending->size = descending->num_kept = descending->num_judged = descending->kept.used = 0;
    return done;
}

int descending_grow(Descending *descending)
{
    size_t most = descending->most ? 2 * descending->most : 64;
    if (most > SIZE_MAX / sizeof(Tied))
        return 0;
    Tied *block = realloc(descending->block, most * sizeof *block);
    if (!block)
        return 0;
    descending->block = block;
    descending->most = most;
    return 1;
}

int descending_keep(Descending *descending)
{
    for (; descending->num_kept < descending->size; descending->num_kept++) {
        Tied *row = descending->block + descending->num_kept;
        row->kept_at = descending->kept.used;
        if (!buffer_append(&descending->kept, row->id, row->length))
            return 0;
    }
    return 1;
}

static inline Field document_at(const char *text, Lined rows, size_t row)
{
    const uint16_t *places = rows.places + 6 * row;
    return (Field){text + places[1] + 1, (size_t)(places[2] - places[1] - 1)};
}

/* Says where the judged documents of a block are that begins and ends within these rows, and has the given row; returns
 * where it ends, or 0 without memory. */
static size_t put_block(Descending *descending, const char *text, Lined rows, size_t row, Buffer *found)
{
    size_t first = row, end = row + 1;
    const size_t before = descending->rows;
    while (rows.is_level[first])
        first--;
    while (end < rows.count && rows.is_level[end])
        end++;
    while (descending->most < end - first)
        if (!descending_grow(descending))
            return 0;
    for (size_t i = first; i < end; i++) {
        Field document = document_at(text, rows, i);
        int64_t entry = entry_of(descending, document, id_hash(document.start, document.length, descending->key));
        descending->block[i - first] = (Tied){.id = document.start, .length = document.length, .entry = entry};
        descending->num_judged += entry >= 0;
    }
    descending->size = end - first;
    descending->rows += end;
    int done = descending_close_block(descending, found);
    descending->rows = before;
    return done ? end : 0;
}

/* Adds rows that are whole blocks. Which of them pass the filter is noted first, because a branch for each row could
 * not be predicted. */
static Status add_blocks(Descending *descending, const char *text, Lined rows, Buffer *found)
{
    struct {
        uint64_t hash;
        size_t row;
    } passed[MOST_LINES];
    size_t num_passed = 0, end = 0;
    if (!buffer_reserve(&descending->hashes, (rows.count + 1) * sizeof(uint64_t)))
        return READ_NO_MEMORY;
    uint64_t *others = (uint64_t *)(void *)(descending->hashes.data + descending->hashes.used), *next = others;
    for (size_t row = 0; row < rows.count; row++) {
        Field document = document_at(text, rows, row);
        uint64_t hash = id_hash(document.start, document.length, descending->key), bit = filter_bit(descending, hash);
        size_t passes = *filter_word(descending, bit) >> bit % 64 & 1;
        *next = passed[num_passed].hash = hash;
        passed[num_passed].row = row;
        next += 1 - passes;
        num_passed += passes;
    }
    for (size_t i = 0; i < num_passed; i++) {
        int64_t entry = entry_of(descending, document_at(text, rows, passed[i].row), passed[i].hash);
        if (entry < 0)
            *next++ = passed[i].hash;
        else if (descending->listed.data[entry]++)
            return READ_AGAIN;
        else if (passed[i].row >= end && !(end = put_block(descending, text, rows, passed[i].row, found)))
            return READ_NO_MEMORY;
    }
    descending->hashes.used += (size_t)(next - others) * sizeof *others;
    descending->rows += rows.count;
    return READ_ON;
}

Status descending_add_rows(Descending *descending, const char *text, Lined rows, Buffer *found)
{
    size_t row = 0, last = rows.count;
    Status status = READ_ON;
    for (; status == READ_ON && row < rows.count && rows.is_level[row]; row++)
        status = descending_add(descending, document_at(text, rows, row), 1, found);
    while (last > row && rows.is_level[last - 1])
        last--;
    if (status == READ_ON && row + 1 < last) { /* the last block may go on behind these rows */
        if (descending->rows + rows.count >= INT32_MAX || !descending_close_block(descending, found))
            return READ_NO_MEMORY;
        Lined blocks = lined_from(rows, row);
        blocks.count = last - 1 - row;
        status = add_blocks(descending, text, blocks, found);
        row = last - 1;
    }
    for (; status == READ_ON && row < rows.count; row++)
        status = descending_add(descending, document_at(text, rows, row), rows.is_level[row], found);
    return status;
}

Status descending_close(Descending *descending, Buffer *found)
{
    const uint64_t *hashes = (const uint64_t *)(const void *)descending->hashes.data;
    int repeat = has_repeat(hashes, descending->hashes.used / sizeof *hashes, &descending->sorted, &descending->table);
    if (repeat < 0 || !descending_close_block(descending, found))
        return READ_NO_MEMORY;
    return repeat ? READ_AGAIN : READ_ON;
}

void descending_free(Descending *descending)
{
    Buffer *buffers[] = {&descending->filter, &descending->listed, &descending->hashes,
                         &descending->sorted, &descending->table,  &descending->kept};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    free(descending->slots);
    free(descending->block);
    ranking_free(&descending->ranking);
}
