// A signature beside a certificate: Ed25519 over the bytes of its file, checked by the browser.

const SIGNATURE = "takifugu-signature/1";

const hexBytes = text => Uint8Array.from(text.match(/../g), pair => parseInt(pair, 16));

function signatureOf(text) {
  const said = parseJson(text, "the signature");
  if (!isObject(said) || said.format !== SIGNATURE) throw new Refused("it is no signature of Takifugu");
  const { key, signature } = fields(said, "the signature", ["format", "key", "signature"]);
  if (!/^[0-9a-f]{64}$/.test(key) || !/^[0-9a-f]{128}$/.test(signature)) throw new Refused("it is no signature of Takifugu");
  return { key, signature };
}

// What a signature proves. `isValid` is null where the browser cannot tell; `expected` is the key that the reader knows, or "".
function signatureFinding({ key }, isValid, expected) {
  if (isValid === null) return open("The signature was not checked: this browser has no Ed25519.");
  if (!isValid) return fails("The signature does not fit: the certificate is not what the holder of the key signed.");
  const wanted = expected.trim().toLowerCase();
  if (wanted && wanted !== key) return fails(`The signature is by another key than the publisher's: ${key}.`);
  if (wanted) return holds(`The certificate is signed with the publisher's key, ${key}.`);
  return note(`The certificate is signed with the key ${key}. Whose key it is, this page cannot know: enter the publisher's key to compare.`);
}

async function isSigned({ key, signature }, bytes) {
  try {
    const imported = await crypto.subtle.importKey("raw", hexBytes(key), "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", imported, hexBytes(signature), bytes);
  } catch { return null; }
}
