import { createRemoteJWKSet, jwtVerify } from "jose";
import type { enterJob } from "../agents/inside/in-a-job.ts";
import type { Api } from "../helpers/api.ts";
import { request } from "../helpers/http.ts";

export const issuer = "https://api.example.com/v3";
export const organizationPage = "https://app.example.com/organizations/acme";

type Inside = Awaited<ReturnType<typeof enterJob>>;

/** The call of a program in a job for a token. */
export const askForToken = ({ send, job }: Pick<Inside, "send" | "job">, wanted?: object) =>
  send("POST", `/jobs/${job}/oidc/tokens`, wanted);

/** Checks a token as a stranger does: by the key set alone. */
export async function verify(
  { url, clock }: Pick<Api["world"], "url" | "clock">,
  token: string,
  audience = organizationPage,
) {
  const keySet = createRemoteJWKSet(new URL(`${url}/v3/.well-known/jwks`));
  return jwtVerify(token, keySet, { issuer, audience, currentDate: clock.now(), algorithms: ["RS256"] });
}

/** The ids of the keys that are shown. */
export async function shownKeys(url: string): Promise<string[]> {
  const { body } = await request(`${url}/v3/.well-known/jwks`);
  return body.keys.map(({ kid }: { kid: string }) => kid);
}
