"""Signatures: made where there is a key, and checked; a key that is none is told before anything is paid."""

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from tests.releasing import files
from tests.support.commands import ended, json_of, refused, succeed, words_of
from tests.support.forged import rewritten
from tests.support.javascript import Scripts

from takifugu.core.errors import InputError
from takifugu.pages.checker import SCRIPTS
from takifugu.releasing.certificates import signing
from takifugu.releasing.certificates.verifying import verified

NAMES = ("time-use-pooled", "time-use-units")


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the key of a test is; there is none yet."""
    path = tmp_path / "keys" / "signing.key"
    monkeypatch.setenv(signing.PLACE, str(path))
    return path


def published(folder: Path) -> Path:
    succeed("release", files.write(folder))
    return folder / "out"


def test_a_key_is_made_once_for_its_user_alone(key: Path) -> None:
    said = json_of("ledger", "key")
    assert said["made"]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    assert json_of("ledger", "key") == said | {"made": False}
    text = succeed("ledger", "key").output
    assert said["key"] in text
    assert "PRIVATE" not in text
    assert repr(signing.configured()).count(said["key"]) == 0
    with pytest.raises(InputError, match="no signing key can be written"):
        signing.new_key()


@pytest.mark.mutants
def test_every_table_of_a_release_is_signed(key: Path, tmp_path: Path) -> None:
    """And none where there is no key, nor of a rehearsal."""
    out = published(tmp_path / "unsigned")
    assert [one.signed_by for one in verified(out)] == [None, None]
    assert "Without a signature anybody could have written it" in words_of(succeed("verify", out))
    public = json_of("ledger", "key")["key"]
    where = files.write(tmp_path / "rehearsed")
    succeed("rehearse", where, "--seed", "7", "--allow-useless", "--people", "2", "--steps", "30")
    assert list(tmp_path.rglob("*.sig")) == []
    out = published(tmp_path / "a")
    for name in NAMES:
        certificate = (out / f"{name}.certificate.json").read_bytes()
        said = json.loads((out / f"{name}.certificate.json.sig").read_bytes())
        assert set(said) == {"format", "key", "signature"}
        known = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        known.verify(bytes.fromhex(said["signature"]), certificate)
    assert [one.signed_by for one in verified(out)] == [public, public]
    assert public in words_of(succeed("verify", out / f"{NAMES[0]}.certificate.json"))
    assert {one["signed_by"] for one in json_of("verify", out)["certificates"]} == {public}
    succeed("report", out, "--as", "zip")
    assert verified(out / f"{NAMES[0]}.zip")[0].signed_by == public


CHANGES: dict[str, Callable[[dict[str, str]], object]] = {
    "another signature": lambda s: s.update(signature="0" * 128), "another key": lambda s: s.update(key="0" * 64),
    "a short key": lambda s: s.update(key="00"), "no format": lambda s: s.pop("format"),
    "no hexadecimal digits": lambda s: s.update(signature="x" * 128),
}  # fmt: skip


@pytest.mark.mutants
@pytest.mark.parametrize("change", CHANGES)
def test_another_signature_is_refused(key: Path, tmp_path: Path, change: str) -> None:
    succeed("ledger", "key")
    out = published(tmp_path / "a")
    path = out / f"{NAMES[0]}.certificate.json.sig"
    said = json.loads(path.read_text())
    CHANGES[change](said)
    path.write_text(json.dumps(said))
    assert "signature" in refused("verify", out)


@pytest.mark.mutants
def test_a_recomputed_checksum_is_no_signature(key: Path, tmp_path: Path) -> None:
    succeed("ledger", "key")
    out = published(tmp_path / "a")
    path = out / f"{NAMES[0]}.certificate.json"
    forged = rewritten(json.loads(path.read_text("utf-8")), lambda c: c.update(date="2001-01-01"))
    path.write_text(json.dumps(forged), "utf-8")
    assert "is not the signature of the certificate beside it" in refused("verify", path)
    path.with_name(f"{path.name}.sig").unlink()
    assert "unchanged" in words_of(succeed("verify", out))  # a checksum that fits, and nothing more


@pytest.mark.parametrize(("break_it", "words"), [
    (lambda key: key.chmod(0o644), "others can read the signing key"),
    (lambda key: key.write_text("a key"), "is no signing key"), (lambda key: key.write_bytes(b""), "is no signing key"),
])  # fmt: skip
def test_a_key_that_is_none_is_told_before_anything_is_paid(
    key: Path, tmp_path: Path, break_it: Callable[[Path], object], words: str
) -> None:
    succeed("ledger", "key")
    break_it(key)
    path = files.write(tmp_path / "a")
    said = words_of(ended(2, "release", path))
    assert words in said
    assert "No epsilon was spent" in said
    assert not list((tmp_path / "a").rglob("*.certificate.json"))
    assert words in refused("ledger", "key")


def test_a_key_beside_the_ledger_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = files.write(tmp_path / "a")
    monkeypatch.setenv(signing.PLACE, str(tmp_path / "a" / "signing.key"))
    succeed("ledger", "key")
    assert "lies beside the ledger or the tables" in words_of(ended(2, "release", path))


@pytest.mark.mutants
def test_without_the_package_it_says_what_to_install(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    succeed("ledger", "key")
    out = published(tmp_path / "a")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    for words in (("ledger", "key"), ("verify", out), ("release", files.write(tmp_path / "b"))):
        assert "pip install 'takifugu[sign]'" in words_of(ended(2, *words))


# On the page


@pytest.fixture(scope="module")
def scripts() -> Scripts:
    return Scripts("checker", SCRIPTS[:-1])


@pytest.mark.mutants
def test_the_page_reads_signatures(key: Path, tmp_path: Path, scripts: Scripts) -> None:
    public = json_of("ledger", "key")["key"]
    out = published(tmp_path / "a")
    text = (out / f"{NAMES[0]}.certificate.json.sig").read_text()
    assert scripts.call("signatureOf(t).key", t=text) == public
    for broken in ("", "{}", text.replace(public, public[:-2]), text.replace('"key"', '"kez"')):
        assert scripts.call("(() => { try { signatureOf(t); return 'read'; } catch { return ''; } })()", t=broken) == ""
    for valid, expected, state in (
        (True, "", "note"), (True, public, "holds"), (True, f" {public.upper()} ", "holds"), (True, "0" * 64, "fails"),
        (False, public, "fails"), (None, public, "open"),
    ):  # fmt: skip
        verdicts = scripts.call("signatureFinding({key}, valid, expected)", key=public, valid=valid, expected=expected)
        assert verdicts["state"] == state
