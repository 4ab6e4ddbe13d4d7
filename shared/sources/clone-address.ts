import { type ProviderId, providerOf, providers } from "./providers.ts";

/** A host name with a dot, and a path. With a port it would look like an address of SSH, `host:path`. */
const withoutScheme = /^[a-z\d-]+(?:\.[a-z\d-]+)+\/\S/i;

/**
 * Returns the address that git clones for one that a person copied: of a web page of a repository, or without
 * `https://`. Other addresses stay as they are.
 * @param connected the providers of the organization's own hosts, by host name
 * @returns undefined if the provider has no repository at this address
 */
export function toCloneAddress(
  given: string,
  connected?: ReadonlyMap<string, ProviderId>,
): string | undefined {
  const address = withoutScheme.test(given) ? `https://${given}` : given;
  const url = /^https?:/i.test(address) ? URL.parse(address) : null;
  const provider = providerOf(address, connected);
  const pathPattern = provider === null ? undefined : providers[provider].repositoryPath;
  if (!url || !pathPattern || /\.git\/?$/.test(url.pathname)) return address;
  const [path] = pathPattern.exec(url.pathname) ?? [];
  if (path === undefined) return undefined;
  if (url.pathname.replace(/\/$/, "") + url.search + url.hash === path) return address;
  return Object.assign(url, { pathname: path, search: "", hash: "" }).href;
}
