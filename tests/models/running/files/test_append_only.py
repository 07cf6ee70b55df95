import json

import pytest
from support.small_disk import mounted

from rexview.models.running.run_journal import AppendOnly, json_line, read_json_lines

WHOLE = '{"n":1}\n{"n":2}\n'


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (WHOLE, WHOLE),
        ("", ""),
        (WHOLE + '{"n":3', WHOLE),
        (WHOLE + '{"n":3}', WHOLE + '{"n":3}\n'),
        (WHOLE + "\0\0\0", WHOLE),
        ('{"n":', ""),
        (WHOLE + '{"text":"' + "x" * 3_000_000, WHOLE),
    ],
)
def test_a_torn_last_line_is_mended(tmp_path, content, left):
    path = tmp_path / "log.jsonl"
    path.write_text(content)
    file = AppendOnly(path)
    assert path.read_text() == left
    assert file.mended == max(0, len(content) - len(left))
    file.append(['{"n":9}'], sync=True)
    file.close()
    assert path.read_text() == left + '{"n":9}\n'


def test_a_line_holds_any_text(tmp_path):
    text = 'a\nb\u2028c\ud800"\\ é'
    file = AppendOnly(tmp_path / "log.jsonl")
    file.append([json_line({"text": text})], sync=True)
    file.close()
    assert [value["text"] for _, value in read_json_lines(tmp_path / "log.jsonl")] == [text]


def test_damaged_lines_are_told_by_number(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n":1}\n[1]\n\xff\n{"n":4}\n')
    assert list(read_json_lines(path)) == [(1, {"n": 1}), (2, None), (3, None), (4, {"n": 4})]
    assert list(read_json_lines(tmp_path / "none.jsonl")) == []


def test_a_full_disk_leaves_whole_lines(tmp_path):
    """Half a line fits: it is taken away again, and the next one goes in when there is room."""
    with mounted(tmp_path / "small", "256k") as folder:
        room = folder / "other"
        room.write_bytes(b"x" * 200_000)
        file = AppendOnly(folder / "log.jsonl")
        file.append(['{"n":1}'], sync=True)
        with pytest.raises(OSError, match="No space"):
            file.append([json.dumps({"n": 2, "text": "y" * 200_000})], sync=True)
        assert (folder / "log.jsonl").read_text() == '{"n":1}\n'
        room.unlink()
        file.append(['{"n":3}'], sync=True)
        file.close()
        assert [value["n"] for _, value in read_json_lines(folder / "log.jsonl")] == [1, 3]
