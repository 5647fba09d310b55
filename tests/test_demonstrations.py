"""Demonstrations: questions with their reasoning, the project's own or from a file."""

import json
from pathlib import Path

import pytest

from knowwhen.graphs.seakr import seakr
from knowwhen.models.errors import SettingsError
from knowwhen.nodes.conclusion import concludes
from knowwhen.nodes.demonstrations import read_demonstrations
from knowwhen.nodes.step_demonstrations import DEFAULT, Demonstration, as_text
from knowwhen.nodes.think import as_prompt

ALBA = {"question": "Who directed Karn?", "steps": ["Karn was directed by Alba."], "answer": "Alba"}


def written(folder: Path, *lines: str) -> Path:
    file = folder / "shown.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_the_projects_own_show_the_form_that_the_loop_reads() -> None:
    for shown in DEFAULT:
        *steps, conclusion = (line.removeprefix("- ") for line in as_text([shown]).strip().split("\n")[2:])
        assert steps == list(shown.steps) and concludes(conclusion)
        assert not any(concludes(step) for step in steps)
        assert shown.answer in conclusion


def test_demonstrations_stand_before_the_question_in_its_own_form() -> None:
    shown = as_text([Demonstration(**ALBA)])
    assert shown == (
        "Question: Who directed Karn?\nSteps:\n"
        "- Karn was directed by Alba.\n- So the final answer is Alba.\n\n"
    )
    prompt = as_prompt("Who?", [], None, shown)
    assert prompt.endswith(f"{shown}Question: Who?\nSteps so far: none\nNext step:")
    assert as_text([]) == ""


def test_a_file_holds_one_a_line(tmp_path: Path) -> None:
    odd = {**ALBA, "question": "What is {x} \u2028?", "steps": ["a", "b {0}"]}
    file = written(tmp_path, json.dumps(ALBA), "", "  ", json.dumps(odd, ensure_ascii=False), "")
    assert read_demonstrations(file, Demonstration) == (Demonstration(**ALBA), Demonstration(**odd))
    assert read_demonstrations(str(file), Demonstration)[1].steps == ("a", "b {0}")
    assert read_demonstrations(written(tmp_path, ""), Demonstration) == ()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "is no JSON object"),
        ("[1]", "is no JSON object"),
        ("3", "is no JSON object"),
        ("{}", "question"),
        (json.dumps({**ALBA, "steps": []}), "steps"),
        (json.dumps({**ALBA, "steps": "Karn"}), "steps"),
        (json.dumps({**ALBA, "steps": ["a", ""]}), "steps.1"),
        (json.dumps({**ALBA, "steps": ["a\nb"]}), "steps.0"),
        (json.dumps({**ALBA, "answer": ""}), "answer"),
        (json.dumps({**ALBA, "note": "x"}), "note"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, words: str) -> None:
    file = written(tmp_path, json.dumps(ALBA), "", line)
    with pytest.raises(SettingsError) as refused:
        read_demonstrations(file, Demonstration)
    assert str(refused.value).startswith(f"{file}, line 3") and words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for file in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(SettingsError, match="cannot be read") as refused:
            read_demonstrations(file, Demonstration)
        assert str(file) in str(refused.value)
    (tmp_path / "latin.jsonl").write_bytes("é".encode("latin-1"))
    with pytest.raises(SettingsError, match="cannot be read"):
        read_demonstrations(tmp_path / "latin.jsonl", Demonstration)


def test_the_pocket_model_is_shown_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from knowwhen.nodes import think

    seen: list[str] = []
    plainly = think.step_prompts

    def kept(prompts: dict[str, str], demonstrations: str) -> think.AskStep:
        seen.append(demonstrations)
        return plainly(prompts, demonstrations)

    monkeypatch.setattr(think, "step_prompts", kept)
    seakr("pocket", retrieval="never")
    seakr("pocket", retrieval="never", demonstrations=DEFAULT[:1])
    assert seen == ["", as_text(DEFAULT[:1])]
