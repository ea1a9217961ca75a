"""Certificates of releases that a ledger has paid for, as they lie in the folder of what is published."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import takifugu as tf
from takifugu.accounting.ledger import Ledger, Payment
from takifugu.accounting.ledger.certificates import certificate_of
from takifugu.releasing.certificates.certificate import Certificate


@cache
def certificate_without_a_ledger() -> Certificate:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3, states=["calm", "busy"]))
    made = tf.calibrate(framework, tf.Count("busy"), 1, mechanism="group-dp")
    return tf.release(made, ["calm", "busy", "calm"]).certificate


def alone(statement: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what each table's certificate says of its ledger, by the table's name."""
    for name, number in statement["ids"].items():
        lines = [line for line in statement["lines"] if line["release"] == name]
        yield name, {**statement, "ids": {name: number}, "lines": lines}


def written(folder: Path, name: str, statement: dict[str, Any] | None, title: str | None = None) -> bytes:
    """Write the certificate of a table; return its text."""
    changed: Any = {"release": name, "ledger": statement, "title": title}
    body = f"{replace(certificate_without_a_ledger(), **changed).to_json()}\n".encode()
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.certificate.json").write_bytes(body)
    return body


def publish(book: Ledger, paid: Payment, folder: Path, title: str | None = None) -> None:
    """Draw for a payment, and publish it in a folder."""
    statement = certificate_of(book.view(), paid.group)
    book.keep(paid.group, repr(title).encode())
    bodies = [written(folder, name, said, title) for name, said in alone(statement)]
    book.publish(paid.group, bodies)
