// What CSS cannot do: a link opens the dropdowns around its target; a wide formula scrolls, and shows it.
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
  const fit = () => {
    for (const formula of document.querySelectorAll('mjx-container:not([display])')) {
      formula.classList.remove('scrolls');
      const box = formula.closest('p, li, dd, td, th, figcaption, h1, h2, h3, div');
      formula.classList.toggle('scrolls', box !== null && formula.getBoundingClientRect().width > box.clientWidth);
    }
  };
  // The soft edges of a box that scrolls. A formula can be reached with the keyboard only if it does.
  const edges = box => {
    const spare = box.scrollWidth - box.clientWidth;
    box.classList.toggle('more-left', spare > 1 && box.scrollLeft > 1);
    box.classList.toggle('more-right', spare > 1 && box.scrollLeft < spare - 1);
    if (box.tagName !== 'MJX-CONTAINER') return;
    box.toggleAttribute('data-wide', spare > 1);
    spare > 1 ? box.setAttribute('tabindex', 0) : box.removeAttribute('tabindex');
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
