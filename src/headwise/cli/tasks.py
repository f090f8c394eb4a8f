"""The tasks at the command line: what each command does for them."""

from headwise.cli import (
    evaluate_bags,
    evaluate_label_sets,
    evaluate_language,
    evaluate_numbers,
    evaluate_pairs,
    evaluate_tags,
    evaluate_texts,
    predict_bags,
    predict_label_sets,
    predict_language,
    predict_numbers,
    predict_pairs,
    predict_tags,
    predict_texts,
    train_bags,
    train_label_sets,
    train_language,
    train_numbers,
    train_pairs,
    train_tags,
    train_texts,
)
from headwise.cli.requests import TaskCommands

TASKS = {
    "classify": TaskCommands(train_texts.train, predict_texts.predict, evaluate_texts.evaluate),
    "multi-label": TaskCommands(
        train_label_sets.train, predict_label_sets.predict, evaluate_label_sets.evaluate
    ),
    "tag": TaskCommands(train_tags.train, predict_tags.predict, evaluate_tags.evaluate),
    "bags": TaskCommands(train_bags.train, predict_bags.predict, evaluate_bags.evaluate),
    "pair": TaskCommands(train_pairs.train, predict_pairs.predict, evaluate_pairs.evaluate),
    "pair-score": TaskCommands(
        train_pairs.train_scores, predict_pairs.predict_scores, evaluate_pairs.evaluate_scores
    ),
    "language-model": TaskCommands(
        train_language.train, predict_language.predict, evaluate_language.evaluate
    ),
    "regress": TaskCommands(train_numbers.train, predict_numbers.predict, evaluate_numbers.evaluate),
}
