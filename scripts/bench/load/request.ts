export interface PlainRequest {
  method: "GET" | "POST" | "PUT";
  /** With its origin. */
  url: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** The bytes of an HTTP/1.1 request, for a socket. */
export function requestBytes({ method, url, headers = {}, body = "" }: PlainRequest): Buffer {
  const { pathname, search, host } = new URL(url);
  const lines = [
    `${method} ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(method === "GET" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), Buffer.from(body)]);
}

export function postJson(url: string, body: string, headers: Record<string, string> = {}): PlainRequest {
  return { method: "POST", url, headers: { "Content-Type": "application/json", ...headers }, body };
}

export function postForm(url: string, fields: Record<string, string>): PlainRequest {
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  return { method: "POST", url, headers, body: new URLSearchParams(fields).toString() };
}
