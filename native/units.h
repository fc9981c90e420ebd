/* What Python calls to make a table of units. */
#ifndef LEXIRECALL_UNITS_H
#define LEXIRECALL_UNITS_H

#include "given.h"

#define NEW_UNITS_DOC                                                                                                   \
    "new_units(query_ids, query_borders, document_ids, document_borders, queries, offsets, units, key)\n\nReturn a table\n" \
    "of the units of documents, each for the query of that number; all for 0 if there are no queries."

PyObject *native_new_units(PyObject *module, PyObject *arguments);

/* Looks at the table in a capsule, or at none for None; returns 0, with an exception, for anything else. */
int units_given(PyObject *source, const UnitTable **table);

#endif
