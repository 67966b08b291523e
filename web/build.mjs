// Bundles the explorer's page into the Python package; the result is committed.
//
// The bundle begins with the sha256 of the sources it was made from, which a test compares.

import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import path from "node:path";
import * as esbuild from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(here, "..", "src", "reinforce2vec", "explorer", "static");

/** The sha256 over names and contents of all that decides what the bundle holds. */
async function fingerprint() {
  const entries = await readdir(path.join(here, "src"), { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(here, path.join(entry.parentPath, entry.name)))
    .map((name) => name.replaceAll(path.sep, "/"));
  names.push("build.mjs", "package.json", "package-lock.json");
  const hash = createHash("sha256");
  for (const name of names.sort()) {
    const content = createHash("sha256").update(await readFile(path.join(here, name)));
    hash.update(`${content.digest("hex")}  ${name}\n`);
  }
  return hash.digest("hex");
}

const bundle = (entry, more) =>
  esbuild.build({
    entryPoints: [path.join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    target: ["chrome103", "firefox113", "safari16.4"],
    charset: "utf8",
    legalComments: "none",
    absWorkingDir: here,
    logLevel: "warning",
    ...more,
  });

const banner = `/*! reinforce2vec explorer, from web/ with sha256 ${await fingerprint()} */`;
const script = await bundle("main.js", { format: "iife", banner: { js: banner } });
const widget = await bundle("widget.js", { format: "esm" });
const style = await bundle("explorer.css", {});
await mkdir(out, { recursive: true });
await writeFile(path.join(out, "explorer.js"), script.outputFiles[0].text);
await writeFile(path.join(out, "widget.js"), widget.outputFiles[0].text);
await writeFile(path.join(out, "explorer.css"), style.outputFiles[0].text);
await writeFile(path.join(out, "page.html"), await readFile(path.join(here, "src", "page.html")));
console.log(`explorer.js ${script.outputFiles[0].contents.length.toLocaleString("en")} bytes`);
