/** Python: what the page asks of the worker in which lexirecall runs. */

/** @type {Worker | null} */
let worker = null;
let last = 0;
/** @type {Map<number, { done: (given: any) => void, failed: (error: Error) => void }>} */
const waiting = new Map();
/** @type {(loaded: number, size: number) => void} */
let progressed = () => {};

/** @param {(loaded: number, size: number) => void} listener is told how much of Python is here, in bytes */
export const onProgress = (listener) => (progressed = listener);

/** Begin in a script that belongs to this page: such a worker obeys the policy of the page, and no other would. */
function begin() {
  const script = `import ${JSON.stringify(new URL("./worker.js", import.meta.url).href)};`;
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const begun = new Worker(address, { type: "module" });
  begun.onmessage = ({ data }) => {
    if (data.id === undefined) return progressed(data.loaded, data.size);
    const { done, failed } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.failed) failed(new Error(data.failed));
    else done(data.given);
  };
  begun.onerror = (event) => {
    for (const { failed } of waiting.values()) failed(new Error(event.message || "the worker could not be started"));
    waiting.clear();
  };
  return begun;
}

/**
 * @param {object} message
 * @param {Transferable[]} [moved]
 * @returns {Promise<any>}
 */
function send(message, moved = []) {
  worker ??= begin();
  return new Promise((done, failed) => {
    waiting.set(++last, { done, failed });
    worker.postMessage({ id: last, ...message }, moved);
  });
}

/**
 * Ask lexirecall; the answer may be that something is wrong with the files.
 * @param {string} question a function of trysession.py
 * @param {object} [asked]
 */
export const ask = (question, asked = {}) => send({ question, asked });

/**
 * Give Python a file, which stays in the memory of this page.
 * @param {File} file
 */
export async function give(file) {
  const bytes = await file.arrayBuffer();
  return send({ name: file.name, bytes }, [bytes]);
}
