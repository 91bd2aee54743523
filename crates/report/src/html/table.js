// Sorts each table by the column of which the head is pressed, and hides servers that do not match the
// filter. Without it the page shows everything, in its first order.
"use strict";
(() => {
  const tables = [...document.querySelectorAll("table.results")];
  const rows = (table) => [...table.tBodies[0].rows];
  const value = (row, column) => {
    const cell = row.cells[column];
    if (column === 0) return cell.textContent;
    return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  };
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);

  for (const table of tables) {
    const heads = [...table.tHead.rows[1].cells];
    const first = rows(table);
    heads.forEach((head, column) => {
      if (head.matches(".picture")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const order = { ascending: "descending", descending: null }[head.ariaSort];
        const next = order === undefined ? "ascending" : order;
        for (const other of heads) other.removeAttribute("aria-sort");
        let sorted = first;
        if (next) {
          head.ariaSort = next;
          const sign = next === "ascending" ? 1 : -1;
          const known = first.filter((row) => value(row, column) !== null);
          known.sort((a, b) => sign * compare(value(a, column), value(b, column)));
          // Rows without a figure stay last.
          sorted = [...known, ...first.filter((row) => value(row, column) === null)];
        }
        table.tBodies[0].append(...sorted);
      });
    });
  }

  const all = tables.flatMap(rows);
  const form = document.createElement("form");
  form.className = "filter";
  form.addEventListener("submit", (event) => event.preventDefault());
  const add = (name, control) => {
    const label = document.createElement("label");
    control.name = name;
    label.append(`${name} `, control);
    form.append(label);
    return control;
  };
  const search = add("server", document.createElement("input"));
  search.type = "search";
  const choices = ["class", "language", "mechanism"].flatMap((name) => {
    const values = [...new Set(all.map((row) => row.dataset[name]).filter(Boolean))].sort();
    if (values.length < 2) return [];
    const select = add(name, document.createElement("select"));
    for (const text of ["", ...values]) select.append(new Option(text || "all", text));
    return [select];
  });
  const count = document.createElement("output");
  form.append(count);
  const filter = () => {
    const words = search.value.toLowerCase();
    const matches = (row) => row.cells[0].textContent.toLowerCase().includes(words)
      && choices.every((choice) => !choice.value || row.dataset[choice.name] === choice.value);
    for (const row of all) row.hidden = !matches(row);
    const shown = all.filter((row) => !row.hidden).length;
    count.value = shown === all.length ? "" : `${shown} of ${all.length} rows`;
  };
  form.addEventListener("input", filter);
  if (all.length > 1) tables[0].closest("section").before(form);
})();
