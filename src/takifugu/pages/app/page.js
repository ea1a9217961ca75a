// The page: sends what was answered, and shows what the library says. While the slider moves the explorer's engine answers.

const element = id => document.getElementById(id);
const OTHER = "\u0001other";   // no answer; of U+0000 markup makes another character
const PLEASE = "Please say: nobody but you knows.", SETTLED = 60, IDLE = 400;

const said = {}, remediesTaken = [], typed = new Set(), drawn = new Map();
let latest = null, turn = 0, waiting = 0, seeking = 0, isAsking = false, isStale = false, isSeeking = false;

const epsilonOf = position => String(Number((10 ** (position / 50)).toPrecision(3)));
const epsilon = () => Number(said.epsilon ?? 1);
const changes = () => remediesTaken.flatMap(taken => taken.changes);
const paragraphs = (lines, kind = "") => lines.map(line => `<p class="${kind}">${escaped(line)}</p>`).join("");

async function ask(what, more = {}) {
  const body = JSON.stringify({ said, changes: changes(), ...more });
  try {
    const response = await fetch(`/ask/${what}`, { method: "POST", headers: { "content-type": "application/json" }, body });
    return response.ok ? await response.json() : { error: [await response.text()] };
  } catch {
    return { error: ["The app has ended. Start it again in the terminal: nothing that is not published was kept."] };
  }
}

/** Ask for what follows, and show it; what changes meanwhile is asked for after that, once. */
async function follow() {
  clearTimeout(waiting);
  clearTimeout(seeking);
  isStale = isAsking;
  if (isAsking) return;
  isAsking = true;
  const mine = ++turn, began = performance.now(), asked = epsilon(), state = await ask("state");
  isAsking = false;
  if (isStale) {
    follow();
    return;
  }
  show(state, asked);
  Object.assign(document.body.dataset, { turn: mine, took: Math.round(performance.now() - began) });
}

function show(state, asked) {
  if (state.error) {
    element("verdict").className = "box useless";
    element("verdict").innerHTML = `<strong>Refused</strong>${paragraphs(state.error)}`;
    element("release").disabled = true;
    return;
  }
  const isNew = JSON.stringify(latest?.file) !== JSON.stringify(state.file);
  latest = { ...state, epsilon: asked };
  showQuestions(state.questions);
  showVerdict(state);
  showFile(state);
  const [table] = state.tables ?? [], isGood = !table || table.verdict === "good";
  element("help").hidden ||= isGood || isNew;
  if (!isGood) seeking = setTimeout(seek, IDLE);
}

// Questions

function showQuestions(questions) {
  const form = element("questions"), names = questions.map(question => question.name);
  [...form.children].filter(box => !names.includes(box.dataset.question)).forEach(box => { drawn.delete(box.dataset.question); box.remove(); });
  questions.forEach((question, i) => {
    const text = questionBox(question, i);
    let box = [...form.children].find(other => other.dataset.question === question.name);
    if (drawn.get(question.name) !== text) {   // what is unchanged keeps the focus
      const focused = box?.contains(document.activeElement) ? document.activeElement.id : "";
      const made = document.createElement("div");
      made.innerHTML = text;
      const next = made.firstElementChild;
      next.dataset.question = question.name;
      const unsent = [...box?.querySelectorAll("input") ?? []].filter(input => input.value !== input.defaultValue);
      if (box) box.replaceWith(next);
      for (const { id, value } of unsent) if (element(id)) element(id).value = value;
      box = next;
      drawn.set(question.name, text);
      if (focused) setTimeout(() => element(focused)?.focus());
    }
    if (form.children[i] !== box) form.insertBefore(box, form.children[i] ?? null);
  });
}

function questionBox(question, i) {
  const { name, words, parts, wrong, is_open: isOpen, evidence, why, hint } = question, id = `q-${name}`;
  const said = [isOpen && !wrong ? `<b>${PLEASE}</b>` : "", evidence && `${escaped(evidence)}.`, `${escaped(why[0].toUpperCase() + why.slice(1))}.`];
  const note = `<p class="soft" id="${escaped(id)}-note">${said.filter(Boolean).join(" ")}${hint ? ` Such as: ${escaped(hint)}.` : ""}</p>`
    + (wrong ? `<p class="error" id="${escaped(id)}-wrong">${escaped(wrong)}</p>` : "");
  const kind = `box question${wrong ? " wrong" : isOpen ? " open" : ""}`, title = `<span class="number">${i + 1}</span> ${escaped(words)}`;
  if (parts.length) return `<fieldset class="${kind}"><legend>${title}</legend><div class="parts">${partFields(question, id)}</div>${note}</fieldset>`;
  return `<div class="${kind}"><label for="${escaped(id)}">${title}</label>${field(question, id)}${note}</div>`;
}

const about = (id, wrong) => `aria-describedby="${escaped(id)}-note${wrong ? ` ${escaped(id)}-wrong` : ""}"${wrong ? ' aria-invalid="true"' : ""}`;

