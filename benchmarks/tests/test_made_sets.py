import gzip

import pytest

CONLLU = """\
# sent_id = email-one-0001
# text = The DOG ran, twice.
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tDOG\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tran\trun\tVERB\tVBD\tMood=Ind|Tense=Past\t0\troot\t_\t_
4\t,\t,\tPUNCT\t,\t_\t5\tpunct\t_\t_
5\ttwice\ttwice\tADV\tRB\t_\t3\tadvmod\t_\t_
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# sent_id = email-one-0002
# text = It doesn't!
1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2-3\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdoes\tdo\tAUX\tVBZ\tTense=Pres\t0\troot\t_\t_
3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_
4\t!\t!\tPUNCT\t.\t_\t2\tpunct\t_\t_

# sent_id = blog-two-0001
# text = Well
1\tWell\twell\tINTJ\tUH\t_\t0\troot\t_\t_

"""


@pytest.fixture
def treebank(tmp_path, monkeypatch):
    """A treebank of three sentences, its two parts alike."""
    from benchmarks.defaults import made_sentences

    monkeypatch.setattr("benchmarks.defaults.made_files.DATA", tmp_path)
    (tmp_path / "ud_english_ewt").mkdir()
    for part in ("train", "test"):
        path = tmp_path / f"ud_english_ewt/en_ewt-ud-{part}.conllu.gz"
        path.write_bytes(gzip.compress(CONLLU.encode()))
    made_sentences.sentences.cache_clear()
    yield made_sentences.sentences("train")
    made_sentences.sentences.cache_clear()


def test_sentences_with_genre_tense_and_depth(treebank):
    assert [sentence.genre for sentence in treebank] == ["email", "email", "blog"]
    assert [sentence.document for sentence in treebank] == ["email-one", "email-one", "blog-two"]
    assert [sentence.tense for sentence in treebank] == ["Past", "Pres", None]
    assert [sentence.depth for sentence in treebank] == [2, 1, 0]
    assert treebank[1].words == ("It", "does", "n't", "!")


def test_marks_and_case_are_taken_from_the_words(treebank):
    from benchmarks.defaults.made_sentences import case, end_mark, punctuation

    assert end_mark(treebank[0]) == ("the dog ran, twice", ".")
    assert end_mark(treebank[1]) == ("it doesn't", "!")
    assert end_mark(treebank[2]) is None
    assert punctuation(treebank[0]) == (
        ["the", "dog", "ran", "twice"],
        ["O", "O", "COMMA", "STOP"],
    )
    assert punctuation(treebank[2]) is None
    assert case(treebank[0])[1] == ["Title", "UPPER", "lower", "lower", "lower", "lower"]


def test_words_that_have_changed_places(treebank):
    from dataclasses import replace

    from benchmarks.defaults.made_sentences import exchanged

    seen = set()
    for number in range(20):
        words = ("a", "b", "c", "d", "e", "f")
        row = exchanged(replace(treebank[0], text=str(number), words=words))
        assert row is not None
        text, label = row
        assert (text == "a b c d e f") == (label == "kept")
        assert sorted(text.split()) == list(words)
        seen.add(label)
    assert seen == {"kept", "exchanged"}
    assert exchanged(treebank[1]) is None


def test_the_next_sentence_is_of_the_same_document(treebank):
    from benchmarks.defaults.made_sentences import next_sentence

    train, test = next_sentence()
    assert len(train) == len(test) == 1  # the third sentence begins another document
    (first, second), label = train[0]
    assert first == treebank[0].text
    assert label == "other" or second == treebank[1].text


def test_names_with_the_type_they_mostly_have():
    from benchmarks.defaults.made_sets import names_of

    lines = [
        "Ann NNP I I-PER",
        "Bell NNP I I-PER",
        "saw VBD O O",
        "Rome NNP I I-LOC",
        "Bonn NNP I B-LOC",
        "",
    ]
    assert names_of(lines) == {"Ann Bell": "PER", "Rome": "LOC", "Bonn": "LOC"}
    assert names_of([*lines, "Rome NNP I I-ORG", "", "Rome NNP I I-ORG"])["Rome"] == "ORG"
    assert names_of(["IBM NN I I-ORG", "Bell NN I I-PER"]) == {"IBM": "ORG", "Bell": "PER"}


def test_made_sets_by_name(treebank):
    from benchmarks.defaults.default import sets_of
    from benchmarks.defaults.default_sets import GROUPS, load

    assert sets_of(["made"]) == GROUPS["made"]
    assert not {*GROUPS["made"]} & {*GROUPS["all"]}
    tense, case, following = (load(f"made/{name}") for name in ("tense", "case", "next"))
    assert (tense.kind, case.kind, following.kind) == ("classify", "tag", "pair")
    assert list(tense.train.labels) == ["Past", "Pres"]
    assert list(case.test.items)[2] == ["well"]


@pytest.mark.parametrize(
    "name", ["made/source", "made/part-of-speech", "made/german", "made/rare", "made/chunks"]
)
def test_parts_of_made_sets_do_not_share_texts(name):
    from benchmarks.common.runs import DATA
    from benchmarks.defaults.default_sets import load

    if not (DATA / "corpus").is_dir():
        pytest.skip("needs HEADWISE_DATA")
    data = load(name)
    assert len(data.train) > 2000
    assert len(data.test) > 500
    train, test = ({str(item) for item in part.items} for part in (data.train, data.test))
    assert len(train & test) < 0.01 * len(data.test)
