/* Buffers that grow, and sets of ids. */

#include "hash.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

int buffer_grow(Buffer *buffer, size_t more)
{
    if (more > SIZE_MAX / 4 - buffer->used)
        return 0;
    size_t room = buffer->room ? buffer->room : 1024;
    while (room < buffer->used + more)
        room *= 2;
    char *data = realloc(buffer->data, room);
    if (!data)
        return 0;
    buffer->data = data;
    buffer->room = room;
    return 1;
}

void buffer_free(Buffer *buffer)
{
    free(buffer->data);
    *buffer = (Buffer){0};
}

enum { MOST_IDS = INT32_MAX };

const char *id_of(const IdSet *set, size_t number, size_t *length)
{
    const size_t *ends = (const size_t *)set->ends.data;
    size_t start = number ? ends[number - 1] : 0;
    *length = ends[number] - start;
    return set->bytes.data + start;
}

/* Empties the set and makes room for so many ids; after little use, little is cleared. */
int ids_clear(IdSet *set, size_t expected)
{
    size_t needed = 64;
    while (needed < 2 * expected + 2)
        needed *= 2;
    if (needed > set->room) {
        Slot *slots = malloc(needed * sizeof *slots);
        if (!slots)
            return 0;
        free(set->slots);
        set->slots = slots;
        set->room = needed;
    }
    set->mask = needed - 1;
    memset(set->slots, 0, needed * sizeof *set->slots);
    set->count = set->bytes.used = set->ends.used = 0;
    return buffer_reserve(&set->bytes, 1); /* even an empty id is somewhere */
}

static void ids_insert(Slot *slots, size_t mask, Slot slot)
{
    size_t at = slot.hash & mask;
    while (slots[at].number)
        at = (at + 1) & mask;
    slots[at] = slot;
}

static int ids_grow(IdSet *set)
{
    size_t needed = 2 * (set->mask + 1);
    Slot *slots = calloc(needed, sizeof *slots);
    if (!slots)
        return 0;
    for (size_t at = 0; at <= set->mask; at++)
        if (set->slots[at].number)
            ids_insert(slots, needed - 1, set->slots[at]);
    free(set->slots);
    set->slots = slots;
    set->mask = needed - 1;
    set->room = needed;
    return 1;
}

/* Returns the number of an id, new if it equals the count before; -1 without memory. */
int64_t ids_put(IdSet *set, const char *id, size_t length)
{
    uint32_t hash = short_hash(id_hash(id, length, set->key));
    size_t at = hash & set->mask;
    for (; set->slots[at].number; at = (at + 1) & set->mask) {
        if (set->slots[at].hash != hash)
            continue;
        size_t other_length;
        const char *other = id_of(set, set->slots[at].number - 1, &other_length);
        if (other_length == length && memcmp(other, id, length) == 0)
            return set->slots[at].number - 1;
    }
    if (set->count >= MOST_IDS || !buffer_append(&set->bytes, id, length) ||
        !buffer_append(&set->ends, &set->bytes.used, sizeof set->bytes.used))
        return -1;
    set->slots[at] = (Slot){hash, (uint32_t)++set->count};
    if (2 * set->count > set->mask + 1 && !ids_grow(set))
        return -1;
    return (int64_t)set->count - 1;
}

/* Returns the number of an id, or -1 if it is not there. */
int64_t ids_find(const IdSet *set, const char *id, size_t length)
{
    uint32_t hash = short_hash(id_hash(id, length, set->key));
    for (size_t at = hash & set->mask; set->slots[at].number; at = (at + 1) & set->mask) {
        size_t other_length;
        if (set->slots[at].hash != hash)
            continue;
        const char *other = id_of(set, set->slots[at].number - 1, &other_length);
        if (other_length == length && memcmp(other, id, length) == 0)
            return set->slots[at].number - 1;
    }
    return -1;
}

#ifdef __GNUC__
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)0)
#endif

/* Does the same for several ids. Of a set that is larger than the caches, memory is then waited for once for all of them,
 * and not for each: first where the slots are, then where the ids are, then the ids. */
void ids_find_each(const IdSet *set, const Field *ids, size_t count, int64_t *numbers)
{
    uint32_t hashes[FOUND_TOGETHER];
    const size_t *ends = (const size_t *)(const void *)set->ends.data;
    for (size_t i = 0; i < count; i++) {
        hashes[i] = short_hash(id_hash(ids[i].start, ids[i].length, set->key));
        FETCH(set->slots + (hashes[i] & set->mask));
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = hashes[i] & set->mask;
        while (set->slots[at].number && set->slots[at].hash != hashes[i])
            at = (at + 1) & set->mask;
        numbers[i] = (int64_t)set->slots[at].number - 1;
        if (numbers[i] > 0)
            FETCH(ends + numbers[i] - 1);
    }
    for (size_t i = 0; i < count; i++)
        if (numbers[i] > 0)
            FETCH(set->bytes.data + ends[numbers[i] - 1]);
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *id = numbers[i] >= 0 ? id_of(set, (size_t)numbers[i], &length) : NULL;
        if (id && (length != ids[i].length || memcmp(id, ids[i].start, length) != 0))
            numbers[i] = ids_find(set, ids[i].start, ids[i].length); /* another id with the same short hash */
    }
}

void ids_free(IdSet *set)
{
    free(set->slots);
    buffer_free(&set->bytes);
    buffer_free(&set->ends);
}
