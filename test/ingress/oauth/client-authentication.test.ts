import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { disableApplication, enableApplication, rotateSecret } from "../../../shared/oauth/applications.ts";
import { describeOnSqlite } from "../../helpers/databases.ts";
import {
  assertOAuthError,
  basic,
  deviceGrantType,
  type FormParameters,
  postForm,
  setUpClient,
  type TestClient,
} from "../../helpers/device.ts";
import type { Answer } from "../../helpers/http.ts";
import { startWorld, type World } from "../../helpers/world.ts";

const endpoints = ["device_authorization", "token", "revoke", "introspect"] as const;
type Endpoint = (typeof endpoints)[number];

/** Valid everywhere, except for the missing client. */
const rest = { scope: "read_user", grant_type: deviceGrantType, token: issueToken("access") };

describeOnSqlite("client authentication", (database) => {
  let world: World;
  let open: TestClient;
  let confidential: TestClient;
  let other: TestClient;

  before(async () => {
    const many = { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000", CLIENT_FAILURES_PER_MINUTE: "1000" };
    world = await startWorld(database, many);
    open = await setUpClient(world);
    confidential = await setUpClient(world, { confidential: true });
    other = await setUpClient(world, { confidential: true, clientId: "other" });
  });
  after(() => world.close());

  const send = (endpoint: Endpoint, parameters: FormParameters, headers?: Record<string, string>) =>
    postForm(`${world.url}/oauth/${endpoint}`, parameters, headers);
  /** `challenged` expects WWW-Authenticate. */
  const unauthenticated = async (answering: Promise<Answer>, challenged: boolean) => {
    const { headers } = await assertOAuthError(answering, 401, "invalid_client");
    const challenge = headers.get("www-authenticate");
    if (challenged) assert.match(challenge ?? "", /^Basic realm="[^"]+"$/);
    else assert.equal(challenge, null);
  };
  const authenticated = async (endpoint: Endpoint, answering: Promise<Answer>) => {
    const { status, body, text } = await answering;
    const expected = { device_authorization: 200, token: 400, revoke: 200, introspect: 200 }[endpoint];
    assert.equal(status, expected, text);
    if (endpoint === "token") assert.equal(body.error, "invalid_request"); // device_code is missing
  };

  for (const endpoint of endpoints) {
    describe(`POST /oauth/${endpoint}`, () => {
      it("accepts a confidential client's secret in the form or by HTTP Basic", async () => {
        const { clientId, secret } = confidential;

        await authenticated(endpoint, send(endpoint, { ...rest, ...confidential.credentials }));
        await authenticated(endpoint, send(endpoint, rest, basic(clientId, secret)));
        await authenticated(
          endpoint,
          send(endpoint, { ...rest, client_id: clientId }, basic(clientId, secret)),
        );
      });

      it("answers 401 to a confidential client without its own secret", async () => {
        const { clientId, secret } = confidential;
        const wrong = ["x", other.secret, issueToken("clientSecret"), ` ${secret}`, `${secret}\0`, "😀"];

        await unauthenticated(send(endpoint, { ...rest, client_id: clientId }), false);
        for (const each of [...wrong, secret.toLowerCase(), secret.repeat(500)]) {
          await unauthenticated(send(endpoint, { ...rest, client_id: clientId, client_secret: each }), false);
        }
        for (const each of ["", "x", other.secret, secret.slice(0, -1)]) {
          await unauthenticated(send(endpoint, rest, basic(clientId, each)), true);
        }
      });

      it("answers 401 to unknown clients and malformed ids", async () => {
        for (const id of ["nope", "\0", "a\0b", "😀", "x".repeat(30_000), "' or 1=1 --", "%00", " "]) {
          await unauthenticated(send(endpoint, { ...rest, client_id: id }), false);
          await unauthenticated(send(endpoint, { ...rest, client_id: id, client_secret: "x" }), false);
        }
        for (const id of ["nope", "a\0b", "😀", "x".repeat(2000)])
          await unauthenticated(send(endpoint, rest, basic(id, "x")), true);
      });

      it("answers 401 to a disabled client, until it is enabled again", async () => {
        const doomed = await setUpClient(world, { confidential: true });
        const sent = () => send(endpoint, { ...rest, ...doomed.credentials });
        await authenticated(endpoint, sent());

        await disableApplication(world.services, doomed.clientId);
        await unauthenticated(sent(), false);
        await unauthenticated(send(endpoint, rest, basic(doomed.clientId, doomed.secret)), true);

        await enableApplication(world.services, doomed.clientId);
        await authenticated(endpoint, sent());
      });

      it("answers 401 with a challenge to every Authorization header except valid Basic", async () => {
        const encoded = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
        const headers = ["Bearer x", "Basic", "Basic ", "Basic ???", "Digest username=x", "x", "Basic a b"];
        const contents = ["", "nocolon", ":", ":secret", "%:x", `${open.clientId}:%zz`, "%00:x", "\u00ff:\0"];

        for (const authorization of [...headers, ...contents.map(encoded)]) {
          const sent = { ...rest, client_id: open.clientId };
          await unauthenticated(send(endpoint, sent, { Authorization: authorization }), true);
        }
      });

      it("answers 401 when the header and the form name different clients", async () => {
        const header = basic(confidential.clientId, confidential.secret);

        await unauthenticated(send(endpoint, { ...rest, client_id: "other" }, header), true);
        await unauthenticated(send(endpoint, { ...rest, client_id: open.clientId }, header), true);
      });

      it("answers 400 invalid_request to two secrets at once, even the right ones", async () => {
        const { clientId, secret } = confidential;
        const twice = send(endpoint, { ...rest, ...confidential.credentials }, basic(clientId, secret));
        const half = send(endpoint, { ...rest, client_secret: secret }, basic(clientId, secret));

        await assertOAuthError(twice, 400, "invalid_request");
        await assertOAuthError(half, 400, "invalid_request");
      });

      it("answers 401 to a public client that uses HTTP Basic", async () => {
        for (const secret of ["", "x", confidential.secret])
          await unauthenticated(send(endpoint, rest, basic(open.clientId, secret)), true);
      });
    });
  }

  for (const endpoint of ["device_authorization", "token", "revoke"] as const) {
    it(`accepts a public client by its id at /oauth/${endpoint} and ignores a secret`, async () => {
      const sent = { ...rest, client_id: open.clientId };

      await authenticated(endpoint, send(endpoint, sent));
      await authenticated(endpoint, send(endpoint, { ...sent, client_secret: "x" }));
    });
  }

  it("form-decodes both parts of HTTP Basic", async () => {
    const { secret } = other;
    const header = (text: string) => ({ Authorization: `basic  ${Buffer.from(text).toString("base64")}` });

    await authenticated("token", send("token", rest, header(`%6Fth%65r:${secret}`)));
    await authenticated("token", send("token", rest, header(`other:%73${secret.slice(1)}`)));
    await unauthenticated(send("token", rest, header(`other:+${secret}`)), true);
  });

  it("authenticates the client before it checks anything else", async () => {
    await unauthenticated(send("token", { client_id: "nope", grant_type: "nope" }), false);
    await unauthenticated(send("device_authorization", { client_id: "nope", scope: "nope" }), false);
    await unauthenticated(send("introspect", { client_id: "nope" }), false);
  });

  it("accepts only the new secret after a rotation", async () => {
    const rotated = await setUpClient(world, { confidential: true });
    const sent = (secret: string) => send("token", rest, basic(rotated.clientId, secret));
    await authenticated("token", sent(rotated.secret));

    const next = await rotateSecret(world.services, rotated.clientId);

    await unauthenticated(sent(rotated.secret), true);
    await authenticated("token", sent(next));
  });
});
