"""A tree as an ONNX graph of plain operators, for whatever runs ONNX. Needs the extra `onnx`."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenleaf.errors import InputError, MissingExtraError
from evenleaf.tree.compact import compact
from evenleaf.tree.questions import NO_LEVEL, LinearTest, SubsetTest, Term, Test
from evenleaf.tree.tree import Leaf, Tree

_OPSET, _ML_OPSET, _IR = 17, 3, 8


def tree_onnx(tree: Tree) -> Any:
    """The model: one input a column that the tree looks at (doubles with NaN for missing, or texts), one output.

    A text that is no level of its column, the empty one included, is missing.
    """
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("ONNX export needs the package onnx: pip install 'evenleaf[onnx]'") from error
    return _Graph(compact(tree), onnx).model()


class _Graph:
    """Builds the graph node by node; every value is a tensor with one entry a person."""

    def __init__(self, tree: Tree, onnx: Any) -> None:
        self.tree, self.onnx, self.helper = tree, onnx, onnx.helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def model(self) -> Any:
        """Inputs, operators and output put together, and checked by onnx itself."""
        kinds = self.onnx.TensorProto
        columns = self.tree.schema
        if not len(columns):
            raise InputError("a tree without a test looks at no column, so that there is nothing to export")
        inputs = [
            self.helper.make_tensor_value_info(c.name, kinds.STRING if c.is_categorical else kinds.DOUBLE, ["people"])
            for c in columns
        ]
        decided, kind = self._output(self._value(0))
        self.nodes.append(self.helper.make_node("Identity", [decided], ["decided"]))
        output = self.helper.make_tensor_value_info("decided", kind, ["people"])
        graph = self.helper.make_graph(self.nodes, "evenleaf", inputs, [output], self.constants)
        opsets = [self.helper.make_opsetid("", _OPSET), self.helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
        model = self.helper.make_model(graph, opset_imports=opsets, ir_version=_IR, producer_name="evenleaf")
        self.onnx.checker.check_model(model)
        return model

    def _output(self, value: str) -> tuple[str, int]:
        """Class codes to labels; numbers stay, inside the label range."""
        kinds, target = self.onnx.TensorProto, self.tree.target
        if target.classes is None:
            low, high = self._double(target.low), self._double(target.high)
            return self._add("Min", self._add("Max", value, low), high), kinds.DOUBLE
        labels = np.array(target.classes)
        kind = {"U": kinds.STRING, "b": kinds.BOOL, "i": kinds.INT64}.get(labels.dtype.kind, kinds.DOUBLE)
        flat = [str(label).encode() for label in target.classes] if kind == kinds.STRING else labels.tolist()
        table = self._constant(kind, [len(labels)], flat)
        return self._add("Gather", table, value), kind

    def _value(self, position: int) -> str:
        """What the tree below a node says, for everybody: both sides are computed, and the test picks."""
        node = self.tree.nodes[position]
        if not isinstance(node, Leaf):
            left, right = self._value(node.left), self._value(node.right)
            return self._add("Where", self._goes_left(node.test), left, right)
        if self.tree.target.classes is None:
            return self._linear(node.terms, node.value)
        return self._spread(self._constant(self.onnx.TensorProto.INT64, [1], [int(node.value)]))

    def _goes_left(self, test: Test) -> str:
        if isinstance(test, LinearTest):
            return self._add("LessOrEqual", self._linear(test.terms, 0.0), self._double(test.threshold))
        column = self.tree.schema[test.column]
        if isinstance(test, SubsetTest):
            sides = [int(code in test.left) for code in range(len(column.levels))]
            return self._coded(test.column, sides, int(test.missing_left))
        at_most = self._add("LessOrEqual", column.name, self._double(test.threshold))
        if not test.missing_left:
            return at_most  # a comparison with NaN does not hold
        return self._add("Or", at_most, self._add("IsNaN", column.name))

    def _coded(self, position: int, values: list[int], otherwise: int) -> str:
        """A truth value for each level of a column, and one for every other text."""
        column = self.tree.schema[position]
        if not column.levels:
            values, levels = [otherwise], [""]
        else:
            levels = list(column.levels)
        coded = self._add(
            "LabelEncoder",
            column.name,
            domain="ai.onnx.ml",
            keys_strings=levels,
            values_int64s=values,
            default_int64=otherwise,
        )
        return self._add("Cast", coded, to=self.onnx.TensorProto.BOOL)

    def _linear(self, terms: tuple[Term, ...], intercept: float) -> str:
        """Σ coefficient × value, added in the same order as everywhere else, and then the intercept."""
        total = self._spread(self._double(0.0))
        for term in terms:
            total = self._add("Add", total, self._add("Mul", self._double(term.coefficient), self._read(term)))
        return self._add("Add", self._double(intercept), total)

    def _read(self, term: Term) -> str:
        column = self.tree.schema[term.column]
        if term.level == NO_LEVEL:
            missing = self._add("IsNaN", column.name)
            return self._add("Where", missing, self._double(term.fill), column.name)
        holds = self._coded(term.column, [int(code == term.level) for code in range(len(column.levels))], 0)
        return self._add("Cast", holds, to=self.onnx.TensorProto.DOUBLE)

    def _spread(self, value: str) -> str:
        """One value for everybody."""
        shape = self._add("Shape", self.tree.schema[0].name)
        return self._add("Expand", value, shape)

    def _double(self, value: float) -> str:
        return self._constant(self.onnx.TensorProto.DOUBLE, [1], [float(value)])

    def _constant(self, kind: int, shape: list[int], values: list[Any]) -> str:
        name = f"/constant/{len(self.constants)}"
        self.constants.append(self.helper.make_tensor(name, kind, shape, values))
        return name

    def _add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"/{operator}/{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name
