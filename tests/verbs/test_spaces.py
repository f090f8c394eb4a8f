"""What is searched: changes that are settings, each of something that the task has."""

import pytest

from headwise.errors import ConfigError
from headwise.recipe import build_recipe
from headwise.tasks import TASKS
from headwise.verbs.spaces import DEFAULTS, LADDER, OWN, priors_space, settings_space


@pytest.mark.parametrize("task", [name for name in TASKS if name != "language-model"])
@pytest.mark.parametrize("based", [False, True])
def test_every_change_is_one_setting_and_makes_a_recipe(task, based):
    own = TASKS[task]
    layer = own.defaults(1000, vectors=False, encoder=own.encoder)
    if based and own.based:
        layer = own.defaults_with_base(layer, 1000) | {"base": {"name": "english", "size": 8}}
    recipe = build_recipe(layer, {"model": {"task": task}})
    found = settings_space(recipe)
    assert next(iter(found)) == DEFAULTS
    assert found.pop(DEFAULTS) == {}
    assert ("base.name english -> none" in found) == (based and own.based)
    plain = recipe.to_json()
    for name, change in found.items():
        [(section, settings)] = change.items()
        assert build_recipe(plain, change) != recipe, name
        assert all(value == 1 for value in settings.values()) or settings.keys() <= plain[section].keys()
        assert not (based and own.based and section == "words")
    if "encoder" in recipe.sections:
        widths = [change["encoder"] for name, change in found.items() if name.startswith("encoder.width")]
        assert len(widths) == 2
        assert all(own["width"] == plain["encoder"]["heads"] * own["head_size"] for own in widths)


def test_the_learning_rate_is_changed_by_a_factor():
    recipe = build_recipe({"train": {"learning_rate": 5e-4, "epochs": 1}})
    found = settings_space(recipe)
    rates = [change["train"]["learning_rate"] for name, change in found.items() if "learning_rate" in name]
    assert rates == [0.00017, 0.0015]
    assert [change for name, change in found.items() if "epochs" in name] == [{"train": {"epochs": 2}}]


def test_priors_repeat_in_turn():
    found = priors_space(build_recipe({"encoder": {"heads": 4}}))
    assert list(found) == list(LADDER)
    assert found[OWN] == {}
    assert found["directions"] == {"encoder": {"priors": ["forward", "backward"]}}
    given = found["word distance 1, 1/4"]["encoder"]["priors"]
    assert len(given) == 4
    assert given[3] == given[0]
    with pytest.raises(ConfigError, match="take no priors"):
        priors_space(build_recipe({"encoder": {"name": "bilstm"}}))
    with pytest.raises(ConfigError, match="the task bags has no heads on words"):
        priors_space(build_recipe({"model": {"task": "bags"}}))
