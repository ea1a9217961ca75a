// What a certificate says, computed again: each finding "holds", "fails", is "open" (not computed here, with the reason), or a "note".

const FORMAT = "takifugu-certificate/10", MOST_LOSS = 50n, MOST_STATES = 6;
const OUTSIDE = "What nobody can check from outside: that the noise was drawn as stated, that the data were true, and that things last as long as the certificate assumes.";
const GROUP = "all changes of a recording together";
const GUARDED = /^['=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

const holds = words => ({ state: "holds", words }), fails = words => ({ state: "fails", words });
const open = words => ({ state: "open", words }), note = words => ({ state: "note", words });
// In one word, and for a whole page: what fails outweighs what is open.
const VERDICTS = { fails: "Something does not hold", open: "Not everything could be computed again", holds: "It holds" };
const verdictOf = findings => ["fails", "open"].find(state => findings.some(finding => finding.state === state)) ?? "holds";
const counted = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;

// What an object has, and nothing else: a key that this page does not know could change what the others mean.
function fields(object, what, required, optional = []) {
  if (!isObject(object)) throw new Refused(`${what} is not described`);
  for (const key of Object.keys(object)) if (![...required, ...optional].includes(key)) throw new Refused(`${what} has “${key.slice(0, 40)}”, which this page does not know`);
  for (const key of required) if (!(key in object)) throw new Refused(`${what} has no “${key}”`);
  return object;
}

function wholeOf(value, what, most = 2 ** 40) {
  if (!(value instanceof Num) || !/^\d{1,13}$/.test(value.text) || Number(value.text) > most) throw new Refused(`${what} is not a whole number`);
  return Number(value.text);
}

// Of beliefs: chains with one matrix for all steps that began long before.

function chainOf(belief) {
  let chain = belief, lengths = null;
  if (isObject(belief) && belief.kind === "independent-pieces") {
    ({ chain, lengths } = fields(belief, "the belief", ["kind", "chain", "lengths"]));
    if (!Array.isArray(lengths) || !lengths.length || !lengths.every(Array.isArray)) throw new Refused("the belief has no lengths");
  }
  if (!isObject(chain) || chain.kind !== "markov-chain") throw new Refused("the belief is not a Markov chain with one matrix");
  fields(chain, "the belief", ["kind", "matrix", "length", "initial", "states", "source"]);
  if (chain.initial !== "stationary") throw new Refused("the chain has a start of its own");
  const { matrix, states } = chain;
  if (!Array.isArray(states) || !Array.isArray(matrix) || matrix.length !== states.length || !matrix.every(row => Array.isArray(row) && row.length === states.length)) throw new Refused("the matrix does not fit the states");
  if (states.length < 2 || states.length > MOST_STATES) throw new Refused(`a chain of ${counted(states.length, "state")} is not computed here`);
  const doubles = matrix.map(row => row.map(x => {
    if (!(x instanceof Num)) throw new Refused("a probability is not a number");
    return ofDouble(Number(x.text));
  }));
  const names = states.map(canonical);
  if (new Set(names).size < names.length) throw new Refused("two states have one name");
  return { rows: wholeRows(doubles), names, length: (lengths ?? [[chain.length]]).reduce((most, [n]) => Math.max(most, wholeOf(n, "a length")), 1), key: canonical([chain.matrix, names]) };
}

// Of queries: by how much one step moves the answer, for each two of its values, and whether every step is read.

function movesOf(query, names) {
  if (isObject(query) && query.kind === "by") {
    fields(query, "the query", ["kind", "query", "cells", "by", "every", "entries"], ["axes", "parts"]);
    const inner = movesOf(query.query, names), every = query.every === null ? null : wholeOf(query.every, "a period");
    if (!inner.readsAll || query.entries !== null) throw new Refused("the query reads some steps only");
    return { ...inner, readsAll: isCovered(query.cells, every), values: inner.values * query.cells.length };
  }
  const indexOf = state => {
    const index = names.indexOf(canonical(state));
    if (index < 0) throw new Refused("the query names a state that the belief does not have");
    return index;
  };
  const table = weight => names.map((_, u) => names.map((_, v) => times([BigInt(weight(u, v)), 1n], duration())));
  const duration = () => {   // of a step, in the table's unit
    const lasting = query.duration === undefined ? [1n, 1n] : fraction(query.duration);
    if (lasting[0] <= 0n) throw new Refused("a step lasts no time");
    return lasting;
  };
  if (isObject(query) && query.kind === "count") {
    fields(query, "the query", ["kind", "states", "entries"], ["duration"]);
    if (!Array.isArray(query.states)) throw new Refused("the query counts no state");
    const seen = new Set(query.states.map(indexOf));
    return { table: table((u, v) => seen.has(u) === seen.has(v) ? 0 : 1), readsAll: query.entries === null, values: 1 };
  }
  if (isObject(query) && query.kind === "histogram") {
    fields(query, "the query", ["kind", "states", "total", "entries"], ["duration"]);
    if (query.total !== null) throw new Refused("a histogram with a total is not computed here");
    const seen = new Set(query.states === null ? names.keys() : query.states.map(indexOf));
    return { table: table((u, v) => u === v ? 0 : seen.has(u) + seen.has(v)), readsAll: query.entries === null, values: seen.size };
  }
  throw new Refused(`a query of the kind “${isObject(query) ? String(query.kind).slice(0, 40) : "?"}” is not computed here`);
}

// No step is in two cells; is every step in one?
function isCovered(cells, every) {
  if (!Array.isArray(cells)) throw new Refused("the query has no cells");
  const runs = cells.flatMap(cell => {
    if (!Array.isArray(cell) || !Array.isArray(cell[1])) throw new Refused("a cell of the query has no steps");
    return cell[1].map(run => {
      if (!Array.isArray(run) || run.length !== 2) throw new Refused("a cell of the query has no steps");
      return run.map(end => wholeOf(end, "a step"));
    });
  }).sort((x, y) => x[0] - y[0]);
  let next = 0, isWhole = true;
  for (const [first, last] of runs) {
    if (first < next || last < first) throw new Refused("a step is in two cells");
    if (first > next) isWhole = false;
    next = last + 1;
  }
  if (every !== null && next > every) throw new Refused("a cell is longer than the period");
  return isWhole && next === every;
}

// Of noise: its scale, and the share of all values that it moves by at most so much.

function noiseOf(answer) {
  const noise = answer.noise, kind = isObject(noise) ? noise.kind : null;
  const gridOf = () => {
    const grid = fraction(noise.grid);
    if (grid[0] <= 0n) throw new Refused("the noise has no grid");
    return grid;
  };
  if (kind === "discrete-laplace") {
    fields(noise, "the noise", ["kind", "units", "grid", "cells"]);
    return { scale: times(fraction(noise.units), gridOf()), grid: gridOf(), isDiscrete: true, isOnGrid: true };
  }
  if (kind === "rounded-laplace") {
    fields(noise, "the noise", ["kind", "scale", "grid", "cells"], ["on_grid"]);
    return { scale: fraction(noise.scale), grid: gridOf(), isDiscrete: false, isOnGrid: noise.on_grid !== false };
  }
  throw new Refused(`noise of the kind “${String(kind).slice(0, 40)}” is not computed here`);
}

const isWhole = ([n, d]) => n % d === 0n;

function widthFinding(answer, noise, values) {
  if (answer.half_width === null || answer.half_width === undefined) return open("The half-width was not computed: the certificate has none.");
  const width = fraction(answer.half_width), level = fraction(answer.coverage), steps = over(width, noise.grid);
  if (steps[0] < 0n || !isWhole(steps)) return fails(`The half-width, ${answer.half_width}, is not a whole number of steps of the grid.`);
  if (!noise.isOnGrid) return open("The half-width was not computed: the answers are off the grid.");
  const h = steps[0] / steps[1], unit = over(noise.grid, noise.scale);
  let miss;
  if (noise.isDiscrete) {   // 2 r^(h+1)/(1 + r), r = e^(-1/units)
    const far = decay(times([h + 1n, 1n], unit))[1], near = decay(unit)[0];
    miss = ceilingOf(2n * far * ONE, ONE + near);
  } else miss = decay(times([2n * h + 1n, 2n], unit))[1];
  let inside = ONE, power = larger(ONE - miss, 0n);
  for (let n = values; n > 0; n = Math.floor(n / 2)) {
    if (n % 2) inside = timesDown(inside, power);
    power = timesDown(power, power);
  }
  const words = `± ${answer.half_width} for ${values === 1 ? "the value" : `all ${values.toLocaleString("en")} values at once`}`;
  const percentage = (100 * nearly([inside, ONE])).toFixed(2);
  return inside * level[1] >= level[0] * ONE ? holds(`The half-width covers: the noise stays within ${words} in ${percentage} % of all tables (stated: ${100 * nearly(level)} %).`)
    : fails(`The half-width is too small: the noise stays within ${words} in ${percentage} % of all tables, and ${100 * nearly(level)} % are stated.`);
}

// The loss of one answer

function boundsOf(witness, k) {
  const bound = side => witness[side] === null ? null : square(k, (u, v) => {
    const text = witness[side]?.[u]?.[v];
    if (typeof text !== "string") throw new Refused("the witness has no settled bound for each two values");
    const loss = fraction(text);
    if (loss[0] < 0n || u === v && loss[0] !== 0n) throw new Refused("a settled bound of the witness is below 0");
    return exponential(loss)[1];
  });
  return { after: bound("after"), before: bound("before") };
}

function jumpsOf(witness) {
  const jumps = Array.isArray(witness.jumps) ? witness.jumps.map(d => wholeOf(d, "a jump", Number(MOST_JUMP))) : [];
  if (!jumps.includes(1) || jumps.includes(0) || new Set(jumps).size < jumps.length) throw new Refused("the witness has no jumps");
  return jumps;
}

function lossFindings(answer, framework) {
  fields(framework, "the framework", ["definition", "secrets", "beliefs"]);
  if (framework.definition !== "pufferfish") throw new Refused("the definition is not Pufferfish privacy");
  const { secrets, beliefs } = framework;
  if (!Array.isArray(secrets) || secrets.length !== 1) throw new Refused("there is not one secret");
  const run = runOf(secrets[0]);
  if (!Array.isArray(beliefs) || beliefs.length !== 1) throw new Refused("there is not one belief");
  if (fraction(answer.delta)[0] !== 0n) throw new Refused("delta is above 0");
  const chain = chainOf(beliefs[0]), { table, readsAll, values } = movesOf(answer.query, chain.names), noise = noiseOf(answer);
  const epsilon = fraction(answer.epsilon);
  if (noise.scale[0] <= 0n) throw new Refused("no noise was added");
  // discrete noise on a coarser grid would be 0, and could hide nothing between its points
  if (noise.isOnGrid && table.flat().some(moved => !isWhole(over(moved, noise.grid)))) throw new Refused("the answers are not whole steps of the noise's grid");
  if (epsilon[0] <= 0n || epsilon[0] > MOST_LOSS * epsilon[1]) throw new Refused("epsilon is outside 0 to 50");
  const c = table.map(row => row.map(moved => over(moved, noise.scale)));
  if (c.flat().some(x => compare(times(x, [BigInt(Math.min(run, chain.length)), 1n]), [MOST_LOSS, 1n]) > 0)) throw new Refused("next to no noise was added");
  const charge = { chain, c, run };
  if (Object.keys(answer.values).length !== values) return { findings: [fails(`An answer has ${counted(Object.keys(answer.values).length, "value")}, and its query has ${values}.`)], charge };
  const { witness } = answer;
  if (!isObject(witness)) throw new Refused("the certificate has no witness: its guarantee is not by a loss that this page knows");
  const { steps, broken, by, isKept, ...found } = lossOf(chain, c, witness, epsilon, run);
  const findings = [], lost = shownUp(found.lost), scale = Number(nearly(noise.scale).toPrecision(6));
  if (broken.length) findings.push(fails(`The certificate's settled bound for the steps ${broken.join(" and ")} is not one: a step exceeds it.`));
  if (isKept) {
    const sure = 100 / (1 + Math.exp(-nearly(epsilon)));
    findings.push(holds(`Computed again: noise of scale ${scale} loses at most ε = ${lost} (stated: ${answer.epsilon}). Someone 50 % sure of ${run === 1 ? "any one step" : `any ${run} steps in a row`} becomes at most ${(Math.ceil(sure * 10) / 10).toFixed(1)} % sure.`));
    const bounds = by === "the recursion" ? ", from the certificate's bounds, each checked by one step" : "";
    findings.push(note(`By ${by}${steps ? `, followed over ${counted(steps, "step")}` : bounds}.`));
  } else if (run > 1 && chain.rows.rows.flat().some(p => p === 0n)) throw new Refused("not every run of steps is possible");
  else if (!readsAll) throw new Refused("the query does not read every step");
  else findings.push(fails(`The noise is too small: by ${by}, scale ${scale} can lose ε = ${lost}, and ${answer.epsilon} is stated.`));
  return { findings, charge };
}

// How many steps in a row are the secret.
function runOf(secret) {
  if (isObject(secret) && secret.kind === "every-run") return larger(1, wholeOf(fields(secret, "the secret", ["kind", "length"]).length, "a run of steps"));
  if (!isObject(secret) || secret.kind !== "every-entry") throw new Refused("the secret is not every single step");
  fields(secret, "the secret", ["kind"], ["attribute"]);
  if ((secret.attribute ?? null) !== null) throw new Refused("the secret is one attribute");
  return 1;
}

// The loss of an answer, whether it is at most epsilon, and by what. A loss that is a fraction is compared as one.
function lossOf(chain, c, witness, epsilon, run) {
  const most = c.flat().reduce((a, b) => compare(a, b) < 0 ? b : a), { rows } = chain.rows;
  const isForgetful = rows.every(row => row.every((p, v) => p === rows[0][v])), steps = isForgetful ? Math.min(run, chain.length) : chain.length;
  const plain = times([BigInt(steps), 1n], most);
  if (compare(plain, epsilon) <= 0) return { lost: nearly(plain), isKept: true, steps: 0, broken: [], by: isForgetful ? "steps that tell nothing of each other" : GROUP };
  if (witness.curve === "group") return { lost: nearly(plain), isKept: false, steps: 0, broken: [], by: GROUP };
  if (witness.curve !== "recursion") throw new Refused("the witness names no curve that this page knows");
  const change = c.map((row, u) => row.map((x, v) => u === v ? ONE : exponential(x)[1])), promised = exponential(epsilon)[0];
  const found = stepLoss(chain.rows, change, jumpsOf(witness), chain.length, boundsOf(witness, rows.length), promised, run);
  return { ...found, lost: logarithm(found.loss), isKept: found.loss <= promised, by: "the recursion" };
}

// Values in the table against those of the certificate

function tableFindings(certificate, table) {
  const findings = [], digest = digestOf(table.bytes);
  if (certificate.table === null) return [open("The table was not compared: the certificate is about no file.")];
  const isSame = digest === certificate.table;
  if (table.text === null) return [isSame ? open("The values of the table were not compared: it is not text.") : fails("The table is not the one that was certified: it is not even text.")];
  findings.push(isSame ? holds("The table is the one that was certified, byte for byte.") : fails("The table is not the one that was certified: it was changed, or belongs to another certificate."));
  const lines = parseTable(table.text), header = lines[0] ?? [];
  const column = name => header.indexOf(name);
  if (new Set(header.map(name => name.trim().toLowerCase())).size < header.length) return [...findings, fails("It names a column twice, so nobody knows which one counts.")];
  if (column("cell") < 0 || column("value") < 0) return [...findings, isSame ? open("Its values were not compared: it has no columns “cell” and “value”.") : fails("It is not a published table: it has no columns “cell” and “value”.")];
  const rows = lines.slice(1).filter(line => line.length === header.length), perUnit = certificate.scope === "unit";
  const written = new Map(rows.map(line => [canonical([perUnit ? line[column("unit")] : null, line[column("cell")]]), line]));
  let count = 0, wrong = 0, wrongEnds = 0, ends = 0;
  for (const answer of certificate.answers) for (const [cell, text] of Object.entries(answer.values)) {
    const guarded = label => GUARDED.test(label) && !/^[+-]?[0-9]+(\.[0-9]+)?$/.test(label) ? `'${label}` : label;
    const line = written.get(canonical([perUnit ? guarded(answer.unit) : null, guarded(cell)]));
    count++;
    if (!line || !isWritten(fraction(text), line[column("value")])) { wrong++; continue; }
    if (typeof answer.half_width !== "string" || column("low") < 0 || column("high") < 0) continue;
    ends++;
    const value = fraction(text), width = fraction(answer.half_width);
    if (!isWritten(minus(value, width), line[column("low")]) || !isWritten(plus(value, width), line[column("high")])) wrongEnds++;
  }
  if (wrong || rows.length !== lines.length - 1 || rows.length !== written.size || written.size !== count) findings.push(fails("Its values are not those of the certificate."));
  else findings.push(holds(`Its ${counted(count, "value")} ${count === 1 ? "is that" : "are those"} of the certificate.`));
  if (wrongEnds) findings.push(fails("Its columns “low” and “high” are not the values minus and plus the half-width."));
  else if (ends) findings.push(holds("Its columns “low” and “high” are the values minus and plus the half-width."));
  const compared = ["cell", "value", ...(perUnit ? ["unit"] : []), ...(ends ? ["low", "high"] : [])];
  const others = header.filter(name => !compared.includes(name)).map(name => `“${name}”`);
  if (others.length) findings.push(note(`Only the checksum covers its other columns, which were not compared: ${others.join(", ")}.`));
  return findings;
}

// Whether a table's number is this fraction, or a neighbour of the nearest floating-point number.
function isWritten([n, d], text) {
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text ?? "")) return false;
  const value = Number(text), sign = value < 0 ? -1n : 1n;
  if (!Number.isFinite(value)) return false;
  const [a, b] = ofDouble(Math.abs(value)), apart = sign * a * d - n * b, size = (n < 0n ? -n : n) * b;
  return (apart < 0n ? -apart : apart) << 50n <= size;
}

