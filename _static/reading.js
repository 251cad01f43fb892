// What CSS cannot do: a link opens the dropdowns around its target; on a phone a formula or a printed table becomes a little
// smaller where that makes it fit; what is still too wide scrolls, and shows it.
(() => {
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let block = target.parentElement; block; block = block.parentElement) {
      if (block.tagName === 'DETAILS') block.open = true;
      if (block.classList.contains('toggle-hidden')) block.querySelector('.toggle-button')?.click();
    }
    target.scrollIntoView();
  };
  const phone = matchMedia('(max-width: 600px)'), SMALLEST = { formula: .74, print: .72 };
  const fit = () => {
    for (const formula of document.querySelectorAll('mjx-container:not([display])')) {
      formula.classList.remove('scrolls');
      const box = formula.closest('p, li, dd, td, th, figcaption, h1, h2, h3, div');
      formula.classList.toggle('scrolls', box !== null && formula.getBoundingClientRect().width > box.clientWidth);
      reachable(formula, formula.classList.contains('scrolls'));
    }
    const wide = [...document.querySelectorAll('article mjx-container[display], article .cell_output pre')];
    for (const one of wide) one.style.fontSize = one.dataset.size ??= one.style.fontSize;  // as wide as it wants to be
    const sizes = wide.map(one => {
      if (!phone.matches || !one.clientWidth) return '';
      const formula = one.matches('mjx-container'), spare = formula ? 4 : 2 * parseFloat(getComputedStyle(one).paddingLeft);  // its padding
      const need = formula ? one.querySelector('mjx-math').getBoundingClientRect().width : one.scrollWidth - spare;
      const ratio = (one.clientWidth - spare) / need;
      if (ratio >= 1 || ratio < SMALLEST[formula ? 'formula' : 'print']) return '';
      return formula ? `${ratio * (parseFloat(one.dataset.size) || 100)}%` : `${ratio * parseFloat(getComputedStyle(one).fontSize)}px`;
    });
    wide.forEach((one, k) => { if (sizes[k]) one.style.fontSize = sizes[k]; });
  };
  // A box that scrolls can be reached with the keyboard, another cannot.
  const reachable = (box, scrolls) => scrolls ? box.setAttribute('tabindex', 0) : box.removeAttribute('tabindex');
  // The soft edges of a box that scrolls.
  const edges = box => {
    const spare = box.scrollWidth - box.clientWidth;
    box.classList.toggle('more-left', spare > 1 && box.scrollLeft > 1);
    box.classList.toggle('more-right', spare > 1 && box.scrollLeft < spare - 1);
    reachable(box, spare > 1);
    if (box.tagName === 'MJX-CONTAINER') box.toggleAttribute('data-wide', spare > 1);
  };
  addEventListener('hashchange', reveal);
  addEventListener('resize', fit);
  document.addEventListener('toggle', fit, true);
  addEventListener('load', async () => {
    await window.MathJax?.startup?.promise;  // typesetting moves what is below it
    fit();
    const watch = new ResizeObserver(changes => changes.forEach(({ target }) => edges(target)));
    for (const box of document.querySelectorAll('mjx-container[display], article pre, .pst-scrollable-table-container, .bd-article .output')) {
      watch.observe(box);
      box.addEventListener('scroll', () => edges(box), { passive: true });
    }
    if (location.hash) reveal();
  });
})();
