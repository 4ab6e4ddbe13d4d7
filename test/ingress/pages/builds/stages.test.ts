import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { CommandStep, Step } from "../../../../shared/vocabulary.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { diamond, groups, makeStagedBuild, matrix, type StagedBuild } from "./staged-builds.ts";

const maxPageBytes = 400_000;

describeWorldOn(sqlite, "the stages on the page of a build", startQueuePages, (pages) => {
  before(() => pages.clock.freeze());

  const make = async (given: Omit<StagedBuild, "clusterId">) => {
    await makeStagedBuild(pages, pages.actor, { clusterId: pages.acme.cluster.id, ...given });
    return `${pages.paths.pipelines}/${given.name.toLowerCase().replaceAll(" ", "-")}/builds/1`;
  };
  const textOf = (html: string) =>
    html
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ")
      .trim();
  const stagesOf = (html: string) => {
    const [, section = ""] = /<section class="stages".*?>(.*?)<\/section><\/section>/s.exec(html) ?? [];
    return section
      .split(/<section[^>]*>/)
      .slice(1)
      .map(textOf);
  };

  it("have what waits for what, with states and durations", async () => {
    const states = { Build: "passed", "Unit tests": "failed", "Tests in a browser": "running" } as const;

    const { text } = await pages.asBob.get(await make({ name: "Diamond", steps: diamond, states }));

    assert.deepEqual(stagesOf(text), [
      "Stage 1 Build passed 1 min 6 s",
      "Stage 2 Unit tests failed 1 min 5 s Tests in a browser running 2 min 54 s",
      "Stage 3 Deploy waiting",
    ]);
    assert.match(textOf(text), /Deploy waiting Waits for Tests in a browser default/);
  });

  it("have the icon of a job that its row has", async () => {
    const steps: Step[] = [
      { label: "Build", command: "make build" },
      { type: "block", label: "Release?" },
      { label: "Deploy", command: "make deploy" },
    ];
    const states = { Build: "passed", Deploy: "blocked" } as const;

    const { text } = await pages.asBob.get(await make({ name: "Icons", steps, states }));
    assert.match(textOf(text), /Release\? · blocked · Waits for/);

    const icons = [...text.matchAll(/<svg class="icon (tone-\w+)"[^>]*>((?:(?!<svg).)*?)Deploy</gs)];
    assert.deepEqual(
      icons.map(([, tone]) => tone),
      ["tone-other", "tone-other"],
    );
  });

  it("cut no character of a long title or message in half", async () => {
    const titles = [58, 59].map((length) => `${"x".repeat(length)}😀 and more`);
    const steps: Step[] = [
      { command: "a", label: titles[0] },
      { type: "wait" },
      { command: "b", label: titles[1] },
    ] as never;

    const { text } = await pages.asBob.get(await make({ name: "Long titles", steps }));

    const [first, second] = stagesOf(text);
    assert.deepEqual(
      [first?.split(" ")[2], second?.split(" ")[2]],
      [`${"x".repeat(58)}😀…`, `${"x".repeat(59)}…`],
    );
    assert.ok(!text.includes("\ufffd"));
  });

  it("have a matrix and a group as one thing each", async () => {
    const ofMatrix = await pages.asBob.get(await make({ name: "Matrix", steps: matrix }));
    const ofGroups = await pages.asBob.get(await make({ name: "Groups", steps: groups }));

    const [first = "", second = ""] = stagesOf(ofMatrix.text);
    assert.match(
      first,
      /^Stage 1 Lint scheduled Test on … 12 jobs: 11 waiting, 1 skipped linux, 20 scheduled linux, 22/,
    );
    assert.equal(second, "Stage 2 Publish skipped");
    const [, behind = ""] = stagesOf(ofGroups.text);
    assert.match(
      behind,
      /Checks 3 steps: 3 waiting .* Tests 2 steps: 9 waiting Shard … 8 jobs: 8 waiting 1 of 8/,
    );
    assert.match(textOf(ofGroups.text), /Lint waiting Checks Waits for Prepare/);
    assert.match(
      textOf(ofGroups.text),
      /Waits for Lint and Types · Checks/,
      "the wait of a group says what it waits for",
    );
  });

  it("are left out where a list says it all", async () => {
    const { text } = await pages.asBob.get(
      await make({ name: "Plain", steps: [{ command: "a" }, { command: "b" }] }),
    );
    assert.doesNotMatch(text, /class="stages"/);
  });

  it("say in words why a step was left out", async () => {
    const steps: Step[] = [
      { label: "Condition", command: "a", if: "false" },
      { label: "Branch", command: "a", branches: "release/*" },
      { label: "Reason", command: "a", skip: "Not on Fridays" },
      { label: "None", command: "a", skip: true },
    ];

    const text = textOf(
      (await pages.asBob.get(await make({ name: "Left out", steps, state: "not_run" }))).text,
    );

    assert.match(text, /Left out #1 not run/);
    assert.match(text, /Condition skipped Left out by its condition/);
    assert.match(text, /Branch skipped Not for this branch/);
    assert.match(text, /Reason skipped Skipped: Not on Fridays/);
    assert.match(text, /None skipped Skipped default/);
  });

  it("stand below the warnings about members", async () => {
    const others = { colour: "red", cache: "node_modules" };
    const steps: Step[] = [{ label: "Build", command: "a", others }, { command: "b" }];

    const text = textOf((await pages.asBob.get(await make({ name: "Warned", steps }))).text);

    assert.match(text, /One warning about the steps colour of Build has no effect/);
  });

  it("can all be reached, some at a time", async () => {
    const path = await make({ name: "Chain", steps: chain(100) });
    const seen: string[] = [];
    let next: string | undefined = `${path}?stage=1`;
    while (next) {
      const { text } = await pages.asBob.get(next);
      seen.push(...stagesOf(text).map((stage) => stage.replace(/^Stage (\d+) of 100 .*/, "$1")));
      [, next] = /<a href="([^"]*)#stages">Later stages/.exec(text) ?? [];
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 100 }, (_, index) => `${index + 1}`),
    );
  });

  it("begin before the first one that goes on", async () => {
    const states = Object.fromEntries(
      chain(100)
        .slice(0, 50)
        .map(({ label = "" }) => [label, "passed" as const]),
    );
    const { text } = await pages.asBob.get(await make({ name: "Half a chain", steps: chain(100), states }));
    assert.match(stagesOf(text)[0] ?? "", /^Stage 50 of 100 Step 49 .* passed/);
  });

  it("are within 400 KB for 500 steps and 2,000 jobs", async () => {
    const last: Step[] = [{ type: "wait" }, { label: "Last", command: "make last" }];
    const inGroups = many(100, () => ({ parallelism: 20 })).map(
      (step, number): Step => ({ type: "group", label: `Group ${number}`, steps: [step] }),
    );
    const sizes: Record<string, number> = {};
    for (const [name, steps] of Object.entries({
      "Long chain": chain(500),
      "Long row": [...many(498), ...last],
      "Wide row": [...many(498, () => ({ parallelism: 4 })), ...last],
      "Long matrices": [...many(40, () => ({ parallelism: 50 })), ...last],
      "Many groups": inGroups,
    })) {
      const { text } = await pages.asBob.get(await make({ name, steps }));
      sizes[name] = Buffer.byteLength(text);
      if (name === "Long row") assert.match(textOf(text), /458 more steps: 458 waiting/);
    }
    assert.ok(Math.max(...Object.values(sizes)) < maxPageBytes, JSON.stringify(sizes));
  });
});

function chain(length: number): Step[] {
  return many(length, (number) => (number > 0 ? { depends_on: [{ step: `key-${number - 1}` }] } : {}));
}

function many(count: number, members: (number: number) => object = () => ({})): CommandStep[] {
  const label = "many ".repeat(18);
  return Array.from({ length: count }, (_, number) => ({
    label: `Step ${number} of ${label}`,
    key: `key-${number}`,
    command: `make\n${"x".repeat(500)}`,
    ...members(number),
  }));
}