function partFields({ name, parts, values, wrong }, id) {
  return parts.map((part, i) => `<label>${escaped(part)} <input type="text" id="${escaped(id)}-${i}" data-of="${escaped(name)}"
    data-part="${escaped(part)}" value="${escaped(values[part] ?? "")}" ${about(id, wrong)}></label>`).join("");
}

function field({ name, form, answer, wrong, choices, offered }, id) {
  const attributes = `id="${escaped(id)}" data-name="${escaped(name)}" ${about(id, wrong)}`;
  const offers = form ? choices.filter(choice => choice.name !== "-") : choices;
  if (!offers.length || typed.has(name)) return `<input type="text" ${attributes} value="${escaped(answer ?? "")}">`;
  const option = (value, label) => `<option value="${escaped(value)}"${value === (answer ?? "") ? " selected" : ""}>${escaped(label)}</option>`;
  const options = offers.map(choice => option(choice.name, choice.name === "-" || form ? choice.words : `${choice.name}: ${choice.words}`));
  if (!answer) options.unshift(option("", "…"));
  else if (!offers.some(choice => choice.name === answer)) options.push(option(answer, answer));
  if (!form && !(offered && offers.length === 1 && name === "rows")) options.push(option(OTHER, "another answer …"));
  return `<select ${attributes}>${options.join("")}</select>`;
}

function answer({ target }) {
  const { name, of, part } = target.dataset;
  if (name && target.value === OTHER) {
    typed.add(name);
    target.outerHTML = field(latest.questions.find(question => question.name === name), target.id);
    drawn.delete(name);
    element(`q-${name}`).focus();
  } else if (name) {
    said[name] = target.value.trim();
    follow();
  } else if (part !== undefined) {
    const fields = [...document.querySelectorAll("[data-part]")].filter(other => other.dataset.of === of);
    if (!fields.every(other => other.value.trim())) return;
    said[of] = `{ ${fields.map(other => `${JSON.stringify(other.dataset.part)} = ${JSON.stringify(other.value.trim())}`).join(", ")} }`;
    follow();
  }
}

// What follows

function showVerdict({ tables, lacks, is_ready: isReady, questions }) {
  const open = questions.filter(question => question.is_open || question.wrong).length, box = element("verdict");
  box.className = `box ${tables?.[0].verdict ?? ""}`;
  box.innerHTML = tables ? tables.map(table => `<strong>${escaped(table.words)}</strong>`).join("<br>")
    : `<strong>Not yet</strong>${open ? paragraphs([`${open} ${open === 1 ? "question is" : "questions are"} open.`]) : ""}${paragraphs(lacks)}`;
  element("release").disabled = !isReady;
  element("why").textContent = isReady ? "" : "It can be released when nothing is open.";
  showEpsilon();
  showCells(tables?.[0], tables?.[0].half);
}

function showEpsilon() {
  const words = `at most ${percent(posteriorBound(epsilon()))} sure (ε = ${epsilon()})`, slider = element("epsilon");
  slider.value = Math.round(50 * Math.log10(epsilon()));
  slider.setAttribute("aria-valuetext", words);
  element("epsilon-says").textContent = words;
}

const posteriorBound = gain => 1 / (1 + Math.exp(-gain));

/** The ± at another epsilon, while the slider moves: the library's, times what the engine says of the noise. */
function previewed() {
  const { chain, tables: [table] } = latest, change = changeOf(chain.query, chain.matrix.length, chain.counted);
  const scale = gain => leastScale(chain.matrix, chain.length, change, gain);
  return table.half * scale(epsilon()) / scale(latest.epsilon);
}

function showCells(table, half) {
  const labels = Object.keys(table?.expected ?? {}).slice(0, 30);
  element("expected").hidden = !labels.length || half == null;
  if (element("expected").hidden) return;
  const width = Math.max(300, Math.min(640, element("cells").clientWidth || 640)), left = width < 500 ? 90 : 130;
  const values = labels.map(label => table.expected[label]), top = Math.max(...values) + half || 1;
  const x = value => left + (width - left - 160) * Math.max(0, value) / top;
  const words = values.map(value => `${value < half ? "noise" : integer(value)} ± ${integer(half)}`);
  const bar = (value, i) => `<text x="${left - 8}" y="${i * 34 + 22}" text-anchor="end">${escaped(labels[i].slice(0, left / 8))}</text>
    <rect class="bar" x="${left}" y="${i * 34 + 6}" width="${x(value) - left}" height="22"/>
    <rect class="band" x="${x(value - half)}" y="${i * 34 + 11}" width="${x(value + half) - x(value - half)}" height="12"/>
    <text x="${width}" y="${i * 34 + 22}" text-anchor="end">${words[i]}</text>`;
  const says = labels.map((label, i) => `${label}: ${words[i]}`).join("; ");
  element("cells").innerHTML = `<svg viewBox="0 0 ${width} ${labels.length * 34 + 6}" role="img" aria-label="${escaped(says)}">${values.map(bar).join("")}</svg>`;
}

