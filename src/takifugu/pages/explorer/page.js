// The page: reads the controls, asks the model, writes sentences and pictures. While a slider moves only what is quick is drawn.

const element = id => document.getElementById(id);
const WEEKS = [1, 2, 4, 8, 13, 26, 52];
const SLOW_AFTER = 90;   // milliseconds after the last move of a slider
const NOISES = { ordinary: ["bad-hue", "Ordinary noise, same ε"], takifugu: ["fish-hue", "Takifugu's noise"], group: ["group-hue", "Noise for a whole recording"] };

let settings, seed = 7, waiting = 0, isQueued = false;
let madeUp = { key: null, table: null };

// What is drawn

function drawAll(isMoving) {
  const model = modelOf(settings), verdict = verdictOf(settings, model), table = tableOf(model);
  writeVerdict(model, verdict);
  writeControls(model, verdict);
  drawTable(model, verdict, table);
  drawReader(model);
  writeFile(model);
  document.documentElement.dataset.scale = model.scale;
  clearTimeout(waiting);
  const slow = () => {
    drawSteps(model, table);
    drawWeeks(model);
    writeAverages(model);
    document.documentElement.dataset.ready = "yes";
  };
  if (isMoving) waiting = setTimeout(slow, SLOW_AFTER);
  else slow();
}

function tableOf(model) {
  const { states, next, step, span, people, query } = settings;
  const key = JSON.stringify([states, next, step, span, people, query, seed]);
  if (madeUp.key !== key) madeUp = { key, table: madeUpTable(settings, model, seed) };
  return madeUp.table;
}

const secretWords = () => settings.hide === 1 ? STEPS[settings.step] : { 15: "15 minutes", 60: "an hour" }[settings.hide];
const becomes = prior => percent(posteriorBound(prior, settings.epsilon));
const widthOf = id => element(id).clientWidth < 560 ? NARROW : WIDE;

function writeVerdict(model, verdict) {
  const { half, word } = verdict, unit = model.unit, cells = expectedCells(settings, model);
  const meaning = { good: "what matters shows", rough: "only large differences show", useless: "the table is noise" }[word];
  const name = `“${escaped(settings.states[countedState(settings)][0])}”`;
  const subject = { count: `${name} in all`, hour: `${name}, each hour of the day,`, histogram: "The largest state" }[settings.query];
  const enough = word === "good" ? undefined : enoughPeople(settings, model);
  const remedy = enough === undefined ? "" : `<p>With <b>${people(enough)}</b> it would be good: the noise does not grow with people.</p>`;
  element("verdict").className = word;
  element("verdict").innerHTML = `<strong><span class="word">${word[0].toUpperCase() + word.slice(1)}</span>: ${meaning}.</strong>
    <p>${subject} is expected to be about <b>${duration(Math.max(...cells) * unit)}</b>, published <b>± ${duration(half * unit)}</b>.
    A reader who is 50 % sure of a secret becomes at most <b>${becomes(.5)}</b> sure.</p>${remedy}`;
  element("bar").textContent = `${word}: ± ${duration(half * unit)} · 50 % → ${becomes(.5)}`;
  element("title-step").textContent = secretWords();
}

function writeControls(model, verdict) {
  const error = `± ${duration(verdict.half * model.unit)}`, sure = `${becomes(.5)} sure`;
  setSlider("sure", 100 * posteriorBound(.5, settings.epsilon), sure);
  setSlider("error", shareOfScale(model), error);
  setSlider("epsilon", Math.log(settings.epsilon), settings.epsilon.toFixed(settings.epsilon < 1 ? 3 : 2));
  setSlider("people", Math.log10(settings.people), integer(settings.people));
  setSlider("prior", settings.prior, `${settings.prior} % sure`);
  settings.states.forEach(([, stay], i) => {
    setSlider(`stay-${i}`, Math.log(stay), `${duration(stay * model.unit)} at a time`);
    const share = Math.round(100 * settings.next[i]);
    if (model.k === 3) setSlider(`next-${i}`, settings.next[i], `${share} : ${100 - share}`);
  });
}

function setSlider(id, value, words) {
  element(id).value = value;
  element(id).setAttribute("aria-valuetext", words);
  element(`${id}-says`).textContent = words;
}

/** The range of scales that the slider of the error goes over, as [least, most]. */
function scaleRange(model) {
  const most = Math.max(...model.change.flat());
  return [most * model.run / LIMITS.epsilon[1], most * model.T / LIMITS.epsilon[0]];
}
function shareOfScale(model) {
  const [least, most] = scaleRange(model);
  return Math.log(model.scale / least) / Math.log(most / least);
}

