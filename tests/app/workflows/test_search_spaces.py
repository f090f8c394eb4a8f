"""Search spaces: candidate settings, each for a part that the task has."""

import pytest

from headwise.app.configuration import build_config
from headwise.app.workflows.search_spaces import (
    DEFAULTS,
    ENCODER_DEFAULT,
    PRIOR_CANDIDATES,
    priors_search_space,
    settings_search_space,
)
from headwise.core.errors import ConfigError
from headwise.models.tasks import TASKS


@pytest.mark.parametrize("task", [name for name in TASKS if name != "language-model"])
@pytest.mark.parametrize("based", [False, True])
def test_every_change_is_one_setting_and_makes_a_recipe(task, based):
    own = TASKS[task]
    layer = own.defaults(1000, vectors=False, encoder=own.encoder)
    if based and own.uses_embeddings:
        layer = own.defaults_with_base(layer, 1000) | {"base": {"name": "english", "size": 8}}
    recipe = build_config(layer, {"model": {"task": task}})
    found = settings_search_space(recipe)
    assert next(iter(found)) == DEFAULTS
    assert found.pop(DEFAULTS) == {}
    assert ("base.name english -> none" in found) == (based and own.uses_embeddings)
    plain = recipe.to_json()
    for name, change in found.items():
        [(section, settings)] = change.items()
        assert build_config(plain, change) != recipe, name
        assert all(value == 1 for value in settings.values()) or settings.keys() <= plain[section].keys()
        assert not (based and own.uses_embeddings and section == "words")
    if "encoder" in recipe.sections:
        widths = [change["encoder"] for name, change in found.items() if name.startswith("encoder.width")]
        assert len(widths) == 2
        assert all(own["width"] == plain["encoder"]["heads"] * own["head_size"] for own in widths)


def test_the_learning_rate_is_changed_by_a_factor():
    recipe = build_config({"train": {"learning_rate": 5e-4, "epochs": 1}})
    found = settings_search_space(recipe)
    rates = [change["train"]["learning_rate"] for name, change in found.items() if "learning_rate" in name]
    assert rates == [0.00017, 0.0015]
    assert [change for name, change in found.items() if "epochs" in name] == [{"train": {"epochs": 2}}]


def test_an_encoder_of_a_base_is_left_as_it_is_or_left_out():
    base = {"name": "english", "size": 8, "encoder": "on"}
    recipe = build_config({"base": base, "train": {"learning_rate": 5e-4}})
    found = settings_search_space(recipe)
    assert found["base.encoder on -> off"] == {"base": {"encoder": "off"}}
    changed = {section for change in found.values() for section in change}
    assert {"base", "train", "classifier"} <= changed
    assert not {"encoder", "model"} & changed
    with pytest.raises(ConfigError, match="encoder of a base was trained with its priors"):
        priors_search_space(recipe)


def test_priors_repeat_in_turn():
    found = priors_search_space(build_config({"encoder": {"heads": 4}}))
    assert list(found) == list(PRIOR_CANDIDATES)
    assert found[ENCODER_DEFAULT] == {}
    assert found["directions"] == {"encoder": {"priors": ["forward", "backward"]}}
    given = found["word distance 1, 1/4"]["encoder"]["priors"]
    assert len(given) == 4
    assert given[3] == given[0]
    with pytest.raises(ConfigError, match="take no priors"):
        priors_search_space(build_config({"encoder": {"name": "bilstm"}}))
    with pytest.raises(ConfigError, match="the task bags has no heads on words"):
        priors_search_space(build_config({"model": {"task": "bags"}}))
