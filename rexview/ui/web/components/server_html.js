// HTML that the server made, where a component puts it on the page itself. It is escaped when it is
// made; what it may hold is held here once more, as Streamlit does with HTML that it shows.

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

/** The nodes of some HTML, without what no page of ours is made of: scripts, handlers, frames. */
export function serverNodes(/** @type {string} */ text) {
  const { body } = new DOMParser().parseFromString(text, "text/html");
  for (const node of body.querySelectorAll("*")) {
    if (!TAGS.has(node.localName)) {
      // no words of an answer are lost with a tag that pages do not use
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

/** Whether an address leads to a page or a file, here or elsewhere: to no script. */
function isPlain(/** @type {string} */ value) {
  try {
    return ["http:", "https:"].includes(new URL(value, document.baseURI).protocol);
  } catch {
    return false;
  }
}