function drawTable(model, { half }, table) {
  const next = madeUpNumbers(seed * 104729), unit = model.unit, width = widthOf("table");
  const values = table.cells.map(x => x + discreteLaplace(model.scale, next));
  const names = settings.query === "histogram" ? settings.states.map(([name]) => name) : [settings.states[countedState(settings)][0]];
  element("table").innerHTML = settings.query === "hour" ? hoursChart(width, values, table.cells, half, unit)
    : barsChart(width, names, values, table.cells, half, unit);
  const errorOf = noise => duration(halfWidth(model.scales[noise], model.cells) * unit);
  element("table-says").innerHTML = `Made-up data of ${people(settings.people)}, ${SPANS[settings.span]} each. In 95 of 100 tables every
    true value lies within its band, <b>± ${errorOf("takifugu")}</b>. Ordinary noise: ± ${errorOf("ordinary")}.
    Noise for a whole recording: ± ${errorOf("group")}.`;
  const truth = settings.query === "hour" ? "● made-up truth" : "┃ made-up truth";
  element("table-key").innerHTML = `<span>▬ published, with its band</span><span>${truth}</span><span>faded: smaller than its band, so noise</span>`;
}

function drawReader(model) {
  const prior = settings.prior / 100, before = Math.log(prior / (1 - prior));
  element("reader").innerHTML = Object.entries(NOISES).map(([noise, [hue, title]]) => {
    const gain = model.losses[noise], after = posteriorBound(prior, gain);
    const result = Math.abs(after - prior) < .01 ? `${shortNumber(100 * after, 4)} %` : percent(after);
    return `<div class="noise ${hue}"><h3>${title}</h3>
      <p>± ${duration(halfWidth(model.scales[noise], model.cells) * model.unit)}</p>
      <p class="odds">${percent(prior)} → ${result}</p>
      <p>odds ${odds(before)} → ${odds(before + gain)}</p>
      <p id="average-${noise}"></p>${dotsChart(Math.round(100 * after))}</div>`;
  }).join("");
  const times = noise => {
    const p = posteriorBound(prior, model.losses[noise]), count = Math.round(100 * p);
    return count === 100 && p < 1 ? "nearly 100" : count;
  };
  element("reader-says").innerHTML = `The dots are about the most telling table. Of 100 such tables the reader's suspicion is right after
    <b>${times("takifugu")}</b> with Takifugu's noise, and after <b>${times("ordinary")}</b> with ordinary noise.`;
}

/** How often the better guess is right over all tables: computed for one count of two states. */
function writeAverages(model) {
  const isComputed = model.k === 2 && settings.query === "count" && model.run === 1 && model.T <= 1500;
  for (const noise of Object.keys(NOISES)) {
    if (!isComputed) element(`average-${noise}`).textContent = "";
    else {
      const right = Math.round(100 * rightGuesses(model.P, model.T, model.scales[noise], settings.prior / 100));
      element(`average-${noise}`).textContent = `Over all tables the better guess is right ${right} times in 100 (${Math.max(settings.prior, 100 - settings.prior)} without a table).`;
    }
  }
  element("average-says").textContent = isComputed ? "" : "The average over all tables is lower. This page computes it for one total of two states only.";
}

function drawSteps(model, table) {
  element("steps-figure").hidden = !hasThoughts(settings, model);
  if (element("steps-figure").hidden) return;
  const thoughts = thoughtsOf(settings, model, table, seed), [most, least] = thoughts.bounds;
  const outside = probabilities => integer(probabilities.filter(p => p > most + 1e-9 || p < least - 1e-9).length);
  const truth = name => percent(truthOnAverage(thoughts[name], thoughts.path));
  element("steps").innerHTML = stepsChart(widthOf("steps"), thoughts);
  element("steps-says").innerHTML = `One made-up person, and a reader who knows everybody else's data. Before the table the reader
    thought ${percent(model.law[1])} of every step. The guarantee is the range between the dashed lines. With ordinary noise (thin) the
    reader leaves it in <b>${outside(thoughts.ordinary)}</b> of ${integer(model.T)} steps, with Takifugu's noise (thick) in <b>${outside(thoughts.takifugu)}</b>.
    What was so is ${truth("before")} likely to the reader before, on average in odds. After the table it is ${truth("ordinary")} with ordinary
    noise, <b>${truth("takifugu")}</b> with Takifugu's, and ${truth("group")} with noise for a whole recording.`;
}

