// The excerpts of the search show formulas as signs, not as TeX: a short one in plain letters, a displayed one as dots.
(() => {
  const GREEK = Object.fromEntries(('alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ '
    + 'sigma σ tau τ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω infty ∞ to → sum ∑ int ∫ '
    + 'partial ∂ cdot · times × le ≤ ge ≥ ll ≪ gg ≫ ne ≠ approx ≈ simeq ≃ sim ∼ propto ∝ pm ± in ∈ top ⊤ ell ℓ langle ⟨ rangle ⟩ lVert ‖ rVert ‖ sqrt √ '
    + 'dots … ldots … cdots … otimes ⊗ prime ′ star ⋆ ast ∗').split(' ').reduce((pairs, word, k, all) => (k % 2 ? pairs : [...pairs, [word, all[k + 1]]]), []));
  const plain = tex => tex.replace(/\\[()[\]]/g, '').replace(/&amp;/g, '').replace(/\\d?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, '$1/$2')
    .replace(/\\d?frac\s*(\w)\s*(\w)/g, '$1/$2').replace(/\\(?:mathrm|mathbf|mathbb|mathcal|text|bar|tilde|hat|left|right|operatorname|[,;:!|])/g, '')
    .replace(/\\([A-Za-z]+)\s*/g, (_, name) => GREEK[name] ?? name).replace(/[\\{}$]/g, '');
  window.plainFormulas = html => html.replace(/<(span|div) class="math notranslate nohighlight"[^>]*>(.*?)<\/\1>/gs,
    (_, tag, tex) => (tag === 'div' ? ' … ' : plain(tex)));
  addEventListener('DOMContentLoaded', () => {
    if (typeof Search === 'undefined' || !Search.htmlToText) return;
    const before = Search.htmlToText;
    Search.htmlToText = (html, ...rest) => before(window.plainFormulas(html), ...rest);
  });
})();
