"""What a tagger must beat: the memory of the training sentences.

Spans are found by looking for the longest runs of words that training has seen as a span of one type alone
(the baseline of the CoNLL-2003 shared task; Tjong Kim Sang & De Meulder 2003). Tags that stand for
themselves are those that each word had most often.
"""

from collections import Counter
from collections.abc import Sequence

from headwise.data.items.examples import TaggedSentence
from headwise.metrics.tag_schemes import Scheme, TagSpan, read_spans, write_tags


class MemoryTagger:
    """Tags words as it has seen them tagged; nothing is learned beyond that.

    Args:
        sentences: Tagged sentences.
        scheme: Of their tags.
    """

    def __init__(self, sentences: Sequence[TaggedSentence], scheme: Scheme):
        self.scheme: Scheme = scheme
        if scheme == "plain":
            self._remember_words(sentences)
        else:
            self._remember_spans(sentences)

    def predict(self, sentences: Sequence[TaggedSentence]) -> list[list[str]]:
        """The tags of each sentence."""
        if self.scheme == "plain":
            return [[self._tags.get(word, self._usual) for word in own.tokens] for own in sentences]
        return [write_tags(self._spans(own.tokens), len(own.tokens), self.scheme) for own in sentences]

    def _remember_words(self, sentences: Sequence[TaggedSentence]) -> None:
        seen: dict[str, Counter[str]] = {}
        for own in sentences:
            for word, tag in zip(own.tokens, own.tags, strict=True):
                seen.setdefault(word, Counter())[tag] += 1
        self._tags = {word: tags.most_common(1)[0][0] for word, tags in seen.items()}
        # Words seen once tell best what words never seen are.
        rare = Counter(tag for tags in seen.values() if tags.total() == 1 for tag in tags)
        every = Counter(tag for tags in seen.values() for tag in tags)
        self._usual = (rare or every).most_common(1)[0][0]

    def _remember_spans(self, sentences: Sequence[TaggedSentence]) -> None:
        types: dict[tuple[str, ...], set[str]] = {}
        for own in sentences:
            for span in read_spans(own.tags):
                types.setdefault(own.tokens[span.start : span.end], set()).add(span.type)
        self._types = {words: next(iter(own)) for words, own in types.items() if len(own) == 1}
        self._longest = max(map(len, self._types), default=0)

    def _spans(self, words: Sequence[str]) -> list[TagSpan]:
        found, place = [], 0
        while place < len(words):
            for end in range(min(len(words), place + self._longest), place, -1):
                kind = self._types.get(tuple(words[place:end]))
                if kind is not None:
                    found.append(TagSpan(place, end, kind))
                    place = end
                    break
            else:
                place += 1
        return found
