import { z } from "zod";

// The APIs of source hosts, each as a pure description: what to send, and how to read the answer. Nothing here sends.

/** A request below the base address of a host's API. */
export interface HostRequest {
  method: "GET" | "POST" | "PUT" | "PATCH";
  path: string;
  body?: object;
}

/** The webhook that a host shall have. */
export interface WantedHook {
  url: string;
  /** Null: requests are not signed. */
  secret: string | null;
}

/** A webhook that a host has. */
export interface PresentHook {
  id: string;
  url: string;
}

export interface HostApi {
  /** The headers that carry a token. */
  headers(token: string): Record<string, string>;
  /** The part of a path that names a repository. Undefined: the host has no such repositories. */
  repository(path: string): string | undefined;
  listHooks(repository: string, page: number): HostRequest;
  /** Reads an answer to `listHooks`. */
  readHooks(body: unknown): PresentHook[];
  createHook(repository: string, hook: WantedHook): HostRequest;
  updateHook(repository: string, id: string, hook: WantedHook): HostRequest;
}

/** Of a page of a list: an answer has 64 KB at most, and a hook one or two. */
export const hooksPerPage = 30;

/** `owner/name`, each part encoded. */
export function ownerAndName(path: string): string | undefined {
  const parts = path.split("/");
  return parts.length === 2 && parts.every(Boolean) ? parts.map(encodeURIComponent).join("/") : undefined;
}

const id = z.union([z.string(), z.number()]).transform(String);
const listed = z.object({ id, url: z.string() });
const configured = z.object({ id, config: z.object({ url: z.string().optional() }) });

/** Reads hooks as GitHub and Gitea list them. */
export function readConfigured(body: unknown): PresentHook[] {
  return z
    .array(configured)
    .parse(body)
    .map(({ id, config }) => ({ id, url: config.url ?? "" }));
}

/** Reads hooks with an address of their own. */
export function readListed(body: unknown): PresentHook[] {
  return z.array(listed).parse(body);
}
