"""People in: schemas, tables from any frame or file, protected groups, outcomes."""

from evenleaf.table.groups import Grouping, Groups, make_groups, require_two
from evenleaf.table.people import Label, Outcome, People, Task, infer_task, make_outcome, make_weight
from evenleaf.table.read import read_columns
from evenleaf.table.schema import Column, Kind, Schema, find_name
from evenleaf.table.table import Table, distinct, equal_rows

__all__ = [
    "Column",
    "Grouping",
    "Groups",
    "Kind",
    "Label",
    "Outcome",
    "People",
    "Schema",
    "Table",
    "Task",
    "distinct",
    "equal_rows",
    "find_name",
    "infer_task",
    "make_groups",
    "make_outcome",
    "make_weight",
    "read_columns",
    "require_two",
]
