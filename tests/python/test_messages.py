# SPDX-License-Identifier: BSD-3-Clause
"""What the commands say is what tests/messages has (tools/messages.py)."""

import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import messages  # noqa: E402


@pytest.mark.parametrize("name", messages.modules())
def test_words_are_those_that_were_agreed(name):
    texts = messages.now([name])
    found = messages.differences(texts)
    assert not found, "\n".join([*found, messages.HOW])


def test_each_text_has_a_module():
    known = {f"{name}.txt" for name in messages.modules()}
    assert {path.name for path in messages.MESSAGES.glob("*.txt")} == known


def test_the_sentences_of_a_source():
    """Joined as the compiler joins them; neither comments nor what is no sentence."""
    source = """/* "no such words" */ static const char quote = '"';
        cco_say("%s: a file of %s"  // "nor these"
                " cannot be " SHORT " read\\n", name, "why not"); x = f("ok"); .doc = "a long ring";
        _Static_assert(A < B, "the words have room"); put("{\\"schema\\": \\"of a file\\"}");"""
    found = messages.modules()["library"]._messages(source)
    assert found == ["%s: a file of %s cannot be <SHORT> read", "why not"]


def test_a_change_of_words_is_seen(monkeypatch, tmp_path):
    monkeypatch.setattr(messages, "MESSAGES", tmp_path)
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    assert messages.differences({tmp_path / "a.txt": "one\ntwo\n"}) == []
    assert "+three" in messages.differences({tmp_path / "a.txt": "one\nthree\n"})
