"""Adaptive batching: requests that wait for the model are answered together.

While the model computes one batch, further requests wait; the next batch has all of them, up to a budget.
So a lone request waits for nothing, and under load the model reads many texts at once.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from headwise.app.serve.answering import ModelService
from headwise.app.serve.word_budget import NO_LIMIT, WordBudget
from headwise.core.config import JsonMapping

MOST_CHARACTERS = 262_144
"""Characters of the texts of a batch; a larger request is a batch by itself."""


@dataclass(eq=False)
class _Request:
    """A request that waits for its predictions."""

    records: Sequence[JsonMapping]
    answer: "asyncio.Future[list[str]]"
    characters: int = field(init=False)

    def __post_init__(self) -> None:
        self.characters = sum(len(str(value)) for record in self.records for value in record.values())


class PredictionQueue:
    """The requests that wait for a model, for each event loop.

    Args:
        service: The model.
        most_characters: The budget of a batch.
        budget: The most words of a request.
    """

    def __init__(
        self, service: ModelService, most_characters: int = MOST_CHARACTERS, budget: WordBudget = NO_LIMIT
    ):
        self.service, self.most_characters, self.budget = service, most_characters, budget
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, deque[_Request]] = WeakKeyDictionary()
        self._workers: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[None]] = (
            WeakKeyDictionary()
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="headwise-predict")

    async def predict(self, records: Sequence[JsonMapping]) -> list[str]:
        """The predictions of the records of a request; see `ModelService.predict`.

        Raises:
            HeadwiseError: The records cannot be read.
        """
        loop = asyncio.get_running_loop()
        request = _Request(records, loop.create_future())
        waiting = self._waiting.setdefault(loop, deque())
        waiting.append(request)
        worker = self._workers.get(loop)
        if worker is None or worker.done():
            self._workers[loop] = asyncio.create_task(self._work(loop, waiting))
        try:
            return await request.answer
        except asyncio.CancelledError:  # the client has closed the connection
            with suppress(ValueError):  # its batch has begun
                waiting.remove(request)
            raise

    async def _work(self, loop: asyncio.AbstractEventLoop, waiting: deque[_Request]) -> None:
        """Answer batches until no request waits."""
        while waiting:
            batch = self._next_batch(waiting)
            requests = [request.records for request in batch]
            try:
                answers: Sequence[list[str] | Exception] = await loop.run_in_executor(
                    self._thread, self.service.predict_requests, requests, self.budget
                )
            except Exception as error:  # a defect, or the memory is not enough: each request says so
                answers = [error] * len(batch)
            for request, answer in zip(batch, answers, strict=True):
                if request.answer.done():  # the client has closed the connection
                    continue
                if isinstance(answer, Exception):
                    request.answer.set_exception(answer)
                else:
                    request.answer.set_result(answer)

    def _next_batch(self, waiting: deque[_Request]) -> list[_Request]:
        """The requests that have waited longest, within the budget; at least one."""
        batch = [waiting.popleft()]
        characters = batch[0].characters
        while waiting and characters + waiting[0].characters <= self.most_characters:
            characters += waiting[0].characters
            batch.append(waiting.popleft())
        return batch
