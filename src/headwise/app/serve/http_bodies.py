"""The bodies of requests and responses, as `/openapi.json` describes them."""

from pydantic import BaseModel, ConfigDict, Field

from headwise.core.config import JsonObject


class RequestBody(BaseModel):
    """The items of a request: exactly one of these fields."""

    model_config = ConfigDict(extra="forbid")

    texts: list[str] | None = Field(None, description="a list of texts, for models of texts")
    pairs: list[tuple[str, str]] | None = Field(
        None, description="a list of lists of two texts, for models of pairs"
    )
    records: list[JsonObject] | None = Field(
        None,
        description="a list of objects with the fields that a jsonl file for headwise predict would have",
    )


class Predictions(BaseModel):
    """The predictions of a request, in the order of its items.

    Attributes:
        predictions: The objects that headwise predict writes to jsonl.
    """

    predictions: list[JsonObject]


class Explanations(BaseModel):
    """The explanations of a request.

    Attributes:
        explanations: The objects that headwise explain writes, each with the number of its item.
    """

    explanations: list[JsonObject]


class ModelFacts(BaseModel):
    """What a model is.

    Attributes:
        model: Its name.
        task: Its task.
        reads: The items that it reads.
        headwise: The version of headwise.
        labels: Its labels, if it has any.
    """

    model: str
    task: str
    reads: str
    headwise: str
    labels: list[str] | None = None


class ModelList(BaseModel):
    """The models of a server; the first answers requests that name none."""

    models: list[ModelFacts]


class RequestProblem(BaseModel):
    """Why a request is refused.

    Attributes:
        code: The code of the error.
        error: The message.
    """

    code: str
    error: str
