// Gradient descent on the energy of the spherical p-spin model: a globe of three spins, and forty spins beside it (chapter spherical_pspin).
globalThis.explore ??= { figures: {}, physics: {} };

// A sample: N, p and one number c for each set of p indices i <= j (<= k), in that order: H = -sum c s_i s_j (s_k). With a coupling of variance
// 1/(2 N^(p-1)) for every tuple of indices, c is the sum over their orders. As spinlib.pspin.simulation.gaussian_couplings.
{
  const orders = (...index) => { const sizes = new Map(); for (const i of index) sizes.set(i, (sizes.get(i) ?? 0) + 1); const f = [1, 1, 2, 6]; return [...sizes.values()].reduce((n, k) => n / f[k], f[index.length]); };
  const sample = (N, p, ...seed) => {
    const z = explore.physics.normals(...seed), c = [], size = 1 / Math.sqrt(2 * N ** (p - 1));
    for (let i = 0; i < N; i++) for (let j = i; j < N; j++) {
      if (p === 2) c.push(size * Math.sqrt(orders(i, j)) * z());
      else for (let k = j; k < N; k++) c.push(size * Math.sqrt(orders(i, j, k)) * z());
    }
    return { N, p, c: Float64Array.from(c) };
  };
  // Energy H, and its gradient (not projected) into g.
  const gradient = ({ N, p, c }, s, g) => {
    let H = 0, n = 0;
    g.fill(0);
    for (let i = 0; i < N; i++) for (let j = i; j < N; j++) {
      const two = s[i] * s[j];
      if (p === 2) { const x = c[n++]; H -= x * two; g[i] -= x * s[j]; g[j] -= x * s[i]; continue; }
      let sum = 0;
      for (let k = j; k < N; k++) { const x = c[n++]; sum += x * s[k]; g[k] -= x * two; }
      H -= two * sum; g[i] -= sum * s[j]; g[j] -= sum * s[i];
    }
    return H;
  };
  const energy = (J, s) => gradient(J, s, new Float64Array(J.N));
  // One step of descent on the sphere of radius sqrt(N), in place; the energy before it. As downhill of the chapter.
  const downhill = (J, s, step, g = new Float64Array(J.N)) => {
    const H = gradient(J, s, g), N = J.N;
    let radial = 0, norm = 0;
    for (let i = 0; i < N; i++) radial += g[i] * s[i] / N;
    for (let i = 0; i < N; i++) { s[i] -= step * (g[i] - radial * s[i]); norm += s[i] * s[i] / N; }
    norm = Math.sqrt(norm);
    for (let i = 0; i < N; i++) s[i] /= norm;
    return H;
  };
  const overlap = (s, t) => { let q = 0; for (let i = 0; i < s.length; i++) q += s[i] * t[i]; return q / s.length; };
  // The valleys among some ends: those whose overlap with all earlier ones is below 0.99.
  const distinct = ends => ends.reduce((found, s) => (found.some(t => overlap(s, t) > 0.99) ? found : [...found, s]), []);
  const start = (N, z) => { const s = Float64Array.from({ length: N }, z), r = Math.sqrt(overlap(s, s)); return s.map(v => v / r); };
  // All valleys of three spins: descents from points all over the sphere.
  const valleys = J => {
    const ends = [];
    for (let k = 0; k < 120; k++) {
      const h = 1 - 2 * (k + .5) / 120, a = k * Math.PI * (3 - Math.sqrt(5)), r = Math.sqrt(3 * (1 - h * h)), s = Float64Array.of(r * Math.cos(a), r * Math.sin(a), Math.sqrt(3) * h);
      for (let n = 0; n < 3000; n++) downhill(J, s, .3);
      ends.push(s);
    }
    return distinct(ends);
  };
  explore.physics['sp-valleys'] = { sample, gradient, energy, downhill, overlap, distinct, start, valleys };
}

