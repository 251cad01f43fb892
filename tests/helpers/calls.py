"""A small good call of every public callable of spinlib: what the fuzz test spoils, one argument at a time."""

import numpy as np
from matplotlib.figure import Figure

from spinlib import (
    attention,
    descent,
    factor_graph,
    icl,
    inference,
    landscape,
    plotting,
    pspin,
    random_matrix,
    reproduce,
    spin_glass,
    theory,
    training,
)
from spinlib.pspin import amp, dynamics, simulation, two_spin


def draw(*shape):
    return np.random.default_rng([40, *shape]).standard_normal(shape)


TASK, COUPLINGS, MODEL = (
    icl.LinearTask(2, 3),
    simulation.gaussian_couplings(5, rng=0),
    pspin.PSpin(3),
)
PROMPTS, FEATURES = TASK.sample(12, rng=1), TASK.sample_features(12, rng=1)
GLASS, EASY = (
    icl.to_spin_glass(FEATURES, 0.5),
    spin_glass.gaussian_glass(4, coupling=0.3, field=1.0, rng=2),
)
SPINS = simulation.random_spins(5, rng=3)
GRAPH = factor_graph.ising([[0.0, 0.5], [0.5, 0.0]], 0.1)
BELIEFS = factor_graph.bp(GRAPH)
TEACHER = theory.prompt_teacher(2, 3)
OWN, BLOCK = attention.Attention(4, 2, rng=0), attention.Block(4, 2, 3, rng=0)
STORED = {name.removeprefix("own."): W.numpy() for name, W in BLOCK.state_dict().items()}
LINEAR, SOFT = attention.LinearAttention(2, rng=0), attention.SoftmaxAttention(2, 2, rng=0)
READER = attention.InContextTransformer(2, width=4, layers=1, rng=0)
NET = {  # named as in spinlib/data
    name.split(".")[-1] + "_0" * name.startswith("layers.0"): W.numpy()
    for name, W in READER.state_dict().items()
}
PAIRS = TASK.sample_pairs(3, rng=0)[0]

