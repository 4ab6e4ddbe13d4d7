import assert from "node:assert/strict";
import {
  approve,
  type DeviceRequest,
  deny,
  enterUserCode,
  findDeviceRequest,
} from "../../shared/device/decide.ts";
import { readUserCode } from "../../shared/device/user-code.ts";
import { createApplication, type NewApplication } from "../../shared/oauth/applications.ts";
import type { TestDatabase } from "./databases.ts";
import { type Answer, request } from "./http.ts";
import { openAcme } from "./organization.ts";
import type { World } from "./world.ts";

/** Written out, so that a change of the wire fails. */
export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";

/** Pairs may repeat a name; `undefined` omits one. */
export type FormParameters = Record<string, string | undefined> | [string, string][];

/** Checks the headers of every OAuth answer too. */
export async function postForm(
  url: string,
  parameters: FormParameters,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const body = new URLSearchParams(Array.isArray(parameters) ? parameters : (pairs as [string, string][]));
  const answer = await request(url, { method: "POST", body, headers });
  assertNotStored(answer);
  if (answer.status === 400) assert.equal(answer.headers.get("www-authenticate"), null);
  return answer;
}

/** RFC 6749 §5.1. */
export function assertNotStored({ headers }: Answer): void {
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("pragma"), "no-cache");
}

/** RFC 6749 §5.2. */
export async function assertOAuthError(
  answering: Promise<Answer>,
  status: number,
  error: string,
): Promise<Answer> {
  const answer = await answering;
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual(Object.keys(answer.body), ["error", "error_description"]);
  assert.equal(answer.body.error, error);
  assert.match(answer.body.error_description, /^[A-Z][\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json\b/);
  assertNotStored(answer);
  return answer;
}

export async function assertLimited(answering: Promise<Answer>, error: string): Promise<void> {
  const { headers, body } = await assertOAuthError(answering, 429, error);
  assert.deepEqual(body, { error, error_description: "Too many attempts: wait as long as Retry-After says" });
  const seconds = headers.get("retry-after") ?? "";
  assert.match(seconds, /^\d+$/);
  assert.ok(Number(seconds) >= 1 && Number(seconds) <= 61, seconds);
  assert.equal(headers.get("www-authenticate"), null);
}

export type TestClient = Awaited<ReturnType<typeof setUpClient>>;

/** Default: a public client without refresh tokens or expiry. */
export async function setUpClient(
  { services }: Pick<World, "services">,
  options: Partial<NewApplication> = {},
) {
  const { application, secret } = await createApplication(services, {
    name: "Test CLI",
    confidential: false,
    deviceFlow: true,
    refreshTokens: false,
    ...options,
  });
  return {
    ...application,
    secret: secret ?? "",
    credentials: { client_id: application.clientId, client_secret: secret },
  };
}

/** Like `openAcme`, with a client. */
export async function openDevices(database: TestDatabase, settings: Record<string, string> = {}) {
  const world = await openAcme(database, settings);
  return { ...world, client: await setUpClient(world) };
}

/** RFC 6749 §2.3.1: each part is form-encoded first. */
export function basic(id: string, secret: string): { Authorization: string } {
  const encoded = [id, secret].map((part) => new URLSearchParams({ _: part }).toString().slice(2)).join(":");
  return { Authorization: `Basic ${Buffer.from(encoded).toString("base64")}` };
}

export function authorize(
  { url }: Pick<World, "url">,
  client: TestClient,
  more: Record<string, string | undefined> = {},
  headers?: Record<string, string>,
): Promise<Answer> {
  const parameters = { ...client.credentials, scope: "read_user", ...more };
  return postForm(`${url}/oauth/device_authorization`, parameters, headers);
}

export async function startDevice(
  world: Pick<World, "url">,
  client: TestClient,
  more?: Record<string, string>,
): Promise<{ deviceCode: string; userCode: string }> {
  const { status, body, text } = await authorize(world, client, more);
  assert.equal(status, 200, text);
  return { deviceCode: body.device_code, userCode: body.user_code };
}

export function poll(
  { url }: Pick<World, "url">,
  client: TestClient,
  deviceCode: string,
  more: Record<string, string | undefined> = {},
): Promise<Answer> {
  const parameters = { grant_type: deviceGrantType, ...client.credentials, device_code: deviceCode, ...more };
  return postForm(`${url}/oauth/token`, parameters);
}

export function refresh(
  { url }: Pick<World, "url">,
  client: TestClient,
  refreshToken: string,
  more: Record<string, string | undefined> = {},
): Promise<Answer> {
  const parameters = {
    grant_type: "refresh_token",
    ...client.credentials,
    refresh_token: refreshToken,
    ...more,
  };
  return postForm(`${url}/oauth/token`, parameters);
}

export async function enterCode(
  { services }: Pick<World, "services">,
  userId: string,
  userCode: string,
): Promise<DeviceRequest> {
  const entered = { userId, userCode: readUserCode(userCode) ?? "" };
  assert.ok(await enterUserCode(services, entered, false), "the code can be entered");
  const found = await findDeviceRequest(services, entered);
  assert.ok(found);
  return found;
}

export interface Decider {
  id: string;
  user: { id: string };
}

export async function approveCode(
  world: Pick<World, "services">,
  { id: organizationId, user }: Decider,
  userCode: string,
): Promise<boolean> {
  const { code } = await enterCode(world, user.id, userCode);
  return approveEntered(world, { id: organizationId, user }, code);
}

/** Expects an entered code. */
export function approveEntered(
  { services }: Pick<World, "services">,
  { id: organizationId, user }: Decider,
  code: DeviceRequest["code"],
): Promise<boolean> {
  const approval = { organizationId, ip: "192.0.2.7", userAgent: "Test Browser" };
  return approve(services, { code, userId: user.id }, approval);
}

export async function denyCode(
  world: Pick<World, "services">,
  { user }: Decider,
  userCode: string,
): Promise<boolean> {
  const { code } = await enterCode(world, user.id, userCode);
  return deny(world.services, code.id, user.id);
}

/** Returns the token response of a whole sign-in. */
export async function signIn(
  world: Pick<World, "services" | "url">,
  client: TestClient,
  decider: Decider,
  scope = "read_user",
) {
  const { deviceCode, userCode } = await startDevice(world, client, { scope });
  assert.ok(await approveCode(world, decider, userCode));
  const { status, body, text } = await poll(world, client, deviceCode);
  assert.equal(status, 200, text);
  return body;
}

export async function allGrants({ services: { db } }: Pick<World, "services">) {
  return db.select().from(db.tables.grants);
}

/** Counts answers by 200 or error code. */
export function tally(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const answer = body.error ?? String(status);
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return counts;
}
