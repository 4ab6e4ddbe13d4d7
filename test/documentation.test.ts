import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, normalize } from "node:path";
import { describe, it } from "node:test";
import { parseConfiguration } from "../shared/pipelines/configuration/parse.ts";
import { ineffectiveMembers, warningsOf } from "../shared/pipelines/warnings.ts";
import { parsePolicy } from "../shared/secrets/policy.ts";
import { evaluateFilter } from "../shared/triggers/filter/evaluate.ts";
import { filterInput } from "./triggers/filter/filter-input.ts";

const pages = globSync(["*.md", "{.github,ingress,scripts,shared,test,workers}/**/*.md"]);
const texts = new Map(pages.map((page) => [normalize(page), readFileSync(page, "utf8")]));

describe("the pages", () => {
  it("have links that lead to a file, and to a heading that it has", () => {
    const links = [...texts].flatMap(([page, text]) =>
      [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => ({ page, link })),
    );
    const own = links.filter(({ link }) => !/^[a-z]+:/.test(link));
    assert.ok(own.length > 100);
    assert.deepEqual(
      own.filter(isBroken).map(({ page, link }) => `${page} → ${link}`),
      [],
    );
  });

  it("have examples of steps that are valid, and have no member without effect", () => {
    const examples = blocks("yaml").filter(({ code }) => /^steps:/m.test(code));
    assert.ok(examples.length >= 15);
    for (const { page, code } of examples) {
      const parsed = parseConfiguration(code);
      if ("problems" in parsed) assert.fail(`${page}: ${JSON.stringify(parsed.problems)}\n${code}`);
      const { steps, others = {} } = parsed.pipeline;
      assert.deepEqual(warningsOf(steps, ineffectiveMembers(others)), [], page);
    }
  });

  it("have examples of policies that are valid", () => {
    const examples = blocks("yaml").filter(({ code }) => code.startsWith("- "));
    assert.ok(examples.length >= 1);
    for (const { page, code } of examples) assert.ok("policy" in parsePolicy(code), page);
  });

  it("have examples of filters that are true of the delivery above them", () => {
    const examples = blocks("http|cel");
    assert.ok(examples.filter(({ language }) => language === "cel").length >= 5);
    let delivery = "";
    for (const { language, code } of examples) {
      if (language === "http") delivery = code;
      else assert.deepEqual(evaluate(code.trim(), delivery), { verdict: true }, code);
    }
  });
});

function isBroken({ page, link }: { page: string; link: string }): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : normalize(`${dirname(page)}/${path}`);
  if (!existsSync(target)) return true;
  if (anchor === undefined) return false;
  const readme = statSync(target).isDirectory() ? `${target}/README.md` : target;
  return !anchorsOf(texts.get(readme) ?? "").includes(anchor);
}

/** As the source host makes them of headings. */
function anchorsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");
}

/** @param languages alternatives, separated by `|` */
function blocks(languages: string): { page: string; language: string; code: string }[] {
  const block = new RegExp(`^\`\`\`(${languages})\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...texts].flatMap(([page, text]) =>
    [...text.matchAll(block)].map(([, language = "", code = ""]) => ({ page, language, code })),
  );
}

/** @param delivery one header, an empty line and the payload */
function evaluate(expression: string, delivery: string) {
  const [header = "", text = ""] = delivery.split("\n\n");
  const [name = "", value = ""] = header.split(": ");
  return evaluateFilter(filterInput(expression, { text, headers: [[name, value]] }));
}