explore.figures['sp-valleys'] = {
  state: { p: [2, 2, 3], draw: [3, 1, 999] },
  draw({ el, state, save }) {
    const { html, svg, words, scale, path, tidy, axes, sentence, motion, handle, button, calm, set } = explore.kit, ph = explore.physics['sp-valleys'];
    const MANY = 20, STEPS = 400, N = 40, STEP = .2;
    let p, small, large, map, balls = [], runs = [], seed = 0, guess = {}, dropped = 0, dark = false, told = false;
    const g3 = new Float64Array(3), g40 = new Float64Array(N);
    // The globe: unit vectors of the picture are turned to directions of the spins, v = turn' (x, y, z).
    let turn = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], spin = 0;
    const times = (A, B) => A.map(row => [0, 1, 2].map(j => row[0] * B[0][j] + row[1] * B[1][j] + row[2] * B[2][j]));
    const rotate = (dx, dy) => {
      const [a, b] = [Math.cos(dx), Math.sin(dx)], [c, d] = [Math.cos(dy), Math.sin(dy)];
      turn = times([[1, 0, 0], [0, c, -d], [0, d, c]], times([[a, 0, b], [0, 1, 0], [-b, 0, a]], turn));
    };
    // Turns the globe so that the direction s lies ahead.
    const face = s => {
      const unit = v => { const n = Math.hypot(...v); return v.map(x => x / n); }, cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
      const z = unit([...s]), x = unit(cross(Math.abs(z[1]) < .9 ? [0, 1, 0] : [1, 0, 0], z));
      turn = [x, cross(z, x), z];
    };
    // The side from which most valleys are seen, none of them right in the middle.
    const best = () => {
      let most = -Infinity, side = null;
      for (let k = 0; k < 300; k++) {
        const h = 1 - 2 * (k + .5) / 300, a = k * Math.PI * (3 - Math.sqrt(5)), r = Math.sqrt(1 - h * h), v = [r * Math.cos(a), r * Math.sin(a), h];
        const seen = map.reduce((sum, s) => { const z = (v[0] * s[0] + v[1] * s[1] + v[2] * s[2]) / Math.sqrt(3); return sum + Math.min(.45, Math.max(-.2, z)) - Math.max(0, z - .8); }, 0);
        if (seen > most) { most = seen; side = v; }
      }
      return side;
    };
    const see = s => turn.map(row => (row[0] * s[0] + row[1] * s[1] + row[2] * s[2]) / Math.sqrt(3));

    const study = () => {
      p = state.p = Math.round(state.p) === 3 ? 3 : 2;
      small = ph.sample(3, p, Math.round(state.draw), p, 1); large = ph.sample(N, p, Math.round(state.draw), p, 2);
      map = ph.valleys(small);
      balls = []; runs = []; seed = 0;
      face(best());
      dark = p === 3 && guess.three === undefined;
    };
    const roll = (s, many = true) => {
      balls.push({ s, trail: [see3(s)], moving: true });
      if (many) { const t = ph.start(N, explore.physics.normals(Math.round(state.draw), p, 77, seed++)); runs.push({ s: t, energy: [], k: 0, moving: true }); }
      dropped++;
      if (balls.length > 60) { balls.shift(); }
      if (runs.length > 60) runs.shift();
    };
    const see3 = s => [s[0], s[1], s[2]], apart = (s, t) => Math.hypot(s[0] - t[0], s[1] - t[1], s[2] - t[2]);
    const alsoForty = () => p === 2 || guess.forty !== undefined;     // forty spins wait for the reader's answer
    const drop = count => {
      for (let k = 0; k < count; k++) roll(ph.start(3, explore.physics.normals(Math.round(state.draw), p, 5, dropped)), alsoForty());
      ask();
    };
    // Each ball of the globe makes a few small steps a frame; forty spins go through their steps at an even pace on a logarithmic axis.
    const advance = dt => {
      let more = false;
      for (const b of balls) if (b.moving) {
        const before = see3(b.s);
        let fall = 0;
        for (let k = 0; k < (calm.matches ? 400 : Math.max(1, Math.round(dt / 8))); k++) {
          ph.downhill(small, b.s, .045, g3);
          if (apart(b.s, b.trail[b.trail.length - 1]) > .03) b.trail.push(see3(b.s));
        }
        fall = apart(b.s, before);
        if (fall < 2e-5) { for (let k = 0; k < 2000; k++) ph.downhill(small, b.s, .3, g3); b.moving = false; b.trail.push(see3(b.s)); }
        more ||= b.moving;
      }
      for (const r of runs) if (r.moving) {
        const to = Math.min(STEPS, calm.matches ? STEPS : Math.max(r.k + 1, Math.floor((r.k + 1) * Math.exp(dt * Math.log(STEPS) / 2600))));
        while (r.k < to) { r.energy.push(ph.downhill(large, r.s, STEP, g40) / N); r.k++; }
        if (r.k >= STEPS) { for (let k = 0; k < (p === 2 ? 1500 : 300); k++) ph.downhill(large, r.s, STEP, g40); r.energy.push(ph.energy(large, r.s) / N); r.moving = false; }
        more ||= r.moving;
      }
      if (spin && !calm.matches) { rotate(spin * dt / 16, 0); spin *= .95; if (Math.abs(spin) < .0006) spin = 0; more ||= !!spin; }
      return more;
    };

    // ---- controls
    const say = sentence(el);
    const choose = n => { if (state.p === n && balls.length) return; state.p = n; save(); study(); if (n === 2) drop(MANY); else ask(); };
    const two = button('', () => choose(2)), three = button('', () => choose(3));
    two.innerHTML = '<i>p</i> = 2'; three.innerHTML = '<i>p</i> = 3'; 
    const more = button(`Drop ${MANY} balls`, () => drop(MANY), { class: 'main orange' });
    const fresh = button('', () => { state.draw = Math.round(state.draw) % 999 + 1; guess = {}; told = false; save(); study(); if (p === 2) drop(MANY); else ask(); }, { class: 'quiet' });
    fresh.innerHTML = 'New <i>J</i>'; fresh.setAttribute('aria-label', 'Draw new couplings J');
    const answers = html('span', { class: 'answers' });
    const bar = html('div', { class: 'bar' }, two, three, more, fresh);
    const canvas = html('canvas');
    const over = svg('svg', { class: 'over', 'aria-hidden': 'true' });
    const globe = html('div', { class: 'globe' }, canvas, over), fall = svg('svg', { role: 'img', 'aria-label': 'Energy per spin of forty spins along the descents' }), ends = svg('svg', { role: 'img', 'aria-label': 'Overlaps of the ends of forty spins' });
    const left = html('div', {}, html('h4', { text: 'Three spins: a globe' }), globe), right = html('div', {}, html('h4', { text: 'Forty spins: no picture, only descents' }), fall, ends);
    const views = html('div', { class: 'views' }, left, right);
    el.append(bar, answers, views);
    const question = (key, options) => { answers.replaceChildren(...options.map(([value, text]) => button(text, () => { guess[key] = value; dark = false; if (key === 'forty') drop(MANY); else ask(); }))); };

    // ---- the hand on the globe: pull to turn, a tap drops a ball
    let from = null, pulled = 0;
    const globe3 = handle(canvas, canvas, { label: 'A globe of three spins: arrow keys turn it, Enter drops a ball in its middle',
      start: (x, y) => { from = [x, y]; pulled = spin = 0; },
      move: (x, y) => {
        const [dx, dy] = [x - from[0], y - from[1]];
        pulled += Math.hypot(dx, dy);
        if (pulled > 5) { rotate(dx / radius, dy / radius); spin = dx / radius / 2; paint(); }
        from = [x, y];
      },
      end: () => { if (pulled <= 5) put((from[0] - centre) / radius, (centre - from[1]) / radius); else ask(); },
      keys: (dx, dy) => { rotate(.15 * dx, -.15 * (Number.isFinite(dy) ? dy : Math.sign(dy) * 10)); paint(); } });
    const put = (x, y) => {
      const r = x * x + y * y;
      if (r > 1) return;
      const v = [x, y, Math.sqrt(1 - r)], s = Float64Array.from([0, 1, 2], i => Math.sqrt(3) * (turn[0][i] * v[0] + turn[1][i] * v[1] + turn[2][i] * v[2]));
      roll(s, alsoForty());
      ask();
    };
    canvas.addEventListener('keydown', event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); put(0, 0); } });

    // ---- drawing
    let width, narrow, size, centre, radius, X, Y, wide, shaded = '';
    const resize = w => {
      width = w; narrow = w < 560;
      views.classList.toggle('narrow', narrow);
      size = narrow ? Math.min(w, 340) : Math.floor((w - 28) * .48); wide = narrow ? w : w - 28 - size;
      centre = size / 2; radius = size / 2 - 10;
      set(globe, { style: `width: ${size}px; height: ${size}px` });
      set(over, { width: size, height: size });
      const dots = Math.min(1.5, globalThis.devicePixelRatio || 1);
      canvas.width = canvas.height = Math.round(size * dots); canvas.style.width = canvas.style.height = `${size}px`;
      paint();
    };
    // Height of the ground as colour: valleys dark, hills light, a line every few steps, light from the upper left.
    const colour = v => { const b = Math.round(Math.min(1, Math.max(0, v)) * 14) / 14; return [4 + 248 * b ** .85, 74 + 172 * b ** .75, 130 + 102 * b ** .8]; };
    const shade = () => {
      const px = canvas.width, k = px / size, context = canvas.getContext('2d'), picture = context.createImageData(px, px), data = picture.data, c0 = centre * k, r0 = radius * k, root = Math.sqrt(3);
      const night = document.documentElement.dataset.theme === 'dark', span = map.span, dim = night ? .86 : 1, c = small.c;
      for (let j = 0, n = 0; j < px; j++) for (let i = 0; i < px; i++, n += 4) {
        const x = (i + .5 - c0) / r0, y = (c0 - j - .5) / r0, rr = x * x + y * y;
        if (rr > 1.02) continue;
        const z = Math.sqrt(Math.max(0, 1 - rr)), a = root * (turn[0][0] * x + turn[1][0] * y + turn[2][0] * z), b = root * (turn[0][1] * x + turn[1][1] * y + turn[2][1] * z), d = root * (turn[0][2] * x + turn[1][2] * y + turn[2][2] * z);
        let rgb;
        if (dark) rgb = [74, 80, 90];
        else {
          const e = p === 2 ? -(c[0] * a * a + c[1] * a * b + c[2] * a * d + c[3] * b * b + c[4] * b * d + c[5] * d * d)
            : -(a * (a * (c[0] * a + c[1] * b + c[2] * d) + c[3] * b * b + c[4] * b * d + c[5] * d * d) + b * (b * (c[6] * b + c[7] * d) + c[8] * d * d) + c[9] * d * d * d);
          rgb = colour((e - span[0]) / (span[1] - span[0]));
        }
        const light = dim * (.74 + .3 * Math.max(0, -.42 * x + .5 * y + .76 * z));
        data[n] = rgb[0] * light; data[n + 1] = rgb[1] * light; data[n + 2] = rgb[2] * light; data[n + 3] = 255 * Math.min(1, Math.max(0, (1 - Math.sqrt(rr)) * r0 + .5));
      }
      context.putImageData(picture, 0, 0);
    };
    const span = () => {                                         // lowest and highest energy of three spins
      const values = map.map(s => ph.energy(small, s)), top = p === 3 ? [-Math.min(...values)] : [0];
      if (p === 2) for (let k = 0; k < 60; k++) { const z = ph.start(3, explore.physics.normals(9, k)); top.push(ph.energy(small, z)); }
      return [Math.min(...values), Math.max(...top)];
    };
    const onGlobe = s => { const [x, y, z] = see(s); return [centre + radius * x, centre - radius * y, z]; };
    const paint = () => {
      if (!width) return;
      map.span ??= span();
      const now = JSON.stringify([turn, dark, canvas.width, document.documentElement.dataset.theme, p, state.draw]);
      if (now !== shaded) { shaded = now; shade(); }
      over.replaceChildren();
      const behind = svg('g', { class: 'behind' }), front = svg('g');
      over.append(behind, front);
      for (const b of balls) {
        let run = [];
        const flush = () => { if (run.length > 1) front.append(svg('path', { class: 'trail', d: path(run) })); run = []; };
        for (const s of b.trail) { const [x, y, z] = onGlobe(s); if (z > 0) run.push([x, y]); else flush(); }
        flush();
      }
      for (const b of balls) { const [x, y, z] = onGlobe(b.s); (z > 0 ? front : behind).append(svg('circle', { class: 'ball', cx: x, cy: y, r: z > 0 ? 5.2 : 4.2 })); }
      if (!dark) map.forEach((s, k) => { const [x, y, z] = onGlobe(s); if (!balls.some(b => !b.moving && ph.overlap(b.s, s) > .99)) return; (z > 0 ? front : behind).append(svg('circle', { class: 'goal', cx: x, cy: y, r: 9 })); });
      forty();
      const here = ph.distinct(balls.filter(b => !b.moving).map(b => b.s)).length, far = ph.distinct(runs.filter(r => !r.moving).map(r => r.s)).length;
      for (const [node, n] of [[two, 2], [three, 3]]) node.setAttribute('aria-pressed', p === n);
      const ahead = Math.round(Math.atan2(turn[2][0], turn[2][2]) * 180 / Math.PI);
      globe3.tell(ahead, `turned to ${ahead} degrees; ${balls.length} balls${dark ? '' : `, ${here} of ${map.length} valleys found`}`, -180, 180);
      speak(here, far);
    };
    const forty = () => {
      const h = narrow ? 150 : Math.round(size * .56), box = [40, 24, wide - 14, h - 22];
      set(fall, { width: wide, height: h });
      X = scale([1, STEPS], [box[0], box[2]], true); Y = scale([-1.25, .3], [box[3], box[1]]);
      fall.replaceChildren(axes(box, { x: X, y: Y, xs: [1, 10, 100, 400], ys: [-1, -.5, 0], yLabel: 'energy per spin *H*/*N*' }), words('steps', { x: (X(10) + X(100)) / 2, y: h - 6, 'text-anchor': 'middle' }));
      for (const r of runs) {
        const points = [];
        for (let k = 0; k < r.energy.length; k = Math.max(k + 1, Math.floor(k * 1.06))) points.push([X(Math.min(STEPS, k + 1)), Y(r.energy[k])]);
        if (r.energy.length) points.push([X(Math.min(STEPS, r.energy.length)), Y(r.energy[r.energy.length - 1])]);
        if (points.length > 1) fall.append(svg('path', { class: 'fall', d: path(points) }));
        if (points.length) fall.append(svg('circle', { class: 'ball', cx: points[points.length - 1][0], cy: points[points.length - 1][1], r: 3.4 }));
      }
      const eh = narrow ? 108 : size - h - 4, eb = [40, 22, wide - 14, eh - 34], done = runs.filter(r => !r.moving), bins = new Float64Array(20);
      for (let i = 0; i < done.length; i++) for (let j = 0; j < i; j++) bins[Math.min(19, Math.floor(20 * Math.min(.9999, Math.abs(ph.overlap(done[i].s, done[j].s)))))]++;
      const total = Math.max(1, bins.reduce((x, y) => x + y)), top = Math.max(.2, ...bins.map(v => v / total)), ex = scale([0, 1], [eb[0], eb[2]]), ey = scale([0, top], [eb[3], eb[1]]);
      set(ends, { width: wide, height: eh });
      ends.replaceChildren(axes(eb, { x: ex, y: ey, xs: [0, .5, 1] }), words('overlap |*q*| of two ends', { x: (eb[0] + eb[2]) / 2, y: eh - 2, 'text-anchor': 'middle' }));
      bins.forEach((v, k) => { if (v) ends.append(svg('rect', { class: 'bin', x: ex(k / 20) + .5, width: ex(.05) - ex(0) - 1, y: ey(v / total), height: eb[3] - ey(v / total) })); });
    };
    const NUMBER = ['no', 'one', 'two', 'three', 'four', 'five'];
    let options = '';
    const offer = (key, list) => { if (options !== key) { options = key; if (key) question(key, list); else answers.replaceChildren(); } };
    const speak = (here, far) => {
      const moving = balls.some(b => b.moving) || runs.some(r => r.moving), n = runs.filter(r => !r.moving).length;
      let text, settled = !moving;
      if (p === 2) {
        offer('');
        if (moving && !told) text = 'A random energy on a sphere, two spins at a time, and twenty <b class="training">balls</b> that roll downhill. <b>In how many places do they end?</b>';
        else if (here < 2) text = 'Tap the globe: every tap drops a <b class="training">ball</b>. <b>In how many places can they end?</b>';
        else { told = true; text = `<b>Two valleys, <i>σ</i> and −<i>σ</i></b>, on the globe and with forty spins: all descents reach one energy. Turn the globe to see the other one. <b>Now take three spins at a time, <i>p</i> = 3.</b>`; }
      } else if (guess.three === undefined) {
        offer('three', [[2, 'Two'], [3, 'Three'], [4, 'Four']]);
        text = moving ? 'The balls roll in the dark, and leave tracks. <b>In how many valleys do they end?</b>' : `Three at a time. The ground is dark: tap to drop <b class="training">balls</b>, and turn the globe. ${here ? `So far they have ended in ${NUMBER[here]} place${here > 1 ? 's' : ''}. ` : ''}<b>How many valleys has it?</b>`;
      } else if (guess.forty === undefined) {
        offer('forty', [['few', 'Two or three'], ['more', 'More']]);
        text = `${guess.three === map.length ? '<b>Yes</b>' : '<b>No</b>'}, ${NUMBER[map.length]} valley${map.length > 1 ? 's' : ''}: this is the ground. Forty spins have no such picture. <b>If ${MANY} balls roll there, in how many valleys do they end?</b>`;
      } else {
        offer('');
        if (moving || !n) text = `${MANY} balls, forty spins. They fall fast, and then slowly, each to a place of its own?`;
        else text = `${(guess.forty === 'more') === far > 3 ? 'Yes' : 'No'}: <b>${n} balls, ${far} valleys</b>, at different heights, and two ends have little in common. ${far > n / 3 ? 'More balls find more of them. ' : ''}There is no map to count them on: Part I will count them by theory.`;
      }
      say(text, settled);
    };
    const ask = motion(el, advance, paint);
    new MutationObserver(paint).observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    study();
    if (p === 2) drop(MANY);
    return {
      resize,
      still: () => { state.p = 3; guess = { three: 3, forty: 'more' }; study(); drop(MANY); while (advance(50)); paint(); },
      probe: () => ({ p, valleys: map.length, balls: balls.length, here: ph.distinct(balls.filter(b => !b.moving).map(b => b.s)).length, far: ph.distinct(runs.filter(r => !r.moving).map(r => r.s)).length, runs: runs.length, moving: balls.some(b => b.moving) || runs.some(r => r.moving), dark, turn, guess: { ...guess } }),
    };
  },
};
