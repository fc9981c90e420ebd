/* One ranking: its rows as they come, and where its judged documents are once all rows are there. */

#include "parts.h"

#include <stdlib.h>
#include <string.h>

static const double *scores_of(const Ranking *ranking)
{
    return (const double *)(const void *)ranking->scores.data;
}

static const uint32_t *entries_of(const Ranking *ranking)
{
    return (const uint32_t *)(const void *)ranking->entries.data;
}

Seen *seen_of(const Ranking *ranking)
{
    return (Seen *)(void *)ranking->seen.data;
}

size_t num_seen(const Ranking *ranking)
{
    return ranking->seen.used / sizeof(Seen);
}

/* Empties the ranking; as many rows are expected as there were last time. */
int ranking_clear(Ranking *ranking, size_t num_tracked)
{
    size_t expected = ranking->rows + num_tracked;
    ranking->rows = ranking->num_tracked = 0;
    ranking->scores.used = ranking->entries.used = ranking->seen.used = ranking->listed.used = 0;
    ranking->order = STRICTLY_DESCENDING;
    ranking->duplicate = -1;
    return ids_clear(&ranking->documents, expected);
}

/* Adds a document to be looked for, before the first row comes. */
int ranking_track(Ranking *ranking, const char *document, size_t length)
{
    if (ids_put(&ranking->documents, document, length) != (int64_t)ranking->num_tracked)
        return 0;
    ranking->num_tracked++;
    return buffer_append(&ranking->listed, "", 1);
}

/* Whether the document has been there before; a tracked one is known from the start. */
static int is_listed(Ranking *ranking, uint32_t entry, size_t num_known)
{
    if (entry >= ranking->num_tracked)
        return entry < num_known;
    int listed = ranking->listed.data[entry];
    ranking->listed.data[entry] = 1;
    return listed;
}

/* Whether the place of a document is asked for. */
static int is_seen(const Ranking *ranking, uint32_t entry)
{
    return entry < ranking->num_tracked || ranking->units;
}

static void watch_order(Ranking *ranking, double score)
{
    double last = ranking->rows ? scores_of(ranking)[ranking->rows - 1] : score;
    if (score > last)
        ranking->order = UNORDERED;
    else if (ranking->rows && score == last && ranking->order == STRICTLY_DESCENDING)
        ranking->order = DESCENDING;
}

/* Adds a row; `grades` are those of the tracked documents. */
int ranking_add(Ranking *ranking, const char *document, size_t length, double score, const double *grades)
{
    size_t num_known = ranking->documents.count;
    int64_t put = ids_put(&ranking->documents, document, length);
    if (put < 0 || ranking->rows >= INT32_MAX)
        return 0;
    uint32_t entry = (uint32_t)put;
    if (is_listed(ranking, entry, num_known) && ranking->duplicate < 0)
        ranking->duplicate = put;
    watch_order(ranking, score);
    if (!buffer_append(&ranking->scores, &score, sizeof score) || !buffer_append(&ranking->entries, &entry, sizeof entry))
        return 0;
    if (is_seen(ranking, entry)) {
        double gain = entry < ranking->num_tracked && grades[entry] > 0 ? grades[entry] : 0;
        Seen seen = {.score = score, .gain = gain, .row = (uint32_t)ranking->rows, .entry = entry};
        if (!buffer_append(&ranking->seen, &seen, sizeof seen))
            return 0;
    }
    ranking->rows++;
    return 1;
}

/* Adds a row with a lower score than all before, of a document that is not among them, as the caller knows. While all rows
 * are such, the others need no place among the ids. */
int ranking_add_below(Ranking *ranking, const char *document, size_t length, double score)
{
    int64_t entry = ids_find(&ranking->documents, document, length);
    if (ranking->rows >= INT32_MAX)
        return 0;
    if (entry >= 0) {
        Seen seen = {.score = score, .row = (uint32_t)ranking->rows, .entry = (uint32_t)entry};
        if (!buffer_append(&ranking->seen, &seen, sizeof seen))
            return 0;
    }
    ranking->rows++;
    return 1;
}

