"""The paper's claims, each asked of the results by a fixed rule. Nothing here is written after looking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, stdev

from scipy.stats import t as student

from evenleaf.study.methods import NEAR
from evenleaf.study.results import Results, mean
from evenleaf.study.views import Fairest, by_depth, fairest, gaps, times

HOLDS, FAILS, SAME, OPEN, ALONE = "holds", "does not hold", "no difference", "cannot be told", "nobody to compare with"
NOISE = "within the noise of the folds"
# Means over folds closer than this (a tenth of a point of accuracy, or 0.001 of absolute error) count as equal.
MARGIN = 0.001


@dataclass(frozen=True)
class Claim:
    """What the paper says, on which data, what came out, and the figures behind it."""

    text: str
    data: str
    verdict: str
    evidence: str


def all_claims(results: Results) -> list[Claim]:
    """Every claim of the paper's section "Numerical Results" that these results can speak to."""
    return [
        *_against(results, "MIP-DT is more accurate than fair logistic regression at zero discrimination", _LOGISTIC),
        *_against(results, "MIP-DT is slightly more accurate than DADT at zero discrimination", _AWARE),
        *_against(results, "MIP-DT has a far lower error than LR-ind and LR-grp at zero discrimination", _LINEAR),
        *_against(results, "the approximate variant MIP-DT-A loses performance", ("MIP-DT-A",), absent=HOLDS),
        *_closer_to_zero(results),
        *_deeper(results),
        *_alike(results),
        *_early(results),
        *_faster(results),
    ]


_LOGISTIC = ("log-ind", "log-grp", "log-hyb")
_AWARE = ("IGC+IGS", "IGC+IGS Relab", "IGC+IGS Relab deep")
_LINEAR = ("LR-ind", "LR-grp")


def _against(results: Results, text: str, others: tuple[str, ...], absent: str = ALONE) -> Iterator[Claim]:
    """MIP-DT against the best of some methods, among those that reached the tolerance in every fold.

    `absent` is the verdict where none of them did: the variant that cannot reach zero has lost that way.
    """
    for data in results.data:
        entries = {entry.method: entry for entry in fairest(results, data, "dtdi")}
        present = [entries[name] for name in others if name in entries]
        if "MIP-DT" not in entries or not present:
            continue
        numbers = results.task(data) == "regression"
        yield Claim(text, data, *_compare(entries["MIP-DT"], present, absent, numbers=numbers))


def _compare(ours: Fairest, others: list[Fairest], absent: str, *, numbers: bool) -> tuple[str, str]:
    fair = [entry for entry in others if entry.reached == entry.folds]
    said = f"MIP-DT {_value(ours, numbers=numbers)}{_constant(ours)}"
    if ours.reached < ours.folds:
        return OPEN, f"{said}, but it reached the tolerance in {ours.reached} of {ours.folds} folds only"
    if not fair:
        names = ", ".join(entry.method for entry in others)
        return absent, f"{said}; {names} did not reach the tolerance in every fold"
    best = min(fair, key=lambda entry: entry.mean if numbers else -entry.mean)
    sign = -1 if numbers else 1
    gains = [sign * (mine - theirs) for mine, theirs in zip(ours.values, best.values, strict=True)]
    return judge(gains), f"{said}; {best.method} {_value(best, numbers=numbers)}{_constant(best)}"


def judge(gains: list[float]) -> str:
    """The verdict on differences, one a fold, of which the claim says that they are above zero.

    A difference counts if a t-test over the folds at 95 % sees it. Folds share people, so that is on the lenient side.
    """
    gain = mean(gains)
    if abs(gain) < MARGIN:
        return SAME
    spread = stdev(gains) if len(gains) > 1 else float("inf")
    if abs(gain) < float(student.ppf(0.975, max(1, len(gains) - 1))) * spread / len(gains) ** 0.5:
        return NOISE
    return HOLDS if gain > 0 else FAILS


def _value(entry: Fairest, *, numbers: bool) -> str:
    return f"{entry.mean:.4f}" if numbers else f"{100 * entry.mean:.2f} %"


def _constant(entry: Fairest) -> str:
    """Deciding everybody alike is zero discrimination without any merit, so it is said wherever it happens."""
    if not entry.constant:
        return ""
    everywhere = "all" if entry.constant == entry.folds else f"{entry.constant} of {entry.folds}"
    return f" (everybody decided alike in {everywhere} folds)"


