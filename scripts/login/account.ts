import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import { isNetworkError, ofStatus, RequestFailed } from "./failure.ts";
import { userAgent } from "./server.ts";

const answerWithinMs = 15_000;
const userShape = z.object({ name: z.string(), email: z.string() });
const organizationsShape = z.array(z.object({ name: z.string(), slug: z.string() }));

/** The token's scopes may leave members out. */
export interface Account {
  user: z.infer<typeof userShape> | undefined;
  organizations: z.infer<typeof organizationsShape> | undefined;
}

/** @throws RequestFailed `invalid_token`, `unreachable`, `unavailable` */
export async function findAccount(api: string, accessToken: string, signal: AbortSignal): Promise<Account> {
  const ask = async <T>(path: string, shape: z.ZodType<T>): Promise<T | undefined> => {
    const body = await getJson(`${api}${path}`, accessToken, signal);
    return shape.safeParse(body).data;
  };
  const user = await ask(patterns.user, userShape);
  return { user, organizations: await ask(patterns.organizations, organizationsShape) };
}

async function getJson(url: string, accessToken: string, signal: AbortSignal): Promise<unknown> {
  const at = new URL(url).origin;
  try {
    const response = await fetch(url, {
      headers: {
        Authorization: `Bearer ${accessToken}`,
        Accept: "application/json",
        "User-Agent": userAgent,
      },
      redirect: "manual", // never send the token to another address
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerWithinMs)]),
    });
    if (response.status === 401) throw new RequestFailed("invalid_token", { at });
    if (response.status === 429 || response.status >= 500) throw ofStatus(response, at);
    return response.ok ? await response.json() : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw isNetworkError(error) ? new RequestFailed("unreachable", { at }) : error;
  }
}