void ranking_free(Ranking *ranking)
{
    Buffer *buffers[] = {&ranking->scores, &ranking->entries, &ranking->listed, &ranking->seen,
                         &ranking->spare,  &ranking->groups,  &ranking->block,  &ranking->names};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    ids_free(&ranking->documents);
    ids_free(&ranking->brought);
}

/* ---- Order ---- */

typedef int (*Before)(const Ranking *, const Seen *, const Seen *);

static int by_score(const Ranking *ranking, const Seen *a, const Seen *b)
{
    (void)ranking;
    return a->score > b->score || (a->score == b->score && a->row < b->row);
}

static int by_position(const Ranking *ranking, const Seen *a, const Seen *b)
{
    (void)ranking;
    return a->position < b->position;
}

/* Whether a document comes before another with the same score: by grade if the rule says so, then by id, descending. */
static int by_rule(const Ranking *ranking, const Seen *a, const Seen *b)
{
    TieRule rule = ranking->ties;
    if ((rule == TIES_WORST || rule == TIES_BEST) && a->gain != b->gain)
        return rule == TIES_WORST ? a->gain < b->gain : a->gain > b->gain;
    size_t a_length, b_length;
    const char *a_id = id_of(&ranking->documents, a->entry, &a_length), *b_id = id_of(&ranking->documents, b->entry, &b_length);
    int order = memcmp(a_id, b_id, a_length < b_length ? a_length : b_length);
    return order ? order > 0 : a_length > b_length;
}

/* Merge sort: never slower than n log n, whatever the input. */
static void sort_seen(const Ranking *ranking, Seen *seen, size_t count, Seen *spare, Before before)
{
    if (count < 2)
        return;
    size_t half = count / 2, left = 0, right = half;
    sort_seen(ranking, seen, half, spare, before);
    sort_seen(ranking, seen + half, count - half, spare, before);
    if (!before(ranking, seen + half, seen + half - 1))
        return;
    memcpy(spare, seen, half * sizeof *seen);
    for (size_t at = 0; left < half; at++)
        seen[at] = right < count && before(ranking, seen + right, spare + left) ? seen[right++] : spare[left++];
}

/* Finds the places of the judged documents within a block of equal scores. `rows` are the rows of the block in file order;
 * each other row is counted before the first judged document that it precedes, so only the judged documents are sorted. */
static int order_block(Ranking *ranking, Seen *group, size_t count, const uint32_t *rows, size_t size)
{
    if (!buffer_reserve(&ranking->spare, count * sizeof(Seen)) || !buffer_reserve(&ranking->block, (count + 1) * sizeof(int64_t)))
        return 0;
    int by_input = ranking->ties == TIES_INPUT;
    if (!by_input)
        sort_seen(ranking, group, count, (Seen *)(void *)ranking->spare.data, by_rule);
    int64_t *preceding = (int64_t *)(void *)ranking->block.data;
    memset(preceding, 0, (count + 1) * sizeof *preceding);
    for (size_t i = 0; i < size; i++) {
        Seen other = {.row = rows[i], .entry = entries_of(ranking)[rows[i]]};
        if (is_seen(ranking, other.entry))
            continue;
        size_t low = 0, high = count; /* how many of the group come before this row */
        while (low < high) {
            size_t middle = (low + high) / 2;
            int after = by_input ? group[middle].row < other.row : by_rule(ranking, group + middle, &other);
            low = after ? middle + 1 : low;
            high = after ? high : middle;
        }
        preceding[low]++;
    }
    int64_t place = group[0].block_start;
    for (size_t i = 0; i < count; i++) {
        place += preceding[i] + 1;
        group[i].position = place;
    }
    return 1;
}

