/* What Python calls to read tables. */
#ifndef LEXIRECALL_TABLES_H
#define LEXIRECALL_TABLES_H

#define NEW_TABLE_DOC \
    "new_table(query_ids, query_borders, offsets, num_tracked, document_ids, document_borders, grades, units, key,\n" \
    "    ties, float32, is_rank, run, query, document, score)\n\nReturn a reader of the runs in a table, which finds its\n" \
    "columns by these names."
#define NEW_JUDGMENT_TABLE_DOC \
    "new_judgment_table(key, whole_only, query, document, grade)\n\nReturn a reader of the judgments in a table."
#define FEED_TABLE_DOC \
    "feed_table(table, stream)\n\nTake the batches of a stream of Arrow; return 0, or why reading has stopped."
#define FINISH_TABLE_DOC "finish_table(table)\n\nSay that there is no more; return 0, or why reading has stopped."
#define FORGET_RANKING_DOC \
    "forget_ranking(table)\n\nForget the ranking that rows stopped in, to read on; return its first row, among all rows."
#define REPEATED_ROWS_DOC \
    "repeated_rows(table)\n\nReturn (first row, row behind the last, run, query) of each ranking that lists a document\n" \
    "twice, which must be read again elsewhere; each is returned once."
#define TABLE_DOC "table(table)\n\nReturn (runs, found, num_retrieved, num_unjudged, num_rows)."
#define JUDGMENT_TABLE_DOC \
    "judgment_table(table)\n\nReturn (query_ids, query_borders, offsets, num_positive, document_ids, document_borders,\n" \
    "grades, num_repeated, num_rows)."

PyObject *native_new_table(PyObject *module, PyObject *arguments);
PyObject *native_new_judgment_table(PyObject *module, PyObject *arguments);
PyObject *native_feed_table(PyObject *module, PyObject *arguments);
PyObject *native_finish_table(PyObject *module, PyObject *table);
PyObject *native_forget_ranking(PyObject *module, PyObject *table);
PyObject *native_repeated_rows(PyObject *module, PyObject *table);
PyObject *native_table(PyObject *module, PyObject *table);
PyObject *native_judgment_table(PyObject *module, PyObject *table);

#endif
