import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createAgentToken } from "../../shared/agents/tokens.ts";
import { startAgent } from "../helpers/agent.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { runIngress } from "../helpers/processes.ts";
import { settingsOf } from "../helpers/world.ts";

const megabyte = 1024 ** 2;
const diskBytes = 400 * megabyte;
const slowUploads = 19;
/** Together they leave a megabyte of the disk, besides the part that is left to the database. */
const declaredBytes = Math.floor((diskBytes * 0.95 - megabyte) / slowUploads);

const skip = process.getuid?.() === 0 ? false : "mounting needs root";
if (skip && process.env.TEST_REQUIRE === "all") throw new Error(skip);

describe("slow uploads of files that are announced as large", { skip }, () => {
  let api: Api;
  let ingress: Awaited<ReturnType<typeof runIngress>>;
  let folder: string;
  const requests: ClientRequest[] = [];

  before(async () => {
    api = await openApi(sqlite);
    folder = new URL(api.world.config.blobUrl).pathname;
    mkdirSync(folder);
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${diskBytes}`, "none", folder]);
    assert.equal(mounted.status, 0, String(mounted.stderr));
    ingress = await runIngress(settingsOf(api.world));
  });
  after(async () => {
    for (const each of requests) each.destroy();
    await ingress.kill();
    spawnSync("umount", ["--lazy", folder]);
    await api.close();
  });

  /** Announces files of these sizes, from a running job of the organization. */
  const announce = async (
    { operator, cluster, pipeline }: TestOrganization,
    content: string,
    sizes: number[],
  ) => {
    await api.build(pipeline.id);
    const given = { description: "test", queueId: null, expiresAt: null };
    const agent = await startAgent(
      ingress.url,
      (await createAgentToken(api.world.services, operator, cluster, given)).token,
    );
    const job = (await agent.offered()) ?? assert.fail();
    const { token } = await agent.begin(job);
    const sha1sum = createHash("sha1").update(content).digest("hex");
    const artifacts = sizes.map((file_size, index) => ({ path: `${index}`, file_size, sha1sum }));
    const { body } = await agent.send(
      "POST",
      `/jobs/${job}/artifacts`,
      { id: randomUUID(), artifacts },
      token,
    );
    const data: Record<string, string> = body.upload_instructions.data;
    return sizes.map((size, index) => ({ data: { ...data, path: `${index}` }, size }));
  };
  const begin = ({ data, size }: { data: Record<string, string>; size: number }, content: string) => {
    const fields = Object.entries(data).map(
      ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const head = `${fields.join("")}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
    const tail = "\r\n--b--\r\n";
    const headers = {
      "Content-Type": "multipart/form-data; boundary=b",
      "Content-Length": Buffer.byteLength(head) + size + tail.length,
    };
    const answered = Promise.withResolvers<number>();
    const options = { method: "POST", headers, agent: false };
    const outgoing = request(`${ingress.url}/v3/artifacts/upload`, options, (incoming) => {
      incoming.resume();
      answered.resolve(incoming.statusCode ?? 0);
    });
    outgoing.on("error", answered.reject);
    answered.promise.catch(() => {}); // an upload that never ends fails when its connection is closed
    outgoing.write(head + content);
    requests.push(outgoing);
    return () => {
      outgoing.end(tail);
      return answered.promise;
    };
  };

  it("leave the room of the disk to others", async () => {
    const other = await setUpOrganization(api.world, "other");
    const large = await announce(api.acme, "", Array(slowUploads).fill(declaredBytes));
    const content = "x".repeat(2 * megabyte);
    const [small] = await announce(other, content, [content.length]);

    for (const each of large) begin(each, "a few bytes");
    const unfinished = join(folder, "unfinished");
    await eventually(
      "their beginnings",
      async () => readdirSync(folder).length && readdirSync(unfinished).length === slowUploads,
    );

    assert.equal(await begin(small ?? assert.fail(), content)(), 200);
  });
});
