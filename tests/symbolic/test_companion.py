"""The formulas in the cells of the companion's chapter 3 are those that the proofs derive."""

import numpy as np
import proof_cavity as rs
import proof_one_rsb as rsb
import proof_replica
import pytest
import sympy as sp
from pages import run_cells

from spinlib import symbolic as sy
from spinlib.pspin import PSpin
from identity import equal
from spinlib.symbolic import beta, lam, p, q, q0, q1, x

PAGE = "source/chapter_3"


def test_one_replica_is_the_action_without_overlaps():
    one = proof_replica.replica_action(sp.Matrix([[1]]), sp.Matrix([[0]]))
    cell = run_cells(PAGE, "exponent = sy.beta", np=np, sp=sp, sy=sy)
    assert cell["exponent"] / 2 == sp.expand(one - one.subs(beta, 0)) == beta**2 / 4


@pytest.mark.slow
def test_bethe_terms_of_the_cavity_method():
    cell = run_cells(PAGE, "# (57), E A^2", sp=sp, sy=sy, PSpin=PSpin)
    bare = {rs.log_Z_message: 0}  # it drops out
    assert equal(cell["field"], rs.dense_equations()["field_variance"])
    assert equal(cell["factors"], rs.factor_term())
    assert equal(cell["nodes"], rs.node_term().subs(bare))
    assert equal(cell["edges"], rs.edge_term().subs(bare).subs(lam, rs.multiplier()))
    assert equal(cell["printed"], rs.bethe_free_energy(printed=True))
    assert equal(cell["printed"] + cell["dropped"], rs.bethe_free_energy())
    at = {p: 4, q: sp.Rational(2, 5)}
    assert rs.saddle_equation().subs(at).subs(beta, cell["on_saddle"][beta].subs(at)) == 0


def test_closed_equations():
    cell = run_cells(PAGE, "def equations", model=PSpin(3), T=0.5)
    c = p * beta**2 / 2
    found = cell["equations"](q0, q1, x, lam, c.subs(p, 3))
    derived = [*rsb.closed_equations().values(), rsb.closed_equations(multiplied=False)["q0"]]
    assert all(equal(a, b.subs(p, 3)) for a, b in zip(found, derived, strict=True))
    at = {p: 3, beta: 2, q1: cell["s"].q}
    assert cell["lam"] == pytest.approx(float(rsb.multiplier().subs(at)), rel=1e-12)


def test_messages_of_a_coupling():
    cell = run_cells(PAGE, "def log_message", sp=sp, sy=sy)
    spins = [sp.symbols(f"h_a{k} u_a{k} w_a{k}") for k in "jk"]
    replicas = cell["replicas"]
    derived = rsb.weak_coupling_log(spins, replicas).subs(sy.J, sp.Symbol("J_a"))
    assert sp.expand(cell["log_message"]("a") - derived) == 0
    assert cell["hats"](derived) == rsb.replica_message(derived, replicas)[1:]


@pytest.mark.slow
def test_bethe_terms_with_one_step_of_breaking():
    names = {"sp": sp, "sy": sy, "T": 0.5, "s": PSpin(3).solve(0.5)}
    cell = run_cells(PAGE, "def dropped(r, D0)", **names)
    bare = {rs.log_Z_message: 0}
    assert equal(cell["factors"], rsb.factor_term())
    assert equal(cell["nodes"], rsb.node_term().subs(bare))
    assert equal(cell["short"], rsb.bethe_free_energy(printed=True))
    whole = (cell["short"] + cell["off_saddle"] - rsb.bethe_free_energy()).subs(p, 3)
    assert equal(whole, 0)
    average, D = rsb.graph_averages(), cell["D"]
    on = {"field": q0 / D**2, "D0": (q1 - q0) / ((1 - q1) * D)}  # where both saddle equations hold
    assert all(
        equal(saddle, average[name] - on[name])
        for saddle, name in zip(rsb.saddle_equations(), on, strict=True)
    )
    assert equal(cell["on_saddle"], cell["dropped"](on["field"], on["D0"]))
    assert cell["on_saddle"].subs({q0: 0.2, q1: 0.7, x: 0.3}) == pytest.approx(1)
