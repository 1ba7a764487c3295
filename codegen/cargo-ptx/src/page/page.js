"use strict";
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const make = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const key = (place) => place && place[0] + ":" + place[1];
  const columns = ["source", "ptx", "sass"];
  // The lines of each column, and where each stands in the source.
  const shown = { source: [], ptx: [], sass: [] };
  let current = page.functions[0];
  let chosen = null;
  let matches = [];
  let match = -1;

  const fill = (column, lines, places, numbers) => {
    const list = at(column);
    list.replaceChildren();
    shown[column] = lines.map((text, index) => {
      const item = make("li", text || " ");
      const place = key(places[index]);
      item.dataset.number = numbers ? index + 1 : "";
      if (place) item.dataset.place = place;
      list.append(item);
      return { item, place, text: text.toLowerCase() };
    });
  };

  const empty = (column, why) => at(column).replaceChildren(make("li", why, "none"));

  const showFile = (file) => {
    const source = page.sources[file];
    if (!source) {
      shown.source = [];
      empty("source", "No line of this function came from the package's own sources.");
      return;
    }
    at("file").value = file;
    fill("source", source.lines, source.lines.map((_, line) => [file, line + 1]), true);
    const used = new Set([...current.ptx, ...current.sass].map((line) => key(line[1])));
    for (const line of shown.source) {
      line.item.classList.toggle("has", used.has(line.place));
      if (!used.has(line.place)) line.place = null;
    }
  };

  const firstPlace = () => (current.ptx.find((line) => line[1]) || current.sass.find((line) => line[1]) || [])[1];

  const showFunction = (index) => {
    current = page.functions[index];
    if (!current) return;
    at("kernel").value = index;
    showFacts();
    fill("ptx", current.ptx.map((line) => line[0]), current.ptx.map((line) => line[1]), true);
    fill("sass", current.sass.map((line) => line[0]), current.sass.map((line) => line[1]), false);
    if (!current.sass.length) {
      empty("sass", page.sass ? "It was inlined, or nothing calls it." : "nvdisasm was not found: `cargo ptx setup` installs it.");
    }
    const place = firstPlace();
    showFile(place ? place[0] : -1);
    choose(null);
    search();
    if (place) scroll("source", shown.source.find((line) => line.place === key(place)));
  };

  const scroll = (column, line) => {
    if (!line) return;
    const list = at(column);
    // Not scrollIntoView: that would move the page, too.
    list.scrollTop = line.item.offsetTop - list.offsetTop - list.clientHeight / 3;
  };

  const mark = (name, place) => {
    for (const column of columns) {
      for (const line of shown[column]) line.item.classList.toggle(name, !!place && line.place === place);
    }
  };

  const choose = (place, from) => {
    chosen = place;
    if (place) {
      const file = Number(place.split(":")[0]);
      if (String(file) !== at("file").value) showFile(file);
    }
    mark("near", null);
    mark("chosen", place);
    for (const column of columns) {
      if (place && column !== from) scroll(column, shown[column].find((line) => line.place === place));
    }
    remember();
  };

  const showFacts = () => {
    const { kernel, resources: used } = current;
    at("signature").textContent = kernel ? kernel.signature + " at " + kernel.place : current.name;
    const table = at("resources");
    table.replaceChildren();
    const row = (name, value, bad) => {
      const line = make("tr");
      line.append(make("td", name), make("td", value, "number" + (bad ? " bad" : "")));
      table.append(line);
    };
    row("arch", current.arch);
    if (used) {
      row("registers a thread", used.registers);
      row("stack, bytes a thread", used.stack + (used.stack_is_minimum ? "+" : ""), used.stack > 0);
      row("spill stores, bytes", used.spill_stores, used.spill_stores > 0);
      row("spill loads, bytes", used.spill_loads, used.spill_loads > 0);
      row("shared memory, bytes a block", used.shared);
      row("constant memory, bytes", used.constant ?? "not said");
      row("barriers", used.barriers);
      if (used.formatting) row("makes text on the device", used.formatting.of === "panics" ? "its panics" : "yes", true);
    } else {
      row("ptxas", kernel ? "was not run" : "says nothing of functions");
    }
    showOccupancy();
    showMix();
    const list = at("panics");
    list.replaceChildren();
    for (const panic of current.panics) {
      const item = make("li");
      const where = panic.file + ":" + panic.line + ":" + panic.column;
      const file = page.sources.findIndex((source) => source.path === panic.file);
      const text = where + (panic.message ? ": " + panic.message : "");
      const shows = file >= 0 ? make("button", text) : make("span", text);
      if (file >= 0) shows.onclick = () => choose(file + ":" + panic.line);
      item.append(shows);
      list.append(item);
    }
    if (!current.panics.length) list.append(make("li", "none"));
  };

  const svg = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const showOccupancy = () => {
    const figure = at("occupancy");
    const points = current.occupancy;
    figure.replaceChildren();
    if (!points.length) {
      figure.append(make("figcaption", "It is not known for this function."));
      return;
    }
    const [left, top, width, height] = [34, 8, 320, 130];
    const x = (point) => left + (point.threads / 1024) * width;
    const y = (percent) => top + height - (percent / 100) * height;
    const percent = (point) => (100 * point.warps) / point.of;
    const drawing = svg("svg", { viewBox: "0 0 374 168", role: "img", "aria-label": "Occupancy over block sizes" });
    for (const level of [0, 50, 100]) {
      drawing.append(svg("line", { class: "grid", x1: left, x2: left + width, y1: y(level), y2: y(level) }));
      drawing.append(svg("text", { x: left - 4, y: y(level) + 4, "text-anchor": "end" }, level + "%"));
    }
    for (const threads of [256, 512, 768, 1024]) {
      drawing.append(svg("text", { x: x({ threads }), y: top + height + 16, "text-anchor": "middle" }, threads));
    }
    drawing.append(svg("polyline", { class: "curve", points: points.map((point) => x(point) + "," + y(percent(point))).join(" ") }));
    const caption = make("figcaption");
    const say = (point) => {
      const many = (count, name) => count + " " + name + (count === 1 ? "" : "s");
      caption.textContent = many(point.threads, "thread") + " a block: " + Math.round(percent(point)) + "% (" +
        many(point.blocks, "block") + ", " + point.warps + " of " + point.of + " warps), limited by " + point.limit;
    };
    for (const point of points) {
      const dot = svg("circle", { class: "dot", cx: x(point), cy: y(percent(point)), r: 3, tabindex: 0 });
      dot.onmouseenter = dot.onfocus = dot.onclick = () => say(point);
      drawing.append(dot);
    }
    const best = points.reduce((best, point) => (percent(point) > percent(best) ? point : best));
    say(best);
    figure.append(drawing, caption);
  };

  const showMix = () => {
    const table = at("mix");
    table.replaceChildren();
    const all = current.mix.reduce((sum, share) => sum + share.count, 0);
    for (const share of current.mix) {
      const row = make("tr");
      const bar = make("div", undefined, "bar");
      bar.style.width = (100 * share.count) / current.mix[0].count + "%";
      const cell = make("td");
      cell.style.width = "38%";
      cell.append(bar);
      row.append(make("td", share.kind), make("td", share.count, "number"), cell);
      table.append(row);
    }
    const row = make("tr");
    row.append(make("td", all ? "in all, as they stand in the code" : "no machine code"), make("td", all || "", "number"));
    table.append(row);
  };

  const search = () => {
    const text = at("search").value.toLowerCase();
    matches = [];
    match = -1;
    for (const column of columns) {
      for (const line of shown[column]) {
        const is = text !== "" && line.text.includes(text);
        line.item.classList.toggle("match", is);
        line.item.classList.remove("current");
        if (is) matches.push([column, line]);
      }
    }
    at("found").textContent = text === "" ? "" : matches.length + (matches.length === 1 ? " line" : " lines");
  };

  const next = () => {
    if (!matches.length) return;
    if (match >= 0) matches[match][1].item.classList.remove("current");
    match = (match + 1) % matches.length;
    const [column, line] = matches[match];
    line.item.classList.add("current");
    showPane(column);
    scroll(column, line);
    at("found").textContent = match + 1 + " of " + matches.length;
  };

  const showPane = (pane) => {
    at("code").dataset.shown = pane;
    for (const button of at("panes").children) button.setAttribute("aria-pressed", button.dataset.pane === pane);
  };

  // What is shown stands in the address, so that it can be sent to somebody.
  const remember = () => {
    const parts = new URLSearchParams({ kernel: current.name, arch: current.arch });
    if (chosen) parts.set("at", chosen);
    history.replaceState(null, "", "#" + parts);
  };

  const theme = (name) => {
    document.documentElement.dataset.theme = name;
    try { localStorage.setItem("rust-ptx-theme", name); } catch { /* A file's page may have no storage. */ }
  };

  if (!page.functions.length) {
    at("signature").textContent = "The package has no kernel.";
    return;
  }
  at("build").textContent = "Profile " + page.profile + "; rust-ptx " + page.version + ", LLVM " + page.llvm + ", " +
    (page.ptxas ? "ptxas " + page.ptxas : "without ptxas");
  page.functions.forEach((made, index) => {
    const option = make("option", made.name + " (" + made.arch + (made.kernel ? ")" : ", function)"));
    option.value = index;
    at("kernel").append(option);
  });
  page.sources.forEach((source, index) => {
    const option = make("option", source.path);
    option.value = index;
    at("file").append(option);
  });
  at("kernel").onchange = () => showFunction(Number(at("kernel").value));
  at("file").onchange = () => { showFile(Number(at("file").value)); choose(null); search(); };
  at("search").oninput = search;
  at("search").onkeydown = (event) => { if (event.key === "Enter") next(); };
  at("next").onclick = next;
  at("theme").onclick = () => {
    const set = document.documentElement.dataset.theme;
    const dark = set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    theme(dark ? "light" : "dark");
  };
  for (const button of at("panes").children) button.onclick = () => showPane(button.dataset.pane);
  for (const column of columns) {
    const list = at(column);
    list.onclick = (event) => {
      const place = event.target.closest("li")?.dataset.place;
      if (place && shown[column].some((line) => line.place === place)) choose(place === chosen ? null : place, column);
    };
    list.onmouseover = (event) => {
      const place = event.target.closest("li")?.dataset.place;
      mark("near", place);
    };
    list.onmouseleave = () => mark("near", null);
  }
  showPane("source");
  try { if (localStorage.getItem("rust-ptx-theme")) theme(localStorage.getItem("rust-ptx-theme")); } catch { /* As above. */ }
  const asked = new URLSearchParams(location.hash.slice(1));
  const index = page.functions.findIndex((made) =>
    made.name === asked.get("kernel") && (!asked.get("arch") || made.arch === asked.get("arch")));
  showFunction(Math.max(index, 0));
  if (/^\d+:\d+$/.test(asked.get("at") || "")) choose(asked.get("at"));
})();
