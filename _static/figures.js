// A figure opens at its full size with a click, Enter or Space, and closes with a click or Esc. A notebook is saved, not shown as text.
(() => {
  const mark = () => {
    for (const image of document.querySelectorAll('article figure img, article .cell_output img')) {
      const smaller = image.clientWidth > 0 && image.naturalWidth > image.clientWidth + 20;
      image.toggleAttribute('data-zoom', smaller);
      if (smaller) Object.assign(image, { tabIndex: 0, role: 'button', title: 'Enlarge' });
      else for (const name of ['tabindex', 'role', 'title']) image.removeAttribute(name);
    }
  };
  const open = image => {
    const dialog = document.createElement('dialog'), copy = new Image(image.naturalWidth);
    Object.assign(copy, { src: image.src, alt: image.alt });
    dialog.className = 'zoom';
    dialog.ariaLabel = 'Figure at full size';
    dialog.append(copy);
    dialog.addEventListener('click', () => dialog.close());
    dialog.addEventListener('keydown', event => event.key === 'Escape' && dialog.close());  // the theme keeps Esc from closing it
    dialog.addEventListener('close', () => { dialog.remove(); image.focus({ preventScroll: true }); });
    document.body.append(dialog);
    dialog.showModal();
  };
  document.addEventListener('click', event => event.target.matches?.('img[data-zoom]') && open(event.target));
  document.addEventListener('keydown', event => {
    if (!['Enter', ' '].includes(event.key) || !event.target.matches?.('img[data-zoom]')) return;
    event.preventDefault();  // Space scrolls
    open(event.target);
  });
  document.addEventListener('load', event => event.target.tagName === 'IMG' && mark(), true);  // pictures in a fold load when it opens
  for (const moment of ['load', 'resize']) addEventListener(moment, mark);
  document.addEventListener('toggle', mark, true);
  addEventListener('DOMContentLoaded', () => {
    for (const link of document.querySelectorAll('a.btn-download-source-button')) {
      link.download = link.href.split('/').pop();
      link.removeAttribute('target');
      if (location.protocol === 'file:') link.append(' (right-click, save)');  // from disk a browser shows the file all the same
    }
  });
})();
