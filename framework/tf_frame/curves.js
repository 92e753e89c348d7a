// Draws the curves of each <figure class="curves">: hover shows values, a drag zooms, a double
// click or the button shows all again. Texts are set as text, never as HTML.
"use strict";
const LEFT = 58, RIGHT = 10, TOP = 10, BOTTOM = 24, HEIGHT = 230;

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough);
  const first = Math.ceil(low / step), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.min(last - first + 1, 20) }, (_, i) => (first + i) * step);
}

function text(value) {
  return Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

function draw(figure) {
  const lines = JSON.parse(figure.querySelector("script").textContent);
  const svg = figure.querySelector("svg"), tip = figure.querySelector("output");
  const whole = extent(lines.flatMap(line => line.points.map(point => point[0])));
  const button = figure.querySelector("button");
  let range = whole, from = null, frame = null;

  function add(name, attributes, content) {
    const part = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) part.setAttribute(key, attributes[key]);
    if (content !== undefined) part.textContent = content;
    return svg.appendChild(part);
  }

  function render() {
    const width = svg.clientWidth || 600;
    // One point beyond each end, so that a curve goes on to the edge.
    const shown = lines.map(line => line.points.filter((point, i) =>
      (line.points[i + 1] || point)[0] >= range[0] && (line.points[i - 1] || point)[0] <= range[1]));
    const inside = shown.flat().filter(p => p[0] >= range[0] && p[0] <= range[1]);
    const values = extent((inside.length ? inside : shown.flat()).map(point => point[1]));
    const x = step => LEFT + (step - range[0]) / (range[1] - range[0]) * (width - LEFT - RIGHT);
    const y = value => TOP + (values[1] - value) / (values[1] - values[0]) * (HEIGHT - TOP - BOTTOM);
    frame = { x, y, width };
    svg.replaceChildren();
    for (const tick of ticks(values[0], values[1], 4)) {
      add("line", { x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick), class: "axis" });
      add("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, text(tick));
    }
    for (const tick of ticks(range[0], range[1], width < 500 ? 3 : 6)) {
      add("text", { x: x(tick), y: HEIGHT - 6, "text-anchor": "middle" }, text(tick));
    }
    const area = add("svg", { x: LEFT, y: 0, width: width - LEFT - RIGHT, height: HEIGHT,
      viewBox: `${LEFT} 0 ${width - LEFT - RIGHT} ${HEIGHT}`, class: "area" });
    shown.forEach((points, i) => {
      const path = add("path", { d: points.map((p, n) => `${n ? "L" : "M"}${x(p[0])},${y(p[1])}`).join(" "),
        class: `line ${lines[i].color}`, "stroke-dasharray": lines[i].dash });
      area.appendChild(path);
    });
    button.hidden = range === whole;
  }

  function step(event) {
    const place = (event.clientX - svg.getBoundingClientRect().left - LEFT) / (frame.width - LEFT - RIGHT);
    return range[0] + Math.min(Math.max(place, 0), 1) * (range[1] - range[0]);
  }

  function nearest(points, at) {
    return points.reduce((best, p) => Math.abs(p[0] - at) < Math.abs(best[0] - at) ? p : best);
  }

  function clearMarks() { svg.querySelectorAll(".hover").forEach(part => part.remove()); }

  function show(event) {
    clearMarks();
    if (from !== null) {  // A drag of the mouse; a finger shows values.
      const ends = extent([from, step(event)]);
      add("rect", { x: frame.x(ends[0]), y: TOP, width: frame.x(ends[1]) - frame.x(ends[0]),
        height: HEIGHT - TOP - BOTTOM, class: "hover zoom" });
      return;
    }
    const at = nearest(lines.map(line => nearest(line.points, step(event))), step(event))[0];
    add("line", { x1: frame.x(at), x2: frame.x(at), y1: TOP, y2: HEIGHT - BOTTOM, class: "hover mark" });
    const parts = lines.map(line => {
      const point = nearest(line.points, at);
      add("circle", { cx: frame.x(point[0]), cy: frame.y(point[1]), r: 3.5, class: `hover ${line.color}` });
      return `${line.label} ${text(point[1])}${point[0] === at ? "" : ` (step ${point[0]})`}`;
    });
    tip.textContent = `step ${at}: ${parts.join(", ")}`;
  }

  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", event => {
    if (event.pointerType === "touch" || event.button !== 0) return show(event);
    from = step(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointerup", event => {
    const to = step(event), began = from;
    from = null;
    if (began === null) return;
    // Steps are whole numbers: nothing is between two of them.
    if (Math.abs(frame.x(to) - frame.x(began)) > 6 && Math.abs(to - began) >= 1) range = extent([began, to]);
    render();
  });
  svg.addEventListener("pointercancel", () => { from = null; clearMarks(); });
  svg.addEventListener("pointerleave", () => { if (from === null) { clearMarks(); tip.textContent = ""; } });
  const showAll = () => { range = whole; render(); };
  svg.addEventListener("dblclick", showAll);
  button.addEventListener("click", showAll);
  render();
  new ResizeObserver(render).observe(svg);
}

document.querySelectorAll("figure.curves").forEach(draw);