// All findings about one certificate: {name, source, findings, charges}. `charges` are what each step loses of every answer, and null
// where that was not computed; `entries` says whose steps these are. The table is {bytes, text}, its text null where it is none.
function checked(text, table) {
  const certificate = parseJson(text);
  if (!isObject(certificate) || typeof certificate.format !== "string" || !certificate.format.startsWith("takifugu-certificate/")) throw new Refused("this is not a certificate of Takifugu: give the file NAME.certificate.json");
  if (certificate.format !== FORMAT) throw new Refused(`the certificate has the format ${certificate.format.slice(0, 40)}, and this page reads ${FORMAT}: take the page of the version that wrote it`);
  const { checksum, ...rest } = certificate, findings = [];
  Object.setPrototypeOf(rest, null);
  const isWhole = digestOf(asciiBytes(canonical(rest))) === checksum;
  if (!Array.isArray(certificate.answers) || !certificate.answers.length || !certificate.answers.every(a => isObject(a) && isObject(a.values))) throw new Refused("the certificate has no answers");
  const result = { name: String(certificate.release), source: String(certificate.source), digest: String(checksum), entries: entriesOf(certificate), findings, charges: [] };
  guaranteeFindings(certificate, result);
  findings.push(isWhole ? holds("The certificate is as it was written: its checksum fits.") : fails("The certificate was changed after it was written: its checksum does not fit."));
  if (certificate.rehearsal !== null) findings.push(fails("It is a rehearsal: the data are made up, and nothing is guaranteed."));
  else if (certificate.private !== true) findings.push(fails("It is not private: the noise came from a seed."));
  try {
    if (table) findings.push(...tableFindings(certificate, table));
    else findings.push(open("The table was not compared: it was not given."));
  } catch (error) { findings.push(refusal(error, "The table was not compared")); }
  try { findings.push(...statedFindings(certificate)); } catch (error) { findings.push(refusal(error, "The stated numbers were not compared")); }
  return result;
}

