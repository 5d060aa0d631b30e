// Filters and sorts the ledger, shows the chosen reference machine, opens the row or figure in the address. Optional.
addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector(".ledger"), form = document.querySelector(".filters");
  if (!table || !form) return;
  const body = table.tBodies[0], rows = [...body.rows], columns = [...table.tHead.rows[0].cells];
  const place = () => form.machine ? +form.machine.value + 1 : 0;
  const shown = (row) => [...row.querySelectorAll(".ours")].filter((cell) => !cell.matches(".m") || cell.matches(".m" + place()));

  function update() {
    let count = 0;
    for (const cell of table.querySelectorAll(".m")) cell.style.display = cell.matches(".m" + place()) ? "" : "none";
    for (const cell of table.querySelectorAll(".m" + place()))
      cell.style.display = cell.matches("td") && matchMedia("(max-width:40rem)").matches ? "block" : "table-cell";
    for (const row of rows) {
      const verdict = form.verdict.value;
      row.hidden = (form.paper.value && row.dataset.paper !== form.paper.value)
        || (verdict && !shown(row).some((cell) => cell.dataset.v === verdict));
      row.style.display = row.hidden ? "none" : "";
      count += !row.hidden;
    }
    form.querySelector("output").textContent = count + " of " + rows.length + " claims";
  }

  // By number where a column has numbers, otherwise by text; empty cells last. A second click reverses the order.
  function sort(head) {
    const index = columns.indexOf(head), down = head.ariaSort === "ascending" ? -1 : 1;
    const key = (row) => {
      const cell = row.cells[index], value = cell.dataset.value;
      return cell.matches(".ours, .printed") ? (value === undefined ? NaN : +value) : cell.textContent;
    };
    const order = (a, b) => {
      const x = key(a), y = key(b);
      if (typeof x === "string") return down * x.localeCompare(y, "en", {numeric: true});
      return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : down * (x - y);
    };
    for (const other of columns) other.removeAttribute("aria-sort");
    head.ariaSort = down > 0 ? "ascending" : "descending";
    rows.sort(order);
    body.append(...rows);
  }

  for (const head of columns) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(head));
  }
  const all = table.closest("details");
  function open() {
    const at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!at) return;
    for (let around = at.id === "ledger" ? all : at.closest("details"); around; around = around.parentElement.closest("details"))
      around.open = true;
    if (at.matches("tr")) at.querySelector("details").open = true;
    at.scrollIntoView();
  }
  form.hidden = false;
  all.open = false;
  addEventListener("beforeprint", () => { all.open = true; });
  form.addEventListener("change", update);
  addEventListener("hashchange", open);
  matchMedia("(max-width:40rem)").addEventListener("change", update);
  update();
  open();
});
