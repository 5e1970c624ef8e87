"""What participation costs a person, in words. Every number is exact, or rounded so that no risk is understated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from blender_dp.extras import is_installed
from blender_dp.privacy.composition import composed
from blender_dp.privacy.loss import Loss, Model, Promise
from blender_dp.privacy.rounding import readable, rounded_down, rounded_up
from blender_dp_device.arithmetic import exp_bounds

PRIOR = Fraction(1, 100)
ROUNDS = 12
MOST_ROUNDS = 10_000
"""More than one an hour."""
_SLACK = 100  # the bound of a general (ε, δ) promise holds except with a probability of this many δ
_WORTHWHILE = 1e-3  # of ε: an accountant that can save less is not asked
_MEANINGLESS, _OFTEN = Fraction(99, 100), Fraction(1, 10)  # so sure, or a bound that may fail so often, is no bound


@dataclass(frozen=True)
class Belief:
    """How sure an attacker can become of a guess, and the probability with which this bound may fail."""

    most: Fraction
    fails: Fraction


def belief(loss: Loss, prior: Fraction = PRIOR, *, probabilistic: bool = False) -> Belief:
    """The highest probability that an attacker can assign to a guess after seeing the output.

    Whatever else the attacker knows, the odds of the guess grow by at most a factor e^ε. With δ > 0 that fails with some
    probability. If the promise is `probabilistic`, this probability is δ: the loss exceeds ε with a probability of at most
    δ, as in discovery. For (ε, δ) in general, odds grow by more than e^ε / (1 - 1/s) with a probability of at most s·δ.
    """
    factor, fails = exp_bounds(loss.epsilon)[1], loss.delta
    if loss.delta and not probabilistic:
        factor, fails = factor / (1 - Fraction(1, _SLACK)), min(_SLACK * loss.delta, Fraction(1))
    return Belief(prior * factor / (prior * factor + 1 - prior), fails)


def year(loss: Loss, rounds: int = ROUNDS) -> Loss:
    """The loss of someone who participates in several rounds, as the collector's ledger composes it."""
    total = Fraction(rounds) * loss.epsilon
    worth_asking = rounds > 1 and is_installed("dp_accounting") and _saving(loss, rounds) > _WORTHWHILE * float(total)
    epsilon = composed([loss] * rounds) if worth_asking else total
    return Loss(epsilon, min(rounds * loss.delta, Fraction(1)))


def statement(promise: Promise, users: int, rounds: int = ROUNDS) -> str:
    """What one member of a group risks, in one round and in several."""
    central = promise.model is Model.CENTRAL
    once = belief(promise.loss, probabilistic=central)
    seen = "everything that is published" if central else "this person's report"
    text = (
        f"{promise.group.capitalize()} ({users:,}): someone who is {_percent(PRIOR)} sure what a person's record is, and "
        f"sees {seen}, can be at most {_percent(once.most)} sure afterwards{_except(once.fails)}."
    )
    return text if rounds == 1 else f"{text} {_over_rounds(promise.loss, rounds)}"


def _over_rounds(loss: Loss, rounds: int) -> str:
    """What someone risks who participates in several rounds."""
    many = year(loss, rounds)
    return (
        f"Over {rounds:,} rounds with the same people, the loss is ε = {rounded_up(many.epsilon)}"
        f"{f' and δ = {rounded_up(many.delta)}' if many.delta else ''}, {_after(many)}; "
        f"ε = {rounded_down(loss.epsilon / rounds)} per round would keep all of them together at "
        f"ε = {readable(loss.epsilon)}."
    )


def _saving(loss: Loss, rounds: int) -> float:
    """The most that any accountant can prove below the plain sum, for equal losses (Kairouz, Oh and Viswanath, 2015).

    Only the rounding between rounds · δ and 1 - (1 - δ)^rounds is available to reduce ε.
    """
    epsilon, delta = float(loss.epsilon), float(loss.delta)
    unexposed = math.exp(rounds * math.log1p(-delta)) if delta < 1 else 0.0
    spare = rounds * delta - (1 - unexposed)
    if spare <= 0:
        return 0.0
    # As a logarithm: the power of many rounds overflows.
    usable = math.log(spare / unexposed) + rounds * math.log1p(math.exp(-epsilon)) if unexposed else 0.0
    return -math.log(-math.expm1(usable)) if usable < 0 else math.inf


def _after(loss: Loss) -> str:
    bound = belief(loss)
    if bound.most > _MEANINGLESS or bound.fails > _OFTEN:
        return "which is no longer a meaningful bound"
    times = f" ({_SLACK} times this δ, since several rounds keep only the general promise)"
    return f"so that someone can be at most {_percent(bound.most)} sure{_except(bound.fails)}{times if bound.fails else ''}"


def _except(fails: Fraction) -> str:
    return f", except with a probability of {rounded_up(fails)}" if fails else ""


def _percent(value: Fraction) -> str:
    return f"{rounded_up(100 * value)} %"
