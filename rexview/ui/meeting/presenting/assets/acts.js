// The actions of keys and buttons of a meeting.

/** @import { Presenting } from "./presenting.js" */

/** Commands without arguments, by name; `goToStep` takes a number. */
export function actsOf(/** @type {Presenting} */ presenting) {
  // a former leader knows the agenda, but uses the shown cases while another leads
  const agendaNow = () => (presenting.leads ? presenting.data.agenda : []);
  const turn = (/** @type {1 | -1} */ way) => {
    const agenda = agendaNow();
    const place = agenda.findIndex(({ case: id }) => id === presenting.at?.case) + way;
    if (agenda[place]) presenting.goTo(agenda[place].case, 0);
  };
  const step = (/** @type {number} */ number) => {
    const { at, last } = presenting;
    if (at) presenting.goTo(at.case, Math.max(0, Math.min(number, last)));
  };
  const choose = (/** @type {string} */ tool) => {
    presenting.marks.choose(tool);
    presenting.bar.press(presenting.marks.tool);
  };
  return {
    nextCase: () => turn(1),
    caseBefore: () => turn(-1),
    goToStep: step,
    nextStep: () => {
      if (!presenting.isWhole) step((presenting.at?.step ?? -1) + 1);
      else if (presenting.panels.open === "decision") turn(1);
      else presenting.decide();
    },
    stepBefore: () => step((presenting.at?.step ?? 0) - 1),
    showAll: () => step(presenting.last),
    decide: () => presenting.decide(),
    goTo: () => {
      const reached = presenting.cases?.reached ?? [];
      const shown = new Set(reached.map(([, id]) => id));
      // followers know the cases that were shown
      const seen = reached.map(([place, id]) => ({ case: id, place, minutes: null, seconds: 0 }));
      const agenda = agendaNow();
      const [list, at] = [agenda.length > 0 ? agenda : seen, presenting.at?.case ?? ""];
      presenting.list.fill(list, at, shown, presenting.leads && agenda.length > 0);
      presenting.list.open();
    },
    pointer: () => choose("pointer"),
    arrow: () => choose("arrow"),
    draw: () => choose("draw"),
    clear: () => presenting.marks.clear(),
    timer: () => presenting.timer.toggle(),
    notes: () => presenting.notes.open(),
    join: () => {
      presenting.join.fill();
      presenting.join.open();
    },
    readOn: () => presenting.panels.page(1),
    readBack: () => presenting.panels.page(-1),
    alone: () => presenting.appearance.alone(),
    look: () => presenting.appearance.turnLook(),
    smaller: () => presenting.appearance.text(-1),
    larger: () => presenting.appearance.text(1),
    tools: () => presenting.film.toggleTools(),
    full: () => presenting.film.viewer.full.toggle(),
    help: () => {
      presenting.keys.fill(presenting.leads);
      presenting.keys.open();
    },
  };
}
