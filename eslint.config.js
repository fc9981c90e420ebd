// How the JavaScript of the page is checked, beside its types (tsconfig.json).
import js from "@eslint/js";

const BROWSER = [
  "Blob",
  "DOMParser",
  "DecompressionStream",
  "Event",
  "IntersectionObserver",
  "ResizeObserver",
  "Response",
  "URL",
  "XMLSerializer",
  "atob",
  "clearTimeout",
  "console",
  "document",
  "getComputedStyle",
  "location",
  "matchMedia",
  "requestIdleCallback",
  "setTimeout",
  "window",
]; // what the page uses: anything else is a slip
const TRYING = ["TransformStream", "Worker", "navigator", "self"]; // what the page that runs Python needs besides

export default [
  { ignores: ["build/", "dist/", "site/", ".venv/"] }, // what is made from the sources, or was brought along
  js.configs.recommended,
  {
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({
          property,
          message: "data stay text",
        })),
      ],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  {
    files: ["src/lexirecall/page/assets/*.js"],
    languageOptions: { globals: Object.fromEntries(BROWSER.map((name) => [name, "readonly"])) },
    rules: {
      "max-lines": ["error", 300],
      "no-restricted-syntax": [
        "error",
        { selector: "ImportExpression", message: "the modules are joined into one script" },
        { selector: "ExportDefaultDeclaration, ExportAllDeclaration", message: "export before a declaration" },
        { selector: "ExportNamedDeclaration[declaration=null]", message: "export before a declaration" },
        { selector: "ImportNamespaceSpecifier, ImportDefaultSpecifier", message: "import by name" },
      ],
    },
  },
  {
    files: ["tryit/*.js"],
    languageOptions: { globals: Object.fromEntries([...BROWSER, ...TRYING].map((name) => [name, "readonly"])) },
    rules: { "max-lines": ["error", 300] },
  },
  { files: ["tests/js/**"], languageOptions: { globals: { structuredClone: "readonly" } } },
];
