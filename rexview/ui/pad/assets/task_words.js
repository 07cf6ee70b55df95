// The texts of the tasks' pads about their items: names, position, progress.

import { tr } from "../../web/components/words.js";

/** @import { ItemWords } from "./types.d.ts" */

/** What was pressed while another item is waited for. */
export const NOT_HERE = tr("Not accepted: the next one is still loading.");

/** @type {ItemWords} */
export const QUESTIONS = {
  plural: tr("questions"),
  meter: tr("questions done"),
  previous: tr("Previous question"),
  previousKey: tr("Previous question (p)"),
  nextKey: tr("Next question (n or Enter)"),
  place: (values) => tr("Question {place} of {total}", values),
  done: (n) => tr("{n} answered", { n }),
  first: tr("This is the first question"),
  last: tr("This is the last question"),
  changed: tr("This question was changed: you now see the new version."),
  allDone: tr("All questions are answered."),
  allDoneOrOut: tr("All questions are answered or left out."),
};

/** @type {ItemWords} */
export const REPORTS = {
  plural: tr("reports"),
  meter: tr("reports done"),
  previous: tr("Previous report"),
  previousKey: tr("Previous report (p)"),
  nextKey: tr("Next report (n or Enter)"),
  place: (values) => tr("Report {place} of {total}", values),
  done: (n) => tr("{n} finished", { n }),
  first: tr("This is the first report"),
  last: tr("This is the last report"),
  changed: tr("This report was changed: you now see the new version."),
  allDone: tr("All reports are finished."),
  allDoneOrOut: tr("All reports are finished or left out."),
};

/** @type {ItemWords} */
export const PAIRS = {
  plural: tr("pairs"),
  meter: tr("pairs done"),
  previous: tr("Previous pair"),
  previousKey: tr("Previous pair (p)"),
  nextKey: tr("Next pair (n or Enter)"),
  place: (values) => tr("Pair {place} of {total}", values),
  done: (n) => tr("{n} compared", { n }),
  first: tr("This is the first pair"),
  last: tr("This is the last pair"),
  changed: tr("This pair was changed: you now see the new version."),
  allDone: tr("All pairs are compared."),
  allDoneOrOut: tr("All pairs are compared or left out."),
};

/** @type {ItemWords} */
export const STUDIES = {
  plural: tr("studies"),
  meter: tr("studies done"),
  previous: tr("Previous study"),
  previousKey: tr("Previous study (p)"),
  nextKey: tr("Next study (n or Enter)"),
  place: (values) => tr("Study {place} of {total}", values),
  done: (n) => tr("{n} done", { n }),
  first: tr("This is the first study"),
  last: tr("This is the last study"),
  changed: tr("This study was changed: you now see the new version."),
  allDone: tr("All studies are done."),
  allDoneOrOut: tr("All studies are done or left out."),
};

/** @type {ItemWords} */
export const ANSWERS = {
  plural: tr("answers"),
  meter: tr("answers done"),
  previous: tr("Previous answer"),
  previousKey: tr("Previous answer (p)"),
  nextKey: tr("Next answer (n or Enter)"),
  place: (values) => tr("Answer {place} of {total}", values),
  done: (n) => tr("{n} read", { n }),
  first: tr("This is the first answer"),
  last: tr("This is the last answer"),
  changed: tr("This answer was changed: you now see the new version."),
  allDone: tr("All answers are read."),
  allDoneOrOut: tr("All answers are read or left out."),
};
