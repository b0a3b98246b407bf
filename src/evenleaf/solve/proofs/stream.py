"""Rows of numbers, one after the other, as the octets of a file."""

from __future__ import annotations

import numpy as np


def octets(row: np.ndarray) -> bytes:
    """Byte by byte, lowest first: the high bytes of small numbers are all alike, and pack well."""
    plain = np.ascontiguousarray(row.astype(row.dtype.newbyteorder("<"))).reshape(-1, 1)
    return np.ascontiguousarray(plain.view(np.uint8).T).tobytes()


class Source:
    """The numbers of a file, taken in the order in which they were written."""

    def __init__(self, body: bytes) -> None:
        self._body, self._place = np.frombuffer(body, dtype=np.uint8), 0

    def take(self, shape: tuple[int, ...], dtype: type[np.generic]) -> np.ndarray:
        """The next numbers, in the given shape."""
        if any(n < 0 for n in shape):
            raise ValueError("a row of numbers has a length below zero")
        kind = np.dtype(dtype)
        size = int(np.prod(shape, dtype=object)) * kind.itemsize
        if size > len(self._body) - self._place:
            raise ValueError("numbers are missing")
        planes = self._body[self._place : self._place + size].reshape(kind.itemsize, -1)
        self._place += size
        plain = np.ascontiguousarray(planes.T).view(kind.newbyteorder("<"))
        return plain.astype(kind).reshape(shape)
