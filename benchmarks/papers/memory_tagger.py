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
            return [[self._tags.get(word, self._usual) for word in s.tokens] for s in sentences]
        return [write_tags(self._spans(s.tokens), len(s.tokens), self.scheme) for s in sentences]

    def _remember_words(self, sentences: Sequence[TaggedSentence]) -> None:
        seen: dict[str, Counter[str]] = {}
        for sentence in sentences:
            for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
                seen.setdefault(word, Counter())[tag] += 1
        self._tags = {word: tags.most_common(1)[0][0] for word, tags in seen.items()}
        # Words seen once predict unseen words best.
        rare = Counter(tag for tags in seen.values() if tags.total() == 1 for tag in tags)
        every = Counter(tag for tags in seen.values() for tag in tags)
        self._usual = (rare or every).most_common(1)[0][0]

    def _remember_spans(self, sentences: Sequence[TaggedSentence]) -> None:
        types: dict[tuple[str, ...], set[str]] = {}
        for sentence in sentences:
            for span in read_spans(sentence.tags):
                types.setdefault(sentence.tokens[span.start : span.end], set()).add(span.type)
        self._types = {words: next(iter(kinds)) for words, kinds in types.items() if len(kinds) == 1}
        self._longest = max(map(len, self._types), default=0)

    def _spans(self, words: Sequence[str]) -> list[TagSpan]:
        spans, place = [], 0
        while place < len(words):
            for end in range(min(len(words), place + self._longest), place, -1):
                kind = self._types.get(tuple(words[place:end]))
                if kind is not None:
                    spans.append(TagSpan(place, end, kind))
                    place = end
                    break
            else:
                place += 1
        return spans
