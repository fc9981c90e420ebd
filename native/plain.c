/* Plain objects: ids that are text, bytes or whole numbers, and numbers of Python's and numpy's types.
 *
 * Exactly these types, not their subclasses: those may have a text or a value of their own, which only Python knows.
 */

#include "dicts.h"

int is_among(PyObject *types, PyObject *object)
{
    PyObject *type = (PyObject *)Py_TYPE(object);
    Py_ssize_t count = PyTuple_Size(types);
    for (Py_ssize_t i = 0; i < count; i++)
        if (PyTuple_GetItem(types, i) == type)
            return 1;
    return 0;
}

int plain_from(PyObject *types, void *plain)
{
    Plain *given = plain;
    return PyArg_ParseTuple(types, "O!O!O!O!O!", &PyTuple_Type, &given->dicts, &PyTuple_Type, &given->arrays,
                            &PyTuple_Type, &given->texts, &PyTuple_Type, &given->wholes, &PyTuple_Type, &given->numbers);
}

int is_dict(const Plain *plain, PyObject *object)
{
    return PyDict_CheckExact(object) || (PyDict_Check(object) && is_among(plain->dicts, object));
}

/* The decimal digits of a whole number, from the last one back. */
static void write_digits(Id *id, long long value)
{
    unsigned long long rest = value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value;
    char *end = id->digits + sizeof id->digits, *at = end;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        *--at = '-';
    id->text = at;
    id->length = (size_t)(end - at);
}

static int text_from(PyObject *object, Id *id)
{
    Py_ssize_t length;
    id->text = PyUnicode_AsUTF8AndSize(object, &length);
    if (!id->text) { /* a lone surrogate */
        PyErr_Clear();
        return 0;
    }
    id->length = (size_t)length;
    return 1;
}

static int whole_from(PyObject *object, Id *id)
{
    int is_beyond;
    long long value = PyLong_AsLongLongAndOverflow(object, &is_beyond);
    if (is_beyond || (value == -1 && PyErr_Occurred())) {
        PyErr_Clear();
        return 0;
    }
    write_digits(id, value);
    return 1;
}

int id_from(const Plain *plain, PyObject *object, Id *id)
{
    if (PyUnicode_CheckExact(object))
        return text_from(object, id);
    if (PyLong_CheckExact(object) || is_among(plain->wholes, object))
        return whole_from(object, id);
    if (PyUnicode_Check(object)) /* as text, numpy's loses the zeros at its end */
        return is_among(plain->texts, object) && text_from(object, id) && id->length && id->text[id->length - 1];
    if (!PyBytes_CheckExact(object))
        return 0;
    id->text = PyBytes_AsString(object);
    id->length = (size_t)PyBytes_Size(object);
    return 1;
}

int number_from(const Plain *plain, PyObject *object, double *number)
{
    if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object) && !PyBool_Check(object) &&
        !is_among(plain->numbers, object))
        return 0;
    *number = PyFloat_AsDouble(object);
    if (*number == -1 && PyErr_Occurred()) { /* a whole number beyond what a double holds */
        PyErr_Clear();
        return 0;
    }
    return *number == *number;
}

Outcome no_memory(void)
{
    PyErr_NoMemory();
    return RAISED;
}
