import type { RedisOptions } from "ioredis";

/** `redis+sentinel://[user:password@]host[:port][,host[:port]…]/<name of the master>[/<database>][?…]` */
const sentinelUrl = /^redis(s?)\+sentinel:\/\/(?:([^@/]*)@)?([^/?@]+)\/([^/?]+)(?:\/(\d+))?(?:\?(.*))?$/;
const sentinelHost = /^(?:\[([^\]]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/;
const sentinelPort = 26_379;
const sentinelParameters = ["sentinel_username", "sentinel_password"];

const redisAddressRule =
  "must be redis://…, rediss://…, the path of a socket, or redis+sentinel://host:port,host:port/master-name/database";

/** Returns what is wrong with a value of REDIS_URL, or undefined. */
export function findRedisAddressProblem(url: string): string | undefined {
  if (url.includes("://") && url.includes("#")) return "has a raw #: write %23";
  if (/^rediss?:\/\//.test(url)) return findUrlProblem(url);
  if (!/^rediss?\+sentinel:/.test(url))
    return /^(rediss?:\/\/.+|\/.+|[^:]+\.sock)$/.test(url) ? undefined : redisAddressRule;
  const [, , credentials = "", hosts, name = "", , query = ""] = sentinelUrl.exec(url) ?? [];
  if (hosts === undefined) return redisAddressRule;
  if (!isEncoded(credentials) || !isEncoded(name))
    return "has a % that does not start an encoded character: write %25";
  const wrongHost = hosts.split(",").find((host) => !isHost(host));
  if (wrongHost !== undefined) return `has a sentinel ${JSON.stringify(wrongHost)} that is not host:port`;
  const unknown = [...new URLSearchParams(query).keys()].find((name) => !sentinelParameters.includes(name));
  if (unknown !== undefined)
    return `has an unknown parameter ${unknown}: there are ${sentinelParameters.join(" and ")}`;
  return undefined;
}

function findUrlProblem(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (!parsed || parsed.hostname === "")
    return "cannot be read: write %2F for a / in its password, %3F for a ?, and redis://user:password@host:port/database";
  if (!isEncoded(`${parsed.username}:${parsed.password}`))
    return "has a % that does not start an encoded character: write %25";
  return /^(\/\d*)?$/.test(parsed.pathname)
    ? undefined
    : "has a database that is no number: redis://host:port/0";
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function isHost(text: string): boolean {
  const [, , , port = String(sentinelPort)] = sentinelHost.exec(text) ?? [undefined, "", "", "0"];
  return Number(port) >= 1 && Number(port) <= 65_535;
}

/** The options of a connection by the sentinels of a URL, which ask for the present master. Undefined without sentinels. */
export function sentinelOptions(url: string): RedisOptions | undefined {
  const [, secure, credentials = "", hosts, name, database = "0", query = ""] = sentinelUrl.exec(url) ?? [];
  if (hosts === undefined || name === undefined) return undefined;
  const [username = "", password = ""] = splitOnce(credentials, ":").map(decodeURIComponent);
  const parameters = new URLSearchParams(query);
  return {
    sentinels: hosts.split(",").map(toHost),
    name: decodeURIComponent(name),
    db: Number(database),
    ...(username && { username }),
    ...(password && { password }),
    ...credentialsOf(parameters),
    ...(secure && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
}

function toHost(text: string): { host: string; port: number } {
  const [, address, name = "", port = sentinelPort] = sentinelHost.exec(text) ?? [];
  return { host: address ?? name, port: Number(port) };
}

function splitOnce(text: string, separator: string): string[] {
  const index = text.indexOf(separator);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

/** Returns the credentials of the sentinels. Redis has credentials of its own. */
function credentialsOf(parameters: URLSearchParams): RedisOptions {
  const username = parameters.get("sentinel_username");
  const password = parameters.get("sentinel_password");
  return {
    ...(username !== null && { sentinelUsername: username }),
    ...(password !== null && { sentinelPassword: password }),
  };
}
