"""The classifier's loss and what class weights mean."""

import pytest
import torch
from torch.nn.functional import log_softmax

from headwise.core.errors import ConfigError
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.nn.task_layers.output_layers import Classifier, class_weights, classification_loss


def test_two_layers():
    classifier = Classifier(6, 3, ClassifierConfig(hidden=5, dropout=0.0)).eval()
    text = torch.randn(4, 6)
    first, second = [layer for layer in classifier.layers if isinstance(layer, torch.nn.Linear)]
    expected = second(torch.relu(first(text)))
    torch.testing.assert_close(classifier(text), expected)


@pytest.mark.parametrize("normalize", ["none", "batch", "layer"])
def test_normalised_text_vectors_do_not_mix_texts_when_judged(normalize):
    classifier = Classifier(6, 3, ClassifierConfig(normalize=normalize)).eval()
    text = torch.randn(4, 6)
    torch.testing.assert_close(classifier(text)[:1], classifier(text[:1]))


@pytest.mark.parametrize("texts", [0, 1])
def test_a_text_alone_in_its_batch_goes_by_the_batches_before(texts):
    """An epoch of 33 texts ends with one, and so does one with a long text."""
    classifier = Classifier(6, 3, ClassifierConfig(normalize="batch", dropout=0.0)).train()
    classifier(3 + 2 * torch.randn(8, 6))
    before = {name: tensor.clone() for name, tensor in classifier.state_dict().items()}
    alone = torch.randn(texts, 6, requires_grad=True)
    actual = classifier(alone)
    actual.sum().backward()
    torch.testing.assert_close(classifier.state_dict(), before)
    torch.testing.assert_close(actual, classifier.eval()(alone))


def test_label_smoothing_by_hand():
    logits, targets = torch.randn(5, 3), torch.tensor([0, 2, 1, 1, 0])
    spread = torch.full((5, 3), 0.3 / 3)
    spread[torch.arange(5), targets] += 0.7
    expected = -(spread * log_softmax(logits, dim=1)).sum(1)
    torch.testing.assert_close(classification_loss(logits, targets, label_smoothing=0.3), expected)


def test_a_weight_of_two_is_the_text_twice():
    logits, targets = torch.randn(3, 2), torch.tensor([0, 1, 1])
    weights = torch.tensor([1.0, 2.0])
    weighted = classification_loss(logits, targets, weights=weights).sum()
    twice = classification_loss(logits[[0, 1, 1, 2, 2]], targets[[0, 1, 1, 2, 2]]).sum()
    torch.testing.assert_close(weighted, twice)


def test_balanced_weights_give_every_label_the_same_say():
    counts = [90, 9, 1]
    weights = class_weights("balanced", ["a", "b", "c"], counts)
    outputs = weights * torch.tensor(counts)
    torch.testing.assert_close(outputs, outputs[0].expand(3))
    assert outputs.sum().item() == pytest.approx(100)


def test_given_weights():
    weights = class_weights("b=3,c=0.5", ["a", "b", "c"], [1, 1, 1])
    torch.testing.assert_close(weights / weights[0], torch.tensor([1.0, 3.0, 0.5]))
    assert class_weights("none", ["a", "b"], [1, 1]) is None
    assert class_weights("a=b=2", ["a=b", "c"], [1, 1])[0] > 1


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("blanced", "cannot read"),
        ("a=x", "cannot read"),
        ("a=-1", "cannot read"),
        ("a=nan", "cannot read"),
        ("z=1", "unknown label 'z'"),
    ],
)
def test_wrong_weights(setting, message):
    with pytest.raises(ConfigError, match=message):
        class_weights(setting, ["a", "b"], [1, 1])


def test_certain_probabilities_are_labels_and_a_weight_is_shared_by_them():
    logits, targets, weights = torch.randn(4, 3), torch.tensor([0, 2, 1, 1]), torch.tensor([1.0, 2.0, 4.0])
    certain = torch.eye(3)[targets]
    torch.testing.assert_close(
        classification_loss(logits, certain, weights=weights),
        classification_loss(logits, targets, weights=weights),
    )
    half = torch.tensor([[0.5, 0.0, 0.5]])
    expected = 2.5 * classification_loss(logits[:1], half)
    torch.testing.assert_close(classification_loss(logits[:1], half, weights=weights), expected)