// A known reason as an open finding; what is not known is a fault of this page, and is no proof either.
const refusal = (error, what) => open(`${what}: ${error instanceof Refused ? error.message : `the page met something unexpected (${error.message})`}.`);

function statedFindings(certificate) {
  const largest = key => certificate.answers.map(a => fraction(a[key])).reduce((a, b) => compare(a, b) < 0 ? b : a);
  const isLargest = ["epsilon", "delta"].every(key => compare(largest(key), fraction(certificate[key])) === 0);
  const findings = isLargest ? [] : [fails("Its epsilon and delta are not the largest of its answers.")];
  for (const answer of certificate.answers) {
    if (answer.scale === null || !["discrete-laplace", "rounded-laplace"].includes(answer.noise?.kind)) continue;
    if (compare(noiseOf(answer).scale, fraction(answer.scale)) !== 0) { findings.push(fails("The stated scale is not that of the noise.")); break; }
  }
  return findings;
}

// Equal answers, as those of many people, are computed once.
function guaranteeFindings(certificate, result) {
  if (!isEachOnce(certificate)) {
    result.findings.push(open("The guarantee was not computed again: the certificate has several answers about the same people."));
    result.charges = null;
    return;
  }
  const known = new Set(), values = certificate.answers.reduce((n, a) => n + Object.keys(a.values).length, 0);
  for (const answer of certificate.answers) {
    const framework = isObject(certificate.frameworks) ? certificate.frameworks[answer.framework] : null;
    const { query, noise, epsilon, delta, witness, half_width: width, coverage } = answer;
    const key = canonical([String(Object.keys(answer.values).length), query, noise, epsilon, delta, witness ?? null, width ?? null, coverage ?? null, String(answer.framework)]);
    if (known.has(key)) continue;
    known.add(key);
    try {
      const { findings, charge } = lossFindings(answer, framework);
      result.findings.push(...findings);
      if (result.charges) result.charges.push(charge);
    } catch (error) {
      result.findings.push(refusal(error, "The guarantee was not computed again"));
      result.charges = null;
    }
    try { result.findings.push(widthFinding(answer, noiseOf(answer), values)); } catch (error) { result.findings.push(refusal(error, "The half-width was not computed")); }
  }
}

