import { randomUUID } from "node:crypto";
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Log } from "../../shared/process/log.ts";
import { sendsFile } from "./transfers/file-form.ts";

/** By error code of Node's parser; any other code is a 400. */
const refusals: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request took too long to arrive"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The body's chunk extensions are too large"],
  HPE_HEADER_OVERFLOW: [431, "The headers are too large"],
};

/** Answers requests that Node refuses itself, which would get no body from it. */
export function answerClientErrors(log: Log) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    // Node reports a slow request once. An admitted file may be slow.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && sendsFile(socket)) return;
    if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const requestId = randomUUID();
    const [status, message] = refusals[error.code ?? ""] ?? [400, "The request is malformed"];
    log.info(
      { requestId, status, code: error.code, ip: socket.remoteAddress },
      "request refused by the parser",
    );
    socket.write(answer(status, message, requestId));
    socket.destroySoon(); // `end` would wait for the client to close
  };
}

/** An empty Expect asks for nothing (RFC 9110 §10.1.1); Node takes it for an expectation that it cannot meet. */
export function ignoreEmptyExpect(server: Server): void {
  server.on("checkExpectation", (request, response) => {
    if (request.headers.expect === "") server.emit("request", request, response);
    else response.writeHead(417).end();
  });
}

/**
 * Returns true if an answer has begun: the client would read ours as its continuation. Node keeps it in
 * `_httpMessage`.
 */
function isAnswering(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
  const response = socket._httpMessage;
  return response ? response.headersSent || response.req.complete : false;
}

function answer(status: number, message: string, requestId: string): string {
  const body = JSON.stringify({ message });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json;charset=UTF-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "X-Content-Type-Options: nosniff",
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
