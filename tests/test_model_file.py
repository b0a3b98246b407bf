"""Models that travel: what is written reads back, and what is damaged, edited or newer is refused in words."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from estimator_data import hiring, pay, strange_rows
from evenleaf import FairTreeClassifier, FairTreeRegressor, load_model, save_model
from evenleaf.errors import InputError
from evenleaf.estimators.model_file import checksum
from evenleaf.estimators.plain import fairness_from_json, fairness_to_json
from evenleaf.fairness import (
    ConditionalParity,
    DisparateImpact,
    DisparateMistreatment,
    DisparateTreatment,
    EqualizedOdds,
    EqualOpportunity,
)
from evenleaf.tree import tree_to_json


@dataclass
class Proof:
    """Stands for a certificate: anything that turns into bytes."""

    content: bytes

    def to_bytes(self) -> bytes:
        return self.content


@pytest.fixture(scope="module")
def model() -> FairTreeClassifier:
    X, y, gender = hiring()
    learner = FairTreeClassifier(fairness=DisparateTreatment(n_neighbors=5), fairness_weight=0.3)
    return learner.fit(X.assign(gender=gender), y, sensitive_features="gender")


@pytest.fixture
def file(model: FairTreeClassifier, tmp_path: Path) -> Path:
    return save_model(model, tmp_path / "model.json")


def test_a_classifier_comes_back(model: FairTreeClassifier, file: Path) -> None:
    X, _, _ = hiring()
    again = load_model(file)
    assert isinstance(again, FairTreeClassifier)
    rows = strange_rows(X, 100_000)
    assert again.predict(rows).tolist() == model.predict(rows).tolist()
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert again.explain(rows.head(20)) == model.explain(rows.head(20))
    assert again.tree_ == model.tree_
    assert again.classes_.dtype == model.classes_.dtype
    assert replace(again.solution_, certificate=None) == replace(model.solution_, certificate=None)
    assert again.solution_.certificate.to_bytes() == model.solution_.certificate.to_bytes()
    assert again.fairness_ == model.fairness_
    assert again.protected_ == ("gender",)
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    np.testing.assert_array_equal(again.feature_names_in_, model.feature_names_in_)
    assert str(again.get_params()) == str(model.get_params())


def test_a_regressor_comes_back(tmp_path: Path) -> None:
    X, y, gender = pay(16)
    model = FairTreeRegressor(max_depth=1, fairness="didi", fairness_weight=0.1).fit(X, y, sensitive_features=gender)
    again = load_model(save_model(model, tmp_path / "model.json"))
    rows = strange_rows(X, 1000)
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


@pytest.mark.parametrize("labels", [[0, 1], [0.5, 1.5], [False, True], [-3, 9]])
def test_labels_of_arrays_come_back(labels: list[Any], tmp_path: Path) -> None:
    X = np.arange(8.0).reshape(-1, 1)
    y = np.array(labels * 4) if isinstance(labels[0], bool) else np.array([labels[0]] * 4 + [labels[1]] * 4)
    if y.dtype == float:
        y = y * 2  # fractions are no classes
    model = FairTreeClassifier(max_depth=1).fit(X, y)
    again = load_model(save_model(model, tmp_path / "m.json"))
    assert again.classes_.dtype == y.dtype
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_the_certificate_travels(model: FairTreeClassifier, tmp_path: Path) -> None:
    proven = copy.copy(model)
    proven.solution_ = replace(model.solution_, certificate=Proof(b"\x00\xffevidence"))
    again = load_model(save_model(proven, tmp_path / "model.json"))
    assert again.solution_.certificate == b"\x00\xffevidence"
    third = load_model(save_model(again, tmp_path / "again.json"))
    assert third.solution_.certificate == b"\x00\xffevidence"


def test_no_training_data_is_in_the_file(file: Path) -> None:
    """Nothing grows with the number of people."""
    X, y, gender = hiring(600)
    learner = FairTreeClassifier(fairness="didi", fairness_weight=0.3, max_depth=1)
    larger = learner.fit(X.assign(gender=gender), y, sensitive_features="gender")
    large = save_model(larger, file.with_name("large.json"))
    assert len(large.read_bytes()) < 2 * len(file.read_bytes())


@pytest.mark.parametrize(
    "notion",
    [
        None,
        "didi",
        DisparateImpact(),
        DisparateMistreatment([("no", "yes")]),
        EqualOpportunity("yes"),
        EqualizedOdds(1),
        ConditionalParity(["a", "b"], weigh_by_size=True),
        DisparateImpact() + 0.5 * ConditionalParity("a"),
    ],
    ids=str,
)
def test_notions_come_back(notion: Any) -> None:
    assert fairness_from_json(json.loads(json.dumps(fairness_to_json(notion)))) == notion


def test_a_notion_with_settings_of_its_own_comes_back() -> None:
    notion = DisparateTreatment(n_neighbors=3, weights="triangular", bandwidth=0.5, normalize=False)
    again = fairness_from_json(json.loads(json.dumps(fairness_to_json(notion))))
    assert isinstance(again, DisparateTreatment)
    assert vars(again) == vars(notion)


@pytest.mark.parametrize("weights", [lambda distance: np.exp(-distance), np.eye(3)], ids=["function", "matrix"])
def test_a_notion_that_a_file_cannot_hold_is_not_lost_silently(weights: Any) -> None:
    again = fairness_from_json(fairness_to_json(DisparateTreatment(weights=weights)))
    assert again == "disparate treatment (with settings that a file cannot hold)"
    X, y, gender = hiring(20)
    with pytest.raises(InputError, match="there is no fairness notion"):
        FairTreeClassifier(fairness=again).fit(X, y, sensitive_features=gender)


def edited(file: Path, change: Callable[[dict[str, Any]], None], *, mend: bool = True) -> Path:
    """The file with a change in its model, and with a checksum that fits again if asked for."""
    data = json.loads(file.read_text("utf-8"))
    change(data["model"])
    if mend:
        data["checksum"] = checksum(data["model"])
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def test_an_edited_file_is_refused(file: Path) -> None:
    def flip(body: dict[str, Any]) -> None:
        leaf = next(node for node in body["tree"]["nodes"] if "value" in node)
        leaf["value"] = 1 - leaf["value"]

    with pytest.raises(InputError, match="was changed after it was written: its checksum does not fit"):
        load_model(edited(file, flip, mend=False))


def test_a_different_spelling_of_the_same_file_is_not_an_edit(file: Path, model: FairTreeClassifier) -> None:
    data = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps(data, indent=3, ensure_ascii=True), encoding="utf-8")
    assert load_model(file).tree_ == model.tree_


def test_a_newer_file_is_refused(file: Path) -> None:
    data = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**data, "version": 2, "evenleaf": "9.1"}), encoding="utf-8")
    with pytest.raises(InputError, match=r"format version 2.*newer one .Evenleaf 9\.1.; upgrade"):
        load_model(file)
    file.write_text(json.dumps({**data, "version": "one"}), encoding="utf-8")
    with pytest.raises(InputError, match="the version is unknown"):
        load_model(file)


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.999])
def test_a_truncated_file_is_refused(file: Path, part: float) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(InputError, match="is not a model file, or only a part of one"):
        load_model(file)


def test_a_tree_alone_becomes_an_estimator(model: FairTreeClassifier, tmp_path: Path) -> None:
    X, _, _ = hiring()
    rows = strange_rows(X, 100)
    tree = tree_to_json(model.tree_)
    for number, content in enumerate((tree, {"format": "evenleaf-answer", "version": 1, "tree": tree})):
        path = tmp_path / f"tree{number}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        again = load_model(path)
        assert again.predict(rows).tolist() == model.predict(rows).tolist()
        assert again.explain(rows) == model.explain(rows)
        assert not again.solution_.proven
        with pytest.raises(InputError, match="without head counts"):
            again.predict_proba(rows)
    amount = pay(16)
    numbers = FairTreeRegressor(max_depth=1).fit(*amount[:2])
    path.write_text(json.dumps(tree_to_json(numbers.tree_)), encoding="utf-8")
    assert load_model(path).predict(amount[0]).tolist() == numbers.predict(amount[0]).tolist()


@pytest.mark.parametrize("content", [b"{}", b"[]", b"3", b"null", b'{"format": "evenleaf-forest"}'])
def test_another_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not an Evenleaf model"):
        load_model(path)


@pytest.mark.parametrize("content", [b"\x80\x04\x95", b"[" * 100_000, b'{"format": NaN}', b"\xff\xfe"])
def test_what_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(InputError):
        load_model(path)


def test_files_that_are_not_there(tmp_path: Path, model: FairTreeClassifier) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_model(tmp_path / "nowhere.json")
    with pytest.raises(InputError, match="cannot write"):
        save_model(model, tmp_path / "nowhere" / "model.json")
    with pytest.raises(InputError, match="only a FairTreeClassifier or a FairTreeRegressor"):
        save_model("a tree", tmp_path / "model.json")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not fitted"):
        save_model(FairTreeClassifier(), tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


Change = Callable[[dict[str, Any]], Any]
CHANGES: dict[str, Change] = {
    "kind": lambda body: body.update(kind="os.system"),
    "other kind": lambda body: body.update(kind="FairTreeRegressor", settings={}),
    "settings": lambda body: body["settings"].update(no_such_setting=1),
    "notion": lambda body: body["settings"].update(fairness={"notion": "Notion"}),
    "notion's settings": lambda body: body["settings"].update(fairness={"notion": "DisparateImpact", "x": 1}),
    "sum": lambda body: body["settings"].update(fairness={"sum": [["a", None]]}),
    "labels": lambda body: body.update(label_dtype="O8,O8"),
    "strange labels": lambda body: body.update(label_dtype="datetime64[s]"),
    "width": lambda body: body.update(n_columns=-1),
    "names": lambda body: body.update(columns=["a"]),
    "protected": lambda body: body.update(protected="gender"),
    "tree's columns": lambda body: body.update(columns=["a", "b", "c", "d"]),
    "claim": lambda body: body.update(claim=None),
    "status": lambda body: body["claim"].update(status="certain"),
    "trace": lambda body: body["claim"].update(trace=[[1]]),
    "indices": lambda body: body.update(fairness={"didi": 1}),
    "importances": lambda body: body.update(importances=[1]),
    "counts": lambda body: body.update(counts="many"),
    "certificate": lambda body: body.update(certificate="%%%"),
    "nodes": lambda body: body["tree"].update(nodes=[]),
    "tree": lambda body: body.pop("tree"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_forged_file_is_refused_in_words(file: Path, name: str) -> None:
    with pytest.raises(InputError):
        load_model(edited(file, CHANGES[name]))


@given(data=st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_forgery_is_an_input_error_or_a_model(file: Path, data: st.DataObject) -> None:
    """Whatever stands in the place of any entry, nothing but an `InputError` comes out."""
    whole = json.loads(file.read_text("utf-8"))
    simple: st.SearchStrategy[Any] = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()
    )
    junk: st.SearchStrategy[Any] = st.one_of(simple, st.builds(list), st.builds(dict))

    def spoil(body: Any) -> None:
        place = body
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = data.draw(st.sampled_from(keys))
            if isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
                place = place[key]
            else:
                place[key] = data.draw(junk)
                return

    spoil(whole["model"])
    try:
        whole["checksum"] = checksum(whole["model"])
    except ValueError:
        return  # not even JSON
    spoilt = file.with_name("spoilt.json")
    spoilt.write_text(json.dumps(whole), encoding="utf-8")
    try:
        again = load_model(spoilt)
    except InputError:
        return
    assert again.tree_.n_leaves >= 1


def test_base64_is_what_it_says(file: Path) -> None:
    edited(file, lambda body: body.update(certificate=base64.b64encode(b"evidence").decode()))
    assert load_model(file).solution_.certificate == b"evidence"
