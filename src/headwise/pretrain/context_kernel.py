"""The inner loop of context prediction, compiled by Numba. Imported only where it runs."""

import math

import numpy as np

from headwise.kernel import kernel


@kernel(fastmath=True)
def train_passages(
    flat, starts, order, vectors, outputs, keep, table, width, negatives, rate, last_rate, state
):  # pragma: no cover
    """Train on passages, in order; the learning rate falls linearly from `rate` to `last_rate`.

    Passages are cut into stretches of at most `width` words. For every word w of a stretch with the words
    c: h = mean of v(c) over c != w; loss = -log sigmoid(h u(w)) - sum of log sigmoid(-h u(n)) over
        negatives n.

    Args:
        flat, starts: The passages; see `Numbers`.
        order: Numbers of the passages to train on, `[passages]`.
        vectors, outputs: v and u, `[words, size]`, changed in place.
        keep: Probability with which an occurrence of each word is kept (subsampling), `[words]`.
        table: Word ids from which negatives are drawn.
        width: Maximum number of words of a stretch.
        negatives: Number of negatives for each word.
        rate, last_rate: Learning rates.
        state: State of the random number generator, `[1]`, uint64, not 0; changed in place.

    Returns:
        The sum of the losses, and the number of words.
    """
    size = vectors.shape[1]
    words = np.empty(width, np.int64)
    total = np.empty(size, np.float32)
    push = np.empty(size, np.float32)
    hidden = np.empty(size, np.float32)
    back = np.empty(size, np.float32)
    random = state[0]
    loss, seen = 0.0, 0
    for number in range(len(order)):
        now = np.float32(rate + (last_rate - rate) * number / len(order))
        place, end = starts[order[number]], starts[order[number] + 1]
        while place < end:
            count = 0
            while place < end and count < width:
                word = flat[place]
                place += 1
                random ^= random << np.uint64(13)
                random ^= random >> np.uint64(7)
                random ^= random << np.uint64(17)
                if np.float64(random >> np.uint64(11)) * 1.1102230246251565e-16 < keep[word]:
                    words[count] = word
                    count += 1
            if count < 2:
                continue
            total[:] = 0
            push[:] = 0
            for i in range(count):
                row = vectors[words[i]]
                for d in range(size):
                    total[d] += row[d]
            share = np.float32(1.0) / np.float32(count - 1)
            for i in range(count):
                word = words[i]
                row = vectors[word]
                for d in range(size):
                    hidden[d] = (total[d] - row[d]) * share
                    back[d] = 0
                for k in range(negatives + 1):
                    target = word
                    if k > 0:
                        random ^= random << np.uint64(13)
                        random ^= random >> np.uint64(7)
                        random ^= random << np.uint64(17)
                        target = table[np.int64((random >> np.uint64(16)) % np.uint64(len(table)))]
                        if target == word:
                            continue
                    out = outputs[target]
                    dot = np.float32(0)
                    for d in range(size):
                        dot += hidden[d] * out[d]
                    dot = min(max(dot, np.float32(-12)), np.float32(12))
                    chance = np.float32(1 / (1 + math.exp(-dot)))
                    if k == 0:
                        loss -= math.log(chance)
                        step = np.float32(now * (np.float32(1) - chance))
                    else:
                        loss -= math.log(1 - chance)
                        step = np.float32(-now * chance)
                    for d in range(size):
                        back[d] += step * out[d]
                        out[d] += step * hidden[d]
                seen += 1
                # The update is for all words but this one: subtract it here, as all words get it below.
                for d in range(size):
                    push[d] += back[d]
                    row[d] -= back[d] * share
            for i in range(count):
                row = vectors[words[i]]
                for d in range(size):
                    row[d] += push[d] * share
    state[0] = random
    return loss, seen
