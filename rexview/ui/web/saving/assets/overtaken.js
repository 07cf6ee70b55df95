// The reason for returning an entry that was overtaken by the stored value.

import { tr } from "../../components/words.js";

const OVERTAKEN = {
  adjudicate: tr("Another consensus was recorded meanwhile."),
  verdict: tr("Another window had saved another verdict, which was kept."),
  comment: tr("Another window had saved other words, which were kept."),
};

export function whyOvertaken({ kind, field }, there) {
  const { by: name } = there;
  if (kind === "decide")
    return name
      ? tr("{name} decided something else meanwhile.", { name })
      : tr("Someone decided something else meanwhile.");
  if (["agenda", "presenter_note"].includes(kind))
    return name
      ? tr("{name} changed it meanwhile.", { name })
      : tr("Another window changed it meanwhile.");
  if (kind === "score") return whyScore(field, there.score);
  return OVERTAKEN[kind] ?? tr("Another window had saved another one, which was kept.");
}

function whyScore(field, score) {
  if (field === "comment") return tr("Another window had saved another comment, which was kept.");
  return typeof score === "number"
    ? tr("Another window had saved {score}, which was kept.", { score })
    : tr("Another window had saved no score, which was kept.");
}
