// The rolling tangent: a ruler of slope 1/T lies on the complexity of the random energy model, and the reader turns it.
globalThis.explore ??= { figures: {}, physics: {} };
explore.physics['rolling-tangent'] = {
  // Sigma(e) = ln 2 - e^2 ends at the lowest level e_0 = -sqrt(ln 2), with the slope 1/T_K: eq-rsb-rem, eq-rsb-rem-f.
  top: Math.log(2),
  end: -Math.sqrt(Math.log(2)),
  freezing: 1 / (2 * Math.sqrt(Math.log(2))),
  sigma: e => Math.log(2) - e * e,
  // Where the sum sits, e and sigma; x, and the slope x / T of the line that touches there; F / N; e of the mean of Z.
  at(T) {
    const x = Math.min(1, T / this.freezing), e = -x / (2 * T);
    return { e, sigma: x < 1 ? 0 : this.sigma(e), x, slope: x / T, freeEnergy: x < 1 ? this.end : -1 / (4 * T) - T * this.top, annealed: -1 / (2 * T) };
  },
  // The slope of a ruler through the point (e, s) above the curve: it touches the curve to the left, or turns about its end.
  through(e, s) {
    const touch = e - Math.sqrt(Math.max(0, e * e - this.top + s));
    return touch >= this.end ? -2 * touch : s / (e - this.end);
  },
};
explore.figures['rolling-tangent'] = {
  state: { T: [1, 0.25, 2.5], answer: ['', 'on', 'stops', 'sticks', 'seen'] },
  draw({ el, state, save }) {
    const { html, svg, words, scale, path, tidy, axes, sentence, motion, handle, slider, button } = explore.kit, rem = explore.physics['rolling-tangent'];
    const [, COLD, HOT] = explore.figures['rolling-tangent'].state.T, from = -1.42, to = 0.4;
    if (state.T < rem.freezing) state.answer ||= 'seen';
    let aim = null, fresh = false;                                 // the temperature to which the figure cools by itself
    const set = T => { aim = null; fresh = false; state.T = Math.max(state.answer ? COLD : rem.freezing, Math.min(HOT, T)); save(); ask(); };

    const say = sentence(el);
    const answer = which => () => { state.answer = which; fresh = true; aim = 0.4; save(); grip.node.focus({ preventScroll: true }); ask(); };
    const asks = html('div', { class: 'bar' }, button('The dot slides on', answer('on')), button('It stops, and the ruler tips', answer('stops')), button('The ruler gets no steeper', answer('sticks')));
    const picture = el.appendChild(svg('svg', { role: 'group', 'aria-label': 'The complexity against the energy, with a ruler lying on it; beside it, how often two draws are the same configuration' }));
    const heat = slider({ label: 'Temperature <i>T</i>', name: 'Temperature T', min: COLD, max: HOT, value: state.T, log: true, step: 0, format: v => tidy(v), input: set });
    el.append(asks, html('div', { class: 'sliders' }, heat.node));

    let x, y, narrow, ruler, grip, dot, touching, ghost, bars;
    const resize = width => {
      narrow = width < 560;
      const side = narrow ? 96 : 160, box = [narrow ? 30 : 38, 18, width - side - (narrow ? 20 : 44), narrow ? 262 : 344], [left, top, right, bottom] = box;
      picture.setAttribute('width', width); picture.setAttribute('height', bottom + 40);
      x = scale([from, to], [left, right]); y = scale([-0.95, 1.08], [bottom, top]);
      const curve = (a, b) => Array.from({ length: 81 }, (_, k) => a + (b - a) * k / 80).map(e => [x(e), y(rem.sigma(e))]);
      picture.replaceChildren(
        axes(box, { x, y, xs: narrow ? [-1, -0.5, 0] : [-1.2, -0.8, -0.4, 0], ys: [-0.8, -0.4, 0, 0.4, 0.8], xLabel: 'energy *e*', yLabel: '' }), words('*Σ*', { x: left + 7, y: top + 4, class: 'strong' }),
        svg('clipPath', { id: 'ex-tangent' }, svg('rect', { x: left, y: top - 8, width: right - left, height: bottom - top + 8 })),
        svg('path', { class: 'land', d: path([...curve(rem.end, to), [x(to), y(0)]], 'z') }), svg('line', { class: 'zero', x1: left, x2: right, y1: y(0), y2: y(0) }),
        svg('path', { class: 'none', d: path(curve(-1.28, rem.end)) }), svg('path', { class: 'curve', d: path(curve(rem.end, to)) }),
        words('*e*_{0}', { x: x(rem.end) + 12, y: y(0) + 18, 'text-anchor': 'middle', class: 'strong' }), words('no level here', { x: x(-1.02), y: y(-0.66) }));
      touching = svg('line', { class: 'touching', 'clip-path': 'url(#ex-tangent)', x1: x(from), x2: x(to), y1: y((from - rem.end) / rem.freezing), y2: y((to - rem.end) / rem.freezing) });
      ghost = svg('g', {}, svg('circle', { class: 'ghost', r: 5.5 }), words(narrow ? 'mean' : 'mean of *Z*', { x: 11, y: 4 }));
      const reach = narrow ? 104 : 158, back = -0.42 * reach, thick = 14;
      ruler = svg('g', {}, svg('rect', { class: 'ruler', x: back, y: -thick, width: reach - back, height: thick, rx: 2 }),
        svg('path', { class: 'marks', d: Array.from({ length: Math.floor((reach - back - 20) / 11) }, (_, k) => `M${(back + 7 + 11 * k).toFixed(1)},${-thick}v${k % 5 ? 4 : 7}`).join('') }));
      const knob = svg('g', { class: 'grip', transform: `translate(${reach},${-thick / 2})` }, svg('circle', { r: 24, fill: 'transparent' }), svg('circle', { class: 'halo', r: 17 }), svg('circle', { class: 'knob', r: 13 }), svg('path', { class: 'arrows', d: 'M0,-8l4.5,5.5h-9zM0,8l4.5,-5.5h-9z' }));
      ruler.append(knob);
      dot = svg('circle', { class: 'dot', r: 6.5 });
      // two draws: another configuration, or the same one
      const mid = width - side / 2, wide = narrow ? 26 : 34, spots = [mid - side * 0.25, mid + side * 0.25], foot = y(0);
      bars = { node: svg('g', { class: 'bars' }, svg('line', { class: 'axis', x1: mid - side / 2, x2: mid + side / 2, y1: foot, y2: foot })), tall: foot - top - 14, foot };
      bars.rects = spots.map((at, k) => bars.node.appendChild(svg('rect', { class: `bar${k}`, x: at - wide / 2, width: wide, rx: 1.5 })));
      bars.values = spots.map(at => bars.node.appendChild(svg('text', { class: 'strong', x: at, 'text-anchor': 'middle' })));
      spots.forEach((at, k) => bars.node.append(words(k ? 'the same' : narrow ? 'differ' : 'different', { x: at, y: foot + 17, 'text-anchor': 'middle' }), words(`*q* = ${k}`, { x: at, y: foot + 33, 'text-anchor': 'middle' })));
      bars.node.append(words(narrow ? 'two draws' : 'configurations of two draws', { x: mid, y: foot + 54, 'text-anchor': 'middle' }));
      picture.append(touching, ghost, ruler, dot, bars.node);
      grip = handle(knob, picture, {
        label: 'The ruler: turn it to cool or to heat',
        move: (px, py) => {                                        // the grip lies half a ruler above its edge
          const { e, sigma } = rem.at(state.T), [ax, ay] = [px - x(e), py - y(sigma)], long = Math.hypot(ax, ay) || 1, [qx, qy] = [px - thick / 2 * ay / long, py + thick / 2 * ax / long];
          const here = x.back(qx), slope = rem.through(here, Math.max(y.back(qy), rem.sigma(Math.max(here, rem.end))));
          set(here <= rem.end + 0.02 ? COLD : slope > 0 ? 1 / slope : HOT);
        },
        keys: (dx, dy) => set(Number.isFinite(dy) ? state.T * 1.02 ** -(dx + dy) : dy < 0 ? HOT : COLD),
      });
      paint();
    };
    const paint = () => {
      const { T } = state, { e, sigma, x: share, annealed } = rem.at(T), frozen = share < 1, seen = !!state.answer;
      ruler.setAttribute('transform', `translate(${x(e).toFixed(2)},${y(sigma).toFixed(2)}) rotate(${(-Math.atan2((y(0) - y(1)) / T, x(1) - x(0)) * 180 / Math.PI).toFixed(3)})`);
      dot.setAttribute('cx', x(e)); dot.setAttribute('cy', y(sigma));
      dot.classList.toggle('frozen', frozen);
      touching.style.display = frozen ? '' : 'none';
      ghost.style.display = frozen && annealed > -1.28 ? '' : 'none';
      ghost.setAttribute('transform', `translate(${x(annealed).toFixed(2)},${y(rem.sigma(annealed)).toFixed(2)})`);
      asks.style.display = seen ? 'none' : '';
      grip.node.classList.toggle('ask', !seen);
      [share, 1 - share].forEach((v, k) => {
        if (!seen) { bars.values[k].setAttribute('y', bars.foot - 10); bars.values[k].textContent = '?'; return; }
        bars.rects[k].setAttribute('y', bars.foot - bars.tall * v); bars.rects[k].setAttribute('height', bars.tall * v);
        bars.values[k].setAttribute('y', bars.foot - bars.tall * v - 7);
        bars.values[k].replaceChildren(...words(`${narrow ? '' : k ? '1 − *x* = ' : '*x* = '}${tidy(v)}`).childNodes);
      });
      heat.set(T);
      grip.tell(T, `temperature ${T.toFixed(2)}, slope ${(1 / T).toFixed(2)}, the dot at energy ${e.toFixed(2)}`, COLD, HOT);
      const verdict = !fresh ? '' : { on: 'Only the <em>mean</em> of <i>Z</i> slides on (hollow dot). ', stops: 'Yes. ', sticks: 'The ruler follows 1/<i>T</i> to any slope. ' }[state.answer] ?? '';
      say(!seen && T > rem.freezing + 1e-9 ? `A ruler of slope <i>β</i> = 1/<i>T</i> = ${tidy(1 / T)} lies on <i>Σ</i>. The sum sits where it touches, at <i>e</i> = ${tidy(e)}. Turn the ruler to cool, and the dot moves down the curve. <b>What will happen at the end of the curve?</b>`
        : !seen ? `<b>The end of the curve,</b> at <i>T</i><sub>K</sub> = ${tidy(T)}: a typical sample has no level below <i>e</i><sub>0</sub>. <b>What will happen if you cool further?</b>`
        : aim !== null ? (frozen ? '<b>The dot stops,</b> and the ruler tips over the end.' : 'The system cools. The ruler rolls down the curve, and the dot with it.')
        : frozen ? `${verdict}<b>The sum is frozen at the lowest levels.</b> The line that touches there (dashed) has the slope <i>βx</i>, <i>x</i> = <i>T</i>/<i>T</i><sub>K</sub> = ${tidy(share)}. Two draws are the same configuration with probability <b class="theory">1 − <i>x</i> = ${tidy(1 - share)}</b>.`
        : `Above <i>T</i><sub>K</sub> = ${tidy(rem.freezing)} about <i>e<sup>NΣ</sup></i> configurations share the weight, with <i>Σ</i> = ${tidy(sigma)}, and two draws are hardly ever the same. <b>Turn the ruler.</b>`, aim === null);
    };
    const advance = dt => {
      if (aim === null) return false;
      const step = dt / 2600, way = Math.log(state.T / aim);
      if (Math.abs(way) > step) { state.T *= Math.exp(-Math.sign(way) * step); return true; }
      state.T = aim; aim = null; save();
      return false;
    };
    const ask = motion(el, advance, paint);
    return { resize, still: () => { state.answer = 'seen'; state.T = 0.4; aim = null; paint(); }, probe: () => ({ ...rem.at(state.T), aim }) };
  },
};
