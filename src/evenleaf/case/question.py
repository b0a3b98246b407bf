"""What is asked of a table, as plain values: written into every model file, so that anybody can ask it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from evenleaf.audit.prepare import AskedTask
from evenleaf.case.notions import NOTHING, harms, index_name, parse_notion, split_notion
from evenleaf.errors import InputError
from evenleaf.fairness import Notion
from evenleaf.problem import Shape
from evenleaf.table import Grouping, Label
from evenleaf.table.read import MISSING_MARKERS

_LISTS = ("protected", "categorical", "ignore", "missing", "fairness", "allowed_features")


@dataclass(frozen=True)
class Question:
    """The roles of the columns, the fairness notion, its weight λ or limit ε, and the allowed trees.

    `fairness` holds names such as "dtdi" or "0.5*didi", which are added up; ("none",) asks for the plain tree.
    """

    target: str
    protected: tuple[str, ...] = ()
    task: AskedTask = "auto"
    positive: Label | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    weight: str | None = None
    groups: Grouping = "joint"
    missing: tuple[str, ...] = tuple(sorted(MISSING_MARKERS))
    drop_incomplete: bool = False
    fairness: tuple[str, ...] = ("dtdi",)
    n_neighbors: int = 10
    fairness_weight: float | None = None
    max_discrimination: float | None = None
    max_depth: int = 2
    branching: str = "single"
    leaves: str = "constant"
    max_leaves: int | None = None
    min_samples_leaf: int = 1
    max_features_used: int | None = None
    max_feature_uses: int | None = None
    max_features_per_test: int | None = None
    allowed_features: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in _LISTS:
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else tuple(value))
        split_notion(self.fairness)  # a misspelt notion is said before a long file is read
        if self.max_discrimination is not None and self.fairness_weight is not None:
            raise InputError("give either fairness_weight (λ) or max_discrimination (ε), not both")
        if not self.protected and self.fairness != (NOTHING,):
            raise InputError(
                "no protected column was given: say which column tells the groups apart, "
                "or ask for the plain tree with the fairness 'none'"
            )

    @property
    def fair(self) -> bool:
        """Whether any fairness is asked for."""
        return self.fairness != (NOTHING,)

    @property
    def index(self) -> str:
        """The short name of the discrimination figure."""
        return index_name(self.fairness)

    @property
    def harms(self) -> tuple[str, ...]:
        """The harms that the figure measures, in words."""
        return harms(self.fairness)

    @property
    def shape(self) -> Shape:
        """The allowed trees."""
        names = (field.name for field in fields(Shape))
        return Shape(**{name: getattr(self, name) for name in names})

    def notion(self) -> Notion | None:
        """The fairness notion, None for the plain tree."""
        return parse_notion(self.fairness, self.n_neighbors, self.positive)

    def weighing(self, fairness_weight: float) -> Question:
        """The same question with another λ."""
        return replace(self, fairness_weight=fairness_weight, max_discrimination=None)

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: object) -> Question:
        """Read back what `to_json` wrote; anything else is an `InputError`."""
        if not isinstance(data, Mapping):
            raise InputError("the question of a model must be a JSON object")
        known = {field.name: field for field in fields(cls)}
        unknown = sorted(str(name) for name in data if name not in known)
        if unknown:
            raise InputError(
                f"the question of the model has an unknown entry {unknown[0]!r}; it may need a newer Evenleaf"
            )
        if not isinstance(data.get("target"), str):
            raise InputError("the question of the model does not say which column is decided ('target')")
        for name, value in data.items():
            _check_entry(name, value)
        return cls(**data)


def _check_entry(name: str, value: object) -> None:
    """Model files come from strangers: lists must be lists of texts, everything else a plain value."""
    if name in _LISTS:
        if value is None and name == "allowed_features":
            return
        if not isinstance(value, (list, tuple)) or not all(isinstance(entry, str) for entry in value):
            raise InputError(f"the entry {name!r} of the model's question must be a list of texts")
    elif not isinstance(value, (str, int, float, bool, type(None))):
        raise InputError(f"the entry {name!r} of the model's question must be a plain value")
