// What somebody does with the page of `cargo ptx report`; the test reads what came of it from #outcome.
"use strict";
(() => {
  const lines = (column, kind) => [...document.querySelectorAll("#" + column + " li" + kind)];
  const line = (column, text) => lines(column, "").find((line) => line.textContent.includes(text));
  const columns = (kind) => ["source", "ptx", "sass"].map((column) => lines(column, kind).map((line) => line.textContent.trim()));
  const enter = (id, value, event) => {
    const input = document.getElementById(id);
    input.value = value;
    input.dispatchEvent(new Event(event));
  };
  const text = (id) => document.getElementById(id).textContent;
  const outcome = { errors: window.errors };

  outcome.address = text("resources");
  line("source", "*y += ").click();
  outcome.of_source = columns(".chosen");
  outcome.shared = location.hash;
  line("source", "*y += ").click();
  outcome.again = columns(".chosen").flat().length;
  line("sass", "FFMA").click();
  outcome.of_sass = columns(".chosen");
  line("ptx", "fma.rn").dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
  outcome.near = columns(".near");

  enter("search", "FMA", "input");
  outcome.found = text("found");
  document.getElementById("next").click();
  document.getElementById("next").click();
  outcome.second = [text("found"), columns(".current").flat().length];

  const back = () => getComputedStyle(document.body).backgroundColor;
  outcome.backs = [back()];
  document.getElementById("theme").click();
  outcome.backs.push(back());

  outcome.width = [document.documentElement.scrollWidth, innerWidth];
  outcome.panes = [...document.querySelectorAll(".pane")].filter((pane) => getComputedStyle(pane).display !== "none").length;
  outcome.dots = document.querySelectorAll("#occupancy circle").length;
  outcome.kinds = lines("mix", "").length + document.querySelectorAll("#mix tr").length;
  outcome.panics = text("panics");
  document.querySelector("#panics button").click();
  outcome.of_panic = columns(".chosen")[0];
  enter("kernel", "0", "change");
  outcome.other = text("resources");

  const made = document.createElement("pre");
  made.id = "outcome";
  made.textContent = JSON.stringify(outcome);
  document.body.append(made);
})();
