// The table that would be published: what is expected of it, what it is worth, and a made-up recording behind it.

const DRAWN_PEOPLE = 400;   // people who are drawn one by one; a larger table is scaled up from them

const mean = values => values.reduce((sum, x) => sum + x, 0) / values.length;

/** The expected cells, in steps. */
function expectedCells(settings, model) {
  const steps = model.T * settings.people, counted = model.law[countedState(settings)] * steps;
  if (settings.query === "histogram") return model.law.map(p => p * steps);
  return settings.query === "count" ? [counted] : new Array(24).fill(counted / 24);
}

/** What the table is worth, by the rule of the page "advice": {word, half, readable}; `half` is its ±, in steps. */
function verdictOf(settings, model) {
  const half = halfWidth(model.scale, model.cells), cells = expectedCells(settings, model);
  const readable = cells.filter(x => x >= half).length, range = Math.max(...cells) - Math.min(...cells);
  const areAlike = model.cells === 1 || range < .1 * mean(cells);
  const matters = (areAlike ? mean(cells) : range) / 5;
  // 95 % of Laplace noise, and of a difference of two: (1 + x/2) e^-x = 1/20
  const error = model.scale * (model.cells === 1 ? Math.log(20) : 4.113);
  let word = error <= matters ? "good" : error <= 5 * matters ? "rough" : "useless";
  if (readable < model.cells && word === "good") word = "rough";
  if (readable === 0) word = "useless";
  return { word, half, readable };
}

/** The least number of people, of a list, for whom the table is good; undefined if there is none. Noise does not grow with them. */
function enoughPeople(settings, model) {
  const numbers = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];
  return numbers.find(n => n > settings.people && verdictOf({ ...settings, people: n }, model).word === "good");
}

/** A generator of numbers in [0, 1) for pictures (mulberry32); noise that is published never comes from here. */
function madeUpNumbers(seed) {
  let state = seed | 0;
  return () => {
    state = state + 0x6D2B79F5 | 0;
    let t = Math.imul(state ^ state >>> 15, 1 | state);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  };
}

function discreteLaplace(scale, next) {
  const geometric = () => Math.floor(-scale * Math.log(1 - next()));
  return geometric() - geometric();
}

function draw(law, next) {
  let left = next(), state = 0;
  while (state < law.length - 1 && (left -= law[state]) > 0) state++;
  return state;
}

/** One person's made-up recording. */
function madeUpPath(model, next) {
  const path = new Uint8Array(model.T);
  path[0] = draw(model.law, next);
  for (let t = 1; t < model.T; t++) path[t] = draw(model.P[path[t - 1]], next);
  return path;
}

/** Made-up cells of all people, in steps, and the recording of the first. */
function madeUpTable(settings, model, seed) {
  const next = madeUpNumbers(seed * 7919), people = Math.min(settings.people, DRAWN_PEOPLE);
  const cells = new Array(model.cells).fill(0), perHour = 60 / model.unit;
  let first = null;
  for (let person = 0; person < people; person++) {
    const path = madeUpPath(model, next);
    first ??= path;
    path.forEach((state, t) => {
      if (settings.query === "histogram") cells[state]++;
      else if (state === countedState(settings)) cells[settings.query === "hour" ? Math.floor(t / perHour) % 24 : 0]++;
    });
  }
  return { cells: cells.map(x => Math.round(x * settings.people / people)), first };
}

/** Whether the reader's thoughts are computed: two states, and blocks that are not too long. */
function hasThoughts(settings, model) {
  return model.k === 2 && (settings.query === "hour" ? settings.span === 1440 : model.T <= 400);
}

/** What a reader who knows everybody else thinks of each step of the first person, under three noises. */
function thoughtsOf(settings, model, table, seed) {
  const size = settings.query === "hour" ? 60 / model.unit : model.T, path = table.first, blocks = [];
  for (let first = 0; first < model.T; first += size) blocks.push([first, Math.min(model.T, first + size)]);
  const values = settings.query === "histogram" ? 2 : 1;
  const thinks = scale => {
    const next = madeUpNumbers(seed * 15485863 + 1), likelihoods = blocks.map(([first, end]) => {
      const ones = path.slice(first, end).reduce((sum, x) => sum + x, 0), truth = [ones, end - first - ones].slice(0, values);
      return likelihoodOf(truth.map(x => x + discreteLaplace(scale, next)), end - first, scale);
    });
    return posteriorOfSteps(model.P, model.law, blocks, likelihoods);
  };
  return {
    ordinary: thinks(model.scales.ordinary), takifugu: thinks(model.scales.takifugu),
    group: thinks(model.scales.group), before: new Float64Array(model.T).fill(model.law[1]), path,
    bounds: [1, -1].map(sign => posteriorBound(model.law[1], sign * settings.epsilon)),
    name: settings.states[1][0], span: SPANS[settings.span],
  };
}

/** A table of rows for the release file: the first 20 people. */
function madeUpFile(settings, model, seed) {
  const next = madeUpNumbers(seed * 31337), lines = ["person,step,state"];
  for (let person = 0; person < Math.min(settings.people, 20); person++) {
    madeUpPath(model, next).forEach((state, t) => {
      const clock = new Date(Date.UTC(2026, 2, 2) + t * model.unit * 60000).toISOString().slice(0, 16);
      lines.push(`p${person},${settings.query === "hour" ? clock : t},${csvText(settings.states[state][0])}`);
    });
  }
  return lines.join("\n") + "\n";
}

const csvText = text => /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** The release file that says the same. */
function releaseFile(settings, model) {
  const text = JSON.stringify, names = settings.states.map(([name]) => name), isClock = settings.query === "hour";
  const byName = pairs => `{ ${pairs.map(([name, value]) => `${text(name)} = ${value}`).join(", ")} }`;
  const lastDay = String(2 + settings.span / 1440).padStart(2, "0");
  const calendar = isClock ? ['from = "2026-03-02"', `until = "2026-03-${lastDay}"`] : [];
  const next = model.k === 2 ? [] : [`next_state = ${byName(names.map((name, i) => {
    const [a, b] = others(i), share = settings.next[i];
    return [name, byName([[names[a], share], [names[b], Number((1 - share).toFixed(12))]])];
  }))}`];
  const runLength = isClock ? text(settings.hide % 60 ? `${settings.hide}min` : `${settings.hide / 60}h`) : model.run;
  const counted = settings.query === "histogram" ? ['query = "histogram"']
    : ['query = "count"', `states = [${text(names[countedState(settings)])}]`];
  return [
    "# All keys: takifugu keys markov-chain",
    'ledger = "explored-ledger.db"', 'output = "explored-published"', "",
    "[source]", 'name = "explored"', 'file = "explored.csv"', 'rows = "samples"', 'unit = "person"', 'order = "step"',
    'value = "state"', `step = ${isClock ? text(settings.step) : 1}`, ...calendar,
    `budget = ${Math.max(4, Math.ceil(settings.epsilon))}`, "",
    "[belief]", 'kind = "markov-chain"', `states = [${names.map(name => text(name)).join(", ")}]`,
    `mean_duration = ${byName(settings.states)}  # in steps`, ...next, 'source = "assumed, with the explorer"',
    "units_independent = true", "",
    "[hide]", ...(model.run === 1 ? ['kind = "every-entry"'] : ['kind = "every-run"', `length = ${runLength}`]), "",
    "[[table]]", 'name = "table"', ...counted, ...(isClock ? ['by = "hour"'] : []), `epsilon = ${settings.epsilon}`, "",
  ].join("\n");
}
