export function postBytes(url: string, contentType: string, body: string): Buffer {
  const { pathname, host } = new URL(url);
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}

export function callBytes({ method, url }: { method: "GET" | "POST"; url: string }, token: string): Buffer {
  const { pathname, search, host } = new URL(url);
  const head = [
    `${method} ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    ...(method === "POST" ? ["Content-Length: 0"] : []),
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n`);
}
