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
  const names = (await readdir(path.join(here, "src"))).map((name) => `src/${name}`);
  names.push("build.mjs", "package.json", "package-lock.json");
  const hash = createHash("sha256");
  for (const name of names.sort()) {
    const content = createHash("sha256").update(await readFile(path.join(here, name)));
    hash.update(`${content.digest("hex")}  ${name}\n`);
  }
  return hash.digest("hex");
}

/** The licences of all packages that can be in the bundle: all that are installed but esbuild. */
async function licences() {
  const lock = JSON.parse(await readFile(path.join(here, "package-lock.json")));
  const folders = Object.keys(lock.packages).filter((name) => name && !name.includes("esbuild"));
  const texts = [];
  for (const folder of folders.sort()) {
    const { version, license } = lock.packages[folder];
    const file = (await readdir(path.join(here, folder))).find((name) => /^licen[cs]e/i.test(name));
    const text = (await readFile(path.join(here, folder, file), "utf8")).trim();
    texts.push(`${folder.replace("node_modules/", "")} ${version} (${license})\n\n${text}\n`);
  }
  return texts.join(`\n${"-".repeat(72)}\n\n`);
}

const bundle = (entry, more) =>
  esbuild.build({
    entryPoints: [path.join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    target: ["chrome103", "firefox113", "safari16.4"],
    charset: "utf8",
    alias: { regl: "regl/dist/regl.unchecked.js" }, // the other half of regl checks its callers
    legalComments: "none",
    absWorkingDir: here,
    logLevel: "warning",
    ...more,
  });

const banner = `/*! reinforce2vec explorer, from web/ with sha256 ${await fingerprint()} */`;
const script = await bundle("main.js", { format: "iife", banner: { js: banner } });
const style = await bundle("explorer.css", {});
await mkdir(out, { recursive: true });
await writeFile(path.join(out, "explorer.js"), script.outputFiles[0].text);
await writeFile(path.join(out, "explorer.css"), style.outputFiles[0].text);
await writeFile(path.join(out, "page.html"), await readFile(path.join(here, "src", "page.html")));
await writeFile(path.join(out, "licences.txt"), await licences());
console.log(`explorer.js ${script.outputFiles[0].contents.length.toLocaleString("en")} bytes`);
