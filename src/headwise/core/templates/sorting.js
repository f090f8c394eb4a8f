for (const table of document.querySelectorAll('table[data-sortable]')) {
  const [head, ...rows] = table.rows;
  [...head.cells].forEach((title, column) => {
    const button = document.createElement('button');
    button.append(...title.childNodes);
    title.append(button);
    button.addEventListener('click', () => {
      const up = title.getAttribute('aria-sort') !== 'ascending';
      for (const other of head.cells) other.removeAttribute('aria-sort');
      title.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const text = row => row.cells[column].textContent.trim();
      const number = row => parseFloat(text(row).replaceAll(',', ''));
      // A cell without a number (-) stays at the end, whatever the direction.
      const compare = (a, b) => !column ? (up ? 1 : -1) * text(a).localeCompare(text(b))
        : isNaN(number(a)) - isNaN(number(b)) || (up ? 1 : -1) * (number(a) - number(b)) || 0;
      rows.sort(compare).forEach(row => row.parentNode.append(row));
    });
  });
}
