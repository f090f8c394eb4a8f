"""What to do when the memory ends: batches are cut in two until they fit."""

from collections.abc import Callable, Sequence
from logging import getLogger

from headwise.errors import HeadwiseError
from headwise.memory import ran_out

_log = getLogger(__name__)


class Retry:
    """Learns from the batches of an update; one that does not fit into the memory is cut in two.

    Args:
        learn: Learns from one batch and returns its loss.
        forget: Undoes what has been learnt of the update so far.
        where: The place of a text in its file.
        words: Words of a text.
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
        """The loss of all of them together.

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
            # Out of the handler of the error, which holds on to what did not fit.
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
