/** Tabs: the four results, one at a time, for the keyboard too. */

import { byId, h, put } from "../src/lexirecall/page/assets/elements.js";

/**
 * @param {Record<string, string>} titles by what each asks
 * @param {(question: string) => void} chosen
 */
export function startTabs(titles, chosen) {
  const names = Object.keys(titles);
  const panel = byId("panel");
  let current = names[0];
  const select = (question, { focus = false } = {}) => {
    current = question;
    for (const [i, tab] of tabs.entries()) {
      const isSelected = names[i] === question;
      tab.setAttribute("aria-selected", String(isSelected));
      tab.tabIndex = isSelected ? 0 : -1;
      if (isSelected && focus) tab.focus();
    }
    panel.setAttribute("aria-labelledby", `tab-${question}`);
    chosen(question);
  };
  const step = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -names.indexOf(current), End: -1 - names.indexOf(current) }[
      event.key
    ];
    if (by === undefined) return;
    event.preventDefault();
    select(names[(names.indexOf(current) + by + names.length) % names.length], { focus: true });
  };
  const tabs = names.map((question) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${question}`,
        "aria-controls": "panel",
        onclick: () => select(question),
        onkeydown: step,
      },
      titles[question],
    ),
  );
  put(document.querySelector("[role=tablist]"), tabs);
  return { current: () => current, select };
}
