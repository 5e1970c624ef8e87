from __future__ import annotations

import json
from fractions import Fraction
from math import comb, exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.collector.secrets import ledger_chain as ledger
from blender_dp.collector.secrets.ledger_chain import START, Entry, check, parse
from blender_dp.errors import DocumentError
from blender_dp.privacy.composition import composed
from blender_dp.privacy.loss import Loss


def chain(length: int) -> list[tuple[str, str]]:
    made: list[tuple[str, str]] = []
    for number in range(1, length + 1):
        before = made[-1][1] if made else START
        entry = Entry(number, "c", f"r{number // 2}", "opt-in" if number % 2 else "client", "7/2", "1/1000000", before)
        made.append((entry.text(), entry.digest))
    return made


def test_a_chain_is_read_back() -> None:
    entries = check(chain(6))
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert entries[0].loss == Loss(Fraction(7, 2), Fraction(1, 10**6))
    assert check([]) == []


def test_the_digest_of_an_entry_never_changes() -> None:
    """Published releases contain such digests: writing entries differently would invalidate them."""
    assert Entry(1, "c", "r", "opt-in", "4", "1/1000000", START).digest == DIGEST


DIGEST = "d909bbde206085b3a99c55a401faf24e3adbadf2b8ee6f0457a458aa20997123"


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("field", list(Entry.__dataclass_fields__))
@pytest.mark.parametrize("repaired", [False, True])
def test_a_change_of_any_field_of_any_entry_is_detected(place: int, field: str, repaired: bool) -> None:
    """Even if the digest was changed, too: the next entry, or the digest in a release, reveals it."""
    whole = chain(6)
    values = json.loads(whole[place][0])
    values[field] = values[field] + 1 if field == "number" else "9"
    changed = Entry(**values)
    tampered = [*whole]
    tampered[place] = (changed.text(), changed.digest if repaired else whole[place][1])
    if repaired and place == 5 and field not in {"number", "before"}:
        assert check(tampered)[-1].digest != whole[-1][1]  # the last one: only someone who knows its digest can detect it
    else:
        with pytest.raises(DocumentError):
            check(tampered)


@pytest.mark.parametrize("place", range(5))
def test_gaps_swaps_and_repeats_are_detected(place: int) -> None:
    whole = chain(6)
    for tampered in (
        whole[:place] + whole[place + 1 :],
        [*whole[:place], whole[place + 1], whole[place], *whole[place + 2 :]],
        whole[: place + 1] + whole[place:],
    ):
        with pytest.raises(DocumentError):
            check(tampered)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"number": 1}', " " + chain(1)[0][0], chain(1)[0][0].replace(":", ": ")]
)
def test_an_invalid_entry_is_a_typed_error(text: str) -> None:
    with pytest.raises(DocumentError):
        parse(text)


losses = st.builds(
    Loss,
    st.fractions(min_value=Fraction(1, 1 << 19), max_value=64, max_denominator=10**6),
    st.sampled_from([Fraction(0), *(Fraction(1, 10**power) for power in (1, 3, 5, 6, 9, 12, 30, 400))]),
)


@given(st.lists(st.tuples(losses, st.integers(1, 60)), min_size=1, max_size=4))
def test_composition_lies_between_the_largest_loss_and_the_sum(some: list[tuple[Loss, int]]) -> None:
    spent = [loss for loss, times in some for _ in range(times)]
    assert max(loss.epsilon for loss in spent) <= composed(spent) <= sum(loss.epsilon for loss in spent)


@pytest.mark.parametrize("power", [5, 9, 12, 30])
@pytest.mark.parametrize("rounds", [2, 10, 11, 12, 40])
def test_a_small_delta_does_not_make_the_composition_infinite(power: int, rounds: int) -> None:
    """At ten rounds with δ = 1e-9 the accountant returns an infinite ε. The plain sum always holds."""
    assert 4 < composed([Loss(Fraction(4), Fraction(1, 10**power))] * rounds) <= 4 * rounds


def test_composition_is_tighter_than_the_sum_where_possible() -> None:
    many = [Loss(Fraction(1, 10), Fraction(1, 10**9))] * 100
    assert 5 < composed(many) < 9  # the plain sum is 10
    assert composed([]) == 0
    assert composed([Loss(Fraction(1, 10), Fraction(0))] * 3) == Fraction(3, 10)


def test_composition_agrees_with_the_exact_theorem() -> None:
    """Kairouz, Oh and Viswanath (2015), theorem 3.3, for k equal losses, summed here term by term."""
    epsilon, k, delta = 0.1, 50, 1e-3
    total = composed([Loss(Fraction(1, 10), Fraction(1, 1000))] * k)

    def optimal_delta(at: float) -> float:
        tail = (
            sum(comb(k, j) * max(exp((k - j) * epsilon) - exp(at + j * epsilon), 0) for j in range(k + 1))
            / (1 + exp(epsilon)) ** k
        )
        return 1 - (1 - delta) ** k * (1 - tail)

    assert optimal_delta(total) <= k * delta * (1 + 1e-6)  # the bound holds
    assert optimal_delta(total * 0.99) > k * delta  # and is nearly tight


def test_the_start_is_not_a_digest() -> None:
    assert ledger.START == "0" * 64


@pytest.mark.parametrize(
    "losses",
    [
        [Loss(Fraction(1), Fraction(1, 2))] * 2,
        [Loss(Fraction(1), Fraction(1, 10))] * 10,
        [Loss(Fraction(60), Fraction(1, 100))] * 20,
    ],
    ids=["δ adds up to 1", "by tenths", "e^ε is no number"],
)
def test_the_sum_is_used_where_the_accountant_proves_nothing(losses: list[Loss]) -> None:
    assert composed(losses) == sum(loss.epsilon for loss in losses)
