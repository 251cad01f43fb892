"""Every public name of spinlib and its home: a name that moves, comes or goes is one changed row here."""

FACES = {
    "spinlib": ("ConvergenceWarning"),
    "spinlib.attention": (
        "architecture Attention attention_weights Block causal_mask embed InContextTransformer "
        "LinearAttention retrieve rotary sinusoidal_positions SoftmaxAttention"
    ),
    "spinlib.descent": ("flow trajectory"),
    "spinlib.factor_graph": (
        "Beliefs bethe_terms bp enumerate_states FactorGraph ising pspin_ising"
    ),
    "spinlib.icl": (
        "averages best_weights Blocks contrast controlled_error Features features in_context_ridge "
        "linear_attention LinearTask pool_posterior population_error PromptBlocks Prompts "
        "to_spin_glass training_loss weights"
    ),
    "spinlib.inference": (
        "amp ground_state ground_state_cg Marginals relaxed_bp sample_amp spike_amp SpikeMarginals "
        "vamp"
    ),
    "spinlib.landscape": ("block_values hessian_spectrum"),
    "spinlib.plotting": ("COLOR style weight_map"),
    "spinlib.pspin": ("OneRSB PSpin two_replica_potential"),
    "spinlib.pspin.amp": ("amp relaxed_bp spherical_variance state_evolution"),
    "spinlib.pspin.dynamics": ("equilibrium_correlation quench"),
    "spinlib.pspin.simulation": (
        "Couplings descend gaussian_couplings langevin overlap parallel_tempering planted_couplings "
        "random_spins"
    ),
    "spinlib.pspin.two_spin": ("solve_two_spin"),
    "spinlib.random_matrix": ("mp_density mp_edges mp_moment wishart"),
    "spinlib.reproduce": ("about load names prose run save"),
    "spinlib.spin_glass": ("gaussian_glass shuffled SpinGlass"),
    "spinlib.symbolic": (
        "beta difference ENTROPY_CONSTANT J lam n one_rsb_free_energy p q q0 q1 rs_free_energy x"
    ),
    "spinlib.symbolic.parisi": ("parisi_matrix parisi_spectrum"),
    "spinlib.theory": (
        "bayes_error best_ridge block_moments depth_error hessian_density "
        "learning_curve pool_errors prompt_moment prompt_teacher "
        "ridge_equivalent RidgeEquivalent shuffled_edge shuffled_error spectrum_teacher spike_evolution "
        "spike_free_energy spike_thresholds state_evolution Teacher training_curve"
    ),
    "spinlib.training": ("fit loss"),
}
