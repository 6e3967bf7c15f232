"""The response store: every answer is kept, in append-only JSON lines, from the moment it arrives.

Invariants: each writer appends to a shard of its own; a line is whole or it is the torn end of its shard; a line is
an answer only if its request has the digest that is its key and its response the digest beside it, so a damaged line
is a missing one. Where two writers stored one request, the line of the shard whose name sorts first, which is the one
begun first, counts for every later reader: a later run never replaces an answer that an earlier one was given.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from infoecon.errors import InfoeconError
from infoecon.language_models.requests import Request, Response, canonical_json, digest

_LINE_START = b'{"key":"'
_LINE_FEED = ord("\n")
_PREFIX_DIGITS = 16
_HEAD_BYTES = len(_LINE_START) + _PREFIX_DIGITS
_BLOCK_BYTES = 4 << 20
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ResponseStore:
    """The stored answers of one model.

    What other processes store after this one opened the store need not be seen.

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
        self._new: dict[str, tuple[Path, int]] = {}
        self._own: tuple[Path, int] | None = None
        try:
            self._index = _Index(_shards(directory))
        except OSError as error:
            raise self._unreadable(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Count the keys that have a line, damaged or not."""
        return len(self._index) + sum(not any(self._index.places(key)) for key in self._new)

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def get(self, key: str) -> Response | None:
        """Give the stored answer of a request, or ``None``.

        Raises
        ------
        InfoeconError
            If a shard can no longer be read.
        """
        try:
            for shard, offset in self._places(key):
                if (response := _read(shard, offset, key)) is not None:
                    return response
        except OSError as error:
            raise self._unreadable(error) from None
        return None

    def put(self, request: Request, response: Response) -> None:
        """Store an answer, which then survives whatever happens to this process; a stored one is never replaced.

        Raises
        ------
        InfoeconError
            If it cannot be written, for example because the disk is full; what was stored before stays whole, and
            a later answer can be stored once there is space.
        """
        if request.key in self:
            return
        try:
            self._new[request.key] = self._append(_line(request, response))
        except OSError as error:
            mend = "free some space" if error.errno in _NO_SPACE else "mend that"
            raise InfoeconError(
                f"An answer cannot be stored in {self.directory} ({error.strerror}); all earlier answers are kept, "
                f"{mend} and run again."
            ) from None

    def close(self) -> None:
        """Close the shard that this writer appends to; the next answer begins another."""
        own, self._own = self._own, None
        if own is not None:
            os.close(own[1])

    def _places(self, key: str) -> Iterator[tuple[Path, int]]:
        yield from self._index.places(key)
        if key in self._new:
            yield self._new[key]

    def _append(self, line: bytes) -> tuple[Path, int]:
        shard, file = self._open()
        offset = os.fstat(file).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(file, line[written:])
        except BaseException:
            try:
                os.ftruncate(file, offset)
            except OSError:
                # Nothing may follow a torn line.
                self.close()
            raise
        return shard, offset

    def _open(self) -> tuple[Path, int]:
        if self._own is None:
            self.directory.mkdir(parents=True, exist_ok=True)
            shard = self.directory / f"{time.time_ns():020d}-{socket.gethostname()}-{os.getpid()}.jsonl"
            self._own = shard, os.open(shard, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
        return self._own

    def _unreadable(self, error: OSError) -> InfoeconError:
        return InfoeconError(
            f"The response store {self.directory} cannot be read ({error.strerror}); it must be a readable folder."
        )


class _Index:
    """Where lines lie: the first 64 bits of their keys, sorted, beside shard and offset; 20 bytes a line.

    Two keys may share these bits, so a place is a candidate until its line is read.
    """

    def __init__(self, shards: list[Path]) -> None:
        self._shards = shards
        scans = [_scan(shard) for shard in shards]
        prefixes = np.concatenate([np.empty(0, np.uint64), *(prefixes for prefixes, _ in scans)])
        offsets = np.concatenate([np.empty(0, np.int64), *(offsets for _, offsets in scans)])
        numbers = np.repeat(np.arange(len(shards), dtype=np.int32), [len(offsets) for _, offsets in scans])
        order = np.argsort(prefixes, kind="stable")
        self._prefixes, self._numbers, self._offsets = prefixes[order], numbers[order], offsets[order]

    def __len__(self) -> int:
        return int(np.count_nonzero(np.diff(self._prefixes))) + bool(len(self._prefixes))

    def places(self, key: str) -> Iterator[tuple[Path, int]]:
        """Give shard and offset of each line that may hold a key, in the order of shards and lines."""
        prefix = np.uint64(int(key[:_PREFIX_DIGITS], 16))
        row = int(np.searchsorted(self._prefixes, prefix))
        while row < len(self._prefixes) and self._prefixes[row] == prefix:
            yield self._shards[self._numbers[row]], int(self._offsets[row])
            row += 1


def _shards(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if path.suffix == ".jsonl")
    except FileNotFoundError:
        return []


def _scan(shard: Path) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Find key prefix and offset of each whole line.

    The shard is read in blocks: a mapping would kill this process if another one cut the shard meanwhile.
    """
    prefixes, offsets = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    position, torn = 0, b""
    with shard.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK_BYTES):
            data = np.frombuffer(torn + block, np.uint8)
            ends = np.flatnonzero(data == _LINE_FEED)
            starts = np.concatenate(([0], ends + 1))
            rest, starts = int(starts[-1]), starts[:-1]
            starts = starts[ends - starts > _HEAD_BYTES]
            heads = data[starts[:, np.newaxis] + np.arange(_HEAD_BYTES)]
            known = (heads[:, : len(_LINE_START)] == np.frombuffer(_LINE_START, np.uint8)).all(axis=1)
            prefixes.append(_parse_hexadecimal(heads[known, len(_LINE_START) :]))
            offsets.append(position + starts[known])
            position, torn = position + rest, data[rest:].tobytes()
    return np.concatenate(prefixes), np.concatenate(offsets)


def _parse_hexadecimal(digits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Turn rows of 16 ASCII digits into numbers; what is no digit gives a number that stands for nothing."""
    values = (digits & 0xF) + 9 * (digits >> 6)
    pairs = np.ascontiguousarray(values[:, ::2] << 4 | values[:, 1::2])
    return pairs.view(">u8").ravel().astype(np.uint64)


def _line(request: Request, response: Response) -> bytes:
    # In canonical order the key comes first, where the index looks for it.
    plain = {"key": request.key, "request": request.plain(), "response": response.plain()}
    return canonical_json({**plain, "response_sha256": digest(response.plain())}) + b"\n"


def _read(shard: Path, offset: int, key: str) -> Response | None:
    with shard.open("rb") as file:
        file.seek(offset)
        line = file.readline()
    try:
        row = json.loads(line)
        if row["key"] == key == digest(row["request"]) and row["response_sha256"] == digest(row["response"]):
            return Response(**row["response"])
    except (ValueError, KeyError, TypeError):
        return None
    return None
