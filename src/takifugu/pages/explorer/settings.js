// The case that the page is about: what it holds, its examples, its text in a link, and the model that it states.

const MINUTES = { "1min": 1, "5min": 5, "15min": 15, "1h": 60 };
const STEPS = {   // in the singular, and in a list to choose from
  "1min": "a minute", "5min": "five minutes", "15min": "15 minutes", "1h": "an hour",
};
const SPANS = { 180: "three hours", 480: "eight hours", 1440: "a day", 10080: "a week" };
const RUNS = { 1: "any one step", 15: "any 15 minutes in a row", 60: "any hour in a row" };
const QUERIES = ["count", "hour", "histogram"];

/** Least and most of what can be set. A stay is in steps; people come from a slider of their logarithm. */
const LIMITS = { stay: [1.05, 1100], people: [1, 100000], epsilon: [.05, 8], prior: [1, 99], name: 24 };

const EXAMPLES = {
  "A phone: still or walking": {
    states: [["still", 40], ["walking", 12]], step: "1min", span: 1440, people: 200, query: "hour", epsilon: 1,
  },
  "Twelve households: boiler off or on": {
    states: [["off", 40], ["on", 20]], step: "5min", span: 10080, people: 12, query: "hour", epsilon: 2,
  },
  "Desks: free or taken": {
    states: [["free", 120], ["taken", 90]], step: "15min", span: 10080, people: 80, query: "count", epsilon: 1,
  },
  "One person's morning": {
    states: [["still", 25], ["walking", 10]], step: "1min", span: 180, people: 1, query: "count", epsilon: 1,
  },
  "Sleep: awake, light, deep": {
    states: [["awake", 12], ["light", 25], ["deep", 30]], next: [.9, .3, .1],
    step: "5min", span: 480, people: 60, query: "histogram", epsilon: 1,
  },
  "Steps that tell nothing of each other": {
    states: [["no", 2], ["yes", 2]], step: "1h", span: 10080, people: 20, query: "count", epsilon: 1,
  },
};

/** The settings of an example. `next[i]` is the share of departures from state i to the first of the others. */
function exampleSettings(name) {
  return { hide: 1, prior: 50, next: [.5, .5, .5], ...JSON.parse(JSON.stringify(EXAMPLES[name])) };
}

const clamp = ([least, most], x) => Math.min(most, Math.max(least, x));
const threeDigits = x => Number(x.toPrecision(3));

/** The text of the settings in a link. */
function encode({ states, next, step, span, people, hide, query, epsilon, prior }) {
  const chain = states.length === 3 ? { s: states.flat().join("~"), n: next.join("~") } : { s: states.flat().join("~") };
  const fields = { ...chain, step, span, people, hide, q: query, e: epsilon, prior };
  return Object.entries(fields).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
}

/** The settings in a link, within LIMITS; null for a text that is none. */
function decode(text) {
  const fields = fieldsOf(text), parts = (fields?.s ?? "").split("~"), states = [];
  if (parts.length !== 4 && parts.length !== 6) return null;
  for (let i = 0; i < parts.length; i += 2) states.push([parts[i].slice(0, LIMITS.name), clamp(LIMITS.stay, Number(parts[i + 1]))]);
  const settings = {
    states,
    next: (fields.n ?? ".5~.5~.5").split("~").map(Number),
    step: fields.step,
    span: Number(fields.span),
    people: Math.round(clamp(LIMITS.people, Number(fields.people))),
    hide: Number(fields.hide ?? 1),
    query: fields.q,
    epsilon: clamp(LIMITS.epsilon, Number(fields.e)),
    prior: Math.round(clamp(LIMITS.prior, Number(fields.prior ?? 50))),
  };
  return areSound(settings) ? settings : null;
}

function fieldsOf(text) {
  if (text.length > 1000) return null;
  try {
    return Object.fromEntries(text.split("&").map(field => {
      const [key, ...value] = field.split("=");
      return [key, decodeURIComponent(value.join("="))];
    }));
  } catch {
    return null;   // a percent sign that begins nothing
  }
}

function areSound({ states, next, step, span, people, hide, query, epsilon, prior }) {
  const names = new Set(states.map(([name]) => name));
  return names.size === states.length && !names.has("")
    && states.every(([, stay]) => stay > 1)
    && next.length === 3 && next.every(share => share > 0 && share < 1)
    && Object.hasOwn(MINUTES, step) && Object.hasOwn(SPANS, span) && Object.hasOwn(RUNS, hide)
    && (hide === 1 || hide > MINUTES[step])
    && QUERIES.includes(query) && (query !== "hour" || span % 1440 === 0)
    && [people, epsilon, prior].every(Number.isFinite);
}

/** The matrix of the chain: a state ends after its mean duration, and the next one comes by its share. */
function matrixOf({ states, next }) {
  const leave = states.map(([, stay]) => 1 / stay);
  if (states.length === 2) return [[1 - leave[0], leave[0]], [leave[1], 1 - leave[1]]];
  return states.map((_, i) => {
    const [a, b] = others(i), row = [0, 0, 0];
    row[i] = 1 - leave[i];
    row[a] = leave[i] * next[i];
    row[b] = leave[i] * (1 - next[i]);
    return row;
  });
}

/** The state that a count is of: the last one. */
const countedState = settings => settings.states.length - 1;

/**
 * All numbers of the case. Scales and counts are in steps.
 * `scales` and `losses` are those of the three noises: ordinary (one step as if alone), takifugu, group (all steps).
 */
function modelOf(settings) {
  const P = matrixOf(settings), k = P.length, unit = MINUTES[settings.step], T = settings.span / unit;
  const change = changeOf(settings.query, k, countedState(settings)), most = Math.max(...change.flat());
  const run = settings.hide === 1 ? 1 : settings.hide / unit, epsilon = settings.epsilon;
  const scale = leastScale(P, T, change, epsilon, run);
  const scales = { ordinary: most / epsilon, takifugu: scale, group: most * T / epsilon };
  const losses = {
    ordinary: loss(P, T, change, scales.ordinary, run),
    takifugu: epsilon,
    group: loss(P, T, change, scales.group, run),
  };
  const cells = { count: 1, hour: 24, histogram: k }[settings.query];
  return { P, k, T, unit, change, run, scale, scales, losses, law: stationary(P), cells };
}
