import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import { type Version, versions } from "../agents/public-agent.ts";
import { openApi } from "../helpers/api.ts";
import { openSettling } from "../helpers/builds.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { assertJobs, assertRules, type ShownJob } from "./strangers/expected.ts";
import {
  type ExpectedBuild,
  listFiles,
  listStrangers,
  readPipeline,
  type Stranger,
} from "./strangers/read.ts";
import { openSite, type Site } from "./strangers/site.ts";

const strangers = listStrangers();

describe("pipelines of strangers", () => {
  it("are in the index of their folder, fifty or more", () => {
    const named = strangers.map(({ name }) => `${name}.yaml`);

    assert.deepEqual(named.toSorted(), listFiles().toSorted());
    assert.ok(named.length >= 50);
  });

  for (const { name } of strangers.filter(({ refused }) => refused.length === 0))
    it(`${name} has the same steps from agents that parse it and from those before v3.40`, () => {
      assert.equal(stepsOf(name, { isParsed: true }), stepsOf(name, { isParsed: false }));
    });
});

const settings = { AGENTS_PER_ORGANIZATION: "100000" };

// The statements are those of other builds, which tests of uploads run on Postgres.
describeWorldOn(sqlite, "pipeline of a stranger", withSettings(openApi, settings), (api) => {
  let settling: ReturnType<typeof openSettling>;

  before(async () => {
    settling = openSettling(api.world.services);
  });
  after(() => settling.close());

  for (const [place, stranger] of strangers.entries())
    describe(stranger.name, () => {
      let site: Site;

      before(async () => {
        site = await openSite(api, stranger, settling.settle);
      });
      after(() => site.close());

      const { refused, builds } = stranger;
      // Versions take turns: each file comes in the form of one of them.
      const versionOf = (index: number) => versions[(place + index) % versions.length] as Version;
      if (refused.length > 0) itIsRefused(stranger, { site: () => site, by: versionOf(0) });
      else
        for (const [index, expected] of builds.entries())
          itRuns(stranger, expected, { site: () => site, by: versionOf(index) });
    });
});

/** Agents that parse write the names of plugins in full, and send no `if_changed`. */
function stepsOf(name: string, form: { isParsed: boolean }): string {
  const { steps } = uploadedPipeline.parse(readPipeline(name, form));
  return JSON.stringify(
    steps,
    (member, value) => (["plugins", "others"].includes(member) ? undefined : value),
    1,
  );
}

interface Run {
  site: () => Site;
  by: Version;
}

function itIsRefused({ refused }: Stranger, { site, by: version }: Run): void {
  it(`from v${version.version} is refused, as this server does not do ${refused.join(", ")}`, async () => {
    const { upload, end, build } = await site().startBuild(version, {});

    const { status, body } = await upload();
    await end();

    assert.equal(status, 422);
    for (const member of refused) assert.match(body.message, new RegExp(`\\b${member}\\b`));
    assert.equal((await build()).jobs.length, 1);
  });
}

function itRuns(stranger: Stranger, expected: ExpectedBuild, { site, by: version }: Run): void {
  it(`from v${version.version} runs to its end${describeBuild(expected)}`, async () => {
    const { number, upload, end, build } = await site().startBuild(version, expected);

    const { status, text } = await upload();
    await end();
    assert.equal(status, 200, text);
    await site().runAll(version, number, expected);

    await site().assertLeft(number, expected);
    const { state, jobs, warnings } = await build();
    const [, ...uploaded] = jobs as ShownJob[];
    assertJobs(uploaded, expected);
    if (!expected.uploads) assertRules(uploaded, stranger);
    assert.equal(state, expected.state ?? "passed");
    const warned = (warnings ?? []).map(({ member }: { member: string }) => member);
    for (const member of stranger.warned) assert.ok(warned.includes(member), `warns of ${member}`);
  });
}

function describeBuild({ branch, message, env, exits }: ExpectedBuild): string {
  const given = Object.entries({ branch, message, ...env, ...exits }).filter(
    ([, value]) => value !== undefined,
  );
  return given.map(([name, value]) => `, ${name} ${value}`).join("");
}
