/* Fuzzes the reader: judgments and a run, cut into blocks anywhere.
 *
 * An input is a first line of settings, the text of judgments, a line of two hyphens, and the text of a run:
 *
 *     A 7?          the bits of the first byte choose the settings; each further byte is the size of a block
 *     q 0 d1 1
 *     --
 *     q Q0 d1 1 12.5 tag
 *
 * Besides what the sanitizers see: nothing depends on where blocks end and on how blanks are found, a status stays,
 * every document is found at most once and at a possible place, the reader for descending scores and the careful one find
 * the same; and for inputs that are small enough all of it equals what the slow twin says. */

#include "../native/reader.h"
#include "powers.h"
#include "slow_twin.h"

enum { MOST_FOR_TWIN = 3000, ALL_AT_ONCE = 0 };

typedef struct {
    Text cuts, judgments, run;
    Settings settings;
    int tracks_all, has_empty_ids;
} Input;

static Input input_of(const char *data, size_t size)
{
    Input input = {.run = {data, size}};
    input.cuts = next_line(&input.run, 0);
    input.judgments = input.run;
    while (input.run.length) {
        Text line = next_line(&input.run, 0);
        if (line.length == 2 && memcmp(line.start, "--", 2) == 0) {
            input.judgments.length = (size_t)(line.start - input.judgments.start);
            break;
        }
    }
    unsigned bits = input.cuts.length ? (unsigned char)*input.cuts.start : 0;
    input.settings = (Settings){
        .ties = (TieRule)(bits & 3),
        .float32 = bits >> 2 & 1,
        .strict = !(bits >> 6 & 1),
        .longest_line = bits >> 7 & 1 ? 30 : 1 << 26,
        .key = bits & 8 ? 0x0123456789ABCDEFu : 0,
        .powers = powers_of_ten(),
        .slow_number = slow_number,
    };
    input.tracks_all = bits >> 4 & 1;
    input.has_empty_ids = bits >> 5 & 1;
    return input;
}

/* A copy that ends where its memory ends: reading one byte too many is noticed. */
static void *exact_copy(const void *data, size_t size)
{
    void *copy = malloc(size ? size : 1);
    expect(copy != NULL, "there is memory");
    if (size)
        memcpy(copy, data, size);
    return copy;
}

/* ---- Blocks ---- */

typedef Status (*Feed)(void *reader, const char *block, size_t length);

static Status feed_run(void *reader, const char *block, size_t length)
{
    return reader_feed(reader, block, length);
}

static Status feed_judgments(void *reader, const char *block, size_t length)
{
    return judgments_feed(reader, block, length);
}

/* Feeds a text in blocks of these sizes, over and over, also when reading has stopped. */
static Status feed_cut(void *reader, Feed feed, Text text, Text sizes)
{
    Status status = READ_ON;
    for (size_t i = 0; text.length; i++) {
        size_t size = sizes.length ? (unsigned char)sizes.start[i % sizes.length] : text.length;
        size = size == 0 && i % sizes.length == 0 ? 1 : size; /* an empty block is fine, but not only empty blocks */
        size = size < text.length ? size : text.length;
        char *block = exact_copy(text.start, size);
        Status now = feed(reader, block, size);
        expect(status == READ_ON || now == status, "a status stays");
        status = now;
        free(block);
        text.start += size;
        text.length -= size;
    }
    return status;
}

/* ---- Judgments ---- */

static Judged judged_of(const Judgments *result)
{
    return (Judged){
        .num_queries = result->num_positive.used / sizeof(int64_t),
        .query_ids = exact_copy(result->query_ids.data, result->query_ids.used),
        .query_borders = exact_copy(result->query_borders.data, result->query_borders.used),
        .offsets = exact_copy(result->offsets.data, result->offsets.used),
        .num_tracked = exact_copy(result->num_positive.data, result->num_positive.used),
        .document_ids = exact_copy(result->document_ids.data, result->document_ids.used),
        .document_borders = exact_copy(result->document_borders.data, result->document_borders.used),
        .grades = exact_copy(result->grades.data, result->grades.used),
    };
}

