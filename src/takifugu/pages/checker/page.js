// The page: takes files, and writes what was found. Whatever a file says becomes text, and never markup.

const element = id => document.getElementById(id);
const CERTIFICATE = ".certificate.json", SIGNED = ".certificate.json.sig", LARGEST = 24e6;
const MARKS = { holds: "✓ holds", fails: "✗ does not hold", open: "○ not computed", note: "· to know" };

let files = [], run = 0;

function made(name, words, className) {
  const node = document.createElement(name);
  if (words) node.textContent = words;
  if (className) node.className = className;
  return node;
}

const kindOf = name => name.endsWith(SIGNED) ? "signature" : /\.json$/i.test(name) ? "certificate" : /\.csv$/i.test(name) ? "table" : null;
const stemOf = name => name.replace(/\.certificate\.json(\.sig)?$|\.csv$|\.json$/i, "");

// Certificates, each with the table and the signature of its name; one table alone belongs to one certificate alone.
function grouped() {
  const of = kind => files.filter(file => kindOf(file.name) === kind), tables = of("table"), certificates = of("certificate"), signatures = of("signature");
  const beside = (list, certificate) => list.find(file => stemOf(file.name) === stemOf(certificate.name)) ?? (certificates.length === 1 && list.length === 1 ? list[0] : null);
  const groups = certificates.map(certificate => ({ certificate, table: beside(tables, certificate), signature: beside(signatures, certificate) }));
  const used = new Set(groups.flatMap(group => [group.table, group.signature]));
  return { groups, spare: [...tables, ...signatures].filter(file => !used.has(file)), strange: files.filter(file => !kindOf(file.name)) };
}

async function bytesOf(file) {
  if (file.size > LARGEST) throw new Refused(`${file.name} is larger than ${LARGEST / 1e6} MB, so it is not read here: use takifugu verify`);
  try { return new Uint8Array(await file.arrayBuffer()); } catch { throw new Refused(`${file.name} cannot be read`); }
}

function textFrom(bytes) {
  try { return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes); } catch { return null; }
}

async function examined({ certificate, table, signature }) {
  const bytes = await bytesOf(certificate), text = textFrom(bytes);
  if (text === null) throw new Refused("the certificate is not text in UTF-8");
  const tableBytes = table && await bytesOf(table), result = checked(text, table && { bytes: tableBytes, text: textFrom(tableBytes) });
  if (!signature) result.findings.push(note("No signature was given. Without one anybody can write a certificate, with a checksum that fits."));
  else try {
    const said = signatureOf(textFrom(await bytesOf(signature)) ?? "");
    result.findings.push(signatureFinding(said, await isSigned(said, bytes), element("key").value));
  } catch (error) { result.findings.push(fails(`The signature cannot be read: ${error.message}.`)); }
  return result;
}

function listOf(findings) {
  const list = made("ul");
  const failsFirst = [...findings.filter(finding => finding.state === "fails"), ...findings.filter(finding => finding.state !== "fails")];
  for (const { state, words } of failsFirst) {
    const item = made("li", null, state);
    item.append(made("b", MARKS[state]), ` ${words}`);
    list.append(item);
  }
  return list;
}

const section = (title, state, findings) => {
  const part = made("section", null, state);
  part.append(made("h2", title), listOf(findings));
  return part;
};

async function check() {
  const mine = ++run, said = element("said"), { groups, spare, strange } = grouped(), parts = [], results = [];
  element("files").textContent = files.length ? `Given: ${files.map(file => file.name).join(", ")}.` : "";
  element("clear").hidden = !files.length;
  if (!files.length) { said.replaceChildren(); return; }
  said.replaceChildren(made("p", "Computing …"));
  await new Promise(done => { setTimeout(done, 20); });
  for (const group of groups) {
    let part;
    try {
      const result = await examined(group), verdict = verdictOf(result.findings);
      results.push(result);
      part = section(`${result.name}: ${VERDICTS[verdict]}`, verdict, result.findings);
    } catch (error) {
      const words = error instanceof Refused ? error.message : `the page met something unexpected (${error.message})`;
      part = section(`${group.certificate.name}: This cannot be read`, "fails", [fails(`${words[0].toUpperCase()}${words.slice(1)}.`)]);
    }
    parts.push(part);
  }
  const joint = together(results), about = [];
  if (joint.length) parts.push(section("Together", verdictOf(joint), joint));
  for (const file of strange) about.push(open(`${file.name} is no certificate, no table and no signature: its name ends in none of ${CERTIFICATE}, .csv and ${SIGNED}.`));
  for (const file of spare) about.push(open(`${file.name} was not used: give the certificate of its name, too.`));
  if (about.length) parts.push(section("Other files", "open", about));
  if (mine !== run) return;
  said.replaceChildren(...parts, made("p", OUTSIDE, "outside"));
  document.documentElement.dataset.done = String(mine);
}

function take(list) {
  const names = new Set(Array.from(list, file => file.name));
  files = [...files.filter(file => !names.has(file.name)), ...list];
  check();
}

element("said").replaceChildren();
element("choose").onchange = event => { take(event.target.files); event.target.value = ""; };
element("clear").onclick = () => { files = []; check(); element("choose").focus(); };
element("key").onchange = () => check();
addEventListener("dragover", event => { event.preventDefault(); element("drop").className = "over"; });
addEventListener("dragleave", () => { element("drop").className = ""; });
addEventListener("drop", event => { event.preventDefault(); element("drop").className = ""; take(event.dataTransfer.files); });
document.documentElement.dataset.ready = "yes";
