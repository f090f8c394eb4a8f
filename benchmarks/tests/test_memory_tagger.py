import pytest

from benchmarks.papers.memory_tagger import MemoryTagger
from headwise.data.items.examples import TaggedSentence


def tagged(text):
    pairs = [word.rsplit("/", 1) for word in text.split()]
    return TaggedSentence(tuple(word for word, _ in pairs), tuple(tag for _, tag in pairs))


def test_the_longest_known_span_wins():
    train = [tagged("New/B-LOC York/I-LOC Times/O"), tagged("New/B-ORG York/I-ORG Times/I-ORG York/B-LOC")]
    memory = MemoryTagger(train, "iob2")
    (tags,) = memory.predict([TaggedSentence(("the", "New", "York", "Times", "of", "York"), ())])
    assert tags == ["O", "B-ORG", "I-ORG", "I-ORG", "O", "B-LOC"]


def test_spans_of_two_types_are_not_known():
    train = [tagged("Paris/B-LOC"), tagged("Paris/B-PER Hilton/I-PER"), tagged("Paris/B-PER")]
    memory = MemoryTagger(train, "iob2")
    assert memory.predict([TaggedSentence(("Paris", "Hilton", "Paris"), ())]) == [["B-PER", "I-PER", "O"]]


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "bioes", "bilou"])
def test_it_remembers_its_training_sentences(scheme):
    from headwise.metrics.tag_schemes import convert_tags

    text = "EU/B-ORG rejects/O German/B-MISC call/O of/O Peter/B-PER Blackburn/I-PER"
    sentence = tagged(text)
    sentence = TaggedSentence(sentence.tokens, tuple(convert_tags(sentence.tags, scheme)))
    assert MemoryTagger([sentence], scheme).predict([sentence]) == [list(sentence.tags)]


def test_words_have_their_most_frequent_tag_and_new_ones_that_of_rare_words():
    train = [tagged("run/VB run/VB run/NN the/DT the/DT cat/NN dog/NN")]
    memory = MemoryTagger(train, "plain")
    assert memory.predict([TaggedSentence(("run", "the", "zebra"), ())]) == [["VB", "DT", "NN"]]
