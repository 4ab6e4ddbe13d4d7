import assert from "node:assert/strict";
import { before, it } from "node:test";
import { listBuilds } from "../../../shared/builds/reading/list.ts";
import type { BuildFilter } from "../../../shared/builds/reading/list-plan-store.ts";
import type { Db } from "../../../shared/db/database.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";

const page = { limit: 10, offset: 0 };
const long = "b".repeat(150);

describeWorld("lists of builds by filters of one form", openApi, (api) => {
  let organizationId: string;
  let started = 0;
  let db: Db;

  before(async () => {
    const { slug } = await api.newPipeline({ steps: [{ command: "true" }] });
    for (const branch of ["main", "other", long])
      await api.send("POST", `/pipelines/${slug}/builds`, {
        body: { branch, message: `On ${branch}`, meta_data: { on: branch } },
      });
    const { services } = api.world;
    organizationId = api.acme.id;
    const select = ((...fields: Parameters<Db["select"]>) => {
      started++;
      return services.db.select(...fields);
    }) as Db["select"];
    db = { ...services.db, select };
  });

  const branchesOf = async (filter: Partial<BuildFilter>) => {
    const { rows, total } = await listBuilds(db, { organizationId, includePaused: true, ...filter }, page);
    assert.equal(total, rows.length);
    return rows.map(({ branch }) => branch);
  };

  const filters: Record<string, (branch: string) => Partial<BuildFilter>> = {
    branch: (branch) => ({ branches: [branch, branch] }),
    "branch and message": (branch) => ({ branches: [branch], message: "ON " }),
    "state and meta-data": (branch) => ({ states: ["scheduled"], metaData: [["on", branch]] }),
    message: (branch) => ({ message: branch }),
  };
  for (const [name, filterOf] of Object.entries(filters))
    it(`builds the statements of ${name} once, and gives each its values`, async () => {
      assert.deepEqual(await branchesOf(filterOf("main")), ["main"]);
      const before = started;
      assert.deepEqual(await branchesOf(filterOf("other")), ["other"]);
      assert.deepEqual(await branchesOf(filterOf("none")), []);
      assert.equal(started, before);
      assert.deepEqual(await branchesOf(filterOf(long)), [long]);
    });

  it("tells an empty value from others", async () => {
    assert.deepEqual(await branchesOf({ message: "other" }), ["other"]);
    assert.equal((await branchesOf({ message: "" })).length, 3);
    assert.deepEqual(await branchesOf({ branches: [] }), []);
  });
});