CALLS = {
    "attention.architecture": (attention.architecture, dict(model="SA", D=2, H=2, heads=2, rng=0)),
    "attention.Attention": (attention.Attention, dict(D=4, heads=2, rng=0)),
    "attention.Attention.attention": (
        OWN.attention,
        dict(X=draw(3, 4), memory=draw(2, 4), mask=np.ones((3, 2), bool), rotate=False),
    ),
    "attention.Attention.forward": (
        OWN.forward,
        dict(X=draw(3, 4), memory=draw(2, 4), mask=np.ones((3, 2), bool), rotate=False),
    ),
    "attention.attention_weights": (
        attention.attention_weights,
        dict(Q=draw(3, 2), K=draw(3, 2), mask=np.eye(3, dtype=bool)),
    ),
    "attention.Block": (
        attention.Block,
        dict(D=4, heads=2, hidden=3, cross=True, norm=True, rng=0),
    ),
    "attention.Block.forward": (
        BLOCK.forward,
        dict(X=draw(3, 4), memory=None, mask=np.eye(3, dtype=bool), rotate=True),
    ),
    "attention.Block.load": (
        lambda W_1, b_1: attention.Block.load(STORED | {"W_1": W_1, "b_1": b_1}),
        dict(W_1=draw(4, 3), b_1=draw(3)),
    ),
    "attention.causal_mask": (attention.causal_mask, dict(N=3)),
    "attention.embed": (
        attention.embed,
        dict(words=np.array([0, 2]), table=draw(3, 4), positions=draw(2, 4)),
    ),
    "attention.InContextTransformer": (
        attention.InContextTransformer,
        dict(D=2, width=4, layers=1, heads=2, rng=0),
    ),
    "attention.InContextTransformer.forward": (READER.forward, dict(X=PAIRS)),
    "attention.InContextTransformer.load": (
        lambda embed, out: attention.InContextTransformer.load(NET | {"embed": embed, "out": out}),
        dict(embed=draw(4, 4), out=draw(4)),
    ),
    "attention.LinearAttention": (
        attention.LinearAttention,
        dict(D=2, value=True, factored=False, heads=2, output=True, rng=0),
    ),
    "attention.LinearAttention.forward": (LINEAR.forward, dict(X=PROMPTS.X)),
    "attention.LinearAttention.features": (
        LINEAR.features,
        dict(u=FEATURES.u, query=FEATURES.query),
    ),
    "attention.LinearAttention.set_weights": (
        lambda W: attention.LinearAttention(2, rng=0).set_weights(W),
        dict(W=draw(3, 2)),
    ),
    "attention.retrieve": (attention.retrieve, dict(patterns=draw(3, 4), x=draw(4), beta=1.0)),
    "attention.rotary": (attention.rotary, dict(X=draw(3, 4), positions=np.arange(3), base=100.0)),
    "attention.sinusoidal_positions": (attention.sinusoidal_positions, dict(N=3, D=4, base=100.0)),
    "attention.SoftmaxAttention": (attention.SoftmaxAttention, dict(D=2, H=2, rng=0)),
    "attention.SoftmaxAttention.forward": (SOFT.forward, dict(X=PROMPTS.X)),
    "descent.flow": (descent.flow, dict(glass=EASY, times=np.array([0.0, 1.0]), start=draw(4))),
    "descent.trajectory": (
        descent.trajectory,
        dict(glass=EASY, start=draw(4), n_steps=3, lr=0.01, adam=True, every=1, eps=1e-8),
    ),
    "factor_graph.bethe_terms": (
        factor_graph.bethe_terms,
        dict(graph=GRAPH, messages=BELIEFS.messages),
    ),
    "factor_graph.bp": (
        factor_graph.bp,
        dict(graph=GRAPH, damping=0.1, tol=1e-8, max_iter=50, start="random", rng=0),
    ),
    "factor_graph.enumerate_states": (factor_graph.enumerate_states, dict(graph=GRAPH)),
    "factor_graph.FactorGraph": (
        factor_graph.FactorGraph,
        dict(cards=(2, 2), factors=(((0, 1), np.ones((2, 2))),)),
    ),
    "factor_graph.FactorGraph.with_factor": (
        GRAPH.with_factor,
        dict(scope=(0,), table=np.array([1.0, 2.0])),
    ),
    "factor_graph.ising": (
        factor_graph.ising,
        dict(J=np.array([[0.0, 0.5], [0.5, 0.0]]), h=np.array([0.1, 0.2]), beta=1.0),
    ),
    "factor_graph.pspin_ising": (
        factor_graph.pspin_ising,
        dict(
            n_spins=3,
            scopes=np.array([[0, 1, 2]]),
            J=np.array([0.5]),
            h=np.array([0.1, 0.0, 0.2]),
            beta=1.0,
        ),
    ),
    "icl.averages": (icl.averages, dict(prompts=FEATURES)),
    "icl.Blocks": (
        icl.Blocks,
        dict(prompts=FEATURES, dtype="float32", device="cpu", jobs=1, keep=True),
    ),
    "icl.Blocks.sums": (icl.Blocks(FEATURES).sums, dict(kernel=lambda block: (block.y.sum(),))),
    "icl.PromptBlocks.held": (
        TASK.blocks(3, size=2).held,
        dict(dtype="float32", device="cpu", jobs=1, keep=True),
    ),
    "icl.best_weights": (icl.best_weights, dict(D=2, N=3, ridge=0.1, noise=0.1)),
    "icl.contrast": (icl.contrast, dict(W=draw(3, 2))),
    "icl.controlled_error": (
        icl.controlled_error,
        dict(y_hat=draw(12), prompts=PROMPTS, noise=0.1),
    ),
    "icl.Features": (icl.Features, dict(u=FEATURES.u, query=FEATURES.query, y=FEATURES.y)),
    "icl.features": (icl.features, dict(prompts=PROMPTS)),
    "icl.in_context_ridge": (icl.in_context_ridge, dict(X=PROMPTS.X, ridge=0.1)),
    "icl.LinearTask": (
        icl.LinearTask,
        dict(D=2, N=3, corr=0.3, noise=0.1, tasks=draw(4, 2)),
    ),
    "icl.LinearTask(pool)": (icl.LinearTask, dict(D=2, N=3, corr=np.eye(4), noise=0.1)),
    "icl.LinearTask.blocks": (TASK.blocks, dict(P=3, size=2, rng=0)),
    "icl.LinearTask.sample": (TASK.sample, dict(P=3, rng=0)),
    "icl.LinearTask.sample_features": (TASK.sample_features, dict(P=3, rng=0)),
    "icl.LinearTask.sample_pairs": (TASK.sample_pairs, dict(P=3, rng=0)),
    "icl.pool_posterior": (icl.pool_posterior, dict(pairs=PAIRS, pool=draw(4, 2), noise=0.5)),
    "icl.population_error": (icl.population_error, dict(W=draw(3, 2), N=3, noise=0.1, corr=0.2)),
    "icl.linear_attention": (icl.linear_attention, dict(W=draw(3, 2), X=PROMPTS.X)),
    "icl.Prompts": (icl.Prompts, dict(X=PROMPTS.X, y=PROMPTS.y, w=PROMPTS.w)),
    "icl.to_spin_glass": (icl.to_spin_glass, dict(prompts=PROMPTS, ridge=0.1)),
    "icl.training_loss": (icl.training_loss, dict(W=draw(3, 2), prompts=FEATURES, ridge=0.1)),
    "icl.weights": (icl.weights, dict(mean=draw(6), D=2)),
    "inference.amp": (
        inference.amp,
        dict(glass=EASY, beta=1.0, onsager=True, damping=0.1, tol=1e-8, max_iter=100),
    ),
    "inference.ground_state": (inference.ground_state, dict(glass=GLASS, beta=1.0, variances=True)),
    "inference.ground_state_cg": (
        inference.ground_state_cg,
        dict(prompts=FEATURES, ridge=0.5, tol=1e-8, max_iter=100, start=None, callback=None),
    ),
    "inference.relaxed_bp": (
        inference.relaxed_bp,
        dict(glass=EASY, beta=1.0, damping=0.1, tol=1e-8, max_iter=100, start=None, callback=None),
    ),
    "inference.sample_amp": (
        inference.sample_amp,
        dict(prompts=FEATURES, ridge=0.5, beta=1.0, damping=0.1, tol=1e-8, max_iter=300)
        | dict(start=None, callback=None),
    ),
    "inference.spike_amp": (
        inference.spike_amp,
        dict(prompts=FEATURES, share=0.3, size=0.5, damping=0.3, tol=1e-6, max_iter=100)
        | dict(start=np.full((3, 2), 0.1), callback=None),
    ),
    "inference.vamp": (
        inference.vamp,
        dict(glass=GLASS, ridge=0.5, beta=1.0, damping=0.1, tol=1e-8, max_iter=200)
        | dict(start=None, callback=None),
    ),
    "landscape.block_values": (landscape.block_values, dict(glass=GLASS)),
    "landscape.hessian_spectrum": (landscape.hessian_spectrum, dict(prompts=FEATURES, ridge=0.1)),
    "plotting.weight_map": (
        lambda W, limit: plotting.weight_map(Figure().subplots(), W, limit=limit),
        dict(W=draw(3, 2), limit=1.0),
    ),
    "pspin.PSpin": (pspin.PSpin, dict(p=3)),
    "pspin.PSpin.free_energy": (
        MODEL.free_energy,
        dict(q=np.array([0.5, 0.8]), T=0.4, x=0.5, q0=0.1),
    ),
    "pspin.PSpin.solve": (MODEL.solve, dict(T=0.4)),
    "pspin.PSpin.x_threshold": (MODEL.x_threshold, dict(T=0.4)),
    "pspin.PSpin.rs_free_energy": (MODEL.rs_free_energy, dict(q=np.array([0.2, 0.5]), T=0.6)),
    "pspin.PSpin.rs_overlaps": (MODEL.rs_overlaps, dict(T=0.4)),
    "pspin.PSpin.complexity_at_energy": (MODEL.complexity_at_energy, dict(e=-1.16)),
    "pspin.PSpin.state_overlap": (MODEL.state_overlap, dict(T=0.4, x=0.9)),
    "pspin.PSpin.complexity": (MODEL.complexity, dict(T=0.6, x=1.0)),
    "pspin.two_replica_potential": (
        pspin.two_replica_potential,
        dict(model=MODEL, q=np.array([0.2, 0.5]), T=0.6),
    ),
    "pspin.amp.amp": (
        amp.amp,
        dict(couplings=COUPLINGS, m=draw(5), T=0.8, previous=draw(5), onsager=True, n_steps=3),
    ),
    "pspin.amp.relaxed_bp": (
        amp.relaxed_bp,
        dict(
            couplings=simulation.gaussian_couplings(5, distinct=True, rng=0),
            T=0.8,
            m=draw(5),
            n_steps=2,
        ),
    ),
    "pspin.amp.spherical_variance": (
        amp.spherical_variance,
        dict(field_variance=np.array([0.0, 2.0])),
    ),
    "pspin.amp.state_evolution": (
        amp.state_evolution,
        dict(p=3, q=0.8, T=0.5, overlap=0.5, n_steps=3),
    ),
    "pspin.dynamics.equilibrium_correlation": (
        dynamics.equilibrium_correlation,
        dict(model=MODEL, T=0.7, times=np.array([0.0, 1.0])),
    ),
    "pspin.dynamics.quench": (dynamics.quench, dict(model=MODEL, T=0.1, t_max=1.0, step=0.1)),
    "pspin.simulation.Couplings": (simulation.Couplings, dict(tensor=COUPLINGS.tensor)),
    "pspin.simulation.Couplings.energy": (COUPLINGS.energy, dict(s=SPINS)),
    "pspin.simulation.Couplings.gradient": (COUPLINGS.gradient, dict(s=SPINS)),
    "pspin.simulation.descend": (
        simulation.descend,
        dict(couplings=COUPLINGS, s=SPINS, step=0.1, tol=1e-6, max_iter=500),
    ),
    "pspin.simulation.gaussian_couplings": (
        simulation.gaussian_couplings,
        dict(n_spins=5, p=3, distinct=True, rng=0),
    ),
    "pspin.simulation.langevin": (
        simulation.langevin,
        dict(couplings=COUPLINGS, s=SPINS, T=0.5, dt=0.05, n_steps=4, every=2, rng=0),
    ),
    "pspin.simulation.overlap": (simulation.overlap, dict(s=SPINS, t=SPINS)),
    "pspin.simulation.parallel_tempering": (
        simulation.parallel_tempering,
        dict(
            couplings=COUPLINGS,
            T=np.array([0.5, 0.8]),
            n_sweeps=2,
            n_copies=2,
            n_leapfrog=2,
            eps=0.3,
            rng=0,
        ),
    ),
    "pspin.simulation.planted_couplings": (
        simulation.planted_couplings,
        dict(n_spins=5, p=3, T=0.5, rng=0),
    ),
    "pspin.simulation.random_spins": (simulation.random_spins, dict(n_spins=5, shape=(2,), rng=0)),
    "pspin.two_spin.solve_two_spin": (
        two_spin.solve_two_spin,
        dict(eigenvalues=draw(5), T=0.5, n_nodes=20),
    ),
    "reproduce.run": (
        reproduce.run,
        dict(figure="fig8", full=False, rng=0, progress=False, jobs=1, device="cpu"),
    ),
    "random_matrix.mp_density": (
        random_matrix.mp_density,
        dict(x=np.array([0.5, 1.0]), ratio=0.5, variance=1.0),
    ),
    "random_matrix.mp_edges": (random_matrix.mp_edges, dict(ratio=0.5, variance=1.0)),
    "random_matrix.mp_moment": (random_matrix.mp_moment, dict(k=2, ratio=0.5, variance=1.0)),
    "random_matrix.wishart": (random_matrix.wishart, dict(n=3, P=4, rng=0)),
    "spin_glass.gaussian_glass": (
        spin_glass.gaussian_glass,
        dict(n=4, coupling=0.5, field=0.5, stiffness=2.5, rng=0),
    ),
    "spin_glass.shuffled": (
        spin_glass.shuffled,
        dict(glass=EASY, groups=np.array([0, 0, 1, 1]), rng=0),
    ),
    "spin_glass.SpinGlass": (spin_glass.SpinGlass, dict(J=EASY.J, h=EASY.h, lam=EASY.lam)),
    "spin_glass.SpinGlass.energy": (EASY.energy, dict(s=draw(4))),
    "spin_glass.SpinGlass.gradient": (EASY.gradient, dict(s=draw(4))),
    "theory.bayes_error": (theory.bayes_error, dict(D=3, N=4, noise=0.3)),
    "theory.best_ridge": (theory.best_ridge, dict(teacher=theory.prompt_teacher(2, 3, 0.5), P=9)),
    "theory.block_moments": (theory.block_moments, dict(D=2, N=3, P=4)),
    "theory.depth_error": (theory.depth_error, dict(L=2, D=3, N=6, noise=0.2)),
    "theory.hessian_density": (
        theory.hessian_density,
        dict(x=np.array([0.5, 1.0]), teacher=TEACHER, P=9, norms=np.abs(draw(4, 2))),
    ),
    "theory.learning_curve": (theory.learning_curve, dict(D=2, N=3, P=9, ridge=0.1, noise=0.2)),
    "theory.pool_errors": (
        theory.pool_errors,
        dict(tasks=draw(3, 2), N=3, P=9, ridge=0.1, noise=0.1),
    ),
    "theory.prompt_moment": (theory.prompt_moment, dict(D=2, N=3, first=2, second=0, label=2)),
    "theory.prompt_teacher": (theory.prompt_teacher, dict(D=2, N=3, noise=0.2)),
    "theory.ridge_equivalent": (theory.ridge_equivalent, dict(teacher=TEACHER, P=9, ridge=0.1)),
    "theory.shuffled_edge": (theory.shuffled_edge, dict(D=3, N=4, P=20)),
    "theory.shuffled_error": (theory.shuffled_error, dict(D=3, N=4, P=20, ridge=2.5, coupling=0.5)),
    "theory.spectrum_teacher": (
        theory.spectrum_teacher,
        dict(
            variances=np.array([1.0, 0.5]),
            N=3,
            noise=0.1,
            fourth=np.array([3.0, 3.0]),
            count=np.array([1, 2]),
        ),
    ),
    "theory.spike_evolution": (
        theory.spike_evolution,
        dict(D=10, N=50, P=60, noise=0.1, informed=True, n_steps=3),
    ),
    "theory.spike_free_energy": (
        theory.spike_free_energy,
        dict(error=np.array([0.5, 0.9]), D=10, N=50, P=60.0, noise=0.1),
    ),
    "theory.spike_thresholds": (theory.spike_thresholds, dict(D=10, N=50, noise=0.1)),
    "theory.state_evolution": (
        theory.state_evolution,
        dict(teacher=TEACHER, P=9, ridge=0.1, n_steps=3),
    ),
    "theory.Teacher": (
        theory.Teacher,
        dict(
            variance=np.array([1.0, 0.5]),
            signal=np.array([0.2, 0.1]),
            unexplained=0.1,
            count=np.array([1, 2]),
        ),
    ),
    "theory.training_curve": (
        theory.training_curve,
        dict(D=2, N=3, P=20, times=np.array([0.0, 1.0]), noise=0.1, start=0.1),
    ),
    "training.fit": (
        lambda prompts, **said: training.fit(attention.LinearAttention(2, rng=0), prompts, **said),
        dict(
            prompts=PROMPTS,
            ridge=0.1,
            n_steps=2,
            lr=0.01,
            batch=4,
            test=PROMPTS,
            test_every=1,
            settle=9.0,
            warm=1,
            device="cpu",
            rng=0,
        ),
    ),
    "training.loss": (training.loss, dict(model=LINEAR, prompts=PROMPTS, ridge=0.1)),
}
