"""Saved models from strangers: a clear refusal or a model that works; no code is run, no memory wasted."""

from __future__ import annotations

import copy
import itertools
import json
import sys
import tracemalloc

import numpy as np
import pytest

from pyearthdof import Earth, MarsModel
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.model.mars_model import LATER
from tests.support.figures import record

MUTATIONS = 500
CALLS = 3000  # of Python functions, and one more per character of the text
# What reading a file must never do. The names are those of Python's audit events.
FORBIDDEN = (
    "exec",
    "compile",
    "import",
    "open",
    "os.",
    "subprocess.",
    "pickle.",
    "socket.",
    "ctypes.",
)
ODD_VALUES = (
    None, True, False, 0, -1, 1.5, 2**63, -(2**63), 10**400, 1e308, -1e308, 5e-324, "", "nan", "inf", "-inf",
    "x", "__import__('os').system('true')", "\0", "\ud800", [], {}, [[]], [None], [1], [[1, 2], [3]],
    {"a": 1}, {"__class__": "os.system"}, "x" * 10_000, [0] * 10_000,
)  # fmt: skip
TEXTS = (
    "", " ", "null", "[]", "{}", "1", '"pyearthdof.MarsModel"', "NaN", "{", "[" * 100_000,
    '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000, "9" * 100_000, "1e999999999", "\ufeff{}",
    '{"format": "pyearthdof.MarsModel"}',
)  # fmt: skip


@pytest.fixture(scope="module")
def events():
    """Audit events of the kinds in FORBIDDEN while `events.watching` is true."""

    class Events(list):
        watching = False

    seen = Events()

    def hook(name, _):
        if seen.watching and name.startswith(FORBIDDEN):
            seen.append(name)

    sys.addaudithook(hook)  # for good: Python has no way to take it back
    yield seen
    seen.watching = False


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 3))
    y = np.abs(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=60)
    fits = [
        Earth(degree=2, engine="native").fit(X, y),
        Earth(nk=1, engine="native").fit(X, y),
        Earth(pmethod="none", penalty=-1, engine="native").fit(X[:, :1], y),
    ]
    return [fit.model_ for fit in fits]


def read(text, events, read_it=MarsModel.from_json):
    """The model, or None for a clear refusal; bounds are checked on the way."""
    tracemalloc.start()
    events.clear()
    events.watching = True
    calls = itertools.count()
    sys.setprofile(lambda *_: next(calls))
    try:
        model = read_it(text)
    except InvalidInputError as error:
        model = None
        assert 0 < len(str(error)) < 1000
    finally:
        events.watching = False
        sys.setprofile(None)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert not events, f"reading the file did {events}"
    assert next(calls) < CALLS + len(text), f"{len(text)} characters"
    assert peak < 1_000_000 + 200 * len(text), f"{peak} bytes for a text of {len(text)}"
    return model


def assert_works(model):
    """A model that was accepted can do what models do, and survives a round trip."""
    with np.errstate(all="ignore"):
        prediction = model.predict(np.zeros((2, len(model.feature_names))))
    assert len(prediction) == 2
    assert MarsModel.from_json(model.to_json()) == model
    assert str(model)
    model.used_features()


def paths(value, path=()):
    """Every place in a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(inner, (*path, key))


def mutated_tree(rng, entries):
    """Change one to three values: replace, remove, repeat or exchange them."""
    tree = copy.deepcopy(entries)
    for _ in range(rng.integers(1, 4)):
        places = [p for p in paths(tree) if p]
        if not places:
            break
        *parents, key = places[rng.integers(len(places))]
        parent = tree
        for step in parents:
            parent = parent[step]
        kind = rng.integers(5)
        if kind <= 1:
            parent[key] = copy.deepcopy(ODD_VALUES[rng.integers(len(ODD_VALUES))])
        elif kind == 2:
            del parent[key]
        elif kind == 3 and isinstance(parent, list):
            parent.insert(key, copy.deepcopy(parent[key]))
        else:
            other = list(parent)[rng.integers(len(parent))] if isinstance(parent, dict) else 0
            parent[key], parent[other] = parent[other], parent[key]
    return json.dumps(tree)


def mutated_bytes(rng, text):
    """Flip, remove, repeat or cut off bytes."""
    data = bytearray(text.encode())
    for _ in range(rng.integers(1, 6)):
        if not data:
            break
        at = int(rng.integers(len(data)))
        kind = rng.integers(4)
        if kind == 0:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del data[at : at + int(rng.integers(1, 40))]
        elif kind == 2:
            data[at:at] = data[at : at + int(rng.integers(1, 40))]
        else:
            data = data[: max(1, at)]
    return bytes(data)


def test_mutated_files(models, events, tmp_path):
    rng = np.random.default_rng(20210319)
    file = tmp_path / "model.json"
    refused = works = 0
    for i in range(MUTATIONS):
        model = models[i % len(models)]
        if i % 2:
            found = read(mutated_tree(rng, model.to_dict()), events)
        else:
            file.write_bytes(mutated_bytes(rng, model.to_json()))
            text = file.read_bytes().decode("utf-8", "replace")
            found = read(text, events)
            assert_same_from_file(file, found)
        if found is None:
            refused += 1
        else:
            works += 1
            assert_works(found)
    record(
        "mutated model files", files=MUTATIONS, refused=refused, working_models=works, code_run=0
    )
    assert refused > MUTATIONS // 3
    assert works > MUTATIONS // 50


def assert_same_from_file(file, found):
    """`load` takes the same decision, or refuses what is not UTF-8."""
    try:
        loaded = MarsModel.load(file)
    except InvalidInputError:
        return
    assert found is not None and loaded.to_json() == found.to_json()


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:20]))
def test_texts_that_are_no_models(text, events):
    assert read(text, events) is None


@pytest.mark.parametrize("place", ["rss", "n_samples", "selected", "dirs", "versions"])
@pytest.mark.parametrize(
    "text", ["NaN", "-Infinity", "1e400", "9" * 5000, "[" * 50_000 + "]" * 50_000, "[[0]]", "{}"],
    ids=lambda text: text[:9],
)  # fmt: skip
def test_odd_literals_in_every_kind_of_field(models, events, place, text):
    entries = models[0].to_dict() | {place: "HERE"}
    found = read(json.dumps(entries).replace('"HERE"', text), events)
    if found is not None:
        assert_works(found)


def test_every_missing_field_is_refused(models, events):
    for name in models[0].to_dict():
        entries = models[0].to_dict()
        del entries[name]
        found = read(json.dumps(entries), events)
        assert found is None or name in LATER, name


def test_a_declared_size_allocates_nothing(models, events):
    for name in ("nk", "n_samples", "degree"):
        found = read(json.dumps(models[0].to_dict() | {name: 2**53}), events)
        if found is not None:
            assert_works(found)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\x80abc", "{}".encode("utf-16"), b"", b"\0" * 100])
def test_files_that_are_not_text(tmp_path, data):
    file = tmp_path / "model.json"
    file.write_bytes(data)
    with pytest.raises(InvalidInputError):
        MarsModel.load(file)
