import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";

// The git server of the demo. It runs in the process of `npm start`, and loads none of the program.

const endOfHead = "\r\n\r\n";

/**
 * Serves the repositories of a folder for clones and pushes, by git's own CGI program.
 * @param secret the first part of each path. Pages in a browser, and other users of this machine, do not know it
 */
export function serveGit({ folder, secret }: { folder: string; secret: string }): Server {
  const prefix = `/${secret}/`;
  return createServer((request, response) => {
    if (!request.url?.startsWith(prefix)) return refuse(response, 404);
    answer(request, response, { folder, path: request.url.slice(prefix.length - 1) }).catch(() =>
      response.destroy(),
    );
  });
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** As a CGI server does: https://git-scm.com/docs/git-http-backend */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { folder, path }: { folder: string; path: string },
): Promise<void> {
  const { pathname, search } = new URL(path, "http://localhost");
  const { "content-type": type, "content-length": length, "content-encoding": encoding } = request.headers;
  const git = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      REMOTE_ADDR: request.socket.remoteAddress,
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      ...(type && { CONTENT_TYPE: type }),
      ...(length && { CONTENT_LENGTH: length }),
      ...(encoding && { HTTP_CONTENT_ENCODING: encoding }),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  git.on("error", () => response.destroy());
  response.on("close", () => git.kill());
  const received = pipeline(request, git.stdin).catch(() => {}); // git may end before it has read all
  let head = Buffer.alloc(0);
  for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
    if (response.headersSent) {
      if (!response.write(chunk)) await once(response, "drain");
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(endOfHead);
    if (end < 0) continue;
    writeHead(response, head.subarray(0, end).toString("latin1"));
    response.write(head.subarray(end + endOfHead.length));
  }
  if (response.headersSent) response.end();
  else refuse(response, 500);
  await received;
}

function writeHead(response: ServerResponse, head: string): void {
  const headers = Object.fromEntries(
    head.split("\r\n").map((line): [string, string] => {
      const at = line.indexOf(":");
      return [line.slice(0, at), line.slice(at + 1).trim()];
    }),
  );
  const { Status: status = "200", ...others } = headers;
  response.writeHead(Number.parseInt(status, 10), others);
}
