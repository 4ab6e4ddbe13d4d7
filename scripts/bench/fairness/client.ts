import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { patterns } from "../../../shared/paths.ts";
import { password } from "../organization.ts";
import { clientId, type Tenant } from "./tenants.ts";

export interface Call {
  method: "GET" | "POST" | "PUT";
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export type Client = (call: Call) => Promise<Answer>;

/** Calls over kept connections, from an address that the server believes. */
export function openClient(
  url: string,
  address: () => string,
  maxSockets = Number.POSITIVE_INFINITY,
): Client {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets });
  return ({ method, path, headers = {}, body }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    const given = { "X-Forwarded-For": address(), ...length, ...headers };
    const sent = request({ hostname, port, method, path, agent, headers: given }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    sent.on("error", reject);
    sent.end(body);
    return promise;
  };
}

export function postJson(path: string, body: string | Buffer): Call {
  return { method: "POST", path, headers: { "Content-Type": "application/json" }, body };
}

export function postForm(path: string, fields: Record<string, string>, cookie?: string): Call {
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded",
    ...(cookie ? { Cookie: cookie } : {}),
  };
  return { method: "POST", path, headers, body: new URLSearchParams(fields).toString() };
}

/** Adds the tenant's API token. */
export function authorized({ apiToken }: Tenant, call: Call): Call {
  return { ...call, headers: { ...call.headers, Authorization: `Bearer ${apiToken}` } };
}

/** Returns the calls of sign-ins, in a browser's session. */
export async function openSignIn(client: Client): Promise<(email: string, password: string) => Call> {
  const { headers, text } = await client({ method: "GET", path: patterns.signIn });
  const cookie = headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  const csrf_token = /name="csrf_token" value="([^"]*)"/.exec(text)?.[1] ?? "";
  return (email, password) => postForm(patterns.signIn, { email, password, csrf_token }, cookie);
}

export function signInOf({ email }: Tenant, signIn: (email: string, password: string) => Call): Call {
  return signIn(email, password);
}

/** Exchanges the tenant's device code for a refresh token. */
export async function openGrant(client: Client, { deviceCode }: Tenant): Promise<string> {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const answer = await client(
    postForm(patterns.token, { grant_type, client_id: clientId, device_code: deviceCode }),
  );
  return JSON.parse(answer.text).refresh_token;
}

export function refresh(refreshToken: string): Call {
  const fields = { grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken };
  return postForm(patterns.token, fields);
}
