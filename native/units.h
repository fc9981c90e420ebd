/* What Python calls to make a table of units. */
#ifndef LEXIRECALL_UNITS_H
#define LEXIRECALL_UNITS_H

#include "given.h"

#define NEW_UNITS_DOC                                                                                                   \
    "new_units(request_ids, request_borders, item_ids, item_borders, requests, offsets, units, key)\n\nReturn a table\n" \
    "of the units of items, each for the request of that number; all for 0 if there are no requests."

PyObject *native_new_units(PyObject *module, PyObject *arguments);

/* Looks at the table in a capsule, or at none for None; returns 0, with an exception, for anything else. */
int units_given(PyObject *source, const UnitTable **table);

#endif
