{
const form = document.querySelector('.hw-filter'), rows = document.querySelectorAll('.hw-errors > li');
if (form) {
  const texts = Array.from(rows, row => row.textContent.toLowerCase());
  const filter = () => {
    const is = name => form.elements[name] ? form.elements[name].value : '';
    const a = is('a'), b = is('b'), q = is('q').toLowerCase();
    let shown = 0;
    rows.forEach((row, n) => {
      row.hidden = (a && row.dataset.a !== a) || (b && row.dataset.b !== b) || (q && !texts[n].includes(q));
      shown += !row.hidden;
    });
    form.querySelector('output').textContent = shown.toLocaleString('en') + ' shown';
  };
  form.addEventListener('input', filter);
  form.addEventListener('submit', event => event.preventDefault());
  filter();
}
}
