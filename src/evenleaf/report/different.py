"""Who would be treated differently: from the most similar people of other groups, and from the plain tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenleaf.fairness import Progress
from evenleaf.fairness.distance import MixedSpace
from evenleaf.fairness.nearest import NearestSearch, chunks
from evenleaf.table import Groups, Label, People
from evenleaf.table.schema import level_label

MOST_PEOPLE = 20
_OF_EVERY_GROUP = 3
_NOTABLE = 0.05  # of the range of a number: less than that is not called different


@dataclass(frozen=True, eq=False)
class OtherGroups:
    """For each person the nearest people of other groups, nearest first (protected columns do not count)."""

    people: People
    near: np.ndarray

    @classmethod
    def of(cls, people: People, k: int, progress: Progress | None = None) -> OtherGroups:
        """Look them up, group by group; k is cut to what the smallest rest of the table has."""
        groups = people.groups[0]
        sizes = np.bincount(groups.codes, minlength=groups.n_groups)
        k = int(min(k, people.n_people - sizes.max()))
        space = MixedSpace(people.features, people.weight)
        near = np.empty((people.n_people, k), dtype=np.intp)
        done = 0
        for group in np.unique(groups.codes):
            members = np.flatnonzero(groups.members(int(group)))
            search = NearestSearch(space, np.flatnonzero(~groups.members(int(group))))
            kinds, place = np.unique(search.kind[members], return_inverse=True)
            found = [search.nearest(kinds[rows], k) for rows in chunks(len(kinds), k)]
            near[members] = np.concatenate(found)[place]
            done += len(members)
            if progress is not None:
                progress(done / people.n_people)
        return cls(people, near)

    def distances(self, person: int) -> list[float]:
        """How far the neighbours of a person are."""
        space = MixedSpace(self.people.features, self.people.weight)
        return np.sqrt(space.squared(np.array([person]), self.near[person])).tolist()

    def disagreement(self, decided: np.ndarray) -> np.ndarray:
        """The share of the neighbours decided otherwise; for numbers, own minus their mean, over the range."""
        outcome = self.people.outcome
        theirs = decided[self.near]
        if outcome.classes is not None:
            return np.asarray((theirs != decided[:, None]).mean(axis=1))
        spread = float(np.ptp(outcome.values)) or 1.0
        return np.asarray((decided - theirs.mean(axis=1)) / spread)


def by_group(others: OtherGroups, decided: np.ndarray, positive: int | None) -> list[dict[str, Any]]:
    """For each group: how many are decided otherwise than most of their similar people, and in which direction."""
    people, groups = others.people, others.people.groups[0]
    apart = others.disagreement(decided)
    if people.outcome.classes is None:
        differs, gains = np.abs(apart) > _NOTABLE, apart > 0
    else:
        differs, gains = apart > 0.5, decided == (-1 if positive is None else positive)
    return [_counts(groups, code, differs, gains) for code in range(groups.n_groups)]


def since_start(groups: Groups, decided: np.ndarray, start: np.ndarray, positive: int | None) -> list[dict[str, Any]]:
    """For each group: whose decision is another one than under the tree with the least loss."""
    gains = decided > start if positive is None else (decided == positive) & (start != positive)
    return [_counts(groups, code, decided != start, gains) for code in range(groups.n_groups)]


def _counts(groups: Groups, code: int, differs: np.ndarray, gains: np.ndarray) -> dict[str, Any]:
    own = groups.members(code)
    return {
        "n": int(own.sum()),
        "differ": int((own & differs).sum()),
        "gain": int((own & differs & gains).sum()),
        "lose": int((own & differs & ~gains).sum()),
    }


def people_apart(others: OtherGroups, decided: np.ndarray) -> list[dict[str, Any]]:
    """The people furthest from how similar people of other groups are decided, with those people: personal rows.

    The first of every group are among them, so that no large group fills the list.
    """
    size = np.abs(others.disagreement(decided))
    furthest = np.argsort(-size, kind="stable")[: int((size > 0).sum())]
    turn = _turn(others.people.groups[0].codes[furthest])
    order = np.sort(np.lexsort((np.arange(len(turn)), turn >= _OF_EVERY_GROUP))[:MOST_PEOPLE])
    order = furthest[order]
    found = []
    for person in order.tolist():
        far = others.distances(person)
        near = [
            {**_person(others.people, neighbour, decided), "distance": distance}
            for neighbour, distance in zip(others.near[person].tolist(), far, strict=True)
        ]
        found.append({**_person(others.people, person, decided), "apart": float(size[person]), "near": near})
    return found


def _turn(codes: np.ndarray) -> np.ndarray:
    """Each entry's place among those of the same group."""
    turn = np.empty(len(codes), dtype=np.intp)
    for code in np.unique(codes):
        turn[codes == code] = np.arange((codes == code).sum())
    return turn


def _person(people: People, row: int, decided: np.ndarray) -> dict[str, Any]:
    groups, outcome = people.groups[0], people.outcome
    return {
        "row": row + 1,
        "group": groups.labels[groups.codes[row]],
        "values": [_value(people, position, row) for position in range(people.features.n_columns)],
        "decided": label_of(outcome.classes, decided[row]),
        "truth": label_of(outcome.classes, outcome.values[row]),
    }


def _value(people: People, position: int, row: int) -> str | None:
    column, value = people.features.schema[position], people.features.data[position][row]
    if column.is_categorical:
        return column.levels[value] if value >= 0 else None
    return level_label(float(value))


def label_of(classes: tuple[Label, ...] | None, value: Any) -> str | float:
    """A decision for JSON: the class as text, or the number."""
    return float(value) if classes is None else str(classes[int(value)])
