"""A question about a table in a file: read, posed, answered, written down, applied, and checked again later."""

from evenleaf.case.answer import Answer, Claim, answer_from_json, read_answer
from evenleaf.case.answered import Answered, answer_point, fit_file, frontier_file
from evenleaf.case.notions import NOTIONS, parse_notion
from evenleaf.case.opened import Case, make_case, open_case
from evenleaf.case.predict import Tally, predict_lines
from evenleaf.case.question import Question
from evenleaf.case.verify import Check, Verdict, Verification, verify_file

__all__ = [
    "NOTIONS",
    "Answer",
    "Answered",
    "Case",
    "Check",
    "Claim",
    "Question",
    "Tally",
    "Verdict",
    "Verification",
    "answer_from_json",
    "answer_point",
    "fit_file",
    "frontier_file",
    "make_case",
    "open_case",
    "parse_notion",
    "predict_lines",
    "read_answer",
    "verify_file",
]
