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
    ["a slug that is taken", "org create --slug acme --name A", [], /: Slug has already been taken\n/],
    ["a number", "org update acme --deliveries-per-hour", ["many"], /It must be a whole number/],
    ["a password", `user set-password ada@example.com --password`, ["x"], /: Password /],
    ["a role", `member update ${user} --role`, ["owner"], /Allowed choices are admin, member/],
    ["a scope", `token create ${user} --scopes`, ["read_everything"], /is not a known scope/],
    ["no scope", `token create ${user} --scopes`, [" "], /Scopes can't be blank/],
    [
      "a token's time",
      `token create ${user} --scopes read_builds --expires-in-hours`,
      ["876001"],
      /at most 876000/,
    ],
    ["a note", `queue pause ${queue} --note`, [long(2001)], tooLong("Note", "2,000")],
    [
      "a command",
      `pipeline create ${cluster} --name App --slug app --command`,
      [long(100_001)],
      /^Validation failed: .* is too long/,
    ],
    ["a type", `${trigger} --label Hook --type`, ["fax"], /: Type /],
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
