"""Out-of-memory handling: batches are halved until they fit."""

from collections.abc import Callable, Sequence
from logging import getLogger

from headwise.errors import HeadwiseError
from headwise.memory import ran_out

_log = getLogger(__name__)


class Retry:
    """Runs the batches of an update; a batch that does not fit into memory is halved.

    Args:
        learn: Computes the gradients of one batch and returns its loss.
        forget: Clears the gradients of the update so far.
        where: Function from the index of a text to its place in a file.
        words: Function from the index of a text to its number of words.
    """

    def __init__(
        self,
        learn: Callable[[Sequence[int]], float],
        forget: Callable[[], None],
        where: Callable[[int], str],
        words: Callable[[int], int],
    ):
        self._learn, self._forget, self._where, self._words = learn, forget, where, words

    def __call__(self, batches: Sequence[Sequence[int]]) -> float:
        """The total loss of the batches.

        Raises:
            HeadwiseError: HW410, a single text does not fit.
        """
        left = list(batches)
        while True:
            total, failed = 0.0, None
            for place, batch in enumerate(left):
                try:
                    total += self._learn(batch)
                except (MemoryError, RuntimeError) as error:
                    if not ran_out(error):
                        raise
                    failed = place
                    break
            if failed is None:
                return total
            # Outside the except block, which keeps the tensors alive.
            self._forget()
            left[failed : failed + 1] = self._halves(left[failed])

    def _halves(self, batch: Sequence[int]) -> list[Sequence[int]]:
        longest = max(batch, key=self._words)
        what = f"{self._where(longest)}, {self._words(longest):,} words"
        if len(batch) == 1:
            raise HeadwiseError(
                f"the memory is not enough to learn from one text ({what}); read it in shorter windows "
                "(--windows.words), shorten it, or take a smaller encoder",
                code="HW410",
            )
        _log.info(
            "a batch of %s texts does not fit into the memory (its longest: %s): cut in two. A smaller "
            "--batch-tokens spares the attempt",
            f"{len(batch):,}",
            what,
        )
        middle = len(batch) // 2
        return [batch[:middle], batch[middle:]]