// Whether each person is in one answer: of two that are about the same people each says what it loses alone.
const isEachOnce = ({ scope, answers }) => scope === "unit" ? new Set(answers.map(answer => answer.unit)).size === answers.length : answers.length === 1;

// Which steps a certificate is about, as far as its ledger says: of one source, read in one way.
function entriesOf({ ledger, scope, answers, source }) {
  if (!isObject(ledger) || !isEachOnce({ scope, answers })) return null;
  return canonical([source, ledger.ledger ?? null, ledger.reading ?? null, ledger.entries ?? null]);
}

// What several tables about one source lose together, wherever in one recording each of them lies: the losses of a step add up, and
// an endless recording loses no less than any part of it. People who are in one table only lose less.
function together(results) {
  const once = [...new Map(results.map(result => [result.digest, result])).values()], bySource = new Map();
  for (const result of once) bySource.set(result.source, [...bySource.get(result.source) ?? [], result]);
  const findings = [];
  for (const [source, group] of bySource) {
    if (group.length < 2) continue;
    const subject = `The ${group.length} tables about “${source}”`;
    try { findings.push(holds(`${subject} together lose at most ε = ${jointLoss(group)}, if nothing else is published about these people.`)); } catch (error) { findings.push(refusal(error, `${subject}: their joint loss was not computed`)); }
  }
  return findings;
}

