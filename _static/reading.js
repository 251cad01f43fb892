// Two things that CSS cannot do: a link opens the dropdowns around its target, and a wide formula in a line of text scrolls.
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
  addEventListener('hashchange', reveal);
  addEventListener('resize', fit);
  document.addEventListener('toggle', fit, true);
  addEventListener('load', async () => {
    await window.MathJax?.startup?.promise;  // typesetting moves what is below it
    fit();
    if (location.hash) reveal();
  });
})();
