"""The Python of docs/embed.md runs as it stands there, in one go, with the pocket model."""

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


def python_of(page: str) -> str:
    """All Python blocks of a page, one below the other."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


def test_the_code_of_embed_md_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said: dict[str, Any] = {}
    exec(compile(python_of("embed.md"), "embed.md", "exec"), said)
    assert said["output"]["answer"] == "Thudo Rake"
    (told,) = said["usage"].usage_metadata.values()
    assert told["input_tokens"] == said["output"]["cost"]["input_tokens"]
    assert said["message"].content.startswith("Thudo Rake\nSources: ")
    assert [tool.name for tool in said["tools"]] == ["self_dc", "search"]
    printed = capsys.readouterr().out
    assert "0 combine" in printed and "1 read_passages" in printed
    assert (tmp_path / "runs.sqlite").exists()
