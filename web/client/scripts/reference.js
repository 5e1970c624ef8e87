// Writes docs/reference/web-client.md from the declarations and doc comments of everything that the client exports.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const CLIENT = fileURLToPath(new URL("..", import.meta.url));
export const PAGE = fileURLToPath(new URL("../../../docs/reference/web-client.md", import.meta.url));

const HEAD = `# The web client

Generated from the doc comments of \`@blender-dp/client\` by \`npm run reference\` in \`web/\`. How to use it: see
[its page](../../web/client/README.md) and the [example](../../web/client/example/index.html).
`;
const COMMENT = String.raw`/\*\*((?:(?!\*/)[\s\S])*)\*/\s*`;

/** The whole page. */
export function reference() {
  const folder = mkdtempSync(join(tmpdir(), "blender-dp-types-"));
  try {
    const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
    execFileSync(process.execPath, [tsc, "-p", CLIENT, "--outDir", folder]);
    const exported = readFileSync(join(folder, "index.d.ts"), "utf8");
    const sections = [...exported.matchAll(/export (?:type )?\{([^}]*)\} from "\.\/(.*)\.ts";/g)].flatMap(
      ([, names = "", file]) =>
        split(names, ",").map((name) =>
          section(readFileSync(join(folder, `${file}.d.ts`), "utf8"), name.replace("type ", "")),
        ),
    );
    return [HEAD, ...sections.sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase(), "en"))].join("\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * One exported name: its doc comment, its declaration, and its members with theirs.
 * @param {string} file
 * @param {string} name
 */
function section(file, name) {
  const start = new RegExp(
    `(?:${COMMENT})?export (?:declare )?(?:abstract )?(class|interface|function|const|type) ${name}\\b`,
  );
  const found = start.exec(file);
  if (!found?.[1]) throw new Error(`${name} has no doc comment`);
  const whole = declaration(file.slice(found.index + found[0].length - name.length));
  const body = /^[^{]*\{([\s\S]*)\}$/.exec(whole)?.[1];
  const lines =
    body !== undefined && /class|interface/.test(found[2] ?? "") ? members(body, name) : [code(`${found[2]} ${whole}`)];
  return [`## \`${name}\`\n`, `${prose(found[1])}\n`, ...lines].join("\n").concat("\n");
}

/**
 * The public members of a class or an interface.
 * @param {string} body
 * @param {string} owner
 */
function members(body, owner) {
  const parts = split(body.replace(/^\s*#private;/m, ""), ";");
  return parts.flatMap((part) => {
    const [, comment, signature] = new RegExp(`^(?:${COMMENT})?([\\s\\S]+)$`).exec(part) ?? [];
    const isPlain = /^(readonly )?\w+\??:|^constructor\(/.test(signature ?? ""); // which the owner's comment may explain
    if (!signature || /^(private|name:)/.test(signature) || (!comment && /^constructor/.test(signature))) return [];
    if (!comment && !isPlain) throw new Error(`${owner}.${signature} has no doc comment`);
    return [`- \`${signature.replace(/\s+/g, " ").trim()}\`${comment ? `: ${prose(comment).replace(/\n+/g, " ")}` : ""}`];
  });
}

/**
 * The text up to the end of a declaration that starts here.
 * @param {string} text
 */
function declaration(text) {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text.startsWith("/**", i)) i = text.indexOf("*/", i) + 1;
    else if ("{([".includes(text.charAt(i))) depth++;
    else if ("})]".includes(text.charAt(i)) && --depth === 0 && text[i] === "}") return text.slice(0, i + 1);
    else if (text[i] === ";" && depth === 0) return text.slice(0, i);
  }
  return text;
}

/**
 * The parts of a text between separators that are not in brackets or comments.
 * @param {string} text
 * @param {string} separator
 */
function split(text, separator) {
  const parts = [""];
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const comment = text.startsWith("/**", i) ? text.slice(i, text.indexOf("*/", i) + 2) : text.charAt(i);
    if ("{([".includes(comment)) depth++;
    if ("})]".includes(comment)) depth--;
    if (comment === separator && depth === 0) parts.push("");
    else parts.push(parts.pop() + comment);
    i += comment.length - 1;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

/** @param {string} comment */
function prose(comment) {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
  return lines.join("\n").trim();
}

/** @param {string} text */
function code(text) {
  return `\`\`\`ts\n${text.trim()}\n\`\`\``;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(PAGE, reference());