function jointLoss(group) {
  if (group.some(result => !result.charges || result.findings.some(f => f.state === "fails"))) throw new Refused("the loss of one of them is not known");
  if (group.some(({ entries }) => entries === null || entries !== group[0].entries)) throw new Refused("no ledger says that they are about the same steps");
  const all = group.flatMap(result => result.charges), first = all[0].chain;
  if (all.some(charge => charge.chain.names.join() !== first.names.join())) throw new Refused("their beliefs have other states");
  // of the answers about different people in one table, each person loses at most the largest
  const sums = group.map(({ charges }) => charges.map(charge => charge.c).reduce((a, b) => each(a, b, (x, y) => compare(x, y) < 0 ? y : x))).reduce((a, b) => each(a, b, plus));
  const longest = Math.max(...all.map(({ run, chain }) => Math.min(run, chain.length)));
  if (sums.flat().some(x => compare(times(x, [BigInt(longest), 1n]), [MOST_LOSS, 1n]) > 0)) throw new Refused("together they may lose more than 50");
  const change = sums.map((row, u) => row.map((x, v) => u === v ? ONE : exponential(x)[1])), cases = new Map(all.map(({ chain, run }) => [canonical([chain.key, String(run)]), { chain, run }]));
  const losses = [...cases.values()].map(({ chain, run }) => {
    const jumps = first.names.length === 2 ? [1] : [1, 2, 3, 4];
    return stepLoss(chain.rows, change, jumps, Number.MAX_SAFE_INTEGER, null, ONE, run).loss;
  });
  return shownUp(logarithm(losses.reduce(larger)));
}