static void free_judged(Judged *judged)
{
    const void *parts[] = {judged->query_ids, judged->query_borders, judged->offsets, judged->num_tracked,
                           judged->document_ids,    judged->document_borders,    judged->grades};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        free((void *)(uintptr_t)parts[i]);
}

static int same_buffer(const Buffer *a, const Buffer *b)
{
    return same((Text){a->data, a->used}, (Text){b->data, b->used});
}

static void check_same_judgments(const Judgments *a, const Judgments *b)
{
    expect(same_buffer(&a->query_ids, &b->query_ids) && same_buffer(&a->query_borders, &b->query_borders) &&
               same_buffer(&a->offsets, &b->offsets) && same_buffer(&a->num_positive, &b->num_positive) &&
               same_buffer(&a->document_ids, &b->document_ids) && same_buffer(&a->document_borders, &b->document_borders) &&
               same_buffer(&a->grades, &b->grades) && a->num_repeated == b->num_repeated,
           "judgments do not depend on where blocks end");
}

/* What only a mapping in memory can have: a document and a query with an empty name. */
static void empty_ids(Judged *judged)
{
    int64_t *queries = (int64_t *)(uintptr_t)judged->query_borders, *documents = (int64_t *)(uintptr_t)judged->document_borders;
    if (judged->num_queries) {
        documents[0] = documents[1];
        queries[judged->num_queries] = queries[judged->num_queries - 1];
    }
}

/* Reads the judgments twice; if they cannot be read, there are none. */
static Judged read_judgments(const Input *input)
{
    const Text sizes = {input->cuts.start, input->cuts.length};
    JudgmentReader *whole = judgments_new(&input->settings), *cut = judgments_new(&input->settings);
    expect(whole && cut, "there is memory");
    feed_cut(whole, feed_judgments, input->judgments, (Text){NULL, ALL_AT_ONCE});
    feed_cut(cut, feed_judgments, input->judgments, sizes);
    Status status = judgments_finish(whole), of_cut = judgments_finish(cut);
    int is_refused = is_of_old_macs(input->judgments) && status != READ_ON && of_cut != READ_ON; /* block by block */
    expect(status == of_cut || is_refused, "whether judgments are refused does not depend on where blocks end");
    if (status == READ_ON)
        check_same_judgments(judgments_result(whole), judgments_result(cut));
    const Judgments none = {0}, *result = status == READ_ON ? judgments_result(whole) : &none;
    Judged judged = judged_of(result);
    if (input->judgments.length <= MOST_FOR_TWIN)
        check_judgments(input->judgments, &input->settings, status, &judged, result->num_repeated);
    judgments_free(whole);
    judgments_free(cut);
    int64_t *num_tracked = (int64_t *)(uintptr_t)judged.num_tracked;
    for (size_t q = 0; input->tracks_all && q < judged.num_queries; q++)
        num_tracked[q] = judged.offsets[q + 1] - judged.offsets[q];
    return judged;
}

/* ---- Runs ---- */

static void check_same_results(const Result *a, const Result *b)
{
    expect(same_buffer(&a->found, &b->found) && same_buffer(&a->num_retrieved, &b->num_retrieved) &&
               same_buffer(&a->line, &b->line) && a->num_unjudged == b->num_unjudged && a->number == b->number &&
               a->num_lines == b->num_lines && a->num_extra == b->num_extra && a->query == b->query,
           "what is found does not depend on where blocks end");
}

