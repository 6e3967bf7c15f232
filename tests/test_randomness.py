from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from infoecon.randomness import keyed_choice, keyed_generator, keyed_integer, keyed_permutation, keyed_uniform

KEYS = st.lists(st.integers() | st.text(alphabet="abc", max_size=4), min_size=1, max_size=5).map(tuple)


@given(KEYS)
def test_a_draw_depends_on_its_key_alone(key):
    assert keyed_integer(key) == keyed_integer(key)
    assert keyed_generator(key).random() == keyed_generator(key).random()


@given(KEYS, KEYS)
def test_other_keys_draw_otherwise(one, other):
    if tuple(map(str, one)) != tuple(map(str, other)):
        assert keyed_integer(one) != keyed_integer(other)


@given(KEYS, st.integers(1, 64))
def test_integers_have_the_bits_asked_for(key, bits):
    assert 0 <= keyed_integer(key, bits) < 2**bits


def test_uniforms_are_uniform():
    draws = [keyed_uniform(("test", i)) for i in range(5000)]
    assert stats.kstest(draws, "uniform").pvalue > 1e-4


def test_choices_are_uniform():
    counts = Counter(keyed_choice("ABCDE", ("test", i)) for i in range(5000))
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def test_permutations_are_uniform():
    counts = Counter(keyed_permutation(3, ("test", i)) for i in range(3000))
    assert len(counts) == 6
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def test_draws_of_neighbouring_keys_are_uncorrelated():
    draws = np.array([keyed_uniform(("test", i)) for i in range(5001)])
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4 / np.sqrt(5000)
