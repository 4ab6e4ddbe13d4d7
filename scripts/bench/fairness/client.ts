import { patterns } from "../../../shared/paths.ts";
import { csrfTokenIn } from "../../scratch/visitor.ts";
import { poll } from "../device/codes.ts";
import { type PlainRequest, postForm } from "../load/request.ts";
import { clientId, type Tenant } from "./tenants.ts";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export type Client = (request: PlainRequest) => Promise<Answer>;

/** Sends requests over kept connections, from an address that the server believes. */
export function openClient(address: () => string): Client {
  return async ({ method, url, headers, body }) => {
    const answer = await fetch(url, {
      method,
      headers: { "X-Forwarded-For": address(), ...headers },
      redirect: "manual",
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : new Uint8Array(body) }),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
}

/** Adds the tenant's API token. */
export function authorized({ apiToken }: Pick<Tenant, "apiToken">, request: PlainRequest): PlainRequest {
  return { ...request, headers: { ...request.headers, Authorization: `Bearer ${apiToken}` } };
}

/** Returns the requests of sign-ins, in a browser's session. */
export async function openSignIn(client: Client, { url }: Tenant) {
  const form = `${url}${patterns.signIn}`;
  const { headers, text } = await client({ method: "GET", url: form });
  const Cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const csrf_token = csrfTokenIn(text) ?? "";
  return (email: string, password: string): PlainRequest => {
    const request = postForm(form, { email, password, csrf_token });
    return { ...request, headers: { ...request.headers, Cookie } };
  };
}

/** Exchanges the tenant's device code for a refresh token. */
export async function openGrant(client: Client, { url, deviceCode }: Tenant): Promise<string> {
  const answer = await client(poll(`${url}${patterns.token}`, deviceCode, clientId));
  return JSON.parse(answer.text).refresh_token;
}

export function refresh({ url }: Tenant, refresh_token: string): PlainRequest {
  const fields = { grant_type: "refresh_token", client_id: clientId, refresh_token };
  return postForm(`${url}${patterns.token}`, fields);
}
