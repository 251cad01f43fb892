// A moving figure: an <img class="player-NAME still-K"> whose frames are frames/NAME/00.png ... gets a button and a slider,
// which stands at the still picture, number K.
// Without this script, in print and in plain Jupyter the still picture stands.
(() => {
  const folder = new URL('frames/', document.currentScript.src);
  const calm = matchMedia('(prefers-reduced-motion: reduce)');  // then the button shows the next picture instead of playing
  const make = (tag, properties, attributes = {}) => {
    const node = Object.assign(document.createElement(tag), properties);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };

  const equip = (image, name, { size: [width, height], labels }) => {
    const last = labels.length - 1, still = +/\bstill-(\d+)/.exec(image.className)[1];
    const shape = `width: ${width}px; aspect-ratio: ${width} / ${height}`;
    const source = k => new URL(`${name}/${String(k).padStart(2, '0')}.png`, folder).href;
    const screen = make('span', { className: 'player-screen' });
    const button = make('button', { type: 'button', className: 'player-button' });
    const slider = make('input', { type: 'range', min: 0, max: last, value: still, className: 'player-slider' },
      { 'aria-label': 'Picture', 'aria-valuetext': labels[still] });
    const label = make('output', { className: 'player-label', textContent: labels[still] }, { 'aria-live': 'off' });
    const controls = make('span', { className: 'player-controls' }, { role: 'group', 'aria-label': 'Moving figure' });
    label.style.minWidth = `${Math.max(9, ...labels.map(text => text.length))}ch`;
    controls.append(button, slider, label);
    image.before(screen);
    screen.append(image);
    screen.after(controls);

    let frame = null, loaded = null, timer = 0;
    const load = () => { loaded ??= labels.map((_, k) => Object.assign(new Image(), { src: source(k) })); };
    const show = k => {
      load();
      frame ??= screen.appendChild(make('img', { className: 'player-frame' }, { style: shape }));
      frame.src = source(k);
      frame.alt = `Picture ${k + 1} of ${labels.length}: ${labels[k]}`;
      const before = controls.getBoundingClientRect().top;
      screen.classList.add('playing');  // the frame takes the place of the still picture; the button stays under the pointer
      scrollBy({ top: controls.getBoundingClientRect().top - before, behavior: 'instant' });
      slider.value = k;
      slider.setAttribute('aria-valuetext', label.textContent = labels[k]);
    };
    const next = () => (+slider.value < last ? +slider.value + 1 : 0);
    const paint = () => {
      button.dataset.face = timer ? 'Pause' : calm.matches ? 'Next' : 'Play';
      button.title = button.ariaLabel = calm.matches ? 'Next picture' : button.dataset.face;
    };
    const pause = () => { clearInterval(timer); timer = 0; paint(); };
    const play = () => {
      show(calm.matches ? next() : frame && +slider.value < last ? +slider.value : 0);  // the first time from the beginning
      if (calm.matches) return;
      timer = setInterval(() => { show(next()); if (+slider.value === last) pause(); }, 300);
      paint();
    };
    button.addEventListener('click', () => (timer ? pause() : play()));
    slider.addEventListener('input', () => { pause(); show(+slider.value); });
    for (const touch of ['pointerenter', 'focusin']) controls.addEventListener(touch, load, { once: true });
    document.addEventListener('visibilitychange', () => document.hidden && pause());
    calm.addEventListener('change', pause);
    new IntersectionObserver(([screen]) => screen.isIntersecting || pause()).observe(screen);
    paint();
  };

  addEventListener('DOMContentLoaded', () => {
    for (const image of document.querySelectorAll('img[class*="player-"]')) {
      const name = [...image.classList].find(c => c.startsWith('player-')).slice('player-'.length);
      if (window.players?.[name]) equip(image, name, window.players[name]);
    }
  });
})();
