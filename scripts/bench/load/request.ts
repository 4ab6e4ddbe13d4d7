export interface PlainRequest {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  body?: string;
}

export function requestBytes({ method, url, headers, body = "" }: PlainRequest): Buffer {
  const { pathname, search, host } = new URL(url);
  const lines = [
    `${method} ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(method === "POST" ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

export function postBytes(url: string, contentType: string, body: string): Buffer {
  return requestBytes({ method: "POST", url, headers: { "Content-Type": contentType }, body });
}

export function callBytes({ method, url }: { method: "GET" | "POST"; url: string }, token: string): Buffer {
  return requestBytes({ method, url, headers: { Authorization: `Bearer ${token}` } });
}
