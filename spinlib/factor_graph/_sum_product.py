"""Sum-product in arrays: the engine behind :mod:`spinlib.factor_graph`, with no loop over edges inside a sweep."""

from __future__ import annotations

import numpy as np


def normalised(array):
    """Rows divided by their sums."""
    return array / array.sum(-1, keepdims=True)


def refuse(empty, names):
    """The words for the first variable, of those that the rows name, that no state is left for."""
    if empty.any():
        raise ValueError(
            f"the factors contradict each other: no state of variable {names[int(empty.argmax())]} "
            "has a positive weight; look for zeros in the tables at that variable"
        )


class Layout:
    """The graph as arrays: factors of one table shape stand in one group, so that a sweep is a few array products."""

    def __init__(self, graph):
        self.n, self.K, self.M = graph.n, max(graph.cards), len(graph.factors)
        self.variable = graph.edges[:, 1]
        states = np.arange(self.K)
        self.states = states < np.asarray(graph.cards)[:, None]  # (n, K) which states exist
        self.valid = self.states[self.variable]  # (E, K)
        self.flat = (self.variable[:, None] * self.K + states).ravel()  # where edge messages add up
        self.degree = np.array([len(scope) for scope, _ in graph.factors], dtype=int)
        first = np.cumsum(self.degree) - self.degree
        by_shape: dict[tuple, list[int]] = {}
        for a, (_, table) in enumerate(graph.factors):
            by_shape.setdefault(table.shape, []).append(a)
        self.groups = [
            (
                np.array(members),
                first[members][:, None] + np.arange(len(shape)),
                np.stack([graph.factors[a][1] for a in members], -1),
            )
            for shape, members in by_shape.items()
        ]

    def _gather(self, log_message):
        """Sum over the factors of each variable, (E, K) -> (n, K)."""
        return np.bincount(
            self.flat, weights=log_message.ravel(), minlength=self.n * self.K
        ).reshape(self.n, self.K)

    def _logs(self, messages):
        """Logarithms with their zeros counted apart, so that a zero message can be taken out of a product again."""
        zero = messages <= 0
        some = zero.any()
        log = np.log(np.where(zero, 1.0, messages) if some else messages)
        zeros = self._gather(zero.astype(float)) if some else np.zeros(self.states.shape)
        return log, zero, self._gather(log), zeros

    def to_factors(self, messages):
        """m_{i->a} (E, K), normalised: the product of all messages into i except that of a."""
        log, zero, total, zeros = self._logs(messages)
        weight = total[self.variable] - log
        if zeros.any() or not self.valid.all():
            weight[(zeros[self.variable] - zero > 0.5) | ~self.valid] = -np.inf
        return self._weights(weight, self.variable)[0]

    def _weights(self, log_weight, names):
        """Normalised weights and the log of their sum, row by row; a row without a state is a contradiction."""
        top = log_weight.max(-1, keepdims=True)
        refuse(np.isneginf(top[:, 0]), names)
        weight = np.exp(log_weight - top)
        total = weight.sum(-1, keepdims=True)
        return weight / total, (top + np.log(total))[:, 0]

    def answers(self, to_factor):
        """u_{a->i} (E, K), unnormalised: sum of f_a times the messages of the other variables of a."""
        out = np.zeros_like(to_factor)
        for _, edge, tables in self.groups:
            heard = self._heard(tables, edge, to_factor)
            for slot in range(len(heard)):
                answer = tables  # summed from the last axis and the first
                for message in heard[:slot:-1]:
                    answer = (answer * message).sum(-2)
                for message in heard[:slot]:
                    answer = (answer * message[:, *[None] * (answer.ndim - 2)]).sum(0)
                out[edge[:, slot], : len(answer)] = answer.T
        return out

    @staticmethod
    def _heard(tables, edge, to_factor):
        """The messages (c_slot, G) that a group of factors hears at each of its slots."""
        return [
            np.ascontiguousarray(to_factor[edges, :states].T)
            for edges, states in zip(edge.T, tables.shape)
        ]

    def sweep(self, messages):
        """One round: variables to factors, factors to variables."""
        answer = self.answers(self.to_factors(messages))
        refuse(~answer.any(-1), self.variable)
        return normalised(answer)

    def _spins(self, messages):
        """Marginals (n, K) and the logarithms of what they were divided by (n,)."""
        _, _, total, zeros = self._logs(messages)
        alive = np.where((zeros > 0.5) | ~self.states, -np.inf, total)
        return self._weights(alive, range(self.n))

    def beliefs(self, messages):
        """Marginals, a table for each factor, and the terms of variables and factors: see bethe_terms."""
        to_factor = self.to_factors(messages)
        marginals, _ = self._spins(messages)
        _, variable = self._spins(self.answers(to_factor))
        factor, tables = np.zeros(self.M), dict.fromkeys(range(self.M))
        for members, edge, joint in self.groups:
            for slot, message in enumerate(self._heard(joint, edge, to_factor)):
                joint = joint * message[:, *[None] * (joint.ndim - 2 - slot)]
            factor[members] = np.log(joint.reshape(-1, len(members)).sum(0))
            joint = joint / joint.sum(tuple(range(joint.ndim - 1)))
            tables.update(zip(members.tolist(), np.moveaxis(joint, -1, 0)))
        return marginals, tuple(tables.values()), variable, factor
