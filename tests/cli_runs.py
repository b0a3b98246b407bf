"""The command line as the tests call it: in this process, by its arguments."""

from __future__ import annotations

import pytest

from evenleaf.cli import main


def run(*arguments: str) -> int:
    """The exit code."""
    with pytest.raises(SystemExit) as leaving:
        main(list(arguments))
    code = leaving.value.code
    assert isinstance(code, int)
    return code


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one sentence on standard error; nothing else may have been printed."""
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err
