import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import Client from "better-sqlite3";
import { requestBytes } from "../../scripts/bench/load/request.ts";
import { sqliteFile } from "../../shared/db/open.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually, post, untilNotBusy } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { runIngress } from "../helpers/processes.ts";
import { sendRaw } from "../helpers/sockets.ts";
import { settingsOf, startWorld, type World } from "../helpers/world.ts";

const megabyte = 1024 * 1024;
/** V8 lets 64 MB of garbage gather, which would be too large a part of a smaller budget. */
const budget = 128 * megabyte;
/** Three quarters of the budget are for deliveries. */
const fitting = 96;
const sent = 128;
const waves = 2;
const organizations = 16;
const bodies = Array.from({ length: sent }, randomBody);
/** Every upload has an organization that is below its share, and a network of its own. */
const from = (index: number) => ({ "X-Forwarded-For": `198.18.${index}.1` });
const json = { "Content-Type": "application/json" };

/** Hardly shorter when it is deflated. */
function randomBody(): Buffer<ArrayBuffer> {
  const text = randomBytes(megabyte).toString("base64");
  return Buffer.from(JSON.stringify(text.slice(0, megabyte - 2)));
}

const missing = process.platform === "linux" ? false : "only Linux says how much memory a process has taken";

describe("an ingress that gets more bodies of 1 MB than fit", { skip: missing }, () => {
  let world: World;
  let ingress: Awaited<ReturnType<typeof runIngress>>;
  let paths: string[];
  let idle: number;

  before(async () => {
    world = await startWorld(sqlite);
    paths = await Promise.all(
      Array.from({ length: organizations }, async (_, index) => {
        const organization = await setUpOrganization(world, `organization-${index}`);
        return (await organization.trigger()).path;
      }),
    );
    ingress = await runIngress({
      ...settingsOf(world),
      TRUSTED_PROXIES: "127.0.0.1",
      MAX_BODY_BYTES_IN_FLIGHT: String(budget),
      MIN_UPLOAD_BYTES_PER_SECOND: "0",
      REQUEST_TIMEOUT_SECONDS: "3600",
    });
    for (const path of paths) assert.equal((await post(ingress.url + path, "{}")).status, 201);
    writeFileSync(`/proc/${ingress.process.pid}/clear_refs`, "5"); // the peak of starting does not count
    idle = memory("VmRSS");
  });
  after(async () => {
    await ingress.kill("SIGTERM");
    await world.close();
  });

  /** Bytes of the process. `VmHWM` is the peak. */
  const memory = (field: "VmRSS" | "VmHWM") => {
    const status = readFileSync(`/proc/${ingress.process.pid}/status`, "utf8");
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1]) * 1024;
  };
  const pathOf = (index: number) => paths[index % organizations] ?? "";
  const send = (index: number) =>
    post(ingress.url + pathOf(index), bodies[index] as Buffer<ArrayBuffer>, from(index));

  /** Sends all of a body but its last byte. */
  async function begin(index: number) {
    const body = bodies[index] as Buffer;
    const url = ingress.url + pathOf(index);
    const request = requestBytes({ method: "POST", url, headers: { ...json, ...from(index) }, body });
    const { socket } = await sendRaw(url, request.subarray(0, -1));
    const upload = {
      answer: "",
      end: () => void socket.write(body.subarray(-1)),
      leave: () => socket.destroy(),
    };
    socket.on("data", (data) => {
      upload.answer += String(data);
    });
    return upload;
  }

  it("refuses at once what does not fit and later what waits too long for the database, and recovers", async () => {
    const refused = /^HTTP\/1.1 503 .*\r\nretry-after: \d+\r\n/is;
    const uploads = await Promise.all(bodies.map((_, index) => begin(index)));
    const answered = () => uploads.filter(({ answer }) => answer.includes("\r\n\r\n"));
    await eventually(
      "the refusals of those that do not fit",
      async () => answered().length >= sent - fitting,
    );
    const first = answered();
    const lock = new Client(sqliteFile(world.config.databaseUrl));
    lock.exec("BEGIN IMMEDIATE");
    for (const upload of uploads) if (!first.includes(upload)) upload.end();
    await eventually("the refusals of those that wait", async () => answered().length === sent);
    lock.exec("ROLLBACK");
    lock.close();

    assert.equal(first.length, sent - fitting);
    for (const { answer } of uploads) assert.match(answer, refused);
    for (const { leave } of uploads) leave();
    for (let index = 0; index < organizations; index++)
      assert.equal((await untilNotBusy(() => send(index))).status, 201);
  });

  it("takes at most three times its budget more memory, and loses nothing that it accepts", async (context) => {
    const { deliveries } = world.services.db.tables;
    const stored = async () =>
      (await world.services.db.select({ id: deliveries.id }).from(deliveries)).length;
    const earlier = await stored();
    let accepted = 0;

    for (let wave = 0; wave < waves; wave++)
      for (const { status, headers } of await Promise.all(bodies.map((_, index) => send(index)))) {
        if (status === 201) accepted++;
        else assert.deepEqual([status, /^\d+$/.test(headers.get("retry-after") ?? "")], [503, true]);
      }

    const more = memory("VmHWM") - idle;
    context.diagnostic(`${idle / megabyte} MB at first, ${more / megabyte} MB more, ${accepted} accepted`);
    assert.ok(more <= 3 * budget, `${more / megabyte} MB more`);
    assert.equal((await untilNotBusy(() => send(0))).status, 201);
    assert.equal(await stored(), earlier + accepted + 1);
  });
});
