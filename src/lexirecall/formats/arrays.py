"""Arrays: numpy's, and those of other libraries where they are.

Belongs here: telling which library an array is of, what looks like an array and is none, and the way to the host. Not
here: what arrays hold.

What lies in the memory of the host becomes an array of numpy without a copy. What lies on a device stays there, and is
reached through array-api-compat, whatever library it is of.
"""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.installing import how_to_install

ROOM = 1 << 25
"""Bytes that a temporary copy of a block may take; there are at most two, and their comparisons."""
_CPU = 1  # as DLPack numbers kinds of devices
_DENSE, _DENSELY = "torch.strided", "give a dense tensor"
_AS_ARRAY = "give its values as an array, and its labels as ids"
_FILLED = "fill them, and exclude documents that have no score"


def array_of(values: Any, name: str) -> tuple[Any, Any]:
    """Return an array and the namespace of its library: of numpy if its memory can be used as it is.

    >>> array_of([[1.0, 2.0]], "scores")[1] is np
    True
    """
    check_plain(values, name)
    array = values.detach() if hasattr(values, "detach") else values  # torch: what is counted has no gradient
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack_device__"):
        return _of_numpy(array, name), np
    if array.__dlpack_device__()[0] == _CPU:
        try:
            return np.from_dlpack(array), np
        except (BufferError, RuntimeError, TypeError):  # a type that numpy does not have, such as bfloat16
            pass
    return array, _namespace(array, name)


def check_plain(array: Any, name: str) -> None:
    """Raise for what has the shape of an array, but other values in it, fewer, or none."""
    layout = str(getattr(array, "layout", _DENSE))
    kind = "nested" if layout == _DENSE else layout.removeprefix("torch.")
    for is_so, problem, remedy in (
        (hasattr(array, "columns"), "a frame is given, but its labels would not be used", _AS_ARRAY),
        (
            isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array),
            "some values of the array are masked",
            _FILLED,
        ),
        (hasattr(array, "tocsr"), "the array is sparse, but must be dense", "give its toarray()"),
        (kind != "nested" or getattr(array, "is_nested", False), f"the tensor is {kind}, but must be dense", _DENSELY),
        (getattr(array, "is_meta", False), "the tensor is on the device 'meta', and has no values", "compute it first"),
    ):
        if is_so:
            raise UsageError(f"{name}: {problem}", remedy=remedy)


def _of_numpy(values: Any, name: str) -> Any:
    try:
        return np.asarray(values)
    except (RuntimeError, TypeError, ValueError) as error:
        shape = "its rows are of different lengths" if "inhomogeneous" in str(error) else str(error)
        raise UsageError(f"{name}: this is not an array: {shape}", remedy="give rows of the same length") from None


def _namespace(array: Any, name: str) -> Any:
    try:
        import array_api_compat
    except ImportError:
        raise UsageError(
            f"{name}: an array of {type(array).__module__.partition('.')[0]} on its device needs array-api-compat",
            remedy=f"{how_to_install('arrays')}, or give an array of numpy",
        ) from None
    try:
        return array_api_compat.array_namespace(array)
    except TypeError as error:
        raise UsageError(f"{name}: this is not an array: {error}", remedy="give an array of numpy") from None


def listed_ids(ids: Any, name: str) -> list[Any]:
    """Return ids as a list of Python's own objects; raise if they have no order, or are not many.

    >>> listed_ids(np.array([3, 5]), "query_ids")
    [3, 5]
    """
    is_one = isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable) or getattr(ids, "ndim", 1) != 1
    if is_one or isinstance(ids, (Mapping, Set)):
        raise UsageError(f"{name} is of type {type(ids).__name__}", remedy="give a list of ids, or an array of them")
    values: list[Any] = on_host(ids).tolist() if hasattr(ids, "dtype") else list(ids)
    return values


def on_host(array: Any) -> Any:
    """Return an array in numpy, copied from its device if it is on one."""
    if hasattr(array, "detach"):  # torch
        host = array.detach().cpu()
        return (host.float() if str(host.dtype) == "torch.bfloat16" else host).numpy()  # which numpy does not have
    if hasattr(array, "__cuda_array_interface__") and hasattr(array, "get"):  # cupy refuses to be converted unasked
        return array.get()
    return np.asarray(array)


def like(values: Any, array: Any, namespace: Any) -> Any:
    """Return an array of numpy as one of the same library as another array, on its device."""
    if namespace is np:
        return values
    import array_api_compat

    return namespace.asarray(values, device=array_api_compat.device(array))
