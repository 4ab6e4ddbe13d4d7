import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import { attempt, ofStatus, RequestFailed } from "./failure.ts";
import { requestOptions } from "./server.ts";

const userShape = z.object({ name: z.string(), email: z.string() });
const organizationsShape = z.array(z.object({ name: z.string(), slug: z.string() }));

/** The token's scopes may leave members out. */
export interface Account {
  user?: z.infer<typeof userShape> | undefined;
  organizations?: z.infer<typeof organizationsShape> | undefined;
}

/** @throws RequestFailed `invalid_token`, `unreachable`, `unavailable` */
export async function findAccount(api: string, accessToken: string, signal: AbortSignal): Promise<Account> {
  const at = new URL(api).origin;
  const get = (path: string) =>
    attempt(at, async () => {
      const { headers, ...options } = requestOptions(signal);
      const response = await fetch(`${api}${path}`, {
        ...options,
        headers: { ...headers, Authorization: `Bearer ${accessToken}`, Accept: "application/json" },
        redirect: "manual", // never send the token to another address
      });
      if (response.status === 401) throw new RequestFailed("invalid_token", { at });
      if (response.status === 429 || response.status >= 500) throw ofStatus(response, at);
      return response.ok ? toJson(await response.text()) : undefined;
    });
  const user = userShape.safeParse(await get(patterns.user)).data;
  return { user, organizations: organizationsShape.safeParse(await get(patterns.organizations)).data };
}

/** Undefined if it is none: something else may have answered. */
function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
