// Bundles the editor into one script and one style sheet: node build.mjs FOLDER
import { build } from "esbuild";

await build({
  entryPoints: ["editor.js"],
  outdir: process.argv[2],
  bundle: true,
  minify: true,
  legalComments: "eof",
  loader: { ".woff2": "dataurl", ".woff": "dataurl", ".ttf": "dataurl", ".svg": "dataurl" },
});
