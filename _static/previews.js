// A link to a formula, term, reference, figure or section shows what it leads to, under the pointer or with the keyboard; Esc hides it.
// What stands on another page comes from preview-data.js: a page on a disk may not fetch, but it may load a script.
(() => {
  const source = new URL('preview-data.js', document.currentScript.src).href, root = new URL('../', source).href;
  const isShown = link => /#(equation-|term-|fig-|sec-|ch-)|bibliography\.html#id\d/.test(link?.href ?? '');
  let data = null, owner = null, box = null, timer = 0, turn = 0;

  const elsewhere = () => (data ??= new Promise(done => {
    const script = document.createElement('script');
    Object.assign(script, { src: source, onload: () => done(window.bookPreviews), onerror: () => done({}) });
    document.head.append(script);
  }));
  const nameOf = link => link.href.slice(root.length).replace(/^(index\.html)?(?=#)/, 'intro.html');  // one page, two names
  const inView = target => {
    const { top, bottom } = target.getBoundingClientRect();
    return target.checkVisibility() && top > 0 && bottom < innerHeight;
  };
  const copy = target => {  // a formula of this page, typeset already
    const twin = target.cloneNode(true);
    for (const part of [twin, ...twin.querySelectorAll('*')])
      for (const name of ['id', 'tabindex', 'data-wide', 'data-size']) part.removeAttribute(name);
    for (const formula of twin.querySelectorAll('mjx-container')) formula.classList.remove('more-left', 'more-right', 'scrolls');
    for (const link of twin.querySelectorAll('.headerlink')) link.remove();
    return twin;
  };
  const fill = async link => {
    const [page, id] = link.href.split('#'), made = document.createElement('div');
    Object.assign(made, { className: 'preview', id: 'preview', role: 'tooltip' });
    const target = page === location.href.split('#')[0] && document.getElementById(decodeURIComponent(id));
    if (target && inView(target)) return null;
    if (target?.matches?.('.math')) made.append(copy(target));
    else made.innerHTML = ((await elsewhere())[nameOf(link)] ?? '').replaceAll('{root}', root);
    return made.hasChildNodes() ? made : null;
  };
  const fit = () => {  // a formula is as wide as the column, and smaller if that does not do
    const room = Math.min(document.querySelector('article').clientWidth, document.documentElement.clientWidth) - 16;
    box.style.setProperty('--column', `${room}px`);
    for (const formula of box.querySelectorAll('mjx-container[display]')) {
      const ratio = formula.clientWidth / formula.querySelector('mjx-math').getBoundingClientRect().width;
      if (ratio < 1) formula.style.fontSize = `${Math.max(ratio, .5) * (parseFloat(formula.style.fontSize) || 100)}%`;
    }
  };
  const place = link => {
    const at = link.getClientRects()[0], size = box.getBoundingClientRect(), edge = 8;
    const below = at.bottom + edge + size.height < innerHeight || at.top < size.height + edge;
    box.style.left = `${Math.max(edge, Math.min(at.left, document.documentElement.clientWidth - size.width - edge)) + scrollX}px`;
    box.style.top = `${(below ? at.bottom + edge : at.top - size.height - edge) + scrollY}px`;
  };
  const hide = () => {
    clearTimeout(timer);
    if (box) {
      window.MathJax?.typesetClear?.([box]);
      box.remove();
      owner.removeAttribute('aria-describedby');
    }
    owner = box = null;
    turn += 1;
  };
  const show = async link => {
    if (link === owner) return clearTimeout(timer);
    hide();
    owner = link;
    const mine = turn, made = await fill(link);
    if (mine !== turn || !made) return;  // the pointer has left meanwhile, perhaps come back: that is another turn
    box = made;
    document.body.append(box);
    if (/\\[([]/.test(box.textContent)) await window.MathJax?.typesetPromise?.([box]);
    await Promise.all([...box.querySelectorAll('img')].map(image => image.decode().catch(() => {})));  // its size is known
    if (mine !== turn) return;
    fit();
    place(link);
    link.setAttribute('aria-describedby', box.id);
  };
  const linkAt = event => event.target.closest?.('article a[href]:not(.headerlink, #search-results a)');
  const soon = (act, wait) => { clearTimeout(timer); timer = setTimeout(act, wait); };

  document.addEventListener('pointerover', event => {
    if (event.pointerType !== 'mouse') return;  // a finger follows the link
    const link = linkAt(event);
    if (isShown(link)) soon(() => show(link), 250);
    else if (box?.contains(event.target)) clearTimeout(timer);
    else if (owner && !owner.matches(':focus-visible')) soon(hide, 250);
    else clearTimeout(timer);
  });
  document.addEventListener('focusin', event => {
    const link = linkAt(event);
    if (isShown(link) && link.matches(':focus-visible')) show(link);
    else if (!box?.contains(event.target)) hide();
  });
  document.addEventListener('focusout', event => event.target === owner && hide());
  document.addEventListener('keydown', event => event.key === 'Escape' && hide());
  for (const gone of ['click', 'beforeprint']) addEventListener(gone, event => box?.contains(event.target) || hide());
})();