function showFile({ file, changed }) {
  element("draft").hidden = file === null;
  const lines = (file ?? "").split("\n");
  element("file").innerHTML = lines.map((line, i) => changed.includes(i + 1) ? `<mark>${escaped(line)}</mark>` : escaped(line)).join("\n");
  const last = remediesTaken.at(-1);
  element("undo").hidden = !last;
  element("undo").textContent = last ? `Undo: ${last.words}` : "";
}

/** Look for what would help: it may take seconds, so that one search runs at a time, and another one after a change. */
async function seek() {
  if (isSeeking) return;
  isSeeking = true;
  element("help").hidden = false;
  element("help-title").textContent = "Looking for what would help …";
  element("remedies").innerHTML = "";
  const mine = turn, found = await ask("remedies");
  isSeeking = false;
  const isPoor = latest.tables && latest.tables[0].verdict !== "good" && !document.body.dataset.released;
  if (isPoor && mine !== turn) { seek(); return; }
  element("help").hidden = !isPoor || found.error || !found.remedies.length;
  if (element("help").hidden) return;
  element("help-title").textContent = found.heading;
  element("remedies").innerHTML = found.remedies.map((remedy, i) => `<div class="remedy"><button type="button" data-remedy="${i}">${escaped(remedy.promise)}</button>
    <p class="soft">${escaped(remedy.words)}. ${escaped(remedy.why)}.</p></div>`).join("");
  element("remedies").onclick = ({ target }) => { if (target.dataset.remedy) take(found.remedies[target.dataset.remedy]); };
}

function take(remedy) {
  remediesTaken.push({ ...remedy, before: said.epsilon });
  if (remedy.epsilon !== null) said.epsilon = String(remedy.epsilon);
  element("help").hidden = true;
  element("verdict").scrollIntoView({ block: "nearest" });
  follow();
}

function undo() {
  const { before } = remediesTaken.pop();
  if (before === undefined) delete said.epsilon;
  else said.epsilon = before;
  element("help").hidden = true;
  follow();
}

// Release

async function confirm() {
  const foreseen = await ask("foresee"), { error = [], refused = [], notices = [], sentence = "" } = foreseen;
  const against = [...error, ...refused];
  element("confirm-says").innerHTML = paragraphs(against.map(reason => `Refused: ${reason}`), "error")
    + (sentence ? `<p><strong>${escaped(sentence)}</strong></p>` : "") + paragraphs(notices, "soft");
  element("yes").disabled = against.length > 0;
  element("yes").onclick = () => release(foreseen.digest);
  element("confirm").showModal();
}

async function release(digest) {
  element("yes").disabled = true;
  const outcome = await ask("release", { digest });
  element("confirm").close();
  if (outcome.error) { show(outcome); return; }
  const lines = [`Published: ${outcome.tables.join(", ")}, in ${outcome.folder}.`, `The release file is ${outcome.file}.`, ...outcome.reports.map(report => `Its report is ${report}.`)];
  document.querySelectorAll("#questions, #guarantee, #help, #rows, .end").forEach(part => { part.hidden = true; });
  element("verdict").className = "box good";
  element("verdict").innerHTML = `<strong>Released</strong>${paragraphs(lines)}`;
  element("result").focus();
  document.body.dataset.released = "yes";
}

async function showRows() {
  const { columns = [], rows = [], size, width } = await ask("rows");
  element("rows").hidden = !columns.length;
  const cells = (names, tag) => names.map(name => `<${tag}>${escaped(name)}</${tag}>`).join("");
  const more = width > columns.length ? `, ${columns.length} of ${integer(width)} columns` : "";
  element("rows").innerHTML = `<div class="scroll" tabindex="0" role="region" aria-label="First rows of the table"><table>
    <caption class="soft">First rows of ${integer(size ?? 0)}${more}: for your eyes</caption><thead><tr>${cells(columns, "th")}</tr></thead>
    <tbody>${rows.map(row => `<tr>${cells(row, "td")}</tr>`).join("")}</tbody></table></div>`;
}

document.addEventListener("change", event => { if (event.target.id !== "epsilon") answer(event); else follow(); });
element("epsilon").addEventListener("input", ({ target }) => {
  said.epsilon = epsilonOf(target.value);
  showEpsilon();
  if (latest?.chain && latest.tables[0].half !== null) showCells(latest.tables[0], previewed());
  clearTimeout(waiting);
  waiting = setTimeout(follow, SETTLED);
});
element("questions").addEventListener("submit", event => event.preventDefault());
element("undo").onclick = undo;
element("release").onclick = confirm;
element("no").onclick = () => element("confirm").close();
document.addEventListener("change", event => { if (["encoding", "sql"].includes(event.target.dataset.name)) showRows(); });
addEventListener("resize", () => { if (latest?.tables) showCells(latest.tables[0], latest.tables[0].half); });
follow().then(showRows);
