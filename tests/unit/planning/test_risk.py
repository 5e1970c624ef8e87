from __future__ import annotations

import math
from fractions import Fraction

import pytest

from blender_dp.planning import risk
from blender_dp.planning.risk import belief, statement, year
from blender_dp.privacy.composition import composed
from blender_dp.privacy.loss import Loss, Model, Promise

FOUR = Loss(Fraction(4), Fraction(0))
WITH_DELTA = Loss(Fraction(4), Fraction(1, 100_000))


def test_the_odds_grow_by_e_to_the_epsilon():
    most = float(belief(FOUR).most)
    assert most / (1 - most) == pytest.approx(math.exp(4) / 99, rel=1e-12)
    assert most > (math.exp(4) / 99) / (1 + math.exp(4) / 99) * (1 - 1e-15)
    assert belief(FOUR).fails == 0


def test_without_a_loss_nothing_is_learnt():
    assert float(belief(Loss(Fraction(1, 10**9), Fraction(0))).most) == pytest.approx(0.01, rel=1e-8)


def test_the_bound_fails_with_delta_or_with_a_multiple_of_it():
    assert belief(WITH_DELTA, probabilistic=True).fails == WITH_DELTA.delta
    general = belief(WITH_DELTA)
    assert general.fails == 100 * WITH_DELTA.delta
    odds = general.most / (1 - general.most)
    assert float(odds) == pytest.approx(math.exp(4) / 99 / 0.99, rel=1e-12)


def test_the_worst_mechanism_reaches_the_general_bound_but_no_more():
    """The outputs of the worst (ε, δ) mechanism: with δ the secret itself, otherwise randomised response."""
    epsilon, delta, prior = 1.0, 0.001, 0.01
    truth, lie = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon)), (1 - delta) / (1 + math.exp(epsilon))
    posteriors = {1.0: delta, prior * truth / (prior * truth + (1 - prior) * lie): truth}
    bound = belief(Loss(Fraction(1), Fraction(1, 1000)))
    assert sum(p for posterior, p in posteriors.items() if posterior > bound.most) <= bound.fails


def test_a_year_adds_up_if_an_accountant_cannot_do_better():
    assert year(FOUR) == Loss(Fraction(48), Fraction(0))
    assert year(WITH_DELTA) == Loss(Fraction(48), Fraction(12, 100_000))
    assert year(Loss(Fraction(1), Fraction(1, 2))).delta == 1


def test_an_accountant_is_asked_exactly_if_it_saves_something(monkeypatch):
    asked = []
    monkeypatch.setattr(risk, "composed", lambda losses: asked.append(len(losses)) or Fraction(1))
    year(WITH_DELTA)
    assert asked == []
    assert year(Loss(Fraction(1, 10), Fraction(1, 1000))).epsilon == 1
    assert asked == [12]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta", "rounds"), [("1/10", "1/1000", 12), ("1/2", "1/10000", 30), ("1", "1/100", 5)])
def test_no_accountant_saves_more_than_the_optimal_composition(epsilon, delta, rounds):
    loss = Loss(Fraction(epsilon), Fraction(delta))
    saved = float(rounds * loss.epsilon - composed([loss] * rounds))
    assert saved <= risk._saving(loss, rounds) * (1 + 1e-9) + 1e-9


def test_the_statement_has_one_round_and_a_year():
    text = statement(Promise("opt-in users", Model.CENTRAL, WITH_DELTA), 25_969)
    assert text.startswith("Opt-in users (25,969): someone who is 1 % sure what a person's record is")
    assert "at most 35.6 % sure afterwards, except with a probability of 1e-05." in text
    assert "Over 12 rounds with the same people, the loss is ε = 48 and δ = 0.00012" in text
    assert "no longer a meaningful bound; ε = 0.333 per round would keep all of them together at ε = 4." in text


def test_the_bound_after_all_rounds_says_how_often_it_may_fail():
    text = statement(Promise("opt-in users", Model.CENTRAL, Loss(Fraction(1, 10), Fraction(1, 10**6))), 10)
    assert "so that someone can be at most 3.28 % sure, except with a probability of 0.0012 (100 times this δ, since" in text
    assert "; ε = 0.00833 per round" in text


def test_a_bound_that_fails_often_is_no_bound():
    """It used to say "except with a probability of 1"."""
    text = statement(Promise("opt-in users", Model.CENTRAL, Loss(Fraction(1, 20), Fraction(1, 10**4))), 10, rounds=300)
    assert "no longer a meaningful bound" in text
    assert "sure, except with a probability of" not in text
    few = statement(Promise("opt-in users", Model.CENTRAL, Loss(Fraction(1, 20), Fraction(1, 10**4))), 10, rounds=9)
    assert "so that someone can be at most" in few


def test_one_round_has_one_bound():
    text = statement(Promise("opt-in users", Model.CENTRAL, WITH_DELTA), 10, rounds=1)
    assert text.endswith("at most 35.6 % sure afterwards, except with a probability of 1e-05.")


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**9), Fraction(1, 2)])
def test_any_number_of_rounds_can_be_composed(delta):
    assert year(Loss(Fraction(1, 1000), delta), risk.MOST_ROUNDS).epsilon <= 10
    assert year(Loss(Fraction(64), delta), risk.MOST_ROUNDS).epsilon == 640_000


def test_a_client_without_delta_has_no_exception():
    text = statement(Promise("clients", Model.LOCAL, Loss(Fraction(1, 4), Fraction(0))), 10, rounds=2)
    assert "sees this person's report, can be at most 1.29 % sure afterwards. Over 2 rounds" in text
    assert "the loss is ε = 0.5, so that someone can be at most 1.64 % sure; ε = 0.125 per round" in text
