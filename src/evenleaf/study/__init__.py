"""The paper's experiments, run again: `make_study(built_in("quick"), folder)`."""

from evenleaf.study.config import StudyConfig, built_in, read_config
from evenleaf.study.results import Results
from evenleaf.study.runner import Progress, run_study
from evenleaf.study.study import Study, make_study, write_findings

__all__ = [
    "Progress",
    "Results",
    "Study",
    "StudyConfig",
    "built_in",
    "make_study",
    "read_config",
    "run_study",
    "write_findings",
]