function drawWeeks(model) {
  const { P, T, change, scale, run, unit, cells } = model, most = WEEKS.at(-1);
  const joint = WEEKS.map(n => loss(P, T * n, change, scale, run)), added = WEEKS.map(n => n * settings.epsilon);
  element("weeks").innerHTML = weeksChart(widthOf("weeks"), WEEKS, joint, added);
  const forAll = leastScale(P, T * most, change, settings.epsilon, run), errorOf = b => duration(halfWidth(b, cells) * unit);
  const remedy = forAll < 1.01 * scale ? `The noise of one table keeps the guarantee for all ${most}.`
    : `With ± ${errorOf(forAll)} in place of ± ${errorOf(scale)} the guarantee holds for all ${most} together.`;
  element("weeks-says").innerHTML = `${most} recordings of ${SPANS[settings.span]}, without a gap, and a table of each. A reader who is 50 % sure
    becomes at most <b>${percent(posteriorBound(.5, joint.at(-1)))}</b> sure (solid). Adding up the losses says
    ${percent(posteriorBound(.5, added.at(-1)))} (dashed). ${remedy}`;
}

function writeFile(model) {
  element("file").textContent = releaseFile(settings, model);
  element("take-says").textContent = `Takifugu needs noise of scale ${shortNumber(model.scale, 6)} for this case. The release file states the same case.`;
}

// Controls

function options(id, words) {
  element(id).innerHTML = Object.entries(words).map(([value, label]) => `<option value="${value}">${escaped(label)}</option>`).join("");
}
function radios(id, name, words, chosen) {
  element(id).innerHTML = Object.entries(words).map(([value, label]) =>
    `<label class="choice"><input type="radio" name="${name}" value="${value}"${value === String(chosen) ? " checked" : ""}><span>${escaped(label)}</span></label>`).join("");
}

/** Lay out the controls whose number or words depend on the settings. */
function showControls() {
  const { states, step, span, hide, query } = settings, k = states.length;
  document.querySelectorAll("input[name=k]").forEach(input => { input.checked = Number(input.value) === k; });
  element("states").innerHTML = states.map(([name], i) => stateControls(name, i, k)).join("");
  element("step").value = step;
  element("span").value = span;
  const runs = Object.entries(RUNS).filter(([minutes]) => minutes === "1" || Number(minutes) > MINUTES[step]);
  radios("hide", "hide", Object.fromEntries(runs), hide);
  const name = states[countedState(settings)][0];
  const words = { count: `time “${name}”, in all`, hour: `time “${name}”, by hour of the day`, histogram: "time in each state" };
  if (span % 1440) delete words.hour;
  radios("query", "query", words, query);
}

function stateControls(name, i, k) {
  const label = `Name of state ${i + 1}`, shown = escaped(name);
  const stay = `<div class="slide"><input type="text" data-name="${i}" value="${shown}" maxlength="${LIMITS.name}" aria-label="${label}">
    <output id="stay-${i}-says" for="stay-${i}"></output>
    <input type="range" id="stay-${i}" data-stay="${i}" min="0.05" max="7" step="0.01" aria-label="How long ${shown} lasts at a time"></div>`;
  if (k === 2) return stay;
  const [first, second] = others(i).map(j => escaped(settings.states[j][0]));
  return `${stay}<div class="slide"><label class="hint" for="next-${i}">then ${first} or ${second}</label>
    <output id="next-${i}-says" for="next-${i}"></output>
    <input type="range" id="next-${i}" data-next="${i}" min="0.01" max="0.99" step="0.01"></div>`;
}

function redraw() {
  if (isQueued) return;
  isQueued = true;
  requestAnimationFrame(() => {
    isQueued = false;
    drawAll(true);
    history.replaceState(null, "", `#${encode(settings)}`);
  });
}

