/* Places: what is said of a ranking once it is in order, with places counted in documents or in units.
 *
 * formats/counting.py defines what is counted in units: a document takes a place if it brings a unit of which no document has
 * appeared, or if the map does not have it. */

#include "parts.h"

int units_clear(UnitTable *table, uint64_t key, size_t num_queries, size_t num_documents)
{
    const int64_t none = 0;
    table->queries.key = table->documents.key = key;
    table->offsets.used = table->units.used = 0;
    return ids_clear(&table->queries, num_queries) && ids_clear(&table->documents, num_documents) &&
           buffer_append(&table->offsets, &none, sizeof none) && buffer_reserve(&table->units, 1);
}

/* Adds a document as a table has it. */
static int add_name(Buffer *names, int64_t query, Field document)
{
    return buffer_append(names, &query, sizeof query) && buffer_append(names, document.start, document.length);
}

UnitsPut units_put(UnitTable *table, int64_t query, Field document, const int64_t *units, size_t count)
{
    Buffer *name = &table->name;
    size_t known = table->documents.count;
    name->used = 0;
    int64_t put = add_name(name, query, document) ? ids_put(&table->documents, name->data, name->used) : -1;
    if (put < 0 || !buffer_append(&table->units, units, count * sizeof *units))
        return UNITS_NO_MEMORY;
    const int64_t end = (int64_t)(table->units.used / sizeof *units);
    if (!buffer_append(&table->offsets, &end, sizeof end))
        return UNITS_NO_MEMORY;
    return (size_t)put == known ? UNITS_PUT : UNITS_AGAIN;
}

void units_free(UnitTable *table)
{
    ids_free(&table->queries);
    ids_free(&table->documents);
    buffer_free(&table->offsets);
    buffer_free(&table->units);
    buffer_free(&table->name);
}

/* The number of a judged query in a table, 0 if that holds for all, -1 if it has nothing for this one. */
static int64_t query_in(const UnitTable *table, const Judged *judged, int64_t query)
{
    const int64_t *borders = judged->query_borders + query;
    if (!table->queries.count)
        return 0;
    return ids_find(&table->queries, judged->query_ids + borders[0], (size_t)(borders[1] - borders[0]));
}

/* Where the documents of some rows are in the table, -1 for those outside; `query` is one of the table, or -1. */
static int look_up(Ranking *ranking, int64_t query, const Seen *seen, size_t count, int64_t *at)
{
    Field names[FOUND_TOGETHER];
    ranking->names.used = 0;
    for (size_t i = 0; i < count; i++) {
        Field document;
        document.start = id_of(&ranking->documents, seen[i].entry, &document.length);
        names[i].length = sizeof query + document.length;
        at[i] = -1;
        if (!add_name(&ranking->names, query, document))
            return 0;
    }
    const char *start = ranking->names.data;
    for (size_t i = 0; i < count; start += names[i++].length)
        names[i].start = start;
    if (query >= 0)
        ids_find_each(&ranking->units->documents, names, count, at);
    return 1;
}

/* Whether the next document takes a place, given where it is in the table. Returns -1 without memory. */
static int takes_place(Ranking *ranking, int64_t at)
{
    const int64_t *offsets = (const int64_t *)(const void *)ranking->units->offsets.data;
    const int64_t *units = (const int64_t *)(const void *)ranking->units->units.data;
    int takes = 0;
    if (at < 0)
        return 1;
    for (int64_t i = offsets[at]; i < offsets[at + 1]; i++) {
        size_t known = ranking->brought.count;
        int64_t put = ids_put(&ranking->brought, (const char *)(units + i), sizeof *units);
        if (put < 0)
            return -1;
        takes |= (size_t)put == known;
    }
    return takes;
}

static int found_in_units(Ranking *ranking, const Judged *judged, int64_t query, int64_t number, Buffer *found,
                          int64_t *places)
{
    const int64_t own = query_in(ranking->units, judged, query);
    const Seen *seen = seen_of(ranking);
    const size_t count = num_seen(ranking);
    int64_t place = 0, at[FOUND_TOGETHER];
    ranking->brought.key = ranking->documents.key;
    if (!ids_clear(&ranking->brought, ranking->rows))
        return 0;
    for (size_t i = 0; i < count; i++) {
        size_t left = count - i;
        if (i % FOUND_TOGETHER == 0 && !look_up(ranking, own, seen + i, left < FOUND_TOGETHER ? left : FOUND_TOGETHER, at))
            return 0;
        int takes = takes_place(ranking, at[i % FOUND_TOGETHER]);
        if (takes < 0)
            return 0;
        place += takes;
        int64_t row[] = {number, place, judged->offsets[query] + seen[i].entry, 0, 1}; /* no mean over orders */
        if (seen[i].entry < ranking->num_tracked && !buffer_append(found, row, sizeof row))
            return 0;
    }
    *places = place;
    return 1;
}

int ranking_found(Ranking *ranking, const Judged *judged, int64_t query, int64_t number, Buffer *found,
                  int64_t *places)
{
    if (!ranking_order(ranking))
        return 0;
    if (ranking->units)
        return found_in_units(ranking, judged, query, number, found, places);
    const Seen *seen = seen_of(ranking);
    for (size_t i = 0; i < num_seen(ranking); i++) {
        int64_t document = judged->offsets[query] + seen[i].entry;
        int64_t row[] = {number, seen[i].position, document, seen[i].block_start, seen[i].block_size};
        if (!buffer_append(found, row, sizeof row))
            return 0;
    }
    *places = (int64_t)ranking->rows;
    return 1;
}
