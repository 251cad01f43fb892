"""Training in context: gradient descent on the loss of the thesis, written out."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from spinlib._core import (
    RNG,
    ConvergenceWarning,
    check_device,
    check_finite,
    check_integer,
    check_real,
    check_rng,
    need,
    one_line,
)

need("torch", "spinlib.training")

import torch

__all__ = ["fit", "loss"]


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """How a training run went: the loss before every step and after the last one, and errors on test prompts.

    ``loss`` (n_steps+1,) is that of Thesis eq. (123), (n_steps,) where a function draws the batches;
    ``test_error`` holds the mean of (y_hat - y)^2 over the test prompts, Thesis eq. (124), after ``test_steps`` steps
    (both empty without test prompts); ``seconds`` is wall time;
    ``settled`` says whether the criterion of ``fit(settle=...)`` was met (None: it was not asked for).
    """

    loss: np.ndarray
    test_steps: np.ndarray
    test_error: np.ndarray
    seconds: float
    settled: bool | None = None

    __repr__ = one_line


def loss(model: torch.nn.Module, prompts: Any, *, ridge: float = 0.0) -> torch.Tensor:
    r"""The loss :math:`\frac{1}{2P}\sum_\mu(\hat y^\mu-\tilde y^\mu)^2+\frac\lambda2\lVert W\rVert^2`, a torch scalar.

    ``prompts`` has X (P, D+1, N+1) and y (P,), or u (P, D+1), query (P, D) and y (P,); the squared norm runs over
    every trainable weight. Source: Thesis eq. (123). Its ridge is half of the ``weight_decay`` that torch's Adam
    takes beside a mean squared error without the factor 1/2, as in the code published with the paper.
    Raises ValueError for a negative ridge or shapes that do not match.

    >>> from types import SimpleNamespace
    >>> from spinlib.attention import LinearAttention
    >>> from spinlib.training import loss
    >>> model = LinearAttention(1).set_weights([[0.4], [0.0]])
    >>> prompt = SimpleNamespace(X=[[[1.0, 2.0, 3.0], [1.0, 2.0, 0.0]]], y=[2.0])
    >>> print(f"{loss(model, prompt, ridge=1.0).item():.2f}")   # (3 - 2)^2 / 2 + 0.4^2 / 2
    0.58
    """
    return _loss(model, *_inputs(model, prompts), check_real("ridge", ridge, minimum=0))


def fit(
    model: torch.nn.Module,
    prompts: Any,
    *,
    ridge: float = 0.0,
    n_steps: int = 2000,
    lr: float | Callable = 1e-2,
    batch: int | None = None,
    optimizer: Callable = torch.optim.Adam,
    test: Any = None,
    test_every: int = 10,
    settle: float | None = None,
    warm: int = 0,
    device: str | torch.device | None = None,
    rng: RNG = None,
) -> History:
    r"""Train ``model`` in place on the loss of Thesis eq. (123), by default with full-batch Adam.

    ``model`` is a torch module that computes in two steps, as every trainable model of ``spinlib.attention`` does:
    ``summary(X)`` is all that it reads of prompts X (P, ...), tensors with a first axis of P, computed once and without
    any weight; ``readout(*summary)`` are its answers, of the shape of the labels y.
    ``prompts`` and ``test`` have X and y as :meth:`spinlib.icl.LinearTask.sample` returns them, or u, query and y
    as ``sample_features`` does (merged linear attention without values only). ``batch`` prompts are drawn without
    replacement for each step (None: all of them; then nothing is random and ``rng`` is not used), and ``loss`` is
    then that of the batch. ``prompts`` may also be a function: ``prompts(rng)`` draws a new batch for every step.
    ``optimizer(parameters, lr=lr)`` may be any of ``torch.optim`` that needs no closure (not LBFGS); its own weight
    decay stays off, because the ridge is in the loss. ``lr`` is a number, or a function of the step, counted from 0.

    ``warm`` is a number of first steps that leave the ridge out, in a run of its own that is not in the history. They
    are needed because zero weights of a product of matrices are a minimum of the loss with a ridge, and some starts
    would fall into it.

    ``settle`` stops the training when the test error no longer falls. Ten checks, ``test_every`` steps apart, are
    averaged at a time; where the average is not lower than the lowest one before it by this fraction, ``lr`` is
    divided by 4, and where this no longer helps at lr/64, training ends. ``n_steps`` remains the limit, and reaching
    it first gives a ConvergenceWarning. The test prompts have then chosen the moment to stop, so measure the error on
    others.

    The model trains in its own dtype (``model.float()``: half the time and memory, errors equal to about 1e-3 of
    themselves) on ``device`` ("cuda" for a GPU; None: where it is), and returns to where it was.

    Raises ValueError for bad options or shapes. A loss that stops being finite ends the run with a
    ConvergenceWarning; the weights and the history are then those of the last finite loss.

    >>> from types import SimpleNamespace
    >>> from spinlib.attention import LinearAttention
    >>> from spinlib.training import fit
    >>> model = LinearAttention(1, rng=0)
    >>> prompt = SimpleNamespace(X=[[[1.0, 2.0, 3.0], [1.0, 2.0, 0.0]]], y=[2.0])
    >>> history = fit(model, prompt, n_steps=300)
    >>> print(len(history.loss), history.loss[-1] < 1e-8)
    301 True
    """
    ridge, rate = check_real("ridge", ridge, minimum=0), partial(_rate, lr)
    n_steps, warm = check_integer("n_steps", n_steps, 1), check_integer("warm", warm, 0)
    test_every, rng = check_integer("test_every", test_every, 1), check_rng(rng)
    if not callable(optimizer) or optimizer is torch.optim.LBFGS:
        raise TypeError(
            "optimizer must be a class of torch.optim that makes one step from one gradient, such as Adam or SGD, "
            f"got {optimizer!r}; spinlib.inference.ground_state_cg needs fewer steps"
        )
    if settle is not None:
        settle = check_real("settle", settle, above=0)
        if test is None:
            raise ValueError(
                "settle needs test prompts, got test=None; give fresh ones, LinearTask(D, N).sample(2000)"
            )
    parameters = _parameters(model)
    home = parameters[0].device
    device = home if device is None else check_device(device)
    draw = _batches(model, prompts, batch, rng, device)
    unseen = None if test is None else _inputs(model, test, device)
    if warm:
        fit(
            model,
            prompts,
            n_steps=warm,
            lr=lr,
            batch=batch,
            optimizer=optimizer,
            device=device,
            rng=rng,
        )
    model.to(device)
    stepper = optimizer(parameters, lr=rate(0))
    losses, test_steps, errors, quarters = [], [], [], 0
    best: float = np.inf
    settled = None if settle is None else False
    begin = time.perf_counter()
    good = [p.detach().clone() for p in parameters]
    for step in range(
        n_steps + (not callable(prompts))
    ):  # a function draws no prompts for a step that is not made
        value = _loss(model, *draw(), ridge)  # type: ignore[call-arg]
        if not torch.isfinite(value):
            for p, old in zip(parameters, good):
                p.data.copy_(old)
            warnings.warn(
                f"training did not converge: the loss left the finite numbers after {step} steps with lr "
                f"{rate(step):g}; lower lr",
                ConvergenceWarning,
                stacklevel=2,
            )
            break
        losses.append(value.item())
        if unseen is not None and (step % test_every == 0 or step == n_steps):
            test_steps.append(step)
            with torch.no_grad():
                errors.append(_squares(model, *unseen).mean().item())
            if settle is not None and len(errors) % 10 == 0:
                now_at = np.mean(errors[-10:])
                if now_at > (1 - settle) * best:
                    if quarters == 3:
                        settled = True
                        break
                    quarters += 1
                    for group in stepper.param_groups:
                        group["lr"] /= 4
                best = min(best, float(now_at))
        if step < n_steps:
            good = [p.detach().clone() for p in parameters]
            for group in stepper.param_groups if callable(lr) else ():
                group["lr"] = rate(step) / 4**quarters
            stepper.zero_grad()
            value.backward()
            stepper.step()
    else:
        if settled is False:
            warnings.warn(
                f"training did not converge: the test error had not settled to {settle:g} after {n_steps} "
                "steps; raise n_steps",
                ConvergenceWarning,
                stacklevel=2,
            )
    seconds = time.perf_counter() - begin
    model.to(home)
    return History(
        np.array(losses), np.array(test_steps, dtype=int), np.array(errors), seconds, settled
    )


def _rate(lr, step: int) -> float:
    """The learning rate of a step, checked."""
    if callable(lr):
        return check_real(f"lr({step})", lr(step), above=0)
    return check_real("lr", lr, above=0)


def _batches(model, prompts, batch, rng, device) -> Callable:
    """What the model reads at a step, and the labels: of all prompts, of some, or of new ones."""
    if callable(prompts):
        if batch is not None:
            raise ValueError(
                f"batch must be None where prompts is a function, got {batch!r}; the function draws the "
                "batch"
            )
        return lambda: _inputs(model, prompts(rng), device)
    inputs, y = _inputs(model, prompts, device)
    if batch is None:
        return lambda: (inputs, y)
    batch = check_integer("batch", batch, 1)
    if batch > len(y):
        raise ValueError(
            f"batch must be at most the number of prompts {len(y)}, got {batch}; "
            "use batch=None for all of them"
        )

    def some():
        chosen = torch.from_numpy(rng.choice(len(y), batch, replace=False)).to(device)
        return tuple(tensor[chosen] for tensor in inputs), y[chosen]

    return some


def _loss(model, inputs, y, ridge):
    """Thesis eq. (123): half the mean squared error, plus half the ridge times the squared norm of all weights."""
    half = _squares(model, inputs, y).mean() / 2
    return half + ridge / 2 * sum((p * p).sum() for p in model.parameters()) if ridge else half


def _squares(model, inputs, y):
    y_hat = model.readout(*inputs)
    if y_hat.shape != y.shape:
        raise ValueError(
            f"y must have shape {tuple(y_hat.shape)}, one label an answer, got {tuple(y.shape)}"
        )
    return (y_hat - y) ** 2


def _parameters(model) -> list[torch.nn.Parameter]:
    if (
        not isinstance(model, torch.nn.Module)
        or not all(hasattr(model, name) for name in ("summary", "readout"))
        or not list(model.parameters())
    ):
        raise TypeError(
            "model must be a torch module with parameters, summary(X) and readout(*summary), got "
            f"{type(model).__name__}; use spinlib.attention.LinearAttention(D)"
        )
    return list(model.parameters())


def _inputs(model, prompts, device=None) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
    """What the model reads of the prompts at every step, computed once, and the labels."""
    dtype = _parameters(model)[0].dtype
    whole = hasattr(prompts, "X")
    if missing := [
        name for name in ("y", *(() if whole else ("u", "query"))) if not hasattr(prompts, name)
    ]:
        raise TypeError(
            f"prompts must have X and y (or u, query and y), got {type(prompts).__name__} without "
            f"{' and '.join(missing)}; use spinlib.icl.LinearTask(D, N).sample(P)"
        )
    if not whole and not hasattr(model, "features"):
        raise ValueError(
            "features (u, query, y) suffice only for linear attention with value=False; "
            "give this model prompts with X, from LinearTask.sample"
        )
    inputs = model.summary(prompts.X) if whole else model.features(prompts.u, prompts.query)
    y = torch.tensor(check_finite("y", prompts.y), dtype=dtype)
    if y.shape[:1] != (len(inputs[0]),):
        raise ValueError(
            f"y must have shape ({len(inputs[0])},), one label a prompt, got {tuple(y.shape)}"
        )
    return tuple(tensor.to(device) for tensor in inputs), y.to(device)
