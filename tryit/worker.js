/** Worker: Python, beside the page, so that the page never freezes while it loads or computes. */

/** @typedef {{ id: number, name?: string, bytes?: ArrayBuffer, question?: string, asked?: object }} Request */
/** @typedef {{ size: number, scripts: string[], archives: string[], packages: string[] }} Manifest what to load */

const FOLDER = new URL("./python/", import.meta.url);
const there = (name) => new URL(name, FOLDER).href;
const fetched = self.fetch;
let loaded = 0;
let size = 0;

/** Count what arrives, whoever asks for it. */
self.fetch = async (...given) => {
  const response = await fetched(...given);
  if (!response.ok || !response.body || !size) return response;
  const counter = new TransformStream({
    transform(chunk, out) {
      loaded += chunk.byteLength;
      self.postMessage({ loaded, size });
      out.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counter), { headers: response.headers });
};

/** @param {string} name */
async function bytesOf(name) {
  const response = await self.fetch(there(name));
  if (!response.ok) throw new Error(`${name} could not be loaded (${response.status})`);
  return response.arrayBuffer();
}

async function start() {
  /** @type {Manifest} */
  const manifest = await (await fetched(there("loaded.json"))).json();
  size = manifest.size;
  const archives = manifest.archives.map(bytesOf);
  await Promise.all(manifest.scripts.map(bytesOf)); // counted here; importing them then finds them in the cache
  const { loadPyodide } = await import(there("pyodide.mjs"));
  const python = await loadPyodide({ indexURL: FOLDER.href, stdout: () => {}, stderr: () => {} });
  if (manifest.packages.length) await python.loadPackage(manifest.packages, { messageCallback: () => {} });
  const extractDir = python.runPython("import site; site.getsitepackages()[0]");
  for (const bytes of archives) python.unpackArchive(await bytes, "zip", { extractDir });
  python.FS.mkdirTree("/files");
  python.FS.chdir("/files");
  python.runPython("import wide; wide.widen(); import trysession");
  return python;
}

const started = start();

/** @param {Request} request */
async function answer({ name, bytes, question, asked }) {
  const python = await started;
  if (bytes) return python.FS.writeFile(name, new Uint8Array(bytes));
  return JSON.parse(python.pyimport("trysession").answer(question, JSON.stringify(asked)));
}

self.onmessage = ({ data }) => {
  const reply = (found) => self.postMessage({ id: data.id, ...found });
  answer(data).then(
    (given) => reply({ given }),
    (error) => reply({ failed: String(error.message).trim().split("\n").at(-1) }),
  );
};