/* What must hold for every result, and can be checked without the twin. */
static void check_places(const Judged *judged, const Result *result)
{
    const int64_t *num_retrieved = (const int64_t *)(const void *)result->num_retrieved.data;
    size_t num_found = result->found.used / (5 * sizeof(int64_t)), num_documents = 0;
    for (size_t q = 0; q < judged->num_queries; q++)
        num_documents = (size_t)judged->offsets[q + 1];
    char *is_found = calloc(num_documents + 1, 1);
    expect(is_found != NULL, "there is memory");
    expect(result->num_retrieved.used == judged->num_queries * sizeof(int64_t), "each query has its number of rows");
    const int64_t *row = (const int64_t *)(const void *)result->found.data, *last = NULL;
    for (size_t i = 0; i < num_found; i++, last = row, row += 5) {
        int64_t query = row[0], position = row[1], document = row[2], start = row[3], size = row[4];
        expect(query >= 0 && (size_t)query < judged->num_queries, "a query is one of the judgments");
        expect(position >= 1 && position <= num_retrieved[query], "a position is within the ranking");
        expect(start < position && position <= start + size, "a position is within its tied block");
        expect(start >= 0 && start + size <= num_retrieved[query], "a tied block is within the ranking");
        expect(document >= judged->offsets[query] && document < judged->offsets[query] + judged->num_tracked[query],
               "a document is one that its query looks for");
        expect(!is_found[document]++, "a document is found at most once");
        expect(!last || last[0] != query || last[1] < position, "positions ascend within a query");
    }
    free(is_found);
}

static Status read_run(Reader *reader, Text text, Text sizes)
{
    Status fed = feed_cut(reader, feed_run, text, sizes), status = reader_finish(reader);
    expect(fed == READ_ON || fed == status, "a status stays at the end");
    expect(reader_finish(reader) == status, "ending twice is ending once");
    return status;
}

/* Reads a run in three ways to cut it into blocks, with every finder of blanks there is; nothing depends on these. */
static Status check_cuts(const Input *input, const Judged *judged, int careful, Reader **kept)
{
    static const char *const finders[] = {NULL, "plain", "sse2", "avx2", "neon"};
    const Text cuts[] = {{NULL, ALL_AT_ONCE}, input->cuts, {"\1", 1}};
    Settings settings = input->settings;
    Status first = READ_ON;
    settings.careful = careful;
    for (size_t i = 0; i < 15; i++) {
        if (!(settings.find_blanks = blank_finder(finders[i / 3])))
            continue;
        Reader *reader = reader_new(judged, &settings);
        expect(reader != NULL, "there is memory");
        Status status = read_run(reader, input->run, cuts[i % 3]);
        if (i == 0) {
            first = status;
            *kept = reader;
            continue;
        }
        expect(status == first, "the status does not depend on where blocks end, or on how blanks are found");
        check_same_results(reader_result(*kept), reader_result(reader));
        reader_free(reader);
    }
    return first;
}

/* Line ends of old Macs are looked for block by block, so blocks decide what else is found before them. */
static void check_refusal(const Input *input, const Judged *judged)
{
    const Text cuts[] = {{NULL, ALL_AT_ONCE}, input->cuts, {"\1", 1}};
    Settings settings = input->settings;
    for (size_t i = 0; i < 6; i++) {
        settings.careful = i / 3;
        Reader *reader = reader_new(judged, &settings);
        expect(reader != NULL, "there is memory");
        expect(read_run(reader, input->run, cuts[i % 3]) != READ_ON, "a run with line ends of old Macs is not read");
        reader_free(reader);
    }
}

static void check_input(const Input *input, const Judged *judged)
{
    if (is_of_old_macs(input->run)) {
        check_refusal(input, judged);
        return;
    }
    Reader *quick, *careful;
    Status of_quick = check_cuts(input, judged, 0, &quick), status = check_cuts(input, judged, 1, &careful);
    const Result *result = reader_result(careful);
    expect(status != READ_AGAIN, "the careful reader reads once");
    expect(of_quick == status || of_quick == READ_AGAIN, "both readers stop for the same reason");
    if (of_quick == READ_ON)
        check_same_results(reader_result(quick), result);
    check_places(judged, result);
    if (input->run.length <= MOST_FOR_TWIN)
        check_run(input->run, judged, &input->settings, status, result);
    reader_free(quick);
    reader_free(careful);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    Input input = input_of((const char *)data, size);
    Judged judged = read_judgments(&input);
    if (input.has_empty_ids)
        empty_ids(&judged);
    check_input(&input, &judged);
    free_judged(&judged);
    return 0;
}