function setNumberOfStates(k) {
  settings.states.length = Math.min(settings.states.length, k);
  const spare = ["running", "third", "other"].find(name => !settings.states.some(([other]) => other === name));
  if (settings.states.length < k) settings.states.push([spare, 5]);
}
function setStep(step) {
  const ratio = MINUTES[settings.step] / MINUTES[step];
  for (const state of settings.states) state[1] = clamp(LIMITS.stay, threeDigits(state[1] * ratio));
  settings.step = step;
  if (settings.hide !== 1 && settings.hide <= MINUTES[step]) settings.hide = 1;
}
function setSpan(span) {
  settings.span = span;
  if (settings.query === "hour" && span % 1440) settings.query = "count";
}
function setError(share) {
  const model = modelOf(settings), [least, most] = scaleRange(model);
  const scale = least * (most / least) ** share;
  setEpsilon(loss(model.P, model.T, model.change, scale, model.run));
}
function setName(i, typed) {
  const name = typed.replaceAll("~", "").trim();
  if (name && !settings.states.some(([other], j) => j !== i && other === name)) settings.states[i][0] = name;
}
const setEpsilon = epsilon => { settings.epsilon = clamp(LIMITS.epsilon, threeDigits(epsilon)); };

/** One setting each; those of `LAYOUT` change which controls there are. */
const SETTERS = {
  k: value => setNumberOfStates(Number(value)),
  step: setStep,
  span: value => setSpan(Number(value)),
  people: value => { settings.people = Math.max(1, Number((10 ** value).toPrecision(2))); },
  hide: value => { settings.hide = Number(value); },
  query: value => { settings.query = value; },
  epsilon: value => setEpsilon(Math.exp(value)),
  sure: value => setEpsilon(Math.log(value / (100 - value))),
  error: value => setError(Number(value)),
  prior: value => { settings.prior = Number(value); },
};
const LAYOUT = ["k", "step", "span"];
const OF_THE_GUARANTEE = ["epsilon", "sure", "error", "prior"];

function onInput({ target }) {
  const { stay, next, name } = target.dataset, setter = target.name || target.id;
  if (stay !== undefined) settings.states[stay][1] = clamp(LIMITS.stay, threeDigits(Math.exp(target.value)));
  else if (next !== undefined) settings.next[next] = Number(target.value);
  else if (name !== undefined) setName(Number(name), target.value);
  else if (Object.hasOwn(SETTERS, setter)) SETTERS[setter](target.value);
  else return;
  if (!OF_THE_GUARANTEE.includes(setter)) element("example").value = "";
  if (LAYOUT.includes(setter)) showControls();
  redraw();
}

function show(newSettings, example) {
  settings = newSettings;
  element("example").value = example;
  showControls();
  drawAll(false);
}

// Taking it along

function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
  element("saved").textContent = `${name} is saved.`;
}
async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    element("saved").textContent = "The link is copied.";
  } catch {
    element("saved").textContent = location.href;
  }
}
/** The picture of the table with its colours, which a file has no style sheet for. */
function pictureOfTable() {
  const picture = element("table").querySelector("svg").cloneNode(true);
  const originals = element("table").querySelectorAll("svg *"), copies = picture.querySelectorAll("*");
  copies.forEach((copy, i) => {
    const style = getComputedStyle(originals[i]);
    for (const property of ["fill", "stroke", "opacity", "font-family", "font-size"]) copy.setAttribute(property, style.getPropertyValue(property));
  });
  picture.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return picture.outerHTML;
}

function start() {
  const names = Object.keys(EXAMPLES);
  options("example", { ...Object.fromEntries(names.map(name => [name, name])), "": "your own" });
  options("step", STEPS);
  options("span", SPANS);
  document.addEventListener("input", onInput);
  element("controls").onsubmit = event => event.preventDefault();
  element("example").onchange = event => {
    if (!event.target.value) return;
    show(exampleSettings(event.target.value), event.target.value);
    history.replaceState(null, "", `#${encode(settings)}`);
  };
  element("states").addEventListener("change", event => { if (event.target.dataset.name) { showControls(); redraw(); } });
  element("another").onclick = () => { seed++; redraw(); };
  element("save-file").onclick = () => save("explored.toml", releaseFile(settings, modelOf(settings)), "text/plain");
  element("save-table").onclick = () => save("explored.csv", madeUpFile(settings, modelOf(settings), seed), "text/csv");
  element("save-picture").onclick = () => save("explored.svg", pictureOfTable(), "image/svg+xml");
  element("copy-link").onclick = copyLink;
  addEventListener("hashchange", () => {
    const linked = decode(location.hash.slice(1));
    if (linked && encode(linked) !== encode(settings)) show(linked, "");
  });
  addEventListener("resize", redraw);
  const linked = decode(location.hash.slice(1));
  show(linked ?? exampleSettings(names[0]), linked ? "" : names[0]);
}
start();