/* While scores descend, a block of equal ones is a run of rows. */
static int order_descending(Ranking *ranking, Seen *seen, size_t count)
{
    const double *scores = scores_of(ranking);
    for (size_t first = 0, last; first < count; first = last) {
        size_t start = seen[first].row, stop = seen[first].row + 1;
        while (start > 0 && scores[start - 1] == seen[first].score)
            start--;
        while (stop < ranking->rows && scores[stop] == seen[first].score)
            stop++;
        for (last = first; last < count && seen[last].row < stop; last++) {
            seen[last].position = seen[last].row + 1;
            seen[last].block_start = (int64_t)start;
            seen[last].block_size = (int64_t)(stop - start);
        }
        if (stop - start == 1)
            continue;
        if (!buffer_reserve(&ranking->groups, (stop - start) * sizeof(uint32_t)))
            return 0;
        uint32_t *rows = (uint32_t *)(void *)ranking->groups.data;
        for (size_t row = start; row < stop; row++)
            rows[row - start] = (uint32_t)row;
        if (!order_block(ranking, seen + first, last - first, rows, stop - start))
            return 0;
    }
    return 1;
}

/* A group of judged documents with the same score, among all rows. */
typedef struct {
    double score;
    size_t first, above, equal, filled;
} Group;

/* The first group with a score below this one. */
static size_t groups_above(const Group *groups, size_t count, double score)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (groups[middle].score < score)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Otherwise each row is counted above the judged documents that it beats: a search among those, and no sort of the rest. */
static int order_unordered(Ranking *ranking, Seen *seen, size_t count)
{
    const double *scores = scores_of(ranking);
    if (!buffer_reserve(&ranking->spare, count * sizeof(Seen)) || !buffer_reserve(&ranking->groups, (count + 1) * sizeof(Group)))
        return 0;
    sort_seen(ranking, seen, count, (Seen *)(void *)ranking->spare.data, by_score);
    Group *groups = (Group *)(void *)ranking->groups.data;
    size_t num_groups = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || seen[i].score != seen[i - 1].score)
            groups[num_groups++] = (Group){.score = seen[i].score, .first = i};
    groups[num_groups] = (Group){.first = count};
    for (size_t row = 0; row < ranking->rows; row++) {
        size_t below = groups_above(groups, num_groups, scores[row]);
        groups[below].above++;
        if (below > 0 && groups[below - 1].score == scores[row])
            groups[below - 1].equal++;
    }
    size_t above = 0, tied = 0;
    for (size_t g = 0; g < num_groups; g++) {
        above += groups[g].above;
        groups[g].above = above;
        groups[g].filled = tied; /* where its rows will lie, if there are more than one */
        tied += groups[g].equal > 1 ? groups[g].equal : 0;
    }
    uint32_t *rows = malloc((tied + 1) * sizeof *rows);
    if (!rows)
        return 0;
    for (size_t row = 0; tied && row < ranking->rows; row++) {
        size_t below = groups_above(groups, num_groups, scores[row]);
        if (below > 0 && groups[below - 1].score == scores[row] && groups[below - 1].equal > 1)
            rows[groups[below - 1].filled++] = (uint32_t)row;
    }
    int done = 1;
    for (size_t g = 0; done && g < num_groups; g++) {
        size_t first = groups[g].first, last = groups[g + 1].first, size = groups[g].equal;
        for (size_t i = first; i < last; i++) {
            seen[i].position = (int64_t)groups[g].above + 1;
            seen[i].block_start = (int64_t)groups[g].above;
            seen[i].block_size = (int64_t)size;
        }
        if (size > 1)
            done = order_block(ranking, seen + first, last - first, rows + groups[g].filled - size, size);
    }
    free(rows);
    return done;
}

static int put_in_order(Ranking *ranking, Seen *seen, size_t count)
{
    if (ranking->order == UNORDERED)
        return order_unordered(ranking, seen, count);
    if (ranking->order == DESCENDING)
        return order_descending(ranking, seen, count);
    for (size_t i = 0; i < count; i++) {
        seen[i].position = (int64_t)seen[i].row + 1;
        seen[i].block_start = seen[i].row;
        seen[i].block_size = 1;
    }
    return 1;
}

/* Puts the judged documents in order, and says where each one is. */
int ranking_order(Ranking *ranking)
{
    Seen *seen = seen_of(ranking);
    size_t count = num_seen(ranking);
    if (!put_in_order(ranking, seen, count) || !buffer_reserve(&ranking->spare, count * sizeof *seen))
        return 0;
    sort_seen(ranking, seen, count, (Seen *)(void *)ranking->spare.data, by_position);
    return 1;
}
