/* A ranking whose scores descend: the number of a row is its position, so only judged items leave a trace.
 *
 * Ids are looked at where they are. Of the items that are not judged only the hash is kept, to notice one that comes
 * twice; what looks like that is read again, by the reader that keeps ids. Rows with equal scores are put in order by
 * ranking.c if there is a judged item among them. */

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

int descending_open(Descending *descending, const Judged *judged, int64_t request)
{
    size_t count = (size_t)judged->num_tracked[request];
    descending->request = request;
    descending->first_item = judged->offsets[request];
    descending->item_ids = judged->item_ids;
    descending->borders = judged->item_borders + judged->offsets[request];
    descending->grades = judged->grades + judged->offsets[request];
    descending->rows = descending->num_kept = descending->num_judged = 0;
    descending->size = descending->hashes.used = descending->kept.used = descending->listed.used = 0;
    if (count > INT32_MAX || !clear_slots(descending, count) || !buffer_reserve(&descending->listed, count))
        return 0;
    if (count)
        memset(descending->listed.data, 0, count);
    for (size_t i = 0; i < count; i++) {
        const int64_t *border = descending->borders + i;
        uint64_t hash = id_hash(judged->item_ids + border[0], (size_t)(border[1] - border[0]), descending->key);
        size_t at = short_hash(hash) & descending->mask;
        while (descending->slots[at].number)
            at = (at + 1) & descending->mask;
        descending->slots[at] = (Slot){short_hash(hash), (uint32_t)(i + 1)};
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
    int64_t row[] = {descending->request, position, descending->first_item + entry, (int64_t)start, (int64_t)size};
    return buffer_append(found, row, sizeof row);
}

/* Says where the judged items of a block with more than one row are: it is a ranking of its own. */
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
    Buffer *buffers[] = {&descending->listed, &descending->hashes, &descending->sorted, &descending->table,
                         &descending->kept};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    free(descending->slots);
    free(descending->block);
    ranking_free(&descending->ranking);
}
