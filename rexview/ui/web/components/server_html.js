// HTML made by the server that a component itself puts on the page. It is escaped when it is made;
// its allowed parts are checked here once more, as Streamlit does with the HTML that it shows.

const TAGS = new Set(
  (
    "a abbr article b blockquote br button caption code del details div em footer h1 h2 h3 h4 h5 h6 " +
    "header hr i img ins li mark ol p pre rect s section small span strong sub summary sup svg table " +
    "tbody td th thead tr ul"
  ).split(" "),
);
const ATTRIBUTES = new Set(
  (
    "alt class colspan disabled height hidden id lang loading open role rowspan scope start style " +
    "tabindex title type viewbox width x y"
  ).split(" "),
);
const WORDLESS = new Set(["script", "style", "iframe", "object", "template", "noscript"]);
const ADDRESSES = new Set(["href", "src"]);

/** The nodes of some HTML, without parts that our pages never have: scripts, handlers, frames. */
export function serverNodes(/** @type {string} */ text) {
  const { body } = new DOMParser().parseFromString(text, "text/html");
  for (const node of body.querySelectorAll("*")) {
    if (!TAGS.has(node.localName)) {
      // a tag that pages do not use loses none of an answer's words
      if (WORDLESS.has(node.localName)) node.remove();
      else node.replaceWith(...node.childNodes);
      continue;
    }
    for (const { name, value } of [...node.attributes]) {
      if (!isAllowed(name.toLowerCase(), value)) node.removeAttribute(name);
    }
  }
  return [...body.childNodes].map((node) => document.adoptNode(node));
}

function isAllowed(/** @type {string} */ name, /** @type {string} */ value) {
  if (ADDRESSES.has(name)) return isPlain(value);
  return ATTRIBUTES.has(name) || /^(data|aria)-[\w-]+$/.test(name);
}

/** Whether an address leads to a page or a file, on any server: not to a script. */
function isPlain(/** @type {string} */ value) {
  try {
    return ["http:", "https:"].includes(new URL(value, document.baseURI).protocol);
  } catch {
    return false;
  }
}
