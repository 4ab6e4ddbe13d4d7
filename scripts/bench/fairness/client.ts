import { patterns } from "../../../shared/paths.ts";
import { csrfTokenIn } from "../../scratch/visitor.ts";
import { poll } from "../device/codes.ts";
import { KeptConnection } from "../load/kept-connection.ts";
import { type PlainRequest, postForm, requestBytes } from "../load/request.ts";
import { client as deviceClient } from "../servers/tenant.ts";
import type { FairTenant } from "./tenants.ts";

export type Client = ReturnType<typeof openClient>;

/** Sends requests over kept connections, from an address that the server believes. */
export function openClient(address: () => string) {
  return async ({ method, url, headers, body }: PlainRequest) => {
    const answer = await fetch(url, {
      method,
      redirect: "manual",
      headers: { "X-Forwarded-For": address(), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : new Uint8Array(body) }),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
}

/**
 * Returns a client of one request at a time, which reads nothing but the status. Node's own client decodes answers: its
 * garbage collection takes longer than the server takes for a list.
 */
export function openLightClient(address: string) {
  let free: KeptConnection | undefined;
  return {
    async send(request: PlainRequest): Promise<{ status: number }> {
      const connection = free && !free.isClosed ? free : await KeptConnection.open(new URL(request.url));
      free = undefined; // until it has its answer
      const headers = { "X-Forwarded-For": address, "Accept-Encoding": "gzip", ...request.headers };
      const answer = await connection.send(requestBytes({ ...request, headers }));
      free = connection;
      return answer;
    },
    close: () => free?.close(),
  };
}

/** Adds the tenant's API token. */
export function authorized({ apiToken }: { apiToken: string }, request: PlainRequest): PlainRequest {
  return { ...request, headers: { ...request.headers, Authorization: `Bearer ${apiToken}` } };
}

/** Returns the requests of sign-ins, in a browser's session. */
export async function openSignIn(client: Client, { url }: FairTenant) {
  const form = `${url}${patterns.signIn}`;
  const { headers, text } = await client({ method: "GET", url: form });
  const Cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const csrf_token = csrfTokenIn(text) ?? "";
  return (email: string, password: string): PlainRequest => {
    const request = postForm(form, { email, password, csrf_token });
    return { ...request, headers: { ...request.headers, Cookie } };
  };
}

/** Exchanges the tenant's device code. Returns a function that refreshes the newest token. */
export async function openRefresh(client: Client, { url, deviceCode }: FairTenant) {
  const token = `${url}${patterns.token}`;
  let { refresh_token } = JSON.parse((await client(poll(token, deviceCode))).text);
  return async () => {
    const fields = { grant_type: "refresh_token", client_id: deviceClient.id, refresh_token };
    const answer = await client(postForm(token, fields));
    if (answer.status === 200) refresh_token = JSON.parse(answer.text).refresh_token;
    return answer;
  };
}
