import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import {
  assertNotStored,
  assertOAuthError,
  deviceGrantType,
  postForm,
  setUpClient,
  startDevice,
  type TestClient,
} from "../../helpers/device.ts";
import { type Answer, request } from "../../helpers/http.ts";
import { startWorld } from "../../helpers/world.ts";

const paths = ["device_authorization", "token", "revoke", "introspect"].map((name) => `/oauth/${name}`);

const settings = { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000" };

describeWorldOn(sqlite, "forms at the OAuth endpoints", withSettings(startWorld, settings), (world) => {
  let client: TestClient;

  before(async () => {
    client = await setUpClient(world);
  });

  const send = (path: string, body: string | Buffer<ArrayBuffer> | undefined, type: string | undefined) =>
    request(world.url + path, {
      method: "POST",
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
      headers: type === undefined ? {} : { "Content-Type": type },
    });
  const pairs = (more: [string, string][]): [string, string][] => [
    ["client_id", client.clientId],
    ["scope", "read_user"],
    ...more,
  ];
  const authorizeWith = (more: [string, string][]) =>
    postForm(`${world.url}/oauth/device_authorization`, pairs(more));
  const invalid = (answering: Promise<Answer>) => assertOAuthError(answering, 400, "invalid_request");

  for (const path of paths) {
    describe(`POST ${path}`, () => {
      it("answers 400 invalid_request to any body that is not a form", async () => {
        const body = `client_id=${client.clientId}`;
        const others = ["application/json", "text/plain", "multipart/form-data; boundary=x", "form"];
        const close = ["application/x-www-form-urlencodedx", "x-www-form-urlencoded", ""];

        for (const type of [...others, ...close]) await invalid(send(path, body, type));
        await invalid(send(path, JSON.stringify({ client_id: client.clientId }), "application/json"));
        await invalid(send(path, body, undefined));
        await invalid(send(path, undefined, undefined));
      });

      it("answers 400 invalid_request to a body over 64 KiB, declared or streamed", async () => {
        const large = `client_id=${client.clientId}&x=${"x".repeat(64 * 1024)}`;

        const declared = await invalid(send(path, large, "application/x-www-form-urlencoded"));
        const streamed = request(world.url + path, {
          method: "POST",
          headers: { "Content-Type": "application/x-www-form-urlencoded" },
          body: new Blob([large]).stream(),
          duplex: "half",
        } as RequestInit);

        assert.equal(declared.headers.get("connection"), "close");
        await invalid(streamed);
      });

      it("answers 401 invalid_client without a challenge to a form without a client", async () => {
        for (const body of [
          "",
          "&&&",
          "=",
          "scope=read_user",
          "client_id",
          "client_id=",
          "%",
          "\0",
          "Client_Id=x",
        ]) {
          const answering = send(path, body, "application/x-www-form-urlencoded");
          const { headers } = await assertOAuthError(answering, 401, "invalid_client");
          assert.equal(headers.get("www-authenticate"), null);
        }
      });

      it("never reads the query string", async () => {
        const query = `?client_id=${client.clientId}&scope=read_user&token=x`;

        await assertOAuthError(postForm(world.url + path + query, {}), 401, "invalid_client");
      });

      it("answers 405 with Allow: POST to every other method", async () => {
        for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
          const answer = await request(`${world.url}${path}?client_id=${client.clientId}`, { method });
          assert.equal(answer.status, 405, method);
          assert.equal(answer.headers.get("allow"), "POST");
          assertNotStored(answer);
          if (method !== "HEAD") assert.equal(answer.body.error, "invalid_request");
        }
      });

      it("carries a request id on refusals too", async () => {
        const refused = await postForm(world.url + path, {}, { "X-Request-Id": "my-request" });

        assert.equal(refused.headers.get("x-request-id"), "my-request");
      });
    });
  }

  it("are read with any charset parameter, and a content type in any case", async () => {
    const body = new URLSearchParams(pairs([])).toString();
    for (const type of [
      "application/x-www-form-urlencoded; charset=utf-8",
      "application/x-www-form-urlencoded;charset=ISO-8859-1",
      "Application/X-WWW-Form-Urlencoded ; foo=bar",
    ]) {
      const answer = await send("/oauth/device_authorization", body, type);
      assert.equal(answer.status, 200, type);
    }
  });

  it("may not repeat a known parameter, even with the same value", async () => {
    for (const name of ["client_id", "scope"])
      await invalid(authorizeWith([[name, name === "scope" ? "read_user" : client.clientId]]));
    for (const name of ["organization", "organization_uuid"]) {
      await invalid(
        authorizeWith([
          [name, "x"],
          [name, "x"],
        ]),
      );
    }
    await invalid(
      postForm(`${world.url}/oauth/token`, [
        ["client_id", client.clientId],
        ["grant_type", deviceGrantType],
        ["device_code", issueToken("deviceCode")],
        ["grant_type", deviceGrantType],
      ]),
    );
    await invalid(
      postForm(`${world.url}/oauth/revoke`, [
        ["client_id", client.clientId],
        ["token", "x"],
        ["token", "x"],
      ]),
    );
  });

  it("may have unknown parameters, repeated or empty", async () => {
    const { status } = await authorizeWith([
      ["nonce", "1"],
      ["nonce", "2"],
      ["__proto__", "x"],
      ["constructor", "x"],
      ["device_code", "x"],
      ["device_code", "x"],
      ["", ""],
    ]);

    assert.equal(status, 200);
  });

  it("may have empty known parameters, which count as absent", async () => {
    const { deviceCode } = await startDevice(world, client);
    const token = (more: Record<string, string>) =>
      postForm(`${world.url}/oauth/token`, { client_id: client.clientId, ...more });

    assert.equal((await authorizeWith([["client_secret", ""]])).status, 200);
    assert.equal((await authorizeWith([["organization", ""]])).status, 200);
    await invalid(token({ grant_type: "", device_code: deviceCode }));
    await invalid(token({ grant_type: deviceGrantType, device_code: "" }));
  });

  describe("POST /oauth/token", () => {
    const token = (more: Record<string, string>) =>
      postForm(`${world.url}/oauth/token`, { client_id: client.clientId, ...more });

    it("answers 400 invalid_request without a grant type, a device code or a refresh token", async () => {
      await invalid(token({}));
      await invalid(token({ device_code: issueToken("deviceCode") }));
      await invalid(token({ grant_type: deviceGrantType }));
      await invalid(token({ grant_type: "refresh_token" }));
    });

    it("answers 400 unsupported_grant_type to any other grant type", async () => {
      const known = ["authorization_code", "client_credentials", "password", "device_code", "implicit"];
      for (const type of [
        ...known,
        deviceGrantType.toUpperCase(),
        `${deviceGrantType} `,
        "constructor",
        "\0",
      ])
        await assertOAuthError(token({ grant_type: type, device_code: "x" }), 400, "unsupported_grant_type");
    });

    it("answers 400 invalid_grant to a malformed device code", async () => {
      const real = issueToken("deviceCode");
      const { userCode } = await startDevice(world, client);
      const mistyped = real.slice(0, -1) + (real.endsWith("x") ? "y" : "x");
      const odd = ["x", "sbdc_", mistyped, ` ${real}`, `${real}\0`, real.repeat(900), "😀", "null", userCode];
      for (const deviceCode of [...odd, issueToken("access"), real]) {
        const answering = token({ grant_type: deviceGrantType, device_code: deviceCode });
        const { text } = await assertOAuthError(answering, 400, "invalid_grant");
        assert.doesNotMatch(text, /sbdc_|sbat_/);
      }
    });
  });
});
