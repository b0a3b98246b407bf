"""What a study does, from a TOML file: the data sets, the methods, and every choice that the paper leaves open."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, get_args

from evenleaf.datasets import names as data_names
from evenleaf.errors import InputError
from evenleaf.study.names import CLASSIFICATION, REGRESSION, Index
from evenleaf.table import find_name

BUILT_IN = ("full", "quick")
_Section = TypeVar("_Section")


@dataclass(frozen=True)
class Protocol:
    """The settings of the paper's protocol; `full.toml` says which are the paper's and which are open there."""

    indices: tuple[Index, ...] = ("dtdi",)
    neighbors: int = 10
    depth: int = 2
    deep: int = 6
    tolerance: float = 1e-4
    weight_step: float = 0.1
    even_until: float = 5.0
    growth: float = 1.5
    most_weight: float = 10_000.0
    time_limit: float = 20.0
    mip_people: int = 200
    search: str = "doubling"


@dataclass(frozen=True)
class DataPlan:
    """One data set: its loader and options, how many folds, and how many people to learn from and to test on."""

    name: str
    loader: str
    folds: int
    train: int
    test: int
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Everything it says as one text, which can be the key of a cache."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def of_text(cls, text: str) -> DataPlan:
        """Read back what `text` says."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Depths:
    """Figure 2(a, b) of the paper: the same question for trees of growing depth, on one fold."""

    data: str
    depths: tuple[int, ...]
    weights: tuple[float, ...]
    train: int
    time_limit: float


@dataclass(frozen=True)
class Bounds:
    """Figure 2(c) of the paper: bound and incumbent over time, on one fold."""

    data: str
    train: int
    weight: float
    time_limit: float


@dataclass(frozen=True)
class StudyConfig:
    """Everything that decides what a study computes; two equal ones give equal results."""

    seed: int
    protocol: Protocol
    data: tuple[DataPlan, ...]
    classification: tuple[str, ...]
    regression: tuple[str, ...]
    depths: Depths | None = None
    bounds: Bounds | None = None

    def plan(self, name: str) -> DataPlan:
        """The data set of that name."""
        return self.data[find_name(name, [plan.name for plan in self.data], what="data set of the study")]

    def to_json(self) -> dict[str, Any]:
        """Plain data, as recorded with the results."""
        return json.loads(json.dumps(asdict(self)))

    @property
    def fingerprint(self) -> str:
        """The same for the same settings, different for any other."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


def built_in(name: str) -> StudyConfig:
    """One of the two studies that come along: "full" or "quick"."""
    find_name(name, BUILT_IN, what="built-in study")
    text = files("evenleaf.study").joinpath(f"{name}.toml").read_text("utf-8")
    return parse_config(text, f"{name}.toml")


def read_config(path: Path) -> StudyConfig:
    """A study from a file."""
    try:
        return parse_config(path.read_text("utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"the study file {path} cannot be read: {reason}") from error


def parse_config(text: str, name: str) -> StudyConfig:
    """Check every entry; a misspelt one is answered with the nearest."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not valid TOML: {error}") from error
    for entry in document:
        find_name(entry, ["seed", "protocol", "methods", "data", "depths", "bounds"], what=f"entry in {name}:")
    methods = document.get("methods", {})
    for entry in methods:
        find_name(entry, ["classification", "regression"], what=f"entry in {name}, [methods]:")
    config = StudyConfig(
        seed=_checked("seed", document.get("seed", 0), int),
        protocol=_section(Protocol, document.get("protocol", {}), f"{name}, [protocol]"),
        data=tuple(_section(DataPlan, plan, f"{name}, [[data]]") for plan in document.get("data", [])),
        classification=tuple(methods.get("classification", CLASSIFICATION)),
        regression=tuple(methods.get("regression", REGRESSION)),
        depths=_section(Depths, document["depths"], f"{name}, [depths]") if "depths" in document else None,
        bounds=_section(Bounds, document["bounds"], f"{name}, [bounds]") if "bounds" in document else None,
    )
    _check(config, name)
    return config


def _section(kind: type[_Section], entries: Any, where: str) -> _Section:
    if not isinstance(entries, dict):
        raise InputError(f"{where} must be a table of entries")
    known = {entry.name: str(entry.type) for entry in fields(kind)}  # type: ignore[arg-type]
    values = {}
    for name, value in entries.items():
        find_name(name, known, what=f"entry in {where}:")
        values[name] = _of_type(f"{where}: {name}", value, known[name])
    try:
        return kind(**values)
    except TypeError as error:
        raise InputError(f"{where} lacks an entry: {str(error).partition(': ')[2] or error}") from error


_PLAIN: dict[str, type] = {"int": int, "float": float, "str": str}


def _of_type(where: str, value: Any, kind: str) -> Any:
    if kind in _PLAIN:
        return _checked(where, value, _PLAIN[kind])
    if kind.startswith("tuple"):
        inner = kind.removeprefix("tuple[").partition(",")[0]
        if not isinstance(value, list):
            raise InputError(f"{where} must be a list")
        return tuple(_checked(where, entry, _PLAIN.get(inner, str)) for entry in value)
    return value


def _checked(where: str, value: Any, kind: type) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{where} must be {'a text' if kind is str else f'a number ({kind.__name__})'}, not {value!r}")
    return value


def _check(config: StudyConfig, name: str) -> None:
    if not config.data:
        raise InputError(f"{name} names no data set: add a [[data]] section")
    labels = [plan.name for plan in config.data]
    if len(set(labels)) != len(labels):
        raise InputError(f"{name} uses the name of a data set twice")
    for plan in config.data:
        find_name(plan.loader, data_names(), what="data set")
        if plan.folds < 2 or plan.train < 2 or plan.test < 2:
            raise InputError(
                f"{name}: {plan.name!r} needs at least two folds, and two people to learn from and to test on"
            )
    for method in config.classification:
        find_name(method, CLASSIFICATION, what="method for classification")
    for method in config.regression:
        find_name(method, REGRESSION, what="method for regression")
    for index in config.protocol.indices:
        find_name(index, get_args(Index), what="index")
    _check_protocol(config.protocol, name)
    for part in (config.depths, config.bounds):
        if part is not None:
            config.plan(part.data)


def _check_protocol(protocol: Protocol, name: str) -> None:
    if not (protocol.weight_step > 0 and protocol.growth > 1 and protocol.time_limit > 0 and protocol.tolerance >= 0):
        raise InputError(f"{name}: weight_step and time_limit must be positive, growth above 1, tolerance at least 0")
    find_name(protocol.search, ["doubling", "every"], what="search")
    if not protocol.indices:
        raise InputError(f"{name}: indices must name at least one index")
