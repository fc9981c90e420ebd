/* What Python calls to read tables. */
#ifndef LEXIRECALL_TABLES_H
#define LEXIRECALL_TABLES_H

#define NEW_TABLE_DOC \
    "new_table(request_ids, request_borders, offsets, num_tracked, item_ids, item_borders, grades, key, ties,\n" \
    "    float32, is_rank, system, request, item, score)\n\nReturn a reader of the runs in a table, which finds its\n" \
    "columns by these names."
#define FEED_TABLE_DOC \
    "feed_table(table, stream)\n\nTake the batches of a stream of Arrow; return 0, or why reading has stopped."
#define FINISH_TABLE_DOC "finish_table(table)\n\nSay that there is no more; return 0, or why reading has stopped."
#define TABLE_DOC "table(table)\n\nReturn (systems, found, num_retrieved, num_unjudged, num_rows)."

PyObject *native_new_table(PyObject *module, PyObject *arguments);
PyObject *native_feed_table(PyObject *module, PyObject *arguments);
PyObject *native_finish_table(PyObject *module, PyObject *table);
PyObject *native_table(PyObject *module, PyObject *table);

#endif
