"""The response store: every answer is kept, in append-only JSON lines, from the moment it arrives.

Invariants: each writer appends to a shard of its own; a line is written by one call and is either whole or torn at
the end of its shard; a torn or damaged line is no answer; where two writers stored one request, the line of the shard
whose name sorts first counts, for every later reader.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from pathlib import Path
from typing import Self

import numpy as np
import orjson

from infoecon.errors import InfoeconError
from infoecon.language_models.requests import Request, Response, key_of

_PREFIX = b'{"key":"'
_KEY_LENGTH = 64
_LINE_FEED = 10


class _Index:
    """Where the line of each key lies: sorted keys beside shard and offset, some 80 bytes a row."""

    def __init__(self, shards: list[Path]) -> None:
        self.shards = shards
        found = [_scan(shard) for shard in shards]
        sizes = [len(starts) for _, starts, _ in found]
        self._keys = np.concatenate([np.empty(0, f"S{_KEY_LENGTH}"), *(keys for keys, _, _ in found)])
        self._starts = np.concatenate([np.empty(0, np.int64), *(starts for _, starts, _ in found)])
        self._ends = np.concatenate([np.empty(0, np.int64), *(ends for _, _, ends in found)])
        self._shard = np.repeat(np.arange(len(shards), dtype=np.int32), sizes)
        order = np.argsort(self._keys, kind="stable")
        for name in ("_keys", "_starts", "_ends", "_shard"):
            setattr(self, name, getattr(self, name)[order])

    def __len__(self) -> int:
        return int((self._keys[1:] != self._keys[:-1]).sum()) + 1 if len(self._keys) else 0

    def lines(self, key: str) -> list[bytes]:
        """Read the lines that claim a key, in the order of their shards."""
        wanted = np.bytes_(key.encode())
        first, last = np.searchsorted(self._keys, wanted, "left"), np.searchsorted(self._keys, wanted, "right")
        return [self._read(row) for row in range(first, last)]

    def _read(self, row: int) -> bytes:
        with self.shards[self._shard[row]].open("rb") as file:
            file.seek(int(self._starts[row]))
            return file.read(int(self._ends[row] - self._starts[row]))


def _scan(shard: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the keys of a shard's whole lines and where these start and end."""
    nothing = np.empty(0, f"S{_KEY_LENGTH}"), np.empty(0, np.int64), np.empty(0, np.int64)
    if shard.stat().st_size == 0:
        return nothing
    data = np.memmap(shard, dtype=np.uint8, mode="r")
    ends = np.flatnonzero(data == _LINE_FEED)
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    long_enough = ends - starts > len(_PREFIX) + _KEY_LENGTH
    starts, ends = starts[long_enough], ends[long_enough]
    if not len(starts):
        return nothing
    keys = data[starts[:, None] + np.arange(len(_PREFIX), len(_PREFIX) + _KEY_LENGTH)]
    return np.ascontiguousarray(keys).view(f"S{_KEY_LENGTH}").ravel(), starts, ends


class ResponseStore:
    """The stored answers of one model.

    Parameters
    ----------
    directory
        Folder of the shards; it is made when the first answer is stored.

    Raises
    ------
    InfoeconError
        If the folder cannot be read.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._new: dict[str, Response] = {}
        self._file: int | None = None
        self._shard: Path | None = None
        self._size = 0
        try:
            self._index = _Index(sorted(directory.glob("*.jsonl")))
        except OSError as error:
            raise InfoeconError(f"The response store {directory} cannot be read: {error.strerror}.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._index) + len(self._new)

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def get(self, key: str) -> Response | None:
        """Give the stored answer of a request, or ``None``; a damaged line is no answer."""
        if key in self._new:
            return self._new[key]
        for line in self._index.lines(key):
            try:
                row = orjson.loads(line)
                if row["key"] == key and key_of(row["request"]) == key:
                    return Response.from_plain(row["response"])
            except (orjson.JSONDecodeError, KeyError, TypeError):
                continue
        return None

    def put(self, request: Request, response: Response) -> None:
        """Store an answer; it survives whatever happens to this process afterwards.

        Raises
        ------
        InfoeconError
            If it cannot be written, for example because the disk is full; what was stored before stays whole.
        """
        line = orjson.dumps({"key": request.key, "request": request.plain(), "response": response.plain()}) + b"\n"
        try:
            file = self._open()
            written = 0
            try:
                while written < len(line):
                    written += os.write(file, line[written:])
            except OSError:
                os.ftruncate(file, self._size)
                os.lseek(file, self._size, os.SEEK_SET)
                raise
        except OSError as error:
            raise InfoeconError(self._explain(error)) from None
        self._size += len(line)
        self._new[request.key] = response

    def close(self) -> None:
        """Close the shard that this writer appends to."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        if self._file is None:
            self.directory.mkdir(parents=True, exist_ok=True)
            name = f"{time.time_ns():020d}-{socket.gethostname()}-{os.getpid()}.jsonl"
            self._shard = self.directory / name
            self._file = os.open(self._shard, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            self._size = 0
        return self._file

    def _explain(self, error: OSError) -> str:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return (
                f"No space is left to store an answer in {self.directory}; all earlier answers are kept, "
                "free some space and run again."
            )
        return f"An answer cannot be stored in {self.directory}: {error.strerror}; all earlier answers are kept."
