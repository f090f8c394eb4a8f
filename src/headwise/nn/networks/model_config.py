"""ModelConfig: the configuration of a model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from headwise.core.config import JsonObject, from_dict, to_dict, unknown_name_error
from headwise.core.errors import ConfigError
from headwise.nn.encoders.encoder_configs import (
    ENCODER_CONFIGS,
    MSTransformerConfig,
    WindowsConfig,
    default_readout,
    encoder_name,
)
from headwise.nn.task_layers.layer_configs import (
    BagConfig,
    ClassifierConfig,
    LanguageConfig,
    LinearMemberConfig,
    MaskedWordsConfig,
    PairConfig,
    RegressorConfig,
    TaggerConfig,
    ThresholdConfig,
    UnknownConfig,
)
from headwise.text.text_configs import (
    BaseConfig,
    CharacterConfig,
    PretrainedConfig,
    SyntaxConfig,
    WordConfig,
)

if TYPE_CHECKING:
    from headwise.nn.encoders.encoder_configs import EncoderConfig


TEXT_SECTIONS = ("words", "base", "pretrained", "syntax", "encoder", "windows")
"""The sections of all models of texts; tasks add further sections."""

LABEL_SECTIONS = (*TEXT_SECTIONS, "classifier", "linear_model", "unknown")
"""The sections of a text classifier."""


CONFIGS: dict[str, type] = {
    "words": WordConfig,
    "characters": CharacterConfig,
    "base": BaseConfig,
    "pretrained": PretrainedConfig,
    "syntax": SyntaxConfig,
    "windows": WindowsConfig,
    "classifier": ClassifierConfig,
    "linear_model": LinearMemberConfig,
    "thresholds": ThresholdConfig,
    "unknown": UnknownConfig,
    "tagger": TaggerConfig,
    "pair": PairConfig,
    "regressor": RegressorConfig,
    "bags": BagConfig,
    "language": LanguageConfig,
    "masked": MaskedWordsConfig,
}
"""The configuration class of each section, except that of the encoder."""


@dataclass(frozen=True)
class ModelConfig:
    """Everything that decides what a model is, apart from what it learns from the texts."""

    task: str = "classify"
    """What the model does: a key of `headwise.models.tasks.TASKS`."""
    words: WordConfig = field(default_factory=WordConfig)
    base: BaseConfig = field(default_factory=BaseConfig)
    encoder: "EncoderConfig" = field(default_factory=MSTransformerConfig)
    readout: str = "node+max"
    """From words to text: node+max, node,max, mean,max, node, max, mean, attentive, attentive,max, or
    attentive,cls (with a pretrained encoder)."""
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    linear_model: LinearMemberConfig = field(default_factory=LinearMemberConfig)
    thresholds: ThresholdConfig = field(default_factory=ThresholdConfig)
    unknown: UnknownConfig = field(default_factory=UnknownConfig)
    syntax: SyntaxConfig = field(default_factory=SyntaxConfig)
    windows: WindowsConfig = field(default_factory=WindowsConfig)
    pretrained: PretrainedConfig = field(default_factory=PretrainedConfig)
    characters: CharacterConfig = field(default_factory=CharacterConfig)
    tagger: TaggerConfig = field(default_factory=TaggerConfig)
    pair: PairConfig = field(default_factory=PairConfig)
    regressor: RegressorConfig = field(default_factory=RegressorConfig)
    bags: BagConfig = field(default_factory=BagConfig)
    language: LanguageConfig = field(default_factory=LanguageConfig)
    masked: MaskedWordsConfig = field(default_factory=MaskedWordsConfig)

    def with_tabular_columns(self, items: Sequence[Any]) -> "ModelConfig":
        """The configuration with the encoding of the columns beside training items, measured on those with
        a positive weight; unchanged if items have no such columns."""
        rows = [item.tabular for item in items if getattr(item, "tabular", None) and item.weight > 0]
        if not rows:
            return self
        from headwise.linear.tabular_features import fit_encodings

        return replace(self, linear_model=replace(self.linear_model, tabular=fit_encodings(rows)))

    def to_json(self, sections: Sequence[str] = LABEL_SECTIONS) -> JsonObject:
        """JSON data that `from_json` turns back into an equal configuration.

        Args:
            sections: The sections of the task.
        """
        data: JsonObject = {"task": self.task}
        for section in sections:
            settings = to_dict(getattr(self, section))
            data[section] = {name: value for name, value in settings.items() if value is not None}
        if "encoder" in data:
            data["readout"] = self.readout
            data["encoder"] = {"name": encoder_name(self.encoder), **data["encoder"]}
        return data

    @classmethod
    def from_json(
        cls, data: JsonObject, where: str = "", sections: Sequence[str] = LABEL_SECTIONS
    ) -> "ModelConfig":
        """The inverse of `to_json`.

        Args:
            data: The settings.
            where: Location of the settings, for error messages.
            sections: The sections of the task.

        Raises:
            ConfigError: A setting is unknown or has the wrong type.
        """
        at = f"{where}: " if where else ""
        task = str(data.get("task", cls.task))
        encodes = "encoder" in sections
        keys = ["task", *(["readout"] if encodes else []), *sections]
        for key in data:
            if key not in keys:
                raise ConfigError(f"{at}task {task}: {unknown_name_error('setting', key, keys).args[0]}")
        encoder = dict(data.get("encoder", {}))
        name = encoder.pop("name", "ms-transformer")
        if not isinstance(name, str) or name not in ENCODER_CONFIGS:
            error = unknown_name_error("encoder", str(name), list(ENCODER_CONFIGS))
            raise ConfigError(
                f"{error.args[0]}; import the module that registers it, if it is one of your own "
                "(headwise.nn.encoders.register)"
            )
        parts = {
            section: from_dict(CONFIGS[section], data.get(section, {}), at + section)
            for section in sections
            if section != "encoder"
        }
        if not encodes:
            return cls(task=task, **parts)
        return cls(
            task=task,
            encoder=from_dict(ENCODER_CONFIGS[name], encoder, at + "encoder"),
            readout=data.get("readout", default_readout(ENCODER_CONFIGS[name])),
            **parts,
        )
