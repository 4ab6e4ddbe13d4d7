import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, normalize } from "node:path";
import { describe, it } from "node:test";
import { parseConfiguration } from "../shared/pipelines/configuration/parse.ts";
import { ineffectiveMembers, warningsOf } from "../shared/pipelines/warnings.ts";
import { parsePolicy } from "../shared/secrets/policy.ts";

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
    const examples = yamlBlocks().filter(({ yaml }) => /^steps:/m.test(yaml));
    assert.ok(examples.length >= 15);
    for (const { page, yaml } of examples) {
      const parsed = parseConfiguration(yaml);
      if ("problems" in parsed) assert.fail(`${page}: ${JSON.stringify(parsed.problems)}\n${yaml}`);
      const { steps, others = {} } = parsed.pipeline;
      assert.deepEqual(warningsOf(steps, ineffectiveMembers(others)), [], page);
    }
  });

  it("have examples of policies that are valid", () => {
    const examples = yamlBlocks().filter(({ yaml }) => yaml.startsWith("- "));
    assert.ok(examples.length >= 1);
    for (const { page, yaml } of examples) assert.ok("policy" in parsePolicy(yaml), page);
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

function yamlBlocks(): { page: string; yaml: string }[] {
  return [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = ""]) => ({ page, yaml })),
  );
}
