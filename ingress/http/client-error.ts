import { randomUUID } from "node:crypto";
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Log } from "../../shared/runtime/log.ts";

/** What Node's parser refuses, by the code of its error; whatever is not here is malformed. */
const refusals: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request took too long to arrive"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The body's chunk extensions are too large"],
  HPE_HEADER_OVERFLOW: [431, "The headers are too large"],
};

/**
 * Answers requests that no handler sees, because they are no HTTP, too large or too slow. Node alone would answer
 * them without a body.
 */
export function answerClientErrors(log: Log) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === "ECONNRESET" || !socket.writable || isOfLaterRequest(socket)) {
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
    socket.destroySoon(); // `end` alone would leave the connection to a client that never closes it
  };
}

/**
 * Whether a request before the one that is refused is still being answered, or this one partly is: the client would
 * take what is written now for that answer, or for a part of it. Node keeps the response whose turn it is here.
 */
function isOfLaterRequest(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
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
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
