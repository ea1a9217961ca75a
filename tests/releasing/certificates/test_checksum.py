"""A certificate reads back as it was written; any change to it is noticed, a new layout of the same words is not."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files

from takifugu.core.errors import InputError
from takifugu.releasing.certificates.checksum import from_dict, read_certificate
from takifugu.releasing.certificates.facts import checksum_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan
from takifugu.releasing.publishing import run


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    run.publish(plan.plan(load(files.write(folder))))
    return folder / "out" / "time-use-units.certificate.json"


@pytest.fixture
def certificate(written: Path) -> dict[str, Any]:
    return json.loads(written.read_text(encoding="utf-8"))


def changes(value: Any) -> list[Any]:
    """Return every copy of nested plain data with one leaf changed or one key dropped."""
    if isinstance(value, dict):
        dropped = [{k: v for k, v in value.items() if k != key} for key in value]
        inside = [{**value, key: changed} for key, v in value.items() for changed in changes(v)]
        return dropped + inside
    if isinstance(value, list):
        swapped = [value[::-1]] if value != value[::-1] else []
        return swapped + [[*value[:i], c, *value[i + 1 :]] for i, v in enumerate(value[:2]) for c in changes(v)]
    if isinstance(value, bool) or value is None:
        return [not value]
    if isinstance(value, int | float):
        return [value + 1]
    return [value + "0"]


@pytest.mark.slow
def test_it_reads_back_as_it_was_written(written: Path) -> None:
    again = read_certificate(written)
    assert again.to_dict() == json.loads(written.read_text(encoding="utf-8"))
    assert again.text() + "\n" == written.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.mutants
def test_a_field_that_is_there_twice_is_refused(written: Path, tmp_path: Path) -> None:
    """Of two fields of one name readers take the first or the last: nobody knows which one was promised."""
    text, place = written.read_text(encoding="utf-8"), tmp_path / written.name
    place.write_text(text.replace('"epsilon":', '"epsilon": "0.01",\n"epsilon":', 1), encoding="utf-8")
    with pytest.raises(InputError, match="has the field 'epsilon' twice"):
        read_certificate(place)


def test_every_change_is_noticed(certificate: dict[str, Any]) -> None:
    changed = changes(certificate)
    assert len(changed) > 200
    for one in changed:
        with pytest.raises(InputError, match=r"changed after it was written|not a Takifugu certificate|format"):
            from_dict(one)


@pytest.mark.parametrize("left_out", ["scale", "expected_error"])
def test_what_the_noise_has_is_never_left_out(certificate: dict[str, Any], left_out: str) -> None:
    forged = {**certificate, "answers": [{**answer, left_out: None} for answer in certificate["answers"]]}
    with pytest.raises(InputError, match="missing"):
        from_dict({**forged, "checksum": checksum_of(forged)})


def test_another_layout_is_no_change(written: Path, certificate: dict[str, Any]) -> None:
    turned = json.loads(json.dumps(dict(reversed(certificate.items())), ensure_ascii=True, indent=7))
    assert from_dict(turned) == read_certificate(written)
    assert from_dict(copy.deepcopy(certificate)) == read_certificate(written)


@pytest.mark.parametrize(("content", "words"), [
    (b"", "not JSON"), (b"{", "not JSON"), (b"\xff\xfe", "not JSON"), (b"[" * 100_000, "not JSON"),
    (b'{"a": ' * 600 + b"1" + b"}" * 600, "not a Takifugu certificate"),
    (b"[]", "not a Takifugu certificate"), (b"{}", "not a Takifugu certificate"),
    (b'{"format": 3}', "not a Takifugu certificate"), (b'{"format": "takifugu-certificate/11"}', "this version reads"),
    (b'{"format": "takifugu-certificate/9"}', "reads 'takifugu-certificate/10'.*use the one that wrote it"),
    (b'{"format": "takifugu-certificate/10"}', "changed after it was written"),
])  # fmt: skip
def test_files_that_are_no_certificate(tmp_path: Path, content: bytes, words: str) -> None:
    where = tmp_path / "a.json"
    where.write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_certificate(where)


def test_what_is_no_file_of_a_certificate(written: Path, tmp_path: Path) -> None:
    other = r"beside it is time-use-units\.certificate\.json"
    for path, words in (
        (tmp_path / "none.json", "cannot be read"), (tmp_path, "it is a folder"), (written.with_suffix(".txt"), other),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            read_certificate(path)


@pytest.mark.parametrize("change", [
    {"hidden": []}, {"beliefs of": None}, {"beliefs of": "x"}, {"beliefs of": [None]}, {"beliefs of": [{}]},
    {"answer": {"scale": None, "noise": {"kind": "sent-value", "rows": 1, "expected": 10**400}}},
    {"unit_count": 10**400}, {"rehearsal": 10**400}, {"unit_count": True},
])  # fmt: skip
def test_what_was_changed_with_a_checksum_that_fits_is_refused(certificate: dict[str, Any], change: Any) -> None:
    """Whoever changes a certificate can write its checksum, too: no such file is more than an error."""
    if "beliefs of" in change:
        next(iter(certificate["frameworks"].values()))["beliefs"] = change["beliefs of"]
    elif "answer" in change:
        certificate["answers"][0] |= change["answer"]
    else:
        certificate |= change
    certificate["checksum"] = checksum_of(certificate)
    with pytest.raises(InputError, match="is not a certificate that Takifugu wrote"):
        from_dict(certificate)
