import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { openApi, unknownId } from "../../helpers/api.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { eventually, request } from "../../helpers/http.ts";

describeWorldOn(sqlite, "every answer", withSettings(openApi, { SERVICE_NAME: "acme-ci" }), (api) => {
  const authorization = () => ({ Authorization: `Bearer ${api.adminToken}` });

  it("has a status line with a reason phrase", async () => {
    const statusLine = async (method: string, path: string) => {
      const socket = connect(Number(new URL(api.world.url).port), "127.0.0.1");
      await once(socket, "connect");
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      return (await text(socket)).split("\r\n")[0];
    };

    assert.equal(await statusLine("GET", "/v2"), "HTTP/1.1 200 OK");
    assert.equal(await statusLine("OPTIONS", "/v2"), "HTTP/1.1 204 No Content");
    assert.equal(await statusLine("GET", "/v2/user"), "HTTP/1.1 401 Unauthorized");
    assert.equal(await statusLine("GET", "/nowhere"), "HTTP/1.1 404 Not Found");
    assert.equal(await statusLine("PUT", "/deliver/x"), "HTTP/1.1 405 Method Not Allowed");
  });

  for (const [method, path] of [
    ["GET", "/v2/user"],
    ["GET", "/v2/organizations/acme/clusters"],
    ["GET", "/v3/ping"],
    ["POST", "/oauth/token"],
    ["POST", "/deliver/x"],
    ["GET", "/healthz"],
    ["GET", "/openapi.json"],
    ["GET", "/nowhere"],
    ["GET", "/v3/%zz"],
  ] as const)
    it(`lets no browser guess its type: ${method} ${path}`, async () => {
      const { headers } = await request(api.world.url + path, { method, headers: authorization() });
      assert.equal(headers.get("x-content-type-options"), "nosniff");
    });

  it("below 256 KB has a length, also of a list; a larger one comes in pieces, and is whole", async () => {
    const command = `${"é😀".repeat(1000)}`;
    const create = (count: number) => api.newPipeline({ steps: Array(count).fill({ command }) });
    const read = async (slug: string, method = "GET") => {
      const url = `${api.world.url}/v2/organizations/acme/pipelines/${slug}`;
      const headers = { ...authorization(), "Accept-Encoding": "identity" };
      const answer = await fetch(url, { method, headers });
      return { length: answer.headers.get("content-length"), text: await answer.text() };
    };
    const [small, large] = [await create(20), await create(100)];

    const [ofSmall, ofLarge] = [await read(small.slug), await read(large.slug)];

    assert.equal(ofSmall.length, String(Buffer.byteLength(ofSmall.text)));
    assert.ok(Buffer.byteLength(ofSmall.text) > 64 * 1024);
    assert.equal((await read(small.slug, "HEAD")).length, ofSmall.length);
    assert.equal(ofLarge.length, null);
    for (const [{ text: body }, count] of [[ofSmall, 20] as const, [ofLarge, 100] as const])
      assert.deepEqual(
        JSON.parse(body).steps.map((step: { command: string }) => step.command),
        Array(count).fill(command),
      );
  });

  for (const encoding of ["identity", "gzip"])
    it(`gives its memory back once it is sent: ${encoding}`, async ({ mock }) => {
      const { slug } = await api.newPipeline({ steps: Array(100).fill({ command: "x".repeat(1000) }) });
      const url = `${api.world.url}/v2/organizations/acme/pipelines/${slug}`;
      const from = mock.method(Buffer, "from");

      const answer = await fetch(url, { headers: { ...authorization(), "Accept-Encoding": encoding } });
      const text = await answer.text();

      const made = from.mock.calls.filter(({ arguments: [given] }) => String(given) === text);
      assert.equal(made.length, 1);
      await eventually("the memory", async () => made[0]?.result?.length === 0);
    });

  it("lets no browser guess its type if Node's parser refuses the request", async () => {
    const socket = connect(Number(new URL(api.world.url).port), "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nbroken\r\n\r\n");
    assert.match(await text(socket), /\r\nX-Content-Type-Options: nosniff\r\n/);
  });

  it("has its headers if the request says HTTP/2.0", async () => {
    const socket = connect(Number(new URL(api.world.url).port), "127.0.0.1");
    socket.write("GET /v2/user HTTP/2.0\r\nHost: x\r\n\r\n");
    const answer = await text(socket);

    assert.match(answer, /^HTTP\/1\.1 401 Unauthorized\r\n/);
    assert.match(answer, /\r\ncontent-type: application\/json/i);
    assert.match(answer, /\r\ncontent-length: \d+/i);
  });

  describe("to HEAD", () => {
    for (const [path, status] of [
      ["/v2/organizations/acme/clusters", 200],
      ["/v2/organizations/acme/clusters/nope", 404],
      ["/v2/organizations/nope", 404],
      ["/healthz", 200],
      ["/openapi.json", 200],
      ["/sign-in", 200],
      ["/nowhere", 404],
    ] as const) {
      it(`has the Content-Length of GET and no body: ${path}`, async () => {
        const sent = { headers: { ...authorization(), "Accept-Encoding": "identity" } };

        const full = await request(api.world.url + path, sent);
        const head = await request(api.world.url + path, { ...sent, method: "HEAD" });

        assert.deepEqual([full.status, head.status, head.text], [status, status, ""]);
        const length = head.headers.get("content-length");
        assert.equal(length, full.headers.get("content-length") ?? String(Buffer.byteLength(full.text)));
        assert.equal(length, String(Buffer.byteLength(full.text)));
      });
    }
  });

  it("finds resources by upper-case UUIDs in paths", async () => {
    const { cluster, queue, pipeline } = api.acme;
    const trigger = await api.acme.trigger();
    const upper = (id: string) => id.toUpperCase();

    const paths = [
      `/clusters/${upper(cluster.id)}`,
      `/clusters/${upper(cluster.id)}/queues/${upper(queue.id)}`,
      `/pipelines/${pipeline.slug}/triggers/${upper(trigger.id)}`,
    ];

    for (const path of paths) {
      const answer = await api.send("GET", path);
      assert.equal(answer.status, 200, path);
      assert.deepEqual(answer.body, (await api.send("GET", path.toLowerCase())).body);
    }
    assert.equal((await api.send("GET", `/clusters/${upper(unknownId)}`)).status, 404);
  });

  it("shows the rate limit in a 405 to a valid token, and needs no token for a 405", async () => {
    const valid = await api.send("PATCH", "/clusters", { body: {} });
    const without = await api.send("PATCH", "/clusters", { body: {}, token: null });
    const wrong = await api.send("PATCH", "/clusters", { body: {}, token: "nonsense" });
    const next = await api.send("GET", "/clusters");

    for (const { status, headers } of [valid, without, wrong])
      assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD, POST"]);
    assert.equal(valid.headers.get("ratelimit-scope"), "rest");
    const remaining = ({ headers }: typeof valid) => Number(headers.get("ratelimit-remaining"));
    assert.equal(remaining(valid) - remaining(next), 1);
    for (const { headers } of [without, wrong]) assert.equal(headers.get("ratelimit-limit"), null);
  });

  it("names SERVICE_NAME as the realm of every challenge", async () => {
    const basic = await request(`${api.world.url}/oauth/token`, {
      method: "POST",
      headers: { Authorization: `Basic ${btoa("nobody:secret")}` },
      body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: "x" }),
    });
    const bearer = await api.send("GET", "/clusters", { token: null });
    const job = await request(`${api.world.url}/v3/jobs/${unknownId}/data/keys`, { method: "POST" });

    assert.deepEqual(
      [basic, bearer, job].map(({ status, headers }) => [status, headers.get("www-authenticate")]),
      [
        [401, 'Basic realm="acme-ci"'],
        [401, 'Bearer realm="acme-ci"'],
        [401, 'Token realm="acme-ci"'],
      ],
    );
  });
});
