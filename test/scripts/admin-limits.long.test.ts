import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { before, it } from "node:test";
import { runAdmin } from "../../scripts/admin/run.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { patientRedisUrl, secretKey, startWorld } from "../helpers/world.ts";

// The operator's command keeps the limits of REST.

describeWorldOn(sqlite, "the operator's command", startWorld, (world) => {
  before(async () => {
    await accept("org create --slug acme --name Acme");
    await accept("user create --email ada@example.com --name Ada --org acme");
    await accept("cluster create --org acme --name Primary");
    await accept("queue create --org acme --cluster Primary --key linux");
    await accept("pipeline create --org acme --cluster Primary --slug web --name Web --queue linux");
    await accept("app create --name Login --client-id login");
  });

  /** Words without spaces. @param more options whose values may have some */
  async function run(words: string, ...more: string[]) {
    let [stdout, stderr] = ["", ""];
    const code = await runAdmin([...words.split(" "), ...more], {
      env: {
        SECRET_KEY: secretKey,
        DATABASE_URL: world.config.databaseUrl,
        REDIS_URL: patientRedisUrl() ?? "",
      },
      stdin: Readable.from([]),
      write: (text) => (stdout += text),
      writeError: (text) => (stderr += text),
    });
    return { code, stdout, stderr };
  }
  async function accept(words: string, ...more: string[]) {
    const { code, stdout, stderr } = await run(words, ...more);
    assert.deepEqual([code, stderr], [0, ""], words);
    return JSON.parse(stdout);
  }

  const org = "--org acme";
  const cluster = `${org} --cluster Primary`;
  const queue = `${cluster} --queue linux`;
  const user = `${org} --user ada@example.com`;
  const trigger = `trigger create ${org} --pipeline web`;
  const long = (length: number) => "x".repeat(length);
  const tooLong = (member: string, max: string) =>
    new RegExp(`^Validation failed: ${member} is too long \\(maximum is ${max} characters\\)\n$`);

  const refusals: [what: string, words: string, more: string[], message: RegExp][] = [
    ["an organization's name", "org create --slug a --name", [long(101)], tooLong("Name", "100")],
    ["a blank name of an organization", "org create --slug a --name", [" "], /: Name can't be blank\n/],
    ["a slug", "org create --name A --slug", ["A b"], /: Slug can only contain lower-case/],
    ["a slug that is taken", "org create --slug acme --name A", [], /: Slug has already been taken\n/],
    ["a number", "org update acme --deliveries-per-hour", ["many"], /It must be a whole number/],
    ["a user's name", `user create --email b@example.com ${org} --name`, [long(101)], tooLong("Name", "100")],
    ["an email address", `user create ${org} --name B --email`, ["b"], /: Email /],
    ["an email address that is taken", `user create ${org} --name A --email`, ["ada@example.com"], /taken/],
    ["a password", `user set-password ada@example.com --password`, ["x"], /: Password /],
    ["a role", `member update ${user} --role`, ["owner"], /Allowed choices are admin, member/],
    ["a member who is one", `member add ${user}`, [], /already/],
    [
      "a token's description",
      `token create ${user} --scopes read_builds --description`,
      [long(101)],
      tooLong("Description", "100"),
    ],
    ["a scope", `token create ${user} --scopes`, ["read_everything"], /is not a known scope/],
    ["no scope", `token create ${user} --scopes`, [" "], /Scopes can't be blank/],
    [
      "a token's time",
      `token create ${user} --scopes read_builds --expires-in-hours`,
      ["876001"],
      /at most 876000/,
    ],
    ["a cluster's name", `cluster create ${org} --name`, [long(101)], tooLong("Name", "100")],
    ["a blank name of a cluster", `cluster create ${org} --name`, [" "], /: Name can't be blank\n/],
    [
      "a cluster's name that is taken",
      `cluster create ${org} --name Primary`,
      [],
      /: Name has already been taken\n/,
    ],
    [
      "a cluster's description",
      `cluster create ${org} --name Two --description`,
      [long(2001)],
      tooLong("Description", "2,000"),
    ],
    ["a queue's key", `queue create ${cluster} --key`, [long(101)], tooLong("Key", "100")],
    ["a blank key", `queue create ${cluster} --key`, [""], /: Key can't be blank\n/],
    ["a key with a space", `queue create ${cluster} --key`, ["a b"], /: Key can only contain/],
    ["a key that is taken", `queue create ${cluster} --key linux`, [], /: Key has already been taken\n/],
    [
      "a queue's description",
      `queue create ${cluster} --key mac --description`,
      [long(2001)],
      tooLong("Description", "2,000"),
    ],
    [
      "a queue's new description",
      `queue update ${queue} --description`,
      [long(2001)],
      tooLong("Description", "2,000"),
    ],
    ["a note", `queue pause ${queue} --note`, [long(2001)], tooLong("Note", "2,000")],
    [
      "an agent token's description",
      `agent-token create ${cluster} --description`,
      [long(256)],
      tooLong("Description", "255"),
    ],
    [
      "an agent token's time",
      `agent-token create ${cluster} --expires-in-hours`,
      ["876001"],
      /at most 876000/,
    ],
    [
      "a pipeline's name",
      `pipeline create ${cluster} --slug app --name`,
      [long(101)],
      tooLong("Name", "100"),
    ],
    [
      "a blank name of a pipeline",
      `pipeline create ${cluster} --slug app --name`,
      [" "],
      /: Name can't be blank\n/,
    ],
    [
      "a pipeline's slug",
      `pipeline create ${cluster} --name App --slug`,
      [long(101)],
      tooLong("Slug", "100"),
    ],
    ["a blank slug", `pipeline create ${cluster} --name App --slug`, [""], /: Slug can only contain/],
    [
      "a pipeline's slug that is taken",
      `pipeline create ${cluster} --queue linux --name Web --slug web`,
      [],
      /: Slug has already been taken\n/,
    ],
    [
      "a command",
      `pipeline create ${cluster} --name App --slug app --command`,
      [long(100_001)],
      /^Validation failed: .* is too long/,
    ],
    [
      "a blank command",
      `pipeline create ${cluster} --name App --slug app --command`,
      [" "],
      /^Validation failed: .* can't be blank/,
    ],
    [
      "a step's queue",
      `pipeline create ${cluster} --name App --slug app --queue`,
      ["windows"],
      /^Validation failed: /,
    ],
    ["a trigger's label", `${trigger} --type webhook --label`, [long(256)], tooLong("Label", "255")],
    ["a blank label", `${trigger} --type webhook --label`, [" "], /: Label can't be blank\n/],
    ["a type", `${trigger} --label Hook --type`, ["fax"], /: Type /],
    [
      "a branch",
      `${trigger} --type webhook --label Hook --branch`,
      [long(1001)],
      tooLong("Build branch", "1,000"),
    ],
    [
      "a message",
      `${trigger} --type webhook --label Hook --message`,
      [long(1001)],
      tooLong("Build message", "1,000"),
    ],
    ["an application's name", "app create --name", [long(101)], tooLong("Name", "100")],
    ["a client id that is taken", "app create --name Login --client-id login", [], /taken/],
    ["a lifetime", "app create --name Other --token-hours", ["876001"], /876000 hours at most/],
  ];
  for (const [what, words, more, message] of refusals) {
    it(`refuses ${what} as REST does, with exit code 1`, async () => {
      const { code, stdout, stderr } = await run(words, ...more);

      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, message);
      assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
    });
  }

  it("stores what has exactly the most characters", async () => {
    const description = long(2000);
    await accept(`cluster create ${org} --name ${long(100)} --description`, description);
    const { id } = await accept(`queue create ${cluster} --key ${long(100)} --description`, description);
    const updated = await accept(`queue update ${cluster} --queue ${id} --description`, `${long(1999)}y`);

    assert.equal(updated.description, `${long(1999)}y`);
    const emptied = await accept(`queue update ${cluster} --queue ${id} --description`, "");
    assert.equal(emptied.description, null);
  });
});
