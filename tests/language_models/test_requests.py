import json
from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from infoecon.language_models.requests import ModelIdentity, Request, canonical_json, digest
from infoecon.settings.models import Sampling

IDENTITY = ModelIdentity("model", "engine", "revision", "w", "t", "a", "q")
REQUEST = Request(IDENTITY, ({"role": "user", "content": "ACTION?"},), Sampling(), seed=1)

few = st.sampled_from(["a", "b"])
requests = st.builds(
    Request,
    model=st.builds(ModelIdentity, few, few, few, *[st.none() | few] * 4),
    messages=st.lists(st.fixed_dictionaries({"role": few, "content": st.text("a\ud800é", max_size=2)}), max_size=2).map(
        tuple
    ),
    sampling=st.builds(
        Sampling,
        temperature=st.sampled_from([0.0, 0.7]),
        top_p=st.sampled_from([0.9, 1.0]),
        max_output_tokens=st.integers(1, 2),
    ),
    seed=st.integers(0, 1),
    replicate=st.integers(0, 1),
)


def test_this_key_is_for_ever():
    """A change here orphans every stored answer."""
    assert REQUEST.key == "3c5b7f2dd026e627d41b20270a6aa22a24bc78cb0c81a4e6edae02457293f1d7"


@given(requests, requests)
def test_keys_are_equal_exactly_where_requests_are(first, second):
    assert (first.key == second.key) == (first == second)


def test_every_field_enters_the_key():
    changed = [
        replace(REQUEST, messages=({"role": "user", "content": "ACTION!"},)),
        replace(REQUEST, messages=({"role": "system", "content": "ACTION?"},)),
        replace(REQUEST, messages=REQUEST.messages * 2),
        replace(REQUEST, messages=()),
        replace(REQUEST, seed=2),
        replace(REQUEST, sampling=Sampling(temperature=0.0)),
        replace(REQUEST, sampling=Sampling(top_p=0.5)),
        replace(REQUEST, sampling=Sampling(max_output_tokens=9)),
        replace(REQUEST, sampling=Sampling(top_k=40)),
        replace(REQUEST, sampling=Sampling(min_p=0.05)),
        *(replace(REQUEST, replicate=number) for number in range(1, 30)),
        *(replace(REQUEST, model=replace(IDENTITY, **{field.name: "x"})) for field in fields(ModelIdentity)),
        *(
            replace(REQUEST, model=replace(IDENTITY, **{field.name: None}))
            for field in fields(ModelIdentity)
            if field.default is None
        ),
    ]
    assert len(Sampling.model_fields) == 5
    assert len({REQUEST.key, *(request.key for request in changed)}) == 1 + len(changed)


@given(st.text(st.characters()))
def test_the_order_of_a_message_does_not_matter(content):
    in_order = replace(REQUEST, messages=({"role": "user", "content": content},))
    turned = replace(REQUEST, messages=({"content": content, "role": "user"},))
    assert in_order.key == turned.key


@given(requests)
def test_the_digest_outlives_a_file(request):
    written = canonical_json(request.plain())
    assert written.isascii()
    assert digest(json.loads(written)) == request.key
