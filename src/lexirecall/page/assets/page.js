/* The page of a report: unpacks the data that stand in the file and draws the sections that template.html names.
 *
 * Whatever comes from the data enters the document as text: textContent, attributes, and values of charts; never as
 * markup. Systems, requests and measures are indices everywhere but in the address, where they go by name.
 */
(() => {
  "use strict";

  // Text -------------------------------------------------------------------------------------------------------------

  const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu; // control, direction and line marks
  const SHORT_ESCAPES = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };
  const NONE = "–";

  function escaped(mark) {
    if (Object.hasOwn(SHORT_ESCAPES, mark)) return SHORT_ESCAPES[mark];
    const code = mark.codePointAt(0);
    const [prefix, width] = code < 0x100 ? ["\\x", 2] : code < 0x10000 ? ["\\u", 4] : ["\\U", 8];
    return prefix + code.toString(16).padStart(width, "0");
  }

  const visible = (text) => String(text).replace(HIDDEN, escaped);

  /** Text as it is shown: nothing hidden in it, and not longer than a reader can bear. */
  function cut(text, most = 60) {
    const start = Array.from(visible(String(text).slice(0, 2 * most)));
    return start.length > most || String(text).length > 2 * most
      ? start.slice(0, most - 1).join("") + "…"
      : start.join("");
  }

  const grouped = (number) => Math.round(number).toLocaleString("en-US");
  const counted = (number, noun) => `${grouped(number)} ${number === 1 ? noun : noun + "s"}`;
  const percent = (share, digits = 1) => (share == null ? NONE : `${(100 * share).toFixed(digits)} %`);

  /** A value of a measure, as in the tables of the command line: what would show as a false zero gets an exponent. */
  function number(value, decimals = 4) {
    if (value == null) return NONE;
    if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -decimals) return value.toExponential(1);
    return value.toFixed(decimals);
  }

  const signed = (value, shown) =>
    value == null ? NONE : (value > 0 ? "+" : value < 0 ? "−" : "") + shown(Math.abs(value));
  const probability = (p) => (p == null ? NONE : p < 0.001 ? "< 0.001" : p.toFixed(3));

  /** A few digits for a narrow cell. */
  function brief(value) {
    const size = Math.abs(value);
    const shown =
      size === 0 || size >= 100
        ? grouped(size)
        : size >= 10
          ? size.toFixed(0)
          : size >= 1
            ? size.toFixed(1)
            : size.toFixed(2).slice(1);
    return (value < 0 ? "−" : value > 0 ? "+" : "") + shown;
  }

  // Elements ---------------------------------------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);

  function fill(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value == null || value === false) continue;
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (key.startsWith("--")) element.style.setProperty(key, value);
      else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
    return element;
  }

  const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  /** Let an element hold these children and nothing else. */
  function put(element, ...children) {
    element.replaceChildren();
    fill(element, null, children);
  }

  /** An id or a name from the data: isolated, so that its direction of writing does not reach its neighbours. */
  function name(text, most = 60) {
    const shown = cut(text, most);
    const full = visible(text);
    return h("bdi", { class: "id", title: shown === full ? null : full }, shown);
  }

  /** Names of a list, the first few in full and the rest as a count. */
  function listed(texts, most = 3, length = 40) {
    const nodes = texts.slice(0, most).flatMap((text, i) => (i ? [", ", name(text, length)] : [name(text, length)]));
    return texts.length > most ? [...nodes, ` and ${grouped(texts.length - most)} more`] : nodes;
  }

  const alone = () => note("There is one system only, and nothing to compare it with.");
  const note = (...children) => h("p", { class: "note" }, ...children);

  function scrollable(label, ...children) {
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
  }

  /** A table that shows its first rows, and more when asked; `row` makes a row from one of `rows`. */
  function table({ caption, head, rows, row, first = 15, step = 50, className = "", attributes = {} }) {
    const body = h("tbody");
    const more = h("button", { type: "button", class: "more" });
    let shown = 0;
    const grow = (count) => {
      body.append(...rows.slice(shown, shown + count).map(row));
      shown = Math.min(rows.length, shown + count);
      more.hidden = shown >= rows.length;
      more.textContent = `Show ${grouped(Math.min(step, rows.length - shown))} more of ${grouped(rows.length)}`;
    };
    more.addEventListener("click", () => {
      const next = shown;
      grow(step);
      if (more.hidden) body.rows[next]?.querySelector("a, button")?.focus();
    });
    grow(first);
    const whole = h(
      "table",
      { class: className, ...attributes },
      h("caption", null, h("span", null, caption)),
      h("thead", null, head),
      body,
    );
    return h("div", { class: "table" }, scrollable(whole.caption.textContent, whole), more);
  }

  const th = (text, attributes) => h("th", { scope: "col", ...attributes }, text);
  const rowHead = (...children) => h("th", { scope: "row" }, ...children);
  const td = (...children) => h("td", null, ...children);
  const num = (...children) => h("td", { class: "num" }, ...children);

  /** A choice of one of several; `set` changes what is offered and chosen. */
  function chooser(label, onchange) {
    const select = h("select", { onchange: () => onchange(Number(select.value)) });
    const set = (options, chosen) => {
      select.replaceChildren(...options.map(([value, text]) => h("option", { value }, cut(text, 50))));
      select.value = String(chosen);
    };
    return { element: h("label", { class: "choice" }, h("span", null, label), select), set, select };
  }

  // Data -------------------------------------------------------------------------------------------------------------

  let D; // the payload
  const indices = (count) => Array.from({ length: count }, (_, index) => index);

  async function unpack(text) {
    const characters = atob(text.trim());
    const packed = new Uint8Array(characters.length);
    for (let i = 0; i < packed.length; i++) packed[i] = characters.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Response(stream).json();
  }

  /** Where the relevant documents of a request stand in a system's ranking, or null if the page does not hold it. */
  function ranking(s, q) {
    const packed = D.found[s]?.[q];
    if (!packed) return null;
    const positions = [];
    const documents = [];
    for (let i = 0, position = 0; i < packed.length; i += 2) {
      position += packed[i];
      positions.push(position);
      documents.push(packed[i + 1]);
    }
    return { positions, documents };
  }

  const numRelevant = (q) => D.relevant[q].length;
  const isHeld = (s) => Boolean(D.found[s]);
  const takesPart = (s, q) => !D.absent[s].includes(q);

  function missing(own, q) {
    const found = new Set(own.documents);
    return D.relevant[q].filter((_, document) => !found.has(document));
  }

  /** The documents that one ranking finds and another does not, the deepest first. */
  function lacked(better, worse, q) {
    const found = new Set(worse.documents);
    return better.documents
      .filter((document) => !found.has(document))
      .reverse()
      .map((document) => D.relevant[q][document]);
  }

  /** max {j : p_j != q_j}, what is missing being at infinity; 0 for a tie. */
  function decidingLevel(x, y) {
    if (x.length !== y.length) return Math.max(x.length, y.length);
    let level = x.length;
    while (level > 0 && x[level - 1] === y[level - 1]) level--;
    return level;
  }

  const at = (positions, level) => positions[level - 1] ?? Infinity;

  /** What decides between two systems on a request; null if the page does not hold both, or they are not compared. */
  function decide(a, b, q) {
    const [x, y] = [ranking(a, q), ranking(b, q)];
    if (!x || !y || !takesPart(a, q) || !takesPart(b, q)) return null;
    const level = decidingLevel(x.positions, y.positions);
    const places = [at(x.positions, level), at(y.positions, level)];
    const sign = level === 0 ? 0 : places[0] < places[1] ? 1 : -1;
    const found = [x.positions.length, y.positions.length];
    const reason = level === 0 ? "tie" : found[0] !== found[1] ? "found" : level === found[0] ? "last" : "earlier";
    const size =
      reason === "found"
        ? Math.abs(found[0] - found[1])
        : reason === "tie"
          ? 0
          : Math.abs(Math.log(places[0] / places[1]));
    return { q, level, sign, reason, places, found, size, sides: [x, y] };
  }

  const REASONS = {
    found: "finds more",
    last: "finds the last one sooner",
    earlier: "finds an earlier one sooner",
    tie: "nothing: they tie",
  };
  const REASON_ORDER = Object.keys(REASONS);
  const byWeight = (x, y) => REASON_ORDER.indexOf(x.reason) - REASON_ORDER.indexOf(y.reason) || y.size - x.size;

  const bySign = (x, y) => Math.sign(y - x);

  /** Preferences that follow from positions alone. */
  const PREFERENCES = {
    LexiRecall: (x, y) => {
      const level = decidingLevel(x, y);
      return level ? bySign(at(x, level), at(y, level)) : 0;
    },
    LexiPrecision: (x, y) => {
      const levels = indices(Math.max(x.length, y.length)).map((i) => i + 1);
      const level = levels.find((j) => at(x, j) !== at(y, j));
      return level ? bySign(at(x, level), at(y, level)) : 0;
    },
    RPP: (x, y, m) => {
      const levels = indices(Math.max(x.length, y.length)).map((i) => i + 1);
      return levels.reduce((sum, j) => sum + (at(x, j) === at(y, j) ? 0 : bySign(at(x, j), at(y, j))), 0) / m;
    },
  };

  const direction = (k) => (D.measures[k].better === "lower" ? -1 : 1);
  const isHeadToHead = (k) => !D.measures[k].is_preference || Object.hasOwn(PREFERENCES, D.measures[k].name);

  /** By how much the first system is better on a request, under a measure; null where that is undefined. */
  function difference(k, a, b, q) {
    const measure = D.measures[k];
    if (measure.is_preference && isHeadToHead(k)) {
      const decided = decide(a, b, q);
      return (
        decided && PREFERENCES[measure.name](decided.sides[0].positions, decided.sides[1].positions, numRelevant(q))
      );
    }
    const [x, y] = [D.values[k][a]?.[q], D.values[k][b]?.[q]];
    return x == null || y == null ? null : direction(k) * (x - y);
  }

  let places; // of each pair among the pairs
  const placeOf = (a, b) => places.get(Math.min(a, b) * D.systems.length + Math.max(a, b));

  /** What the tests say of two systems under a measure, the first against the second; null if they were not compared. */
  function compared(k, a, b) {
    const place = placeOf(a, b);
    const all = D.pairs.by_measure[k];
    if (place === undefined || !all || all.mean[place] == null) return null;
    const columns = ["mean", "low", "high", "p", "wins", "ties", "losses", "tested"];
    const [mean, low, high, p, wins, ties, losses, tested] = columns.map((key) => all[key]?.[place]);
    const negative = (value) => (value == null ? null : -value);
    const isFirst = D.pairs.a[place] === a;
    return isFirst
      ? { mean, low, high, p, wins, ties, losses, tested }
      : {
          mean: negative(mean),
          low: negative(high),
          high: negative(low),
          p,
          wins: losses,
          ties,
          losses: wins,
          tested: negative(tested),
        };
  }

  const isSignificant = (pair) => pair.p != null && pair.p < D.alpha;

  // State and address ------------------------------------------------------------------------------------------------

  // What is shown follows from the address alone: what it does not name is as on opening the page.
  const state = { q: 0, a: 0, b: 1, m: 0, worst: -1, systems: "", requests: "" };
  const standard = {}; // q, a, b and m on opening
  const chosen = new Set(); // which of q, a, b and m the reader chose
  let focus = "pair"; // what was chosen last: the pair or the request
  const shown = { systems: [], requests: [] };
  const sections = new Map(); // by id: what it depends on, how it is drawn
  const waiting = new Set(); // ids of sections to draw
  const seen = new Set(); // ids of sections in view

  function readAddress() {
    const lists = { q: D.requests, a: D.systems, b: D.systems, m: D.measures.map((measure) => measure.name) };
    const asked = {};
    const unknown = [];
    for (const part of location.hash.slice(1).split("&")) {
      const [key, ...rest] = part.split("=");
      if (!Object.hasOwn(lists, key) || !rest.length) continue;
      const text = decoded(rest.join("="));
      const index = lists[key].indexOf(text);
      if (index >= 0) asked[key] = index;
      else unknown.push(text);
    }
    return { asked, unknown };
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // a stray percent sign
    }
  }

  const encoded = (text) => encodeURIComponent(text.toWellFormed?.() ?? text);

  /** The part of the address behind #; what stands last in it is where the page opens. */
  function address({ q, a, b, m }, last = focus) {
    const pair = a === undefined ? [] : [`a=${encoded(D.systems[a])}`, `b=${encoded(D.systems[b])}`];
    if (m !== undefined && m !== standard.m) pair.push(`m=${encoded(D.measures[m].name)}`);
    const request = q === undefined ? [] : [`q=${encoded(D.requests[q])}`];
    return "#" + (last === "pair" ? [...request, ...pair] : [...pair, ...request]).join("&");
  }

  const chosenState = () => Object.fromEntries([...chosen].map((key) => [key, state[key]]));
  const currentAddress = () => address(chosenState());

  /** Of the requests that decide between two systems, the clearest. */
  function decisiveRequest(a, b) {
    const decided = indices(D.requests.length).map((q) => decide(a, b, q));
    return decided.filter(Boolean).sort(byWeight)[0]?.q ?? 0;
  }

  /** Change the state, draw what depends on it, write it into the address, and go to a section if one is named. */
  function change(changes, { go = null, last = null, isFromAddress = false } = {}) {
    const before = { ...state };
    if (isFromAddress) {
      chosen.clear();
      Object.assign(state, standard);
    }
    Object.assign(state, changes);
    for (const key of ["q", "m"]) if (key in changes) chosen.add(key);
    if ("a" in changes || "b" in changes) chosen.add("a").add("b");
    settle(changes, before, isFromAddress);
    if (["q", "a", "b", "m"].some((key) => key in changes)) focus = last ?? ("q" in changes ? "request" : "pair");
    const keys = Object.keys(state).filter((key) => state[key] !== before[key]);
    if (keys.includes("systems") || keys.includes("requests")) filter();
    for (const [id, section] of sections) if (keys.some((key) => section.keys.includes(key))) waiting.add(id);
    if (!isFromAddress && chosen.size && location.hash !== currentAddress()) location.hash = currentAddress();
    if (go) drawAll();
    draw();
    if (go) visit(go);
  }

  /** Two different systems, and a request that tells them apart unless the reader chose one. */
  function settle(changes, before, isFromAddress) {
    if (state.a === state.b && D.systems.length > 1) {
      const other = "a" in changes && !("b" in changes) ? "b" : "a"; // the one that makes way
      const free = other === "b" ? before.a : before.b;
      state[other] = free === state[other] ? (free === 0 ? 1 : 0) : free;
    }
    const isOther = state.a !== before.a || state.b !== before.b;
    if (!chosen.has("q") && (isOther || isFromAddress)) state.q = decisiveRequest(state.a, state.b);
  }

  function visit(id) {
    byId(id).scrollIntoView();
    byId(`h-${id}`).focus({ preventScroll: true });
  }

  /** Follow the address: on opening the page, and when the reader goes back or types another one. */
  function followAddress() {
    const id = location.hash.slice(1);
    if (id && !id.includes("=")) {
      drawAll();
      draw();
      return sections.has(id) && visit(id); // a place on the page, which leaves the state as it is
    }
    const { asked, unknown } = readAddress();
    const order = Object.keys(asked);
    const go = order.length ? (order.at(-1) === "q" ? "request" : "pair") : null;
    change(asked, { go, last: go, isFromAddress: true });
    if (unknown.length) say(`This report has no ${listedText(unknown)}.`);
  }

  const listedText = (texts) => texts.map((text) => `“${cut(text)}”`).join(", ");

  function matching(texts, wanted) {
    const terms = wanted
      .toLowerCase()
      .split(",")
      .map((term) => term.trim())
      .filter(Boolean);
    const holds = (text) =>
      terms.some((term) => text.toLowerCase().includes(term) || visible(text).toLowerCase().includes(term));
    return indices(texts.length).filter((index) => !terms.length || holds(texts[index]));
  }

  function filter() {
    shown.systems = matching(D.systems, state.systems);
    shown.requests = matching(D.requests, state.requests);
    const parts = [
      ["system", shown.systems, D.systems],
      ["request", shown.requests, D.requests],
    ]
      .filter(([, some, all]) => some.length < all.length)
      .map(([noun, some, all]) => `${grouped(some.length)} of ${counted(all.length, noun)}`);
    say(parts.length ? `${parts.join(", ")} shown` : "");
  }

  const say = (text) => {
    byId("filter-status").textContent = text;
  };

  function drawOne(id) {
    waiting.delete(id);
    sections.get(id).draw();
  }

  const drawAll = () => [...waiting].forEach(drawOne);

  /** Draw what is in view now, the rest when the browser has time. */
  function draw() {
    [...waiting].filter((id) => seen.has(id)).forEach(drawOne);
    document.documentElement.dataset.state = "drawing";
    if (waiting.size) whenIdle(drawNext);
    else
      Promise.all(drawing.values()).then(() => !waiting.size && (document.documentElement.dataset.state = "complete"));
  }

  function drawNext() {
    const [next] = [...sections.keys()].filter((id) => waiting.has(id));
    if (next) drawOne(next);
    draw();
  }

  const whenIdle = (work) =>
    window.requestIdleCallback ? requestIdleCallback(work, { timeout: 200 }) : setTimeout(work, 1);

  /** Leave a link to the address bar only if it opens elsewhere; else go there and keep what it does not name. */
  function link(changes, go, ...children) {
    const follow = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      change(changes, { go });
    };
    return h("a", { href: address({ ...chosenState(), ...changes }, go), onclick: follow }, ...children);
  }

  const requestLink = (q) => link({ q }, "request", name(D.requests[q], 40));

  // Charts -----------------------------------------------------------------------------------------------------------

  const drawing = new Map(); // by element: a promise of what stands there
  const SERIES = indices(10).map((i) => `var(--series-${i})`);
  const DASHES = [
    [1, 0],
    [6, 3],
    [2, 2],
    [8, 3, 2, 3],
    [4, 1],
    [1, 3],
    [10, 4],
    [3, 6],
    [6, 2, 1, 2],
    [12, 2],
  ];
  const tip = h("div", { class: "tip", "aria-hidden": "true", hidden: true });

  function showTip(event, text) {
    tip.textContent = text;
    tip.hidden = !text;
    if (!text) return;
    const { innerWidth: width, innerHeight: height } = window;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 16 + tip.offsetHeight > height ? event.clientY - tip.offsetHeight - 8 : event.clientY + 16}px`;
  }

  const CONFIG = {
    background: null,
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: {
      labelColor: "var(--muted)",
      titleColor: "var(--ink)",
      gridColor: "var(--line)",
      tickColor: "var(--line)",
      domainColor: "var(--line)",
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: "normal",
      labelLimit: 160,
    },
    legend: {
      labelColor: "var(--ink)",
      titleColor: "var(--muted)",
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: "normal",
      labelLimit: 180,
    },
    text: { fill: "var(--ink)", fontSize: 12 },
    mark: { aria: false },
    bar: { aria: false },
    aria: false,
  };

  const OPTIONS = {
    renderer: "svg",
    actions: false,
    ast: true, // expressions are interpreted, so that the page needs no right to evaluate text
    defaultStyle: false,
    mode: "vega-lite",
    tooltip: (_, event, item, value) => showTip(event, value == null ? "" : String(value)),
  };

  /** Draw a chart into an element; `label` says in words what it shows, and `onpick` gets the datum that is clicked. */
  function chart(element, label, spec, onpick = null) {
    element.classList.add("chart");
    element.style.minHeight = `${spec.height + 40}px`; // what stands below is not to jump when the chart arrives
    drawing.set(element, embed(drawing.get(element), element, label, spec, onpick));
  }

  async function embed(before, element, label, spec, onpick) {
    (await before)?.finalize();
    const sized = { config: CONFIG, autosize: { type: "fit-x", contains: "padding" }, width: "container" };
    const result = await vegaEmbed(element, { ...spec, ...sized }, OPTIONS);
    element.setAttribute("role", "img"); // one picture with a text, not a tree of marks
    element.setAttribute("aria-label", label);
    element.removeAttribute("aria-roledescription");
    if (onpick) result.view.addEventListener("click", (_, item) => item?.datum && onpick(item.datum));
    return result;
  }

  /** Gives texts as Vega takes them, which uses them as keys of objects: one that is taken, or that every object has by
   * inheritance (constructor, toString), gets a blank behind it, which no drawing shows. */
  function uniqueKeys() {
    const taken = new Set();
    const key = (text) => (taken.has(text) || text in Object.prototype ? key(`${text} `) : (taken.add(text), text));
    return key;
  }

  /** Bars of one value for each request, from the highest to the lowest, coloured by its sign. */
  function sortedBars(
    element,
    label,
    rows,
    { title, field = "value", color, opacity = null, ticks = null, format = null, height = 200 },
  ) {
    const isNamed = rows.length * 13 < element.clientWidth;
    const keys = uniqueKeys();
    const values = rows.map((row) => ({ ...row, request: keys(cut(D.requests[row.q], 200)) }));
    const spec = {
      data: { values },
      height,
      layer: [
        {
          mark: {
            type: "bar",
            cursor: "pointer",
            tooltip: true,
            minBandSize: 1,
          },
          encoding: {
            x: {
              field: "request",
              type: "nominal",
              sort: null,
              axis: {
                labels: isNamed,
                labelAngle: -90,
                labelLimit: 90,
                ticks: false,
                grid: false,
                title: `${counted(rows.length, "request")}, sorted`,
              },
              scale: { paddingInner: rows.length > 150 ? 0 : 0.15 },
            },
            y: {
              field,
              type: "quantitative",
              title,
              axis: { format, tickCount: 5, ...(ticks ? { values: ticks } : {}) },
            },
            color,
            ...(opacity ? { opacity } : {}),
            tooltip: { field: "tip", type: "nominal" },
          },
        },
      ],
    };
    chart(element, label, spec, (datum) => datum.q !== undefined && change({ q: datum.q }, { go: "request" }));
  }

  // What was evaluated -----------------------------------------------------------------------------------------------

  const CONVENTIONS = {
    level: ["Relevant", (grade) => `a document with a grade of ${grade} or more`],
    imputation: [
      "Not retrieved",
      (rule) =>
        ({
          optimistic:
            "a relevant document that a run does not return counts as found right after its last one, which flatters runs that return little",
          pessimistic:
            "a relevant document that a run does not return counts as found last of all, below everything it returns",
          paper:
            "a relevant document that a run does not return is at the bottom of the corpus, for every measure without a cut-off",
        })[rule],
    ],
    corpus_size: [
      "Corpus",
      (size) =>
        size == null
          ? "its size was not given, so a document that was not retrieved has no position"
          : `${typeof size === "number" ? grouped(size) : visible(size)} documents; relevant ones not retrieved stand at its bottom`,
    ],
    ties: [
      "Equal scores",
      (rule) =>
        ({
          trec: "are put in the order of document ids, descending, as trec_eval does",
          input: "keep the order of the file",
          worst: "relevant documents last: what a run is sure to reach",
          best: "relevant documents first: the most that a run can reach",
          expected: "the mean over all orders of such documents",
        })[rule],
    ],
    score_dtype: [
      "Scores",
      (type) =>
        type === "float32" ? "rounded to 32 bits first, as trec_eval 9 does" : "compared at full precision (64 bits)",
    ],
    depth: [
      "Depth",
      (depth) =>
        depth == null
          ? "rankings count in full"
          : `only the first ${counted(depth, "document")} of each ranking ${depth === 1 ? "counts" : "count"}`,
    ],
    judged_only: [
      "Unjudged documents",
      (only) => (only ? "are taken out of the rankings" : "stay in the rankings, as not relevant"),
    ],
    duplicates: [
      "Repeated documents",
      (rule) =>
        ({
          error: "a ranking that names a document twice is refused; there was none",
          first: "of a document named twice the first line counts",
          best: "of a document named twice the best score counts",
        })[rule],
    ],
    strict: [
      "Fields after the run tag",
      (refused) => (refused ? "are refused; there were none" : "are ignored"),
    ],
    queries: [
      "Unanswered requests",
      (rule) =>
        rule === "intersection"
          ? "are left out of the means of the run that does not answer them"
          : "count as nothing retrieved",
    ],
    no_relevant: [
      "Nothing relevant",
      (rule) =>
        rule === "zero"
          ? "requests without a relevant document count as 0"
          : "requests without a relevant document are left out of every mean",
    ],
    test: [
      "Tests",
      (test) =>
        ({
          auto: "the sign test for lexicographic preferences, the paired t test for what has a size",
          t: "paired t",
          wilcoxon: "Wilcoxon's signed ranks",
          sign: "the sign test: wins against losses",
          randomization: "signs of the differences flipped at random",
          hsd: "Tukey's HSD: all systems at once",
          "randomized-hsd": "Tukey's HSD by permutation: all systems at once",
        })[test],
    ],
    correction: [
      "Many pairs",
      (rule) =>
        ({
          holm: "p is corrected for the number of pairs of a measure, by Holm's method",
          bonferroni: "p is corrected for the number of pairs of a measure, by Bonferroni's method",
          bh: "p is corrected for the number of pairs of a measure, by Benjamini and Hochberg's method",
          none: "p is not corrected for the number of pairs",
        })[rule],
    ],
    test_ties: [
      "Ties in sign tests",
      (rule) => (rule === "split" ? "half of them count for each side" : "are left out"),
    ],
    alpha: ["Significant", (alpha) => `p below ${alpha}`],
  };

  /** The conventions that had a say: seeds matter where chance does, corrections where pairs are tested one by one. */
  function conventionsInUse() {
    const { test = "", ...others } = D.manifest.conventions;
    const idle = [!/random/.test(test) && ["seed", "num_resamples"], /hsd/.test(test) && ["correction", "test_ties"]];
    if (!/auto|sign/.test(test)) idle.push(["test_ties"]);
    const names = Object.keys({ ...others, ...(test && { test }) });
    return names.filter((key) => !idle.flat().includes(key));
  }

  function conventionRows() {
    const used = conventionsInUse();
    const ordered = [...Object.keys(CONVENTIONS), ...used.filter((key) => !Object.hasOwn(CONVENTIONS, key))];
    return ordered
      .filter((key) => used.includes(key))
      .map((key) => {
        const isKnown = Object.hasOwn(CONVENTIONS, key);
        const [title, words] = isKnown ? CONVENTIONS[key] : [cut(key.replaceAll("_", " ")), () => undefined];
        const value = D.manifest.conventions[key];
        return [title, words(value) ?? cut(JSON.stringify(value), 200)];
      });
  }

  function fact(value, text) {
    return h("div", { class: "fact" }, h("strong", null, value), h("span", null, text));
  }

  const RUN_COLUMNS = [
    ["answered", "requests answered"],
    ["unanswered", "unanswered"],
    ["without_judgments", "without judgments"],
    ["duplicates_left_out", "repeated lines left out"],
    ["retrieved", "documents retrieved"],
    ["positive_retrieved", "relevant retrieved"],
    ["positive_imputed", "relevant not retrieved"],
  ];

  function runsTable() {
    const columns = RUN_COLUMNS.filter(([key]) => D.manifest.runs.some((run) => run[key] !== undefined));
    return table({
      caption: "The runs, and what was read from each",
      head: h(
        "tr",
        null,
        th("system"),
        columns.map(([, text]) => th(text, { class: "num" })),
      ),
      rows: D.manifest.runs,
      row: (run) =>
        h(
          "tr",
          null,
          rowHead(name(run.name ?? "")),
          columns.map(([key]) => num(run[key] == null ? NONE : grouped(run[key]))),
        ),
      first: 30,
    });
  }

  function drawEvaluated() {
    const { qrels, notes } = D.manifest;
    const relevant = D.relevant.reduce((sum, documents) => sum + documents.length, 0);
    const depth = D.retrieved.length ? Math.max(...D.retrieved.map((each) => (each ? Math.max(0, ...each) : 0))) : 0;
    const facts = [
      fact(grouped(D.systems.length), D.systems.length === 1 ? "system" : "systems"),
      fact(grouped(D.requests.length), "requests with a relevant document"),
      fact(
        grouped(relevant),
        `relevant documents, ${(relevant / Math.max(D.requests.length, 1)).toFixed(1)} per request`,
      ),
      qrels.judged != null && fact(grouped(qrels.judged), "judged documents"),
      depth > 0 && fact(grouped(depth), "documents in the longest ranking"),
    ];
    const remarks = [...notes.map((each) => each.text), ...D.left_out];
    put(
      sections.get("evaluated").body,
      h("div", { class: "facts" }, facts),
      remarks.length
        ? h(
            "div",
            { class: "remarks" },
            h("h3", null, "Left out, ignored or imputed"),
            h(
              "ul",
              null,
              remarks.map((text) => h("li", null, visible(text))),
            ),
          )
        : note("Nothing was left out: every judged request has a relevant document and is answered by every system."),
      h("h3", null, "Conventions", qrels.name ? [" · judgments: ", name(qrels.name)] : ""),
      h(
        "dl",
        { class: "conventions" },
        conventionRows().map(([title, words]) => h("div", null, h("dt", null, `${title}: `), h("dd", null, words))),
      ),
      D.manifest.runs.length > 0 && h("details", null, h("summary", null, "What was read from each run"), runsTable()),
    );
  }

  // Leaderboard ------------------------------------------------------------------------------------------------------

  const order = { column: -1, isDescending: false }; // -1 is the rank

  function system(s, most = 40) {
    return [h("span", { class: "letter" }, D.labels[s]), " ", name(D.systems[s], most)];
  }

  function sortedSystems() {
    const sign = order.isDescending ? -1 : 1;
    const key = order.column < 0 ? (s) => D.ranks[s] : (s) => D.means[s][order.column];
    return shown.systems.toSorted((s, t) => {
      const [x, y] = [key(s), key(t)];
      if (x == null || y == null) return (x == null) - (y == null); // undefined ones last, whatever the order
      return sign * (x - y) || s - t;
    });
  }

  function leaderboardHead() {
    const columns = [
      [-1, "rank", "place by the share of comparisons won"],
      ...D.measures.map((measure, k) => [k, measure.name, measure.title]),
    ];
    return h(
      "tr",
      null,
      columns.map(([k, text, title]) => {
        const isSorted = order.column === k;
        const arrow = isSorted ? (order.isDescending ? "▼" : "▲") : "↕";
        const button = h(
          "button",
          { type: "button", class: "sort", title, onclick: () => sortBy(k) },
          cut(text, 40),
          h("span", { class: "arrow", "aria-hidden": "true" }, arrow),
        );
        const kind =
          k >= 0 &&
          h(
            "span",
            { class: "kind" },
            D.measures[k].is_preference ? "win rate" : D.measures[k].better === "lower" ? "lower is better" : "mean",
          );
        const cell = th(button, {
          class: k < 0 ? "rank" : "num",
          "aria-sort": isSorted ? (order.isDescending ? "descending" : "ascending") : "none",
        });
        if (kind) cell.append(kind);
        return k < 0 ? [cell, th("system")] : cell;
      }),
    );
  }

  function sortBy(column) {
    const descending = column >= 0 && direction(column) > 0; // the best first
    order.isDescending = order.column === column ? !order.isDescending : descending;
    order.column = column;
    drawLeaderboard();
    sections.get("leaderboard").body.querySelectorAll("button.sort")[column + 1].focus();
  }

  function valueCell(s, k, highest, longest) {
    const value = D.means[s][k];
    const text = number(value, D.measures[k].decimals ?? 4);
    const mark = D.marks[s][k];
    const label =
      D.baseline == null
        ? `significantly better than ${mark}`
        : mark === "+"
          ? "significantly better than the baseline"
          : "significantly worse than the baseline";
    const cell = h(
      "td",
      { class: "num value", "--share": value == null || !highest ? 0 : Math.max(0, value / highest) },
      D.best[s][k] ? h("strong", null, text) : text,
    );
    cell.append(h("sup", { title: mark ? label : null, "--length": longest }, mark));
    return cell;
  }

  function footnote() {
    const methods = [...new Set(D.measures.map((measure) => measure.test).filter(Boolean))].join(", ");
    const corrections = [
      ...new Set(D.measures.map((measure) => measure.correction).filter((each) => each && each !== "none")),
    ].join(", ");
    const how = [methods, corrections && `correction: ${corrections}`, `α = ${D.alpha}`].filter(Boolean).join("; ");
    return D.baseline == null
      ? `Raised letters: the systems that are significantly worse (${how}). Bold: the best value. The filter chooses what is shown; means and tests are over all requests.`
      : [
          `Raised + and −: significantly better or worse than the baseline, `,
          name(D.systems[D.baseline]),
          ` (${how}). Bold: the best value.`,
        ];
  }

  function drawLeaderboard() {
    const highest = D.measures.map((_, k) => Math.max(0, ...D.means.map((row) => row[k] ?? 0)));
    const longest = D.measures.map((_, k) => Math.max(0, ...D.marks.map((row) => row[k].length)));
    const rows = sortedSystems();
    put(
      sections.get("leaderboard").body,
      D.systems.length > 1 &&
        note(
          h("strong", null, "LexiRecall"),
          " prefers the ranking that finds more of the relevant documents; where both find as many, the one that finds the last of them sooner; where that ties, the one before. Its win rate is the share of comparisons with the other systems, request by request, that a system wins; a tie counts half.",
        ),
      rows.length
        ? table({
            caption: "Means over requests, the best system first",
            head: leaderboardHead(),
            rows,
            row: (s) =>
              h(
                "tr",
                D.baseline === s ? { class: "baseline" } : null,
                h("td", { class: "rank" }, String(D.ranks[s])),
                rowHead(system(s)),
                D.measures.map((_, k) => valueCell(s, k, highest[k], longest[k])),
              ),
            first: 40,
            className: "leaderboard",
          })
        : note("No system matches the filter."),
      D.systems.length > 1 && note(footnote()),
      h("details", null, h("summary", null, "What the measures are"), glossary()),
    );
  }

  function glossary() {
    return table({
      caption: "The measures: p are the positions of the m relevant documents",
      head: h("tr", null, th("measure"), th("what it is"), th("formula"), th("better"), th("test")),
      rows: D.measures,
      row: (measure) =>
        h(
          "tr",
          null,
          rowHead(name(measure.name)),
          td(visible(measure.title)),
          h("td", { class: "formula" }, visible(measure.formula)),
          td(measure.better),
          td(measure.test ?? NONE),
        ),
      className: "words",
      first: 50,
    });
  }

  // Every pair -------------------------------------------------------------------------------------------------------

  const measureOptions = () => D.measures.map((measure, k) => [k, measure.name]);
  const systemOptions = () => indices(D.systems.length).map((s) => [s, `${D.labels[s]} ${D.systems[s]}`]);

  function pairLabel(k, a, b, pair) {
    if (!pair) return `${cut(D.systems[a])} and ${cut(D.systems[b])}: not compared`;
    const verdict = isSignificant(pair) ? "significant" : "not significant";
    return `${cut(D.systems[a])} against ${cut(D.systems[b])}: ${D.measures[k].name} ${signed(pair.mean, (x) => number(x, 4))}, p ${probability(pair.p)}, ${verdict}`;
  }

  function matrixCell(k, a, b, highest, isTerse) {
    if (a === b) return h("td", { class: "self", role: "gridcell", tabindex: "-1", "aria-label": "the same system" });
    const pair = compared(k, a, b);
    const label = pairLabel(k, a, b, pair);
    const isChosen = state.a === a && state.b === b;
    const attributes = {
      role: "gridcell",
      tabindex: "-1",
      "aria-label": label,
      "aria-selected": isChosen ? "true" : null,
    };
    if (!pair) return h("td", { ...attributes, class: "empty" });
    const side = pair.mean > 0 ? "for-a" : pair.mean < 0 ? "for-b" : "even";
    const weight = highest ? Math.min(1, Math.abs(pair.mean) / highest) : 0;
    const cell = h("td", {
      ...attributes,
      class: `${side}${isSignificant(pair) ? " significant" : ""}`,
      "--weight": weight.toFixed(3),
    });
    if (!isTerse) cell.append(brief(pair.mean) + (isSignificant(pair) ? "*" : ""));
    return cell;
  }

  function matrix(k, systems) {
    const isTerse = systems.length > 24;
    const means = D.pairs.by_measure[k].mean.filter((mean) => mean != null);
    const highest = means.reduce((most, mean) => Math.max(most, Math.abs(mean)), 0);
    const head = h(
      "tr",
      { role: "row" },
      h("td", { class: "corner", role: "gridcell" }),
      systems.map((s) => h("th", { scope: "col", role: "columnheader", title: visible(D.systems[s]) }, D.labels[s])),
    );
    const rows = systems.map((a) =>
      h(
        "tr",
        { role: "row" },
        h("th", { scope: "row", role: "rowheader" }, system(a, 24)),
        systems.map((b) => matrixCell(k, a, b, highest, isTerse)),
      ),
    );
    const grid = h(
      "table",
      {
        class: `matrix${isTerse ? " terse" : ""}`,
        role: "grid",
        "--cell": `${Math.max(7, Math.min(14, 1120 / systems.length)).toFixed(1)}px`,
        "aria-label": `Pairs of systems under ${D.measures[k].name}`,
      },
      h(
        "caption",
        null,
        h(
          "span",
          null,
          "The system of the row against that of the column, by letter. Arrow keys move, Enter opens the pair.",
        ),
      ),
      h("thead", null, head),
      h("tbody", null, rows),
    );
    operate(grid, systems);
    return grid;
  }

  const STEPS = {
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    Home: [0, -Infinity],
    End: [0, Infinity],
    PageUp: [-10, 0],
    PageDown: [10, 0],
  };

  /** One stop of the Tab key for the whole grid, arrow keys within it. */
  function operate(grid, systems) {
    const rows = grid.tBodies[0].rows;
    const clamp = (index) => Math.max(0, Math.min(systems.length - 1, index));
    const cell = (r, c) => rows[clamp(r)].cells[clamp(c) + 1];
    let current = cell(Math.max(0, systems.indexOf(state.a)), Math.max(0, systems.indexOf(state.b)));
    current.tabIndex = 0;
    const place = (element) => [element.parentElement.sectionRowIndex, element.cellIndex - 1];
    const open = (element) => {
      const [r, c] = place(element);
      if (r !== c && c >= 0) change({ a: systems[r], b: systems[c] }, { go: "pair" });
    };
    grid.addEventListener("focusin", ({ target }) => {
      if (target.tagName !== "TD") return;
      current.tabIndex = -1;
      current = target;
      current.tabIndex = 0;
    });
    const label = ({ target }) => (target.tagName === "TD" ? (target.getAttribute("aria-label") ?? "") : "");
    grid.addEventListener("mousemove", (event) => showTip(event, label(event)));
    grid.addEventListener("mouseleave", (event) => showTip(event, ""));
    grid.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") open(current);
      else if (Object.hasOwn(STEPS, event.key)) {
        const [r, c] = place(current);
        cell(r + STEPS[event.key][0], c + STEPS[event.key][1]).focus();
      } else return;
      event.preventDefault();
    });
    grid.addEventListener(
      "click",
      ({ target }) => target.tagName === "TD" && target.parentElement.parentElement === grid.tBodies[0] && open(target),
    );
  }

  function setUpPairs(body) {
    const choice = chooser("Measure", (m) => change({ m }));
    const legend = h(
      "div",
      { class: "legend", "aria-hidden": "true" },
      "column better",
      h("span", { class: "ramp" }),
      "row better",
      h("span", { class: "pale" }),
      "pale: not significant",
    );
    const space = h("div");
    body.append(h("div", { class: "controls needs-pair" }, choice.element, legend), space);
    return { choice, space };
  }

  function drawPairs() {
    const { choice, space } = sections.get("pairs").parts;
    choice.set(measureOptions(), state.m);
    if (D.systems.length < 2) return put(space, alone());
    if (!shown.systems.length) return put(space, note("No system matches the filter."));
    const measure = D.measures[state.m];
    put(
      space,
      scrollable(`Pairs of systems under ${measure.name}`, matrix(state.m, shown.systems)),
      note(
        measure.is_preference
          ? "Shown is the mean preference of the row over the column, from −1 to +1"
          : "Shown is the mean difference, row less column",
        measure.better === "lower" ? ", turned so that + is better" : "",
        `; * is p < ${D.alpha}`,
        measure.test
          ? ` (${measure.test}${measure.correction && measure.correction !== "none" ? `, ${measure.correction}` : ""})`
          : "",
        ". Choose a cell to see the pair below.",
      ),
    );
  }

  // One pair ---------------------------------------------------------------------------------------------------------

  /** The choice of two systems, kept in step wherever it stands. */
  function pairChoosers(last) {
    const first = chooser("System A", (a) => change({ a }, { last }));
    const second = chooser("System B", (b) => change({ b }, { last }));
    const turn = () => change({ a: state.b, b: state.a }, { last });
    const swap = h("button", { type: "button", title: "Swap A and B", onclick: turn }, "⇄ swap");
    const update = () => {
      first.set(systemOptions(), state.a);
      second.set(systemOptions(), state.b);
    };
    return {
      elements: [h("span", { class: "side-a" }, first.element), swap, h("span", { class: "side-b" }, second.element)],
      update,
    };
  }

  function setUpPair(body) {
    const pair = pairChoosers("pair");
    const measure = chooser("Measure", (m) => change({ m }));
    const [summary, bars, details] = [h("div"), h("div"), h("div")];
    const above = h("h3");
    const controls = h("div", { class: "controls needs-pair" }, pair.elements, measure.element);
    body.append(controls, summary, above, bars, details);
    return { pair, measure, summary, bars, details, above };
  }

  const [A, B] = [() => name(D.systems[state.a]), () => name(D.systems[state.b])];

  function balance({ wins, ties, losses }) {
    const total = Math.max(1, wins + ties + losses);
    const part = (className, count) =>
      count > 0 && h("span", { class: className, "--share": count / total }, grouped(count));
    return h(
      "div",
      { class: "balance", role: "img", "aria-label": `wins ${wins}, ties ${ties}, losses ${losses}` },
      part("wins", wins),
      part("ties", ties),
      part("losses", losses),
    );
  }

  function verdict(k, pair) {
    const measure = D.measures[k];
    if (pair.p == null)
      return D.baseline == null ? "There is no p-value." : "Only pairs with the baseline were tested.";
    const corrected =
      measure.correction && measure.correction !== "none" ? `, ${measure.correction} over all pairs` : "";
    const about =
      pair.tested == null
        ? ""
        : ` p and the interval are about ${signed(pair.tested, (x) => number(x, 4))}, the difference that this test looks at.`;
    return `The difference is ${isSignificant(pair) ? "" : "not "}significant: p\u00a0${pair.p < 0.001 ? "" : "=\u00a0"}${probability(pair.p)} (${measure.test ?? "test"}${corrected}; α = ${D.alpha}).${about}`;
  }

  function pairSummary(k) {
    const pair = compared(k, state.a, state.b);
    const measure = D.measures[k];
    if (!pair)
      return [
        note(
          "This page holds no test of ",
          A(),
          " against ",
          B(),
          D.baseline == null ? "." : ": only pairs with the baseline were tested.",
        ),
      ];
    const total = pair.wins + pair.ties + pair.losses;
    return [
      h(
        "p",
        { class: "lead" },
        "Under ",
        h("strong", null, cut(measure.name)),
        ", ",
        h("span", { class: "side-a" }, A()),
        ` is better on ${grouped(pair.wins)} of ${counted(total, "request")}, `,
        h("span", { class: "side-b" }, B()),
        ` on ${grouped(pair.losses)}, and ${grouped(pair.ties)} ${pair.ties === 1 ? "ties" : "tie"}. `,
        verdict(k, pair),
      ),
      balance(pair),
    ];
  }

  function measuresOfPair() {
    const rows = indices(D.measures.length)
      .map((k) => [k, compared(k, state.a, state.b)])
      .filter(([, pair]) => pair);
    const isOther = rows.some(([, pair]) => pair.tested != null);
    const columns = ["difference", isOther && "tested", "interval", "p", "wins", "ties", "losses"].filter(Boolean);
    return table({
      caption: h(
        "span",
        null,
        "Every measure, ",
        A(),
        " against ",
        B(),
        `; + is better for the first; ${percent(1 - D.alpha, 0)} intervals`,
      ),
      head: h(
        "tr",
        null,
        th("measure"),
        columns.map((text) => th(text, { class: "num" })),
      ),
      rows,
      row: ([k, pair]) => {
        const value = (x) => number(x, D.measures[k].decimals ?? 4);
        const interval =
          pair.low == null || pair.high == null ? NONE : `${signed(pair.low, value)} to ${signed(pair.high, value)}`;
        const difference = signed(pair.mean, value);
        return h(
          "tr",
          k === state.m ? { class: "chosen" } : null,
          rowHead(name(D.measures[k].name)),
          num(isSignificant(pair) ? h("strong", null, difference) : difference),
          isOther && num(signed(pair.tested ?? pair.mean, value)),
          num(interval),
          num(probability(pair.p)),
          [pair.wins, pair.ties, pair.losses].map((count) => num(grouped(count))),
        );
      },
    });
  }

  /** Why there is nothing to say about the pair. */
  const notHeld = () =>
    note(
      isHeld(state.a) && isHeld(state.b)
        ? "The two are not compared here: one of them does not answer."
        : "The page does not hold the rankings of both systems: see what was left out, at the top.",
    );
  const MOST_BARS = 2000;

  /** The difference on each request that is shown, with what decides it. */
  function pairRows(k) {
    return shown.requests
      .map((q) => ({ q, value: difference(k, state.a, state.b, q), decided: decide(state.a, state.b, q) }))
      .filter((row) => row.value != null);
  }

  function pairTip(k, row) {
    const values = D.measures[k].is_preference
      ? ""
      : ` (${[state.a, state.b].map((s) => number(D.values[k][s][row.q], 4)).join(" and ")})`;
    const why =
      row.decided && D.measures[k].name === "LexiRecall"
        ? `: ${row.decided.sign ? cut(D.systems[row.decided.sign > 0 ? state.a : state.b], 40) + " " : ""}${REASONS[row.decided.reason]}`
        : "";
    return `request ${cut(D.requests[row.q], 40)}: ${signed(row.value, (x) => number(x, 4))}${values}${why}`;
  }

  function drawPairBars(k, rows) {
    const { bars, above } = sections.get("pair").parts;
    bars.hidden = above.hidden = !rows.length;
    if (!rows.length) return;
    const measure = D.measures[k];
    const isLexiRecall = measure.name === "LexiRecall";
    const sorted = rows.toSorted(
      (x, y) =>
        y.value - x.value ||
        (isLexiRecall && x.decided && y.decided ? Math.sign(x.value || 1) * byWeight(x.decided, y.decided) : 0) ||
        x.q - y.q,
    );
    const every = Math.ceil(sorted.length / MOST_BARS);
    const kept = sorted
      .filter((_, index) => index % every === 0)
      .map((row) => ({
        q: row.q,
        value: row.value,
        side: row.value > 0 ? "A" : row.value < 0 ? "B" : "tie",
        reason: row.decided ? REASONS[row.decided.reason] : "",
        tip: pairTip(k, row),
      }));
    const counts = [1, 0, -1].map((sign) => rows.filter((row) => Math.sign(row.value) === sign).length);
    const [top, bottom] = [sorted[0], sorted.at(-1)];
    const label = `${measure.name} per request, sorted: ${cut(D.systems[state.a])} is better on ${counts[0]}, equal on ${counts[1]}, worse on ${counts[2]}; from ${number(top.value)} on request ${cut(D.requests[top.q])} to ${number(bottom.value)} on request ${cut(D.requests[bottom.q])}`;
    put(
      above,
      "Difference per request in ",
      cut(measure.name),
      ", ",
      A(),
      " less ",
      B(),
      every > 1 ? ` (every ${every}th of ${grouped(sorted.length)})` : "",
    );
    sortedBars(bars, label, kept, {
      title: isHeadToHead(k) ? (measure.is_preference ? "preference" : "difference") : "difference of win rates",
      color: {
        field: "side",
        type: "nominal",
        scale: { domain: ["A", "B", "tie"], range: ["var(--side-a)", "var(--side-b)", "var(--muted)"] },
        legend: null,
      },
      ticks: isLexiRecall ? [-1, 0, 1] : null,
      opacity: isLexiRecall
        ? {
            field: "reason",
            type: "ordinal",
            scale: { domain: REASON_ORDER.slice(0, 3).map((key) => REASONS[key]), range: [1, 0.62, 0.34] },
            legend: {
              title: "decided since the winner",
              orient: "top",
              columns: bars.clientWidth < 560 ? 1 : 3,
              symbolFillColor: "var(--side-a)",
              symbolStrokeWidth: 0,
            },
          }
        : null,
    });
  }

  function reasonTable(rows) {
    const of = (reason, sign) =>
      rows.filter((row) => row.decided.reason === reason && row.decided.sign === sign).length;
    return table({
      caption: "What decides under LexiRecall, in how many requests",
      head: h("tr", null, th("the winner"), th(["for ", A()], { class: "num" }), th(["for ", B()], { class: "num" })),
      className: "reasons",
      rows: REASON_ORDER.slice(0, 3),
      row: (reason) =>
        h("tr", null, rowHead(REASONS[reason]), num(grouped(of(reason, 1))), num(grouped(of(reason, -1)))),
    });
  }

  const place = (position) => (Number.isFinite(position) ? grouped(position) : "missing");

  function decidingTable(k, rows) {
    const isLexiRecall = D.measures[k].name === "LexiRecall";
    const sorted = rows.toSorted(
      (x, y) => (isLexiRecall ? 0 : Math.abs(y.value) - Math.abs(x.value)) || byWeight(x.decided, y.decided),
    );
    return table({
      caption: isLexiRecall
        ? "The requests that decide, the clearest first"
        : `The requests that differ most in ${cut(D.measures[k].name)}, and what decides them under LexiRecall`,
      head: h(
        "tr",
        null,
        th("request"),
        !isLexiRecall && th(cut(D.measures[k].name), { class: "num" }),
        th("preferred"),
        th("because it"),
        th("relevant", { class: "num" }),
        th("A finds", { class: "num" }),
        th("B finds", { class: "num" }),
        th("at level", { class: "num" }),
        th("A has it at", { class: "num" }),
        th("B has it at", { class: "num" }),
      ),
      rows: sorted,
      row: ({ q, value, decided }) =>
        h(
          "tr",
          null,
          rowHead(requestLink(q)),
          !isLexiRecall && num(signed(value, (x) => number(x, 4))),
          td(
            decided.sign === 0
              ? NONE
              : h("span", { class: decided.sign > 0 ? "side-a" : "side-b" }, decided.sign > 0 ? A() : B()),
          ),
          td(REASONS[decided.reason]),
          num(grouped(numRelevant(q))),
          decided.found.map((count) => num(grouped(count))),
          decided.level
            ? [num(grouped(decided.level)), decided.places.map((each) => num(place(each)))]
            : [num(NONE), num(NONE), num(NONE)],
        ),
      first: 12,
      className: "deciding",
    });
  }

  function drawPair() {
    const { pair, measure, summary, bars, details, above } = sections.get("pair").parts;
    if (D.systems.length < 2) {
      bars.hidden = above.hidden = true;
      return put(summary, alone());
    }
    pair.update();
    measure.set(measureOptions(), state.m);
    put(summary, ...pairSummary(state.m));
    const rows = pairRows(state.m);
    drawPairBars(state.m, rows);
    const decided = rows.filter((row) => row.decided);
    put(
      details,
      !isHeadToHead(state.m) && rows.length
        ? note(
            "The bars are differences of the win rates against all systems; whom this preference prefers head to head on each request is not in the page.",
          )
        : "",
      decided.length ? h("div", { class: "columns" }, measuresOfPair(), reasonTable(decided)) : measuresOfPair(),
      decided.length
        ? decidingTable(state.m, decided)
        : shown.requests.length
          ? notHeld()
          : note("No request matches the filter."),
    );
  }

  // One request ------------------------------------------------------------------------------------------------------

  function setUpRequest(body) {
    const choice = chooser("Request", (q) => change({ q }));
    const step = (by) => () => {
      const near = shown.requests.includes(state.q)
        ? shown.requests
        : [...shown.requests, state.q].sort((x, y) => x - y);
      change({ q: near[(near.indexOf(state.q) + by + near.length) % near.length] });
    };
    const previous = h("button", { type: "button", "aria-label": "Previous request", onclick: step(-1) }, "‹ previous");
    const next = h("button", { type: "button", "aria-label": "Next request", onclick: step(1) }, "next ›");
    const pair = pairChoosers("request");
    const space = h("div");
    body.append(
      h("div", { class: "controls" }, choice.element, previous, next, D.systems.length > 1 ? pair.elements : []),
      space,
    );
    return { choice, pair, space };
  }

  const MOST_OPTIONS = 1000;

  function requestOptions() {
    const near = new Set(shown.requests.slice(0, MOST_OPTIONS)).add(state.q);
    return [...near].sort((x, y) => x - y).map((q) => [q, D.requests[q]]);
  }

  /** In words, what decides between two systems; as `lexirecall explain` says it. */
  function sentence(decided) {
    const { q, sign, reason, level, found, sides } = decided;
    const m = counted(numRelevant(q), "relevant document");
    if (sign === 0)
      return [
        found[0]
          ? `A tie: both runs have ${grouped(found[0])} of the ${m}, at the same positions.`
          : `A tie: both runs find none of the ${m}.`,
      ];
    const [better, worse] = sign > 0 ? [0, 1] : [1, 0];
    const run = (side) => (side === 0 ? A() : B());
    if (reason === "found") {
      return [
        run(better),
        ` is preferred: it finds ${found[better]} of the ${m}, `,
        run(worse),
        ` ${found[worse]}; `,
        run(worse),
        " lacks ",
        listed(lacked(sides[better], sides[worse], q)),
        ".",
      ].flat();
    }
    const same = found[0] - level;
    const stands = (side) => [
      `at ${grouped(at(sides[side].positions, level))} in `,
      run(side),
      " (",
      name(D.relevant[q][sides[side].documents[level - 1]], 40),
      ")",
    ];
    const which = same ? `, the last ${same} at the same positions; the one before` : " and the last of them";
    return [
      run(better),
      ` is preferred: both find ${found[0]} of the ${m}${which} stands `,
      stands(better),
      " and ",
      stands(worse),
      ".",
    ].flat();
  }

  /** Better first, as LexiRecall has it. */
  const byLexiRecall = (x, y) => -PREFERENCES.LexiRecall(x.own.positions, y.own.positions) || x.s - y.s;

  function rankings(q) {
    return shown.systems.map((s) => ({ s, own: ranking(s, q) })).filter((each) => each.own);
  }

  const SCALE = 860; // of 1000: the rest of a strip is for what is missing

  function scaleTo(deepest) {
    const width = Math.log(Math.max(deepest, 2));
    return (position) => (SCALE * Math.log(position)) / width;
  }

  const left = (x) => `${(x / 10).toFixed(2)}%`;

  function axis(deepest, x) {
    const ticks = indices(String(deepest).length).map((power) => 10 ** power);
    if (deepest >= 2 && x(deepest) - x(ticks.at(-1)) > 100) ticks.push(deepest);
    return h(
      "div",
      { class: "strip axis" },
      ticks.map((tick) =>
        h("span", { class: x(tick) > 0.95 * SCALE && "last", "--left": left(x(tick)) }, grouped(tick)),
      ),
      h("span", { class: "end", "--left": "96%" }, "missing"),
    );
  }

  function stripLabel(own, m) {
    const some = own.positions.slice(0, 40).map(grouped).join(", ");
    const rest = own.positions.length > 40 ? ` and ${own.positions.length - 40} more` : "";
    return own.positions.length
      ? `relevant documents at ${some}${rest}; ${m - own.positions.length} missing`
      : "nothing relevant found";
  }

  function strip(each, q, x, decided) {
    const { own, s } = each;
    const side = decided ? [state.a, state.b].indexOf(s) : -1;
    const m = numRelevant(q);
    const count = own.positions.length;
    const drawn = svg(
      "svg",
      { viewBox: "0 0 1000 20", preserveAspectRatio: "none", role: "img", "aria-label": stripLabel(own, m) },
      D.retrieved[s][q] > 0 && svg("path", { class: "list", d: `M0 10H${x(D.retrieved[s][q]).toFixed(1)}` }),
      svg("path", {
        class: `dots${count > 80 ? " dense" : ""}`,
        d: own.positions.map((p) => `M${x(p).toFixed(1)} 10h.01`).join(""),
      }),
    );
    const box = h(
      "div",
      {
        class: "strip",
        onmousemove: (event) => showTip(event, nearest(event, each, q, x)),
        onmouseleave: (event) => showTip(event, ""),
      },
      drawn,
    );
    if (m > count)
      box.append(
        h("span", { class: "lacking", "--left": "96%", title: `${grouped(m - count)} missing` }, grouped(m - count)),
      );
    if (side >= 0 && decided.level) {
      const position = decided.places[side];
      const where = Number.isFinite(position) ? x(position) : 960;
      if (Number.isFinite(position)) drawn.append(svg("path", { class: "decides", d: `M${where.toFixed(1)} 10h.01` }));
      box.append(
        h(
          "span",
          { class: `pointer${where > 700 ? " before" : ""}`, "--left": left(where) },
          Number.isFinite(position)
            ? `level ${decided.level} at ${grouped(position)}`
            : `level ${decided.level} missing`,
        ),
      );
    }
    return box;
  }

  function nearest(event, { own, s }, q, x) {
    const box = event.currentTarget.getBoundingClientRect();
    const where = (1000 * (event.clientX - box.left)) / box.width;
    const distance = (i) => Math.abs(x(own.positions[i]) - where);
    const best = indices(own.positions.length).reduce((i, j) => (i < 0 || distance(j) < distance(i) ? j : i), -1);
    if (best < 0 || distance(best) > 15) return "";
    return `${cut(D.systems[s], 40)}: ${cut(D.relevant[q][own.documents[best]], 60)} at ${grouped(own.positions[best])}, level ${best + 1} of ${numRelevant(q)}`;
  }

  const MOST_DOCUMENTS = 500;

  function lacking(own, q) {
    const texts = missing(own, q);
    if (!texts.length) return td(h("span", { class: "none" }, "none"));
    if (texts.length <= 2) return td(listed(texts, 2, 24));
    const rest = h("div");
    const open = () => rest.childNodes.length || rest.append(...listed(texts, MOST_DOCUMENTS, 80));
    return td(
      h(
        "details",
        { ontoggle: open },
        h("summary", null, name(texts[0], 24), ` and ${grouped(texts.length - 1)} more`),
        rest,
      ),
    );
  }

  function stripTable(q, decided) {
    const all = rankings(q).sort(byLexiRecall);
    const isChosen = (each) => D.systems.length > 1 && (each.s === state.a || each.s === state.b);
    const chosen = [state.a, state.b].flatMap((s) =>
      isHeld(s) && D.systems.length > 1 ? [{ s, own: ranking(s, q) }] : [],
    );
    const rows = [...chosen, ...all.filter((each) => !isChosen(each))];
    const deepest = Math.max(2, ...rows.map(({ s, own }) => Math.max(D.retrieved[s][q], own.positions.at(-1) ?? 1)));
    const x = scaleTo(deepest);
    const m = numRelevant(q);
    const isAlone = D.systems.length < 2;
    const side = (s) => (isAlone ? "" : s === state.a ? "side-a" : s === state.b ? "side-b" : "");
    return table({
      caption: `Where the relevant documents stand in each ranking: the line is the list, a dot a relevant document.${isAlone ? "" : " The chosen pair first, then those that LexiRecall prefers on this request."}`,
      head: h(
        "tr",
        null,
        th("system"),
        th(["position, on a logarithmic scale", axis(deepest, x)], { class: "wide" }),
        th("found", { class: "num" }),
        th("last at", { class: "num" }),
        th("documents missed"),
      ),
      rows,
      row: (each) =>
        h(
          "tr",
          { class: side(each.s) },
          rowHead(system(each.s, 28)),
          td(strip(each, q, x, decided)),
          num(`${grouped(each.own.positions.length)} of ${grouped(m)}`),
          num(each.own.positions.length ? grouped(each.own.positions.at(-1)) : NONE),
          lacking(each.own, q),
        ),
      first: 25,
      className: "strips",
    });
  }

  function levelTable(decided, q) {
    const m = numRelevant(q);
    const rows = indices(m).map((i) => m - i);
    const most = 12;
    const start = Math.max(0, Math.min(m - (decided.level || m) - most / 2, m - most));
    const cell = (side, level) => [
      num(place(at(decided.sides[side].positions, level))),
      td(level <= decided.found[side] ? name(D.relevant[q][decided.sides[side].documents[level - 1]], 40) : NONE),
    ];
    return table({
      caption:
        start > 0
          ? `Level by level, from level ${rows[start]}: the deciding one is among the first`
          : "Level by level, the last relevant document first",
      head: h(
        "tr",
        null,
        th("level", { class: "num" }),
        th(["position in ", A()], { class: "num" }),
        th("document"),
        th(["position in ", B()], { class: "num" }),
        th("document"),
        th("decides"),
      ),
      rows: [...rows.slice(start), ...rows.slice(0, start)],
      row: (level) =>
        h(
          "tr",
          level === decided.level ? { class: "chosen" } : null,
          num(grouped(level)),
          cell(0, level),
          cell(1, level),
          td(level === decided.level ? h("strong", null, "this level") : ""),
        ),
      first: most,
    });
  }

  function documentTable(q) {
    const found = D.relevant[q].map((text) => ({ text, count: 0, best: Infinity, by: -1 }));
    const all = rankings(q);
    for (const { s, own } of all) {
      own.documents.forEach((document, i) => {
        const each = found[document];
        each.count++;
        if (own.positions[i] < each.best) [each.best, each.by] = [own.positions[i], s];
      });
    }
    const sorted = found.toSorted((x, y) => x.count - y.count || (y.best === x.best ? 0 : y.best - x.best));
    return table({
      caption: `The relevant documents, those that the fewest of ${counted(all.length, "system")} find first`,
      head: h(
        "tr",
        null,
        th("document"),
        th("found by", { class: "num" }),
        th("soonest at", { class: "num" }),
        th("by"),
      ),
      rows: sorted,
      row: (each) =>
        h(
          "tr",
          null,
          rowHead(name(each.text, 60)),
          num(grouped(each.count)),
          num(each.count ? grouped(each.best) : NONE),
          td(each.by < 0 ? NONE : name(D.systems[each.by], 40)),
        ),
      first: 10,
    });
  }

  function requestLead(q) {
    const all = rankings(q).sort(byLexiRecall);
    const m = counted(numRelevant(q), "relevant document");
    if (!all.length) return [`It has ${m}.`];
    const [best] = all;
    const count = best.own.positions.length;
    const nobody = numRelevant(q) - new Set(all.flatMap((each) => each.own.documents)).size;
    const last = count ? `, the last at ${grouped(best.own.positions.at(-1))}` : "";
    return [
      `It has ${m}. `,
      all.length > 1 ? ["LexiRecall puts ", name(D.systems[best.s]), " first: it"] : [name(D.systems[best.s])],
      ` finds ${count ? grouped(count) : "none"}${last}. `,
      nobody
        ? `${counted(nobody, "document")} ${nobody === 1 ? "is" : "are"} found by no system${all.length < D.systems.length ? " shown" : ""}.`
        : "Every one is found by some system.",
    ].flat();
  }

  function drawRequest() {
    const { choice, pair, space } = sections.get("request").parts;
    if (!D.requests.length) return put(space, note("No request has a relevant document."));
    const { q } = state;
    choice.set(requestOptions(), q);
    pair.update();
    const decided = D.systems.length > 1 ? decide(state.a, state.b, q) : null;
    put(
      space,
      h("h3", null, "Request ", name(D.requests[q], 80)),
      h("p", null, requestLead(q)),
      decided ? h("p", { class: "lead sentence" }, sentence(decided)) : D.systems.length > 1 && notHeld(),
      stripTable(q, decided),
      h("div", { class: "columns" }, decided && numRelevant(q) ? levelTable(decided, q) : "", documentTable(q)),
    );
  }

  // Worst-off requests -----------------------------------------------------------------------------------------------

  function setUpWorst(body) {
    const choice = chooser("For", (worst) => change({ worst }));
    const [bars, space] = [h("div"), h("div")];
    const beside = h("div", { class: "columns even" }, space, bars);
    body.append(
      h("div", { class: "controls" }, choice.element),
      note(
        "For whom does it work worst? The requests of which the smallest share of the relevant documents is found; of equal ones, that whose last document stands deepest.",
      ),
      beside,
    );
    return { choice, bars, space };
  }

  /** Recall and last position of a request, of one system or as the mean over those shown. */
  function recallOf(q, systems) {
    const packed = systems.filter((s) => takesPart(s, q)).map((s) => ({ s, list: D.found[s][q] }));
    if (!packed.length) return null;
    const m = numRelevant(q);
    const shares = packed.map(({ list }) => list.length / 2 / m);
    const lasts = packed.map(({ list }) => (list.length === 2 * m ? lastOf(list) : Infinity));
    const best = indices(packed.length).reduce((i, j) => (shares[j] > shares[i] ? j : i), 0);
    return {
      q,
      m,
      recall: shares.reduce((sum, share) => sum + share, 0) / shares.length,
      last: Math.max(...lasts),
      lastFound: Math.max(0, ...packed.map(({ list }) => lastOf(list))),
      best: packed[best].s,
      bestRecall: shares[best],
      complete: lasts.filter(Number.isFinite).length,
      count: packed.length,
    };
  }

  function lastOf(list) {
    let position = 0;
    for (let i = 0; i < list.length; i += 2) position += list[i];
    return position;
  }

  function drawWorst() {
    const { choice, bars, space } = sections.get("worst").parts;
    const held = shown.systems.filter(isHeld);
    choice.set(
      [[-1, `all ${counted(held.length, "system")} shown (mean)`], ...systemOptions().filter(([s]) => isHeld(s))],
      state.worst,
    );
    const isOne = state.worst >= 0;
    const rows = shown.requests.map((q) => recallOf(q, isOne ? [state.worst] : held)).filter(Boolean);
    rows.sort(
      (x, y) => x.recall - y.recall || (y.last === x.last ? y.lastFound - x.lastFound : y.last - x.last) || x.q - y.q,
    );
    bars.hidden = !rows.length;
    if (!rows.length) return put(space, note("Nothing matches the filters."));
    const every = Math.ceil(rows.length / MOST_BARS);
    const kept = rows
      .filter((_, index) => index % every === 0)
      .map(({ q, recall, m }) => ({
        q,
        value: recall,
        tip: `request ${cut(D.requests[q], 40)}: ${percent(recall)} of ${counted(m, "relevant document")}`,
      }));
    const half = rows.filter((row) => row.recall < 0.5).length;
    sortedBars(
      bars,
      `Recall of each request, the lowest first: from ${percent(rows[0].recall)} to ${percent(rows.at(-1).recall)}; ${half} of ${rows.length} below 50 %`,
      kept,
      { title: "share found", color: { value: "var(--series-0)" }, format: "%", height: 220 },
    );
    put(space, worstTable(rows, isOne));
  }

  function worstTable(rows, isOne) {
    return table({
      caption: isOne
        ? h("span", null, "The worst-off requests of ", name(D.systems[state.worst]))
        : "The worst-off requests, over the systems shown",
      head: h(
        "tr",
        null,
        th("request"),
        th("relevant", { class: "num" }),
        th(isOne ? "found" : "found, mean", { class: "num" }),
        isOne
          ? [th("missing", { class: "num" }), th("last found at", { class: "num" })]
          : [th("complete in", { class: "num" }), th("best", { class: "num" }), th("by")],
      ),
      rows,
      row: (row) =>
        h(
          "tr",
          null,
          rowHead(requestLink(row.q)),
          num(grouped(row.m)),
          h("td", { class: "num value", "--share": row.recall }, percent(row.recall)),
          isOne
            ? [num(grouped(Math.round(row.m * (1 - row.recall)))), num(row.lastFound ? grouped(row.lastFound) : NONE)]
            : [
                num(`${grouped(row.complete)} of ${grouped(row.count)}`),
                num(percent(row.bestRecall)),
                td(row.bestRecall > 0 ? name(D.systems[row.best], 40) : NONE),
              ],
        ),
      first: 10,
    });
  }

  // Recall by depth --------------------------------------------------------------------------------------------------

  function setUpRecall(body) {
    const [lines, space] = [h("div"), h("div")];
    body.append(
      note(
        "How much of what is relevant has been found when one has read so deep: the mean over requests of the share found.",
      ),
      h("div", { class: "columns wide-first" }, lines, space),
    );
    return { lines, space };
  }

  function drawRecall() {
    const { lines, space } = sections.get("recall").parts;
    const { depths, mean } = D.recall;
    const systems = shown.systems.filter((s) => mean[s]);
    const coloured = systems.slice(0, SERIES.length);
    const label = (s) => `${D.labels[s]} ${cut(D.systems[s], 22)}`;
    const rows = (some) =>
      some
        .flatMap((s) =>
          depths.map((depth, i) => ({
            s,
            depth,
            recall: mean[s][i],
            system: label(s),
            tip: `${cut(D.systems[s], 40)}: ${percent(mean[s][i])} within ${grouped(depth)}`,
          })),
        )
        .filter((row) => row.recall != null);
    lines.hidden = !systems.length;
    if (!systems.length) return put(space, note("No system matches the filter."));
    const at = {
      x: {
        field: "depth",
        type: "quantitative",
        scale: { type: "log" },
        axis: {
          title: "depth",
          format: ",d",
          values: depths.filter((depth) => /^10*$/.test(String(depth))),
          grid: true,
        },
      },
      y: {
        field: "recall",
        type: "quantitative",
        scale: { domain: [0, 1] },
        axis: { title: "share of the relevant documents found", format: "%", tickCount: 5 },
      },
    };
    const names = coloured.map(label);
    const key = { field: "system", type: "nominal", sort: null };
    const isNarrow = lines.clientWidth < 560;
    const legend = {
      title: null,
      orient: isNarrow ? "bottom" : "right",
      columns: isNarrow ? 2 : 1,
      symbolType: "stroke",
      symbolSize: 300,
      symbolStrokeWidth: 2.5,
    };
    const encoding = {
      ...at,
      color: { ...key, scale: { domain: names, range: SERIES.slice(0, names.length) }, legend },
      strokeDash: { ...key, scale: { domain: names, range: DASHES.slice(0, names.length) }, legend },
    };
    const layer = [
      { data: { values: rows(coloured) }, mark: { type: "line", strokeWidth: 2, clip: true }, encoding },
      {
        data: { values: rows(coloured) },
        mark: { type: "point", filled: true, size: 40, tooltip: true },
        encoding: { ...at, color: encoding.color, tooltip: { field: "tip", type: "nominal" } },
      },
    ];
    if (systems.length > coloured.length)
      layer.unshift({
        data: { values: rows(systems.slice(SERIES.length)) },
        mark: { type: "line", strokeWidth: 1, color: "var(--muted)", opacity: 0.35, tooltip: true },
        encoding: { ...at, detail: { field: "s" } },
      });
    const last = systems.slice(0, 10).map((s) => `${cut(D.systems[s], 30)} ${percent(mean[s].at(-1))}`);
    chart(lines, `Mean recall by depth. At depth ${grouped(depths.at(-1))}: ${last.join(", ")}`, {
      height: 320,
      layer,
    });
    put(
      space,
      depthTable(systems),
      systems.length > coloured.length
        ? note(
            `In colour: the first ${coloured.length} of the systems shown; the other ${systems.length - coloured.length} in grey. Filter the systems to see others.`,
          )
        : "",
    );
  }

  function depthTable(systems) {
    const needs = D.depth_needed;
    const cell = ({ median, reached }, s) =>
      num(
        median[s] == null ? NONE : grouped(median[s]),
        " ",
        h("span", { class: "small" }, `(${percent(reached[s], 0)})`),
      );
    const row = (s) =>
      h(
        "tr",
        null,
        rowHead(system(s, 24)),
        needs.map((need) => cell(need, s)),
      );
    const head = h(
      "tr",
      null,
      th("system"),
      needs.map((need) => th(`for ${percent(need.recall, 0)} recall`, { class: "num" })),
    );
    return table({
      caption: `Depth needed: the median over requests (${NONE} where half of the rankings end before), in brackets the share of requests in which it is reached`,
      head,
      rows: systems,
      row,
      first: 20,
    });
  }

  // The measures -----------------------------------------------------------------------------------------------------

  function setUpMeasures(body) {
    const [ties, agreement, space, words] = [h("div"), h("div"), h("div"), h("div")];
    const panel = (title, element) => h("div", null, h("h3", null, title), element);
    body.append(
      words,
      h(
        "div",
        { class: "columns three" },
        space,
        panel("Tied comparisons", ties),
        panel("LexiRecall takes the same side", agreement),
      ),
    );
    return { ties, agreement, space, words };
  }

  function studyBars(element, title, field) {
    const keys = uniqueKeys();
    const rows = D.study
      .filter((row) => row[field] != null)
      .map((row) => ({ measure: keys(cut(row.measure, 30)), value: row[field], text: percent(row[field]) }));
    element.parentElement.hidden = !rows.length;
    if (!rows.length) return;
    const y = { field: "measure", type: "nominal", sort: null, title: null };
    const x = {
      field: "value",
      type: "quantitative",
      scale: { domain: [0, 1] },
      axis: { format: "%", title, tickCount: 5 },
    };
    const layer = [
      { mark: { type: "bar", color: "var(--series-0)", size: 14 }, encoding: { x, y } },
      { mark: { type: "text", align: "left", dx: 4 }, encoding: { x, y, text: { field: "text" } } },
    ];
    if (field === "agreement")
      layer.unshift({
        mark: { type: "rule", color: "var(--muted)", strokeDash: [4, 3] },
        encoding: { x: { datum: 0.5 } },
      });
    chart(element, `${title}: ${rows.map((row) => `${row.measure} ${row.text}`).join(", ")}`, {
      data: { values: rows },
      height: 26 * rows.length,
      layer,
    });
  }

  function drawMeasures() {
    const { ties, agreement, space, words } = sections.get("measures").parts;
    if (!D.study.length) {
      ties.parentElement.hidden = agreement.parentElement.hidden = true;
      return put(space, alone());
    }
    put(
      words,
      note(
        "Over every two systems and every request: how often a measure cannot tell the two rankings apart, and, where it can, how often LexiRecall takes the same side. Chance is 50 %. A measure that ties often decides little; one that sides with LexiRecall rarely asks another question than whether everything is found.",
      ),
    );
    put(
      space,
      table({
        caption: "Ties and agreement with LexiRecall",
        head: h(
          "tr",
          null,
          th("measure"),
          th("tied", { class: "num" }),
          th("LexiRecall sides with it", { class: "num" }),
        ),
        rows: D.study,
        row: (row) =>
          h(
            "tr",
            null,
            rowHead(name(row.measure)),
            num(percent(row.tied)),
            num(row.agreement == null ? NONE : percent(row.agreement)),
          ),
        first: 50,
      }),
    );
    studyBars(ties, "share of comparisons that are tied", "tied");
    studyBars(agreement, "share of its decisions", "agreement");
  }

  // Colours ----------------------------------------------------------------------------------------------------------

  function setUpTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const button = byId("theme");
    let chosen = null; // by the reader, for as long as the page is open
    const apply = () => {
      const theme = chosen ?? (dark.matches ? "dark" : "light");
      document.documentElement.dataset.theme = theme;
      button.textContent = theme === "dark" ? "Light" : "Dark";
      button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
    };
    dark.addEventListener("change", apply);
    button.addEventListener("click", () => {
      chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      apply();
    });
    apply();
  }

  // Start ------------------------------------------------------------------------------------------------------------

  const SECTIONS = {
    evaluated: { keys: [], draw: drawEvaluated },
    leaderboard: { keys: ["systems"], draw: drawLeaderboard },
    pairs: { keys: ["systems", "m", "a", "b"], draw: drawPairs, setUp: setUpPairs },
    pair: { keys: ["requests", "m", "a", "b"], draw: drawPair, setUp: setUpPair },
    request: { keys: ["systems", "requests", "q", "a", "b"], draw: drawRequest, setUp: setUpRequest },
    worst: { keys: ["systems", "requests", "worst"], draw: drawWorst, setUp: setUpWorst },
    recall: { keys: ["systems"], draw: drawRecall, setUp: setUpRecall },
    measures: { keys: [], draw: drawMeasures, setUp: setUpMeasures },
  };

  function setUpSections() {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target.id) : seen.delete(target.id);
        draw();
      },
      { rootMargin: "200px" },
    );
    for (const [id, section] of Object.entries(SECTIONS)) {
      const body = byId(id).querySelector(".body");
      sections.set(id, { ...section, body, parts: section.setUp?.(body) });
      waiting.add(id);
      observer.observe(byId(id));
    }
  }

  function setUpFilters() {
    let timer;
    for (const [key, go] of [
      ["systems", "leaderboard"],
      ["requests", "request"],
    ]) {
      const input = byId(`filter-${key}`);
      input.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => change({ [key]: input.value }), D.systems.length > 40 ? 150 : 50);
      });
      input.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        clearTimeout(timer);
        change({ [key]: input.value });
        if (shown[key].length) change(key === "requests" ? { q: shown.requests[0] } : {}, { go });
      });
    }
    for (const anchor of document.querySelectorAll("nav a")) {
      anchor.addEventListener("click", (event) => {
        event.preventDefault(); // the address keeps the pair and the request
        drawAll();
        visit(anchor.hash.slice(1));
      });
    }
  }

  /** The first pair is the best two, or the best and the baseline; the measure is LexiRecall. */
  function setUpState() {
    if (D.baseline != null) state.b = D.baseline === 0 ? 1 : D.baseline;
    state.m = Math.max(
      0,
      D.measures.findIndex((measure) => measure.name === "LexiRecall"),
    );
    state.q = D.systems.length > 1 ? decisiveRequest(state.a, state.b) : 0;
    Object.assign(standard, { q: state.q, a: state.a, b: state.b, m: state.m });
  }

  function colophon() {
    const { versions = {}, reader } = D.manifest;
    const others = Object.entries(versions)
      .filter(([key]) => key !== "lexirecall")
      .map((pair) => pair.join(" "));
    const beside = [...others, reader && `${reader} reader`].filter(Boolean).join(", ");
    return visible(`Made by lexirecall ${D.lexirecall} on ${D.date}${beside && ` (${beside})`}. One file, no network.`);
  }

  async function start() {
    setUpTheme();
    D = await unpack(byId("payload").textContent);
    document.documentElement.classList.toggle("alone", D.systems.length < 2);
    byId("payload").remove(); // it takes memory, and nobody reads it again
    places = new Map(D.pairs.a.map((a, place) => [a * D.systems.length + D.pairs.b[place], place]));
    document.body.append(tip);
    setUpState();
    filter();
    setUpSections();
    setUpFilters();
    byId("colophon").textContent = colophon();
    if (location.hash.length > 1) followAddress();
    else draw();
    window.addEventListener("hashchange", () => location.hash !== currentAddress() && followAddress());
    window.addEventListener("beforeprint", drawAll);
  }

  start().catch((error) => {
    const trouble = byId("trouble");
    trouble.hidden = false;
    trouble.textContent = `This report cannot be shown: ${error.message}. It needs a browser of 2023 or later, and the whole file.`;
    console.error(error);
  });
})();
