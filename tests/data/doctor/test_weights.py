"""Weights of which few decide are told, and those that are meant as weights are not."""

import pytest

from headwise import doctor_files
from headwise.data.items.examples import Example
from headwise.data.items.labels import effective_sample_size


def weight_messages(write, weights, head="text,label,weight", labels=("good", "bad")):
    lines = [f"a film number {n},{labels[n % 2]},{weight}" for n, weight in enumerate(weights)]
    findings = doctor_files([write("train.csv", "\n".join([head, *lines]) + "\n")]).findings
    return [finding.message for finding in findings if finding.code == "HW172"]


def test_grams_are_no_weights(write):
    (message,) = weight_messages(write, [1900, 12.5, 0.5, 0, 1] * 20)
    assert message == (
        "by the weights in column 'weight' 80 texts tell as much as 20 of equal weight, and nothing is "
        "learnt from 20 texts (20.0%)"
    )
    assert weight_messages(
        write, [1900, 12.5, 0.5, 2, 1] * 20, labels=("1.5", "2.25")
    )  # numbers to learn, too


def test_many_without_weight(write):
    (message,) = weight_messages(write, [1, 1, 1, 0] * 20)
    assert message == "by the weights in column 'weight' nothing is learnt from 20 texts (25.0%)"
    (message,) = weight_messages(write, [0, 0, 0, 0] * 20)
    assert message.endswith("80 texts (100.0%)")


@pytest.mark.parametrize("weights", [[1] * 40, [1, 2, 3, 4] * 10, [0, *[1] * 9] * 4, [0.1, 1] * 20])
def test_what_is_meant_as_weights(write, weights):
    assert weight_messages(write, weights) == []


def test_only_what_is_trained_on(write):
    lines = [f"a film number {n},{'good' if n % 2 else 'bad'},{n % 3}" for n in range(30)]
    paths = [write("train.csv", "\n".join(["text,label", *(line[:-2] for line in lines)]) + "\n")]
    paths.append(write("test.csv", "\n".join(["text,label,weight", *lines]) + "\n"))
    assert "HW172" not in {finding.code for finding in doctor_files(paths).findings}


def test_how_many_count():
    examples = [Example("a", "b", weight=weight * 1e200) for weight in (3, 1, 0)]
    assert effective_sample_size(examples) == (2, pytest.approx(1.6))
    assert effective_sample_size([Example("a", "b", weight=0)]) == (0, 0)
    assert effective_sample_size([Example("a", "b")] * 7) == (7, 7)
