"""A user's script: train, predict, evaluate and explain. The type checker reads it; nothing runs it."""
# ruff: noqa: F821

from pathlib import Path

from headwise import (
    MultiLabelClassifier,
    PairClassifier,
    TextClassifier,
    TextClassifierModel,
    TextRegressor,
    TextTagger,
    TrainedModel,
    evaluate_file,
    load_model,
    train_files,
)
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.networks.text_models import MultiLabelModel

texts = ["the door is stuck", "the lamp is dark", "a stuck window", "a dark hall"]
labels = ["repair", "light", "repair", "light"]

classifier = TextClassifier(encoder="ms-san", epochs=3, class_weight="balanced", random_state=1)
classifier.fit(texts, labels)
reveal_type(classifier)
reveal_type(classifier.model_)
reveal_type(classifier.model_.labels)
reveal_type(classifier.encode(texts).ndim)
reveal_type(classifier.score(texts, labels))
reveal_type(classifier.explain(texts)[0].words)
reveal_type(TextClassifier.load("intents").model_)
reveal_type(MultiLabelClassifier().fit(texts, [["a"], [], ["a", "b"], ["b"]]).model_.thresholds)
reveal_type(PairClassifier().fit([("a", "b")], ["same"]).model_)
reveal_type(TextRegressor().fit(texts, [1.0, 2.0, 3.0, 4.0]).model_.scale.mean)
tagger = TextTagger().fit([["to", "Oslo"]], [["O", "B-CITY"]])
reveal_type([span.type for tagged in tagger.tag(texts) for span in tagged.spans])

model = load_model("intents", TextClassifierModel)
reveal_type(model)
for prediction in model.predict(texts):
    reveal_type(prediction.label)
    reveal_type(prediction.label_probabilities)
    reveal_type(max(prediction.probabilities))
reveal_type(model.config.encoder)


def first_answer(folder: Path, text: str) -> str:
    """The answer of a model of any task."""
    loaded: TrainedModel = load_model(folder)
    if isinstance(loaded, TextClassifierModel):
        return next(iter(loaded.predict([text]))).label
    if isinstance(loaded, TagModel):
        return " ".join(next(iter(loaded.predict([text]))).tags)
    if isinstance(loaded, MultiLabelModel):
        return ", ".join(next(iter(loaded.predict([text]))).labels)
    return f"a {type(loaded).__name__}"


report = train_files("helpdesk.csv", "intents", settings={"train": {"epochs": 2}})
reveal_type(report.score("accuracy"))
reveal_type(report.fitted.model)
reveal_type(report.systems["baseline"].name)
reveal_type(evaluate_file("intents", "helpdesk.csv").score("macro_f1"))
reveal_type([remark.text for remark in evaluate_file("intents", "helpdesk.csv").messages])
