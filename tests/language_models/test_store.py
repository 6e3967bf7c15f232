import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.errors import InfoeconError
from infoecon.language_models.requests import ModelIdentity, Request, Response
from infoecon.language_models.store import ResponseStore
from infoecon.settings.models import Sampling

IDENTITY = ModelIdentity("model", "engine", "revision")


def request(number, content="?"):
    return Request(IDENTITY, ({"role": "user", "content": content},), Sampling(), seed=number)


def response(number):
    return Response(f"answer {number}\n", "stop", prompt_tokens=number, output_tokens=3)


def shard_of(directory):
    (shard,) = directory.glob("*.jsonl")
    return shard


def fill(directory, count):
    with ResponseStore(directory) as store:
        for number in range(count):
            store.put(request(number), response(number))
    return shard_of(directory)


def stored(store, count):
    """Numbers of the requests that are answered, each of them rightly."""
    answers = {number: store.get(request(number).key) for number in range(count)}
    for number, answer in answers.items():
        assert answer is None or answer == response(number)
    return [number for number, answer in answers.items() if answer is not None]


def spell_pairs(text):
    """Two halves of a surrogate pair side by side are the character that they spell, as in any JSON."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


texts = st.text(st.characters(), max_size=50).map(spell_pairs) | st.sampled_from(
    ["", "\0", "\n", "\r\n", "\x1b[2J", "\u202eFINAL A\u2066", "\u2028", "\ud800", "\udfff-", '"}\\', "é漢😀"]
)
counts = st.none() | st.integers(0, 2**53)


@given(texts, st.builds(Response, texts, texts, counts, counts, counts, counts))
def test_any_text_comes_back_exactly(content, answered):
    asked = request(0, content)
    with tempfile.TemporaryDirectory() as directory:
        with ResponseStore(Path(directory)) as store:
            store.put(asked, answered)
            assert store.get(asked.key) == answered
        assert ResponseStore(Path(directory)).get(asked.key) == answered
        assert shard_of(Path(directory)).read_bytes().isascii()


def test_a_store_longer_than_a_block_of_its_index(tmp_path):
    answers = {
        number: replace(response(number), text="é\0" * 500_000 if number % 5 == 0 else "x" * number)
        for number in range(30)
    }
    with ResponseStore(tmp_path) as store:
        for number, answer in answers.items():
            store.put(request(number), answer)
    assert shard_of(tmp_path).stat().st_size > 30_000_000
    store = ResponseStore(tmp_path)
    assert len(store) == 30
    assert all(store.get(request(number).key) == answer for number, answer in answers.items())


def test_lines_can_be_audited_by_themselves(tmp_path):
    line = fill(tmp_path, 1).read_text().rstrip("\n")
    assert line.startswith(f'{{"key":"{request(0).key}",')
    row = json.loads(line)
    assert row["request"] == request(0).plain()
    assert row["response"] == response(0).plain()


def test_nothing_is_made_before_the_first_answer(tmp_path):
    with ResponseStore(tmp_path / "cache" / "model") as store:
        assert store.get(request(0).key) is None
        assert request(0).key not in store
        assert len(store) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_store_cut_at_any_byte_keeps_its_whole_lines_and_takes_more(tmp_path):
    whole = fill(tmp_path / "whole", 3).read_bytes()
    ends = [index + 1 for index, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole) + 1):
        cut = tmp_path / str(size)
        cut.mkdir()
        (cut / "0.jsonl").write_bytes(whole[:size])
        with ResponseStore(cut) as store:
            kept = sum(end <= size for end in ends)
            assert stored(store, 3) == list(range(kept))
            assert len(store) == kept
            store.put(request(2), response(2))
            assert request(2).key in store
        assert stored(ResponseStore(cut), 3) == sorted({*range(kept), 2})


@pytest.mark.parametrize("damage", [b"\n", b"9", b"\xff", b""])
def test_a_byte_damaged_anywhere_never_makes_another_answer(tmp_path, damage):
    shard = fill(tmp_path, 3)
    whole = shard.read_bytes()
    first, second = (index + 1 for index, byte in enumerate(whole[:-1]) if byte == ord("\n"))
    for place in range(first, second - 1):
        shard.write_bytes(whole[:place] + damage + whole[place + 1 :])
        answered = stored(ResponseStore(tmp_path), 3)
        changed = whole[place : place + 1] != damage
        assert answered == [0, 2] if changed else [0, 1, 2]


def test_a_damaged_line_is_asked_again(tmp_path):
    shard = fill(tmp_path, 3)
    shard.write_bytes(shard.read_bytes().replace(b"answer 1", b"answer 9"))
    with ResponseStore(tmp_path) as store:
        assert stored(store, 3) == [0, 2]
        store.put(request(1), response(1))
        assert stored(store, 3) == [0, 1, 2]
    assert stored(ResponseStore(tmp_path), 3) == [0, 1, 2]
    assert len(ResponseStore(tmp_path)) == 3


def test_keys_that_begin_alike_are_told_apart(tmp_path):
    """The index holds the first 16 digits of a key alone."""
    twin = json.loads(fill(tmp_path, 1).read_text())
    twin["key"] = twin["key"][:16] + "0" * 48
    (tmp_path / "0.jsonl").write_text(json.dumps(twin, separators=(",", ":")) + "\n")
    store = ResponseStore(tmp_path)
    assert store.get(request(0).key) == response(0)
    assert store.get(twin["key"]) is None


def test_of_two_writers_the_one_that_began_first_counts(tmp_path):
    with ResponseStore(tmp_path) as first, ResponseStore(tmp_path) as second:
        first.put(request(0), response(0))
        second.put(request(1), Response("second", "stop"))
        first.put(request(1), response(1))
        assert second.get(request(1).key) == Response("second", "stop")
    later = ResponseStore(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert len(later) == 2
    assert later.get(request(1).key) == response(1)


def test_the_order_of_names_decides_among_many_shards(tmp_path):
    made = tmp_path / "made"
    for number in random.Random(0).sample(range(50), 50):
        with ResponseStore(made / str(number)) as store:
            for asked in range(50):
                store.put(request(asked), response(number))
        shard_of(made / str(number)).rename(tmp_path / f"{number:02}.jsonl")
    store = ResponseStore(tmp_path)
    assert len(store) == 50
    assert {store.get(request(asked).key) for asked in range(50)} == {response(0)}


def test_an_answer_is_never_replaced(tmp_path):
    shard = fill(tmp_path, 1)
    for store in (ResponseStore(tmp_path), ResponseStore(tmp_path)):
        store.put(request(0), Response("another", "stop"))
        assert store.get(request(0).key) == response(0)
    assert list(tmp_path.iterdir()) == [shard]


def start(code, *arguments):
    """Start a process of its own that has this module at hand."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        stdout=subprocess.PIPE,
        text=True,
    )