def _closer_to_zero(results: Results) -> Iterator[Claim]:
    text = "MIP-DT is closer to zero discrimination on test people than every other fair method"
    for data in results.data:
        entries = {entry.method: entry for entry in fairest(results, data, "dtdi")}
        fair = {*_LOGISTIC, *_AWARE, *_LINEAR, "MIP-DT-A", "reduction"} & set(entries)
        if "MIP-DT" not in entries or not fair:
            continue
        ours, best = entries["MIP-DT"], min((entries[name] for name in sorted(fair)), key=_left)
        gains = [theirs - mine for mine, theirs in zip(ours.discrimination, best.discrimination, strict=True)]
        shown = [f"{entry.method} {100 * _left(entry):.2f} %{_constant(entry)}" for entry in (ours, best)]
        yield Claim(text, data, judge(gains), f"DTDI: {'; '.join(shown)}")


def _left(entry: Fairest) -> float:
    """The discrimination that is left on test people."""
    return mean(entry.discrimination)


def _deeper(results: Results) -> Iterator[Claim]:
    text = "a deeper tree has a better objective, at the price of interpretability"
    entries = by_depth(results)
    for weight in sorted({entry.weight for entry in entries}):
        mine = [entry for entry in entries if entry.weight == weight]
        falling = all(b.objective <= a.objective + 1e-9 for a, b in pairwise(mine))
        steps = ", ".join(f"{entry.depth}: {entry.objective:.4f}{'' if entry.proven else '*'}" for entry in mine)
        data = results.of("depth")[0]["data"]
        yield Claim(text, f"{data}, λ = {weight:g}", HOLDS if falling else FAILS, f"{steps} (* not proven)")


def _alike(results: Results) -> Iterator[Claim]:
    text = "being treated alike whatever the group is twice as likely with MIP-DT as with CART"
    for data in results.data:
        if results.task(data) != "classification" or len(entries := gaps(results, data)) < 2:
            continue
        plain, fair = entries[0], entries[1]
        verdict = HOLDS if fair.alike >= 2 * plain.alike else FAILS
        evidence = (
            f"γ = 0 for {100 * plain.alike:.1f} % of the test people at λ = 0 and {100 * fair.alike:.1f} % at "
            f"λ = {fair.weight:g}; so {100 * (1 - plain.alike):.1f} % and {100 * (1 - fair.alike):.1f} % are not"
        )
        yield Claim(text, data, verdict, evidence)


def _early(results: Results) -> Iterator[Claim]:
    """Only searches that started from nothing: at λ = 0, and in the race of the two methods."""
    text = "a near-optimal tree is found very early"
    cold = {data: results.timed("trade-off", data=data, index="dtdi", method="MIP-DT") for data in results.data}
    named = {"search": "the exact search", "mip": "the mixed-integer program"}
    for row in results.timed("bounds"):
        weight = results.of("bounds", method=row["method"])[0]["setting"]
        cold[f"{row['data']}, λ = {weight:g}, {named[row['method']]}"] = [row]
    for data, rows in cold.items():
        known = [(row["near"], row["seconds"]) for row in rows if row["near"] and row["seconds"] > 0]
        if known:
            parts = [min(1.0, near / seconds) for near, seconds in known]
            near, seconds = (median(column) for column in zip(*known, strict=True))
            when = f"after {median(parts):.0%} of the time ({near:.2f} of {seconds:.2f} s; median of {len(known)})"
            verdict = HOLDS if median(parts) <= 0.5 else FAILS
            yield Claim(text, data, verdict, f"within {NEAR:.0%} of the final objective {when}")


def _faster(results: Results) -> Iterator[Claim]:
    text = "an optimal tree takes hours"
    for entry in times(results):
        if entry.paper is None:
            continue
        total = len(entry.proven) + len(entry.stopped)
        evidence = (
            f"{entry.average:.1f} s a tree here at {entry.people:,} people, {len(entry.proven)} of {total} proven; "
            f"{entry.paper:,.0f} s in the paper, on 20 CPUs, of at most 5 (10) hours"
        )
        verdict = OPEN if entry.stopped else FAILS if entry.average < entry.paper / 10 else HOLDS
        yield Claim(text, entry.data, verdict, evidence)
