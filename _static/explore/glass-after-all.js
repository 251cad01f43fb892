// A glass after all: the free energy of weights that are mostly zero. The number of prompts is in the reader's hand.
globalThis.explore ??= { figures: {}, physics: {} };
explore.physics['glass-after-all'] = {
  // spinlib.theory's spike_evolution, spike_free_energy and spike_thresholds for prompts without noise. t: signal over noise; u: its root.
  law(D, N) {
    const c = 1 / (1 + (D + 1) / N), floor = 1 - c, ln = Math.log(D - 1), STEP = 0.04, { log, exp, log1p, sqrt, abs } = Math;
    const nodes = Array.from({ length: 601 }, (_, k) => -12 + STEP * k), weights = nodes.map(g => exp(-g * g / 2) * STEP / sqrt(2 * Math.PI));
    const missed = t => { const u = sqrt(t); return nodes.reduce((sum, g, k) => sum + weights[k] / (1 + exp(t / 2 + u * g - ln)), 0); };
    const prompts = u => D / c * u * u * (floor + c * missed(u * u));            // P where u is a fixed point
    const error = (u, P) => c * P / (D * u * u);
    const sweep = (E, P) => floor + c * missed(c * P / (D * E));
    const freeEnergy = (E, P, stride = 1) => {                                   // stride 3 is enough for a drawing
      const t = c * P / (D * E), u = sqrt(t);
      let left = 0;
      for (let k = 0; k < 601; k += stride) {
        const odds = t / 2 + u * nodes[k] - ln, up = odds > 0 ? odds + log1p(exp(-odds)) : log1p(exp(odds));
        left += weights[k] * (up - odds + up * exp(-odds));
      }
      return D * (D * log(D) - (D - 1) * log(D - 1) - stride * left) + P / 2 * (log(E / floor) + floor / E - 1);
    };
    const root = (f, a, b) => {
      const sign = Math.sign(f(a));
      for (let m = (a + b) / 2; ; m = (a + b) / 2) { if (m === a || m === b) return m; if (Math.sign(f(m)) === sign) a = m; else b = m; }
    };
    const top = (f, a, b) => {                                                    // golden section
      const g = (sqrt(5) - 1) / 2;
      let x = b - g * (b - a), y = a + g * (b - a), fx = f(x), fy = f(y);
      while (b - a > 1e-8) if (fx < fy) { a = x; x = y; fx = fy; fy = f(y = a + g * (b - a)); } else { b = y; y = x; fy = fx; fx = f(x = b - g * (b - a)); }
      return x;
    };
    // P_d, P_K, P_alg (spinodal, information, algorithm), and the places u of top and foot; null where P rises with u.
    const thresholds = () => {
      const end = sqrt(8 * (log(D) + Math.max(0, log(c / floor)) + 3)), us = Array.from({ length: 400 }, (_, k) => (0.01 + 0.99 * k / 399) * end), Ps = us.map(prompts);
      const high = Ps.findIndex((P, k) => Ps[k + 1] < P);
      if (high < 0) return null;
      const low = Ps.reduce((best, P, k) => (k > high && P < Ps[best] ? k : best), high);
      const at = top(prompts, us[Math.max(0, high - 1)], us[high + 1]), behind = top(u => -prompts(u), us[low - 1], us[Math.min(399, low + 1)]), found = { spinodal: prompts(behind), algorithm: prompts(at), top: at, foot: behind };
      const gap = P => { const [nothing, , all] = fixedPoints(P, found); return freeEnergy(all, P) - freeEnergy(nothing, P); };
      let [a, b] = [1e-6, 1 - 1e-6].map(s => found.spinodal + s * (found.algorithm - found.spinodal)), fa = gap(a), fb = gap(b);
      for (let k = 0; k < 60 && abs(b - a) > 1e-11 * b; k++) {                    // false position
        const m = (a * fb - b * fa) / (fb - fa), fm = gap(m);
        if (Math.sign(fm) !== Math.sign(fb)) { a = b; fa = fb; } else fa /= 2;
        b = m; fb = fm;
        if (fm === 0) break;
      }
      return { ...found, information: b };
    };
    // Errors of the fixed points at P: nothing found, the wall, all found; or the one there is.
    const fixedPoints = (P, found) => {
      const f = u => prompts(u) - P, far = 1.001 * sqrt(P * c / D / floor);
      const between = !found ? [[1e-3, far]] : P <= found.spinodal ? [[1e-3, found.top]] : P >= found.algorithm ? [[found.foot, far]] : [[1e-3, found.top], [found.top, found.foot], [found.foot, far]];
      return between.map(([a, b]) => error(root(f, a, b), P));
    };
    return { c, floor, missed, prompts, error, sweep, freeEnergy, thresholds, fixedPoints };
  },
};
explore.figures['glass-after-all'] = {
  state: { P: [110, 20, 240], N: [800, 200, 4000], start: ['nothing', 'right'], law: ['', 'shown'] },
  draw({ el, state, save }) {
    const { set, html, svg, words, scale, path, tidy, ticks, axes, sentence, motion, handle, slider, button, calm } = explore.kit;
    const D = 40, [, LOW, HIGH] = explore.figures['glass-after-all'].state.P;
    let law, found, E, shown, clock = 0, dragged = false, trail = [], fell = 0, lost = 0, range, roots;
    const study = () => { law = explore.physics['glass-after-all'].law(D, state.N); found = law.thresholds(); };
    const put = error => { E = shown = Math.min(1, Math.max(law.floor * 1.0005, error)); trail = []; };
    const reveal = () => { state.law = 'shown'; unveil(); save(); };

    const say = sentence(el), picture = svg('svg', { role: 'group', 'aria-label': 'Above, the free energy against the error, with a ball; below, the number of prompts against the error' });
    const from = where => () => { state.start = where; put(where === 'right' ? 0 : 1); save(); ask(); };
    const show = button('Show the law', () => { reveal(); ask(); }, { class: 'quiet' });
    el.append(picture, html('div', { class: 'bar' }, button('From nothing', from('nothing')), button('From the right weights', from('right')), show), html('div', { class: 'sliders' },
      slider({ label: 'Examples in each prompt <i>N</i>', name: 'Examples in each prompt, N', min: 200, max: 4000, value: state.N, log: true, round: v => +v.toPrecision(2),
        input: v => { state.N = v; study(); put(E); fell = lost = 0; resize(width); save(); ask(); } }).node));

    // Drawing. What is pulled stays in the page for good: a redraw must not take it out of the hand.
    const back = svg('g'), front = svg('g', { 'pointer-events': 'none' }), secret = svg('g'), grip = svg('rect', { class: 'body', y: -15, height: 30, rx: 15 }), arrow = svg('path', { class: 'arrow hint' }), count = words('', { y: 4.5, 'text-anchor': 'middle' });
    const reach = svg('rect', { y: -22, height: 44, fill: 'transparent' }), line = svg('line'), spot = svg('circle', { r: 5.5, fill: 'var(--ink)', 'pointer-events': 'none' });
    const level = handle(svg('g', { class: 'level' }, reach, line, grip, arrow, count), picture, { label: 'Number of prompts, P', move: (px, py) => raise(z.back(py)), keys: (dx, dy) => raise(state.P + dx + dy) });
    const ball = handle(svg('g', { class: 'ball' }, svg('circle', { r: 24, fill: 'transparent' }), svg('circle', { class: 'halo', r: 15 }), svg('circle', { class: 'body', r: 10 }), svg('circle', { cx: -3, cy: -3.5, r: 2.6, fill: '#fff', 'fill-opacity': 0.55 })), picture, {
      label: 'Error of the weights: puts the ball elsewhere', start: () => { dragged = true; }, move: px => { put(x.back(px)); ask(); }, end: () => { dragged = false; ask(); }, keys: (dx, dy) => { put(E * Math.exp(-0.06 * (dx + dy))); ask(); } });
    picture.append(back, secret, front, level.node, spot, ball.node);
    let width = 0, x, z, left, right, frame, part, errors;
    const resize = now => {
      const narrow = (width = now) < 560, top = 22, middle = top + (narrow ? 190 : 236), begin = middle + 28, bottom = begin + (narrow ? 180 : 206), small = law.floor * 0.94, w = narrow ? 42 : 46;
      left = w + 8; right = width - (narrow ? 34 : 44); frame = [middle, top]; range = null;
      x = scale([1.12, small], [left, right], true);
      z = scale([LOW, HIGH], [bottom, begin]);
      errors = Array.from({ length: 161 }, (_, k) => 1.12 * (small / 1.12) ** (k / 160));
      part = { land: svg('path', { class: 'land' }), surface: svg('path', { class: 'surface' }), nats: svg('g'), drops: svg('g'), trail: svg('path', { class: 'trail' }) };
      set(picture, { width, height: bottom + 40 });
      back.replaceChildren(
        axes([left, top, right, bottom], { x, y: z, xs: [1, 0.5, 0.2, 0.1, 0.05, 0.02].filter(e => e > small), xLabel: narrow ? 'error *ε*' : 'error *ε* on new tasks, smaller to the right' }),
        words('nothing found', { class: 'wrong', x: left, y: bottom + 33 }), words('all found', { class: 'message', x: right, y: bottom + 33, 'text-anchor': 'end' }),
        svg('rect', { class: 'gap', x: left - 2, y: middle + 1, width: right - left + 4, height: begin - middle - 2 }),
        svg('clipPath', { id: 'ex-glass-frame' }, svg('rect', { x: left, y: top - 12, width: right - left, height: middle - top + 12 })),
        svg('g', { 'clip-path': 'url(#ex-glass-frame)' }, part.land, part.surface), svg('path', { class: 'axis', d: `M${left},${middle}H${right}` }),
        words('free energy *Φ*', { class: 'strong', x: 0, y: 10 }), words('prompts *P*', { class: 'strong', x: 0, y: begin - 10 }),
        part.nats, ...ticks(LOW, HIGH).map(v => words(String(v), { x: left - 6, y: z(v) + 4, 'text-anchor': 'end' })));
      front.replaceChildren(part.trail, part.drops);
      set(reach, { width: right }); set(line, { x1: left, x2: right }); set(grip, { x: left - 8 - w, width: w + 10 });
      set(arrow, { d: `M${left - 6},-7l4,5h-8zM${left - 6},7l4,-5h-8z` }); set(count, { x: left - 11 - w / 2 });
      unveil();
      paint();
    };
    // The law, where a sweep changes nothing, and those thresholds that the reader has met.
    const unveil = () => {
      secret.replaceChildren();
      if (state.law) {
        const u = Array.from({ length: 400 }, (_, k) => 0.02 + k / 399 * Math.sqrt(HIGH * law.c / D / law.floor) * 1.02), ends = found ? [0, found.top, found.foot, Infinity] : [0, Infinity];
        if (found) secret.append(svg('rect', { class: 'hard', x: left, width: right - left, y: z(found.algorithm), height: z(found.information) - z(found.algorithm) }),
          words('determined, not found', { x: x(law.floor) - 12, y: z(found.algorithm) + 13, 'text-anchor': 'end' }));
        for (let k = 0; k + 1 < ends.length; k++) {
          const on = [...u.filter(v => v > ends[k] && v < ends[k + 1]), ...ends.slice(k, k + 2).filter(v => v && v < Infinity)].sort((a, b) => a - b).map(v => [v, law.prompts(v)]).filter(([, P]) => P >= LOW && P <= HIGH);
          if (on.length) secret.append(svg('path', { class: ['nothing', 'wall', 'all'][k], d: path(on.map(([v, P]) => [x(law.error(v, P)), z(P)])) }));
        }
      }
      for (const [name, P, seen] of found ? [['*P*_{alg}', found.algorithm, fell], ['*P*_{K}', found.information, 0], ['*P*_{d}', found.spinodal, lost]] : []) {
        if (seen || state.law) secret.append(svg('line', { class: 'mark', x1: left, x2: right, y1: z(P), y2: z(P) }), words(name, { class: 'strong', x: right + 6, y: z(P) + 4 }));
      }
      set(secret, { class: state.law ? 'law' : '' });
      show.style.visibility = state.law ? 'hidden' : '';
    };
    const raise = P => { state.P = Math.round(Math.min(HIGH, Math.max(LOW, P))); save(); ask(); };
    const settled = () => Math.abs(law.sweep(E, state.P) - E) < 1e-4 * E;
    const aim = () => {
      const zero = law.freeEnergy(1, state.P), values = errors.map(e => law.freeEnergy(e, state.P, 3) - zero), inside = values.filter((_, k) => errors[k] < 1.02 && errors[k] > law.floor);
      const low = Math.min(-20, ...inside), high = Math.max(20, ...inside), room = 0.08 * (high - low);
      return { zero, values, to: [low - room, high + 1.6 * room] };
    };
    let framed = true;
    const paint = () => {
      if (!width) return;
      const P = state.P, { zero, values, to } = aim();
      range = range && !calm.matches ? range.map((v, k) => v + (to[k] - v) * 0.25) : to;                 // the frame follows slowly
      framed = Math.abs(range[0] - to[0]) + Math.abs(range[1] - to[1]) < 0.01 * (to[1] - to[0]);
      const y = scale(range, frame), points = errors.map((e, k) => [x(e), y(values[k])]), phi = e => law.freeEnergy(e, P) - zero;
      part.surface.setAttribute('d', path(points));
      part.land.setAttribute('d', path([...points, [x(errors[160]), 999], [x(errors[0]), 999]], 'z'));
      part.nats.replaceChildren(...ticks(...range).map(v => words(tidy(v, 0), { x: left - 6, y: y(v) + 4, 'text-anchor': 'end' })));
      roots = law.fixedPoints(P, found);
      part.drops.replaceChildren(...roots.flatMap((e, k) => [svg('line', { class: 'drop', x1: x(e), x2: x(e), y1: y(phi(e)), y2: z(P) }), svg('circle', { class: roots.length === 3 && k === 1 ? 'open' : 'full', cx: x(e), cy: z(P), r: 4 })]));
      // the ball rests on the curve: its centre lies beside it, along the normal
      const dx = x(shown * 1.01) - x(shown / 1.01), dy = y(phi(shown * 1.01)) - y(phi(shown / 1.01)), norm = Math.hypot(dx, dy) * Math.sign(dx), place = Math.max(frame[1] - 14, y(phi(shown)));
      set(ball.node, { transform: `translate(${(x(shown) + 11 * dy / norm).toFixed(2)},${(place - 11 * dx / norm).toFixed(2)})` });
      ball.node.classList.toggle('found', shown < 2 * law.floor);
      set(spot, { cx: x(shown), cy: z(P) });
      set(level.node, { transform: `translate(0,${z(P).toFixed(2)})` });
      count.textContent = P;
      level.tell(P, `${P} prompts`, LOW, HIGH);
      ball.tell(shown, `error ${shown.toFixed(3)}`, +law.floor.toFixed(3), 1);
      if (!dragged) {
        const last = trail[trail.length - 1];
        if (!last || Math.hypot(x(shown) - x(last[0]), z(P) - z(last[1])) > 2) trail.push([shown, P]);
      }
      part.trail.setAttribute('d', trail.length > 1 ? path(trail.map(([e, v]) => [x(e), z(v)])) : '');
      // words; what the reader has found is written down
      const rest = !dragged && settled(), all = E < 2 * law.floor, deeper = roots.length === 3 && phi(roots[2]) < phi(roots[0]);
      if (found && rest && all && P > found.algorithm && !fell) { fell = P; unveil(); }
      if (found && rest && !all && P < found.spinodal && fell && !lost) { lost = P; reveal(); }
      const next = !found || lost ? '' : !fell ? '<b>Raise the number of prompts: at how many will it fall?</b>' : '<b>Now lower it: when will they be lost again?</b>';
      let text;
      if (!found) text = `With only ${state.N} examples in each prompt the floor of the error drowns the hump: <b>there is one valley at every <i>P</i></b>, and the ball follows it. Longer prompts bring the hump back.`;
      else if (!rest) text = P > found.algorithm && !all ? `With ${P} prompts there is no wall left, and <b>the ball falls</b>: all ${D} weights that are not zero are found at once.` : P < found.spinodal && shown < 0.9 * roots[0] ? `${P} prompts are too few: <b>even the right weights are given up</b>.` : 'Every sweep of messages moves the ball downhill, and none takes it across a wall. <b>Where will it come to rest?</b>';
      else if (lost === P) text = `Lost at ${lost} prompts, found at ${fell}: <b>the way up is not the way down</b>, as in any first-order transition. The law of it now stands below.`;
      else if (all && P > found.algorithm) text = `<b class="message">All found.</b> The error is at its floor, ${tidy(law.floor, 3)}. ${next}`;
      else if (all && deeper) text = `<b class="message">All found</b>, and this valley is the deeper one. It holds what messages from nothing could not find with so few prompts. ${next}`;
      else if (all) text = `<b class="message">The right weights still hold</b>, although ${P} prompts no longer single them out: the other valley is deeper. ${next}`;
      else if (roots.length === 1) text = `One valley: ${P} prompts tell little about the weights, and the <b class="wrong">ball</b> finds next to nothing. ${next}`;
      else if (!deeper) text = `A second valley has opened, at the right weights, but the <b class="wrong">ball</b> lies in the deeper one. ${next}`;
      else text = `<b>The deeper valley is now the right one, and the ball does not go there:</b> ${P} prompts determine the weights, but messages that start from nothing do not find them. ${fell ? '' : 'How many more does it take?'}`;
      say(text, rest);
    };
    const advance = dt => {
      clock += dt;
      if (dragged) clock = 0;
      for (; clock > 45; clock -= 45) E = law.sweep(E, state.P);
      if (!dragged) shown = calm.matches ? E : shown + (E - shown) * Math.min(1, dt / 60);
      return !dragged && (!framed || Math.abs(law.sweep(E, state.P) - E) > 1e-7 * E || Math.abs(shown - E) > 1e-5 * E);
    };
    const ask = motion(el, advance, paint);

    study();
    put(state.start === 'right' ? 0 : 1);
    for (let k = 0; k < 300; k++) E = law.sweep(E, state.P);
    shown = E;
    return {
      resize,
      still: () => { state.P = 140; state.law = 'shown'; put(1); for (let k = 0; k < 300; k++) E = law.sweep(E, 140); shown = E; range = null; resize(width); },
      probe: () => ({ E, roots, thresholds: found }),
    };
  },
};