def sentence_of(code, *arguments):
    with start(code, *arguments) as child:
        sentence = child.stdout.read()
    assert child.returncode == 0
    assert sentence.count("\n") == 1
    return sentence.rstrip("\n")


WRITER = """
import sys
from pathlib import Path
from test_store import *
store = ResponseStore(Path(sys.argv[1]))
for number in range(*map(int, sys.argv[2:])):
    store.put(request(number), response(number))
    print(number, flush=True)
"""


def test_writers_side_by_side_and_killed_lose_nothing(tmp_path):
    writers = [start(WRITER, tmp_path, 0, 10**9), start(WRITER, tmp_path, 10**9, 2 * 10**9)]
    put = []
    for writer in writers:
        put += [int(writer.stdout.readline()) for _ in range(100)]
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
        put += map(int, writer.stdout.read().split("\n")[:-1])
        writer.stdout.close()
        writer.wait()
    store = ResponseStore(tmp_path)
    assert len(put) >= 200
    assert len(store) - len(put) in (0, 1, 2)
    assert all(store.get(request(number).key) == response(number) for number in put)


FULL_DISK = """
import resource, sys
from pathlib import Path
from test_store import *
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
with ResponseStore(Path(sys.argv[1])) as store:
    try:
        for number in range(10):
            store.put(request(number), response(number))
    except InfoeconError as error:
        print(error)
    size = shard_of(Path(sys.argv[1])).stat().st_size
    assert 1000 < size < 2000, size
    assert stored(store, 10) == list(range(number)), number
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for number in range(10):
        store.put(request(number), response(number))
"""


def test_a_full_disk_loses_nothing(tmp_path):
    """A limit on the size of files cuts a write short and then refuses, as a full disk does."""
    sentence = sentence_of(FULL_DISK, tmp_path)
    assert str(tmp_path) in sentence
    assert "free some space and run again" in sentence
    assert shard_of(tmp_path).read_bytes().count(b"\n") == 10
    assert stored(ResponseStore(tmp_path), 10) == list(range(10))


def test_where_a_torn_line_stays_no_other_follows_it(tmp_path):
    with ResponseStore(tmp_path) as store:
        store.put(request(0), response(0))
        reading, writing = os.pipe()
        os.close(reading)
        # A pipe that nobody reads neither takes a line nor can be cut back.
        _, shard_file = store._own
        os.dup2(writing, shard_file)
        os.close(writing)
        with pytest.raises(InfoeconError, match="all earlier answers are kept"):
            store.put(request(1), response(1))
        store.put(request(1), response(1))
        assert stored(store, 2) == [0, 1]
    assert len(list(tmp_path.iterdir())) == 2
    assert stored(ResponseStore(tmp_path), 2) == [0, 1]


def test_a_file_in_the_place_of_the_folder(tmp_path):
    place = tmp_path / "model"
    place.touch()
    with pytest.raises(InfoeconError, match=r"model cannot be read \(Not a directory\); it must be a readable folder"):
        ResponseStore(place)


def test_a_link_to_nowhere(tmp_path):
    place = tmp_path / "model"
    place.symlink_to(tmp_path / "unmounted")
    with ResponseStore(place) as store, pytest.raises(InfoeconError, match=r"model \(File exists\)"):
        store.put(request(0), response(0))


def test_a_shard_that_vanishes(tmp_path):
    shard = fill(tmp_path, 1)
    store = ResponseStore(tmp_path)
    shard.unlink()
    with pytest.raises(InfoeconError, match="cannot be read"):
        store.get(request(0).key)


READ_ONLY = """
import os, sys
from pathlib import Path
from test_store import *
if os.geteuid() == 0:
    os.setuid(65534)
with ResponseStore(Path(sys.argv[1])) as store:
    try:
        store.put(request(0), response(0))
    except InfoeconError as error:
        print(error)
"""


def test_a_folder_that_is_read_only():
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o555)
        sentence = sentence_of(READ_ONLY, directory)
        Path(directory).chmod(0o755)
    assert sentence == (
        f"An answer cannot be stored in {directory} (Permission denied); all earlier answers are kept, mend that and "
        "run again."
    )
