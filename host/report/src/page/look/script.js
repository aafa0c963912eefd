// Hides, sorts and saves what is already on the page. The address keeps the view.
document.documentElement.classList.add("js");
addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  const form = document.querySelector(".controls");
  const status = document.querySelector(".status");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const words = form.dataset;
  const say = (name, values) => words[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

  const filters = all(".filter", form).map(box => {
    const boxes = all("input", box);
    return { box, boxes, key: box.dataset.key, label: box.querySelector("legend").textContent, any: box.querySelector("span") };
  });
  const keys = filters.map(filter => filter.key);

  // Everything that a filter or the search can hide.
  const selector = [...new Set([...keys, "model"])].map(key => `main [data-${key}]`).join();
  const items = all(selector).map(element => ({
    element,
    values: keys.map(key => element.getAttribute("data-" + key)),
    model: element.getAttribute("data-model")?.toLowerCase(),
  }));
  const figures = all("figure").map(figure => ({
    figure,
    rows: all("tbody tr", figure),
    marks: all(".plot .mark", figure),
    note: figure.querySelector(".count"),
    size: figure.querySelector(".behind summary span"),
    counts: figure.matches(".counts"),
  }));
  for (const entry of figures) entry.full = entry.size?.textContent;
  const some = figures.some(entry => entry.counts);
  const counted = figures.filter(entry => !some || entry.counts).flatMap(entry => entry.rows);
  const on = element => !element.closest(".off");

  const sorts = new Map();
  let strangers = [];

  const decisions = decider();
  const metric = form.elements.namedItem("metric");

  const apply = () => {
    const picked = filters.map(({ boxes }) => new Set(boxes.filter(box => box.checked).map(box => box.value)));
    const query = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { element, values, model } of items) {
      const fits = values.every((value, at) => !picked[at].size || value === null || picked[at].has(value))
        && (model === undefined || query.every(word => model.includes(word)));
      element.classList.toggle("off", !fits);
    }
    filters.forEach(({ any, boxes }, at) => {
      any.textContent = picked[at].size ? say("picked", { shown: picked[at].size, all: boxes.length }) : any.dataset.any;
    });
    decisions?.show(metric?.value, (attributes, model) => keys.every((key, at) => {
      const value = key === "outcome" ? "measured" : attributes[key];
      return !picked[at].size || value === undefined || picked[at].has(value);
    }) && (model === undefined || query.every(word => model.toLowerCase().includes(word))));
    const active = picked.some(set => set.size) || query.length > 0;
    root.classList.toggle("filtered", active);
    for (const { figure, rows, marks, note, size, full } of figures) {
      const shown = rows.filter(on).length, drawn = marks.filter(on).length;
      figure.classList.toggle("none", active && rows.length + marks.length > 0 && shown + drawn === 0);
      if (size) size.textContent = shown < rows.length ? `${say("picked", { shown, all: rows.length })} ${words.rows}` : full;
      const [part, whole, unit] = marks.length ? [drawn, marks.length, words.marks] : [shown, rows.length, words.rows];
      note.hidden = part === whole;
      note.textContent = say("status", { shown: part, all: whole, unit });
    }
    for (const section of all("main > section")) {
      const parts = all("figure, .findings > li", section);
      const nothing = section.querySelector(".nothing");
      if (nothing) nothing.hidden = !parts.length || parts.some(part => on(part) && !part.classList.contains("none"));
    }
    const shown = counted.filter(on).length, total = counted.length, unit = words.unit;
    const told = total ? [say(active ? (shown ? "status" : "status_none") : "status_all", { shown, all: total, unit })] : [];
    if (active) {
      const labels = (filter, set) => filter.boxes.filter(box => set.has(box.value)).map(box => box.parentNode.textContent.trim());
      const by = filters.map((filter, at) => picked[at].size ? `${filter.label}: ${labels(filter, picked[at]).join(", ")}` : "");
      if (query.length) by.push(`${form.q.placeholder}: ${form.q.value}`);
      told.push(say("by", { what: by.filter(Boolean).join("; ") }));
    }
    if (strangers.length) told.push(say("stranger", { what: strangers.join(", ") }));
    status.textContent = told.join(" ");
    root.dataset.theme = form.theme.value;
  };

  const valueOf = cell => {
    const text = cell?.dataset.v ?? cell?.textContent.trim() ?? "";
    if (text === "" || text === "-") return null;
    return Number.isNaN(Number(text)) ? text : Number(text);
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, "en", { numeric: true });
  };
  const order = new Map(all("main figure table").map(table => [table, [...table.tBodies[0].rows]]));
  const sort = table => {
    const [column, down] = sorts.get(table.id) ?? [-1, false];
    all("thead th", table).forEach((head, at) => {
      if (at === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    let rows = order.get(table);
    if (column >= 0) {
      // What is missing stays at the end, whichever way the rest goes.
      const keyed = rows.map(row => [valueOf(row.cells[column]), row]);
      const known = keyed.filter(([value]) => value !== null).sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
      rows = [...known, ...keyed.filter(([value]) => value === null)].map(([, row]) => row);
    }
    table.tBodies[0].append(...rows);
  };
  for (const head of all("main figure thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.title = say("sort", { name: head.textContent });
    button.onclick = () => {
      const table = head.closest("table"), column = head.cellIndex, now = sorts.get(table.id);
      if (now?.[0] !== column) sorts.set(table.id, [column, false]);
      else if (!now[1]) sorts.set(table.id, [column, true]);
      else sorts.delete(table.id);
      sort(table);
      write();
    };
    head.replaceChildren(button);
  }

  // The view, at a place of the page where one is named.
  const address = at => {
    const view = new URLSearchParams();
    for (const { boxes, key } of filters) for (const box of boxes) if (box.checked) view.append(key, box.value);
    if (form.q.value.trim()) view.set("q", form.q.value.trim());
    for (const [id, [column, down]] of sorts) view.append("sort", `${id}.${column}.${down ? "down" : "up"}`);
    if (form.theme.value) view.set("theme", form.theme.value);
    if (metric?.selectedIndex > 0) view.set("metric", metric.value);
    if (at) view.set("at", at);
    const text = view.toString();
    return text ? "#" + text : location.pathname + location.search;
  };
  const write = () => history.replaceState(null, "", address());
  const go = target => {
    for (let part = target; part; part = part.parentElement) if (part.matches("details")) part.open = true;
    target.scrollIntoView();
  };
  const read = () => {
    // Without a "=" it is the name of a section.
    const view = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    const known = new Set(["q", "sort", "theme", "metric", "at", ...keys]);
    strangers = [...new Set(view.keys())].filter(key => !known.has(key));
    for (const { boxes, key } of filters) {
      const asked = view.getAll(key), here = new Set(boxes.map(box => box.value));
      for (const box of boxes) box.checked = asked.includes(box.value);
      strangers.push(...asked.filter(value => !here.has(value)));
    }
    form.q.value = view.get("q") ?? "";
    form.theme.value = view.get("theme") ?? "";
    if (form.theme.selectedIndex < 0) form.theme.value = "";
    if (metric) metric.value = view.get("metric") ?? metric.options[0].value;
    if (view.has("metric") && !decisions?.known.includes(view.get("metric"))) strangers.push(view.get("metric"));
    if (metric?.selectedIndex < 0) metric.selectedIndex = 0;
    const before = [...sorts.keys()];
    sorts.clear();
    for (const asked of view.getAll("sort")) {
      const [id, column, way] = asked.split(".");
      const table = document.getElementById(id), at = Number(column);
      if (order.has(table) && table.tHead.rows[0].cells[at]) sorts.set(id, [at, way === "down"]);
      else strangers.push(asked);
    }
    for (const id of new Set([...before, ...sorts.keys()])) sort(document.getElementById(id));
    const at = view.has("at") && document.getElementById(view.get("at"));
    if (at === null) strangers.push(view.get("at"));
    apply();
    if (at) go(at);
  };
  const changed = () => {
    strangers = [];
    apply();
    write();
  };

  let typing;
  form.addEventListener("input", event => {
    clearTimeout(typing);
    typing = setTimeout(changed, event.target === form.q ? 120 : 0);
  });
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => {
    clearTimeout(typing);
    const theme = form.theme.value;
    setTimeout(() => {
      form.theme.value = theme;
      changed();
    });
  });
  const close = except => filters.forEach(({ box }) => box !== except && (box.open = false));
  addEventListener("click", event => close(event.target.closest(".filter")));
  addEventListener("keydown", event => {
    const open = event.key === "Escape" && filters.find(({ box }) => box.open);
    if (open) {
      close();
      open.box.querySelector("summary").focus();
    }
  });
  // A jump to a section leaves the view in the address as it is.
  addEventListener("click", event => {
    const link = event.target.closest('a[href^="#"]');
    const target = link && document.getElementById(link.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.scrollIntoView();
  });
  const share = sharer({ say, address });
  for (const button of all("[data-save]")) {
    button.onclick = () => {
      const csv = button.dataset.save === "csv";
      const text = document.getElementById("data-" + button.dataset.save).textContent;
      const blob = new Blob([csv ? JSON.parse(text) : text], { type: csv ? "text/csv" : "application/json" });
      share.save(blob, button.dataset.name);
    };
  }
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("main details:not([open])");
    closed.forEach(part => part.open = true);
  });
  addEventListener("afterprint", () => closed.forEach(part => part.open = false));
  addEventListener("hashchange", read);
  read();
});
