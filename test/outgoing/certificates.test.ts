import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findProgram } from "../../scripts/find-program.ts";
import { openOutgoing } from "../../shared/outgoing/outgoing.ts";
import { dataFolder } from "../helpers/databases.ts";

const openssl = findProgram(["openssl"]);

describe("a request over TLS", { skip: openssl ? false : "there is no openssl on the PATH" }, () => {
  const folder = mkdtempSync(join(dataFolder, "signalbox-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const server = createServer((request, response) => void response.end(request.headers.host));
  let port = 0;
  before(async () => {
    const made = [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "1",
      "-subj",
      "/CN=git.example.com",
    ];
    execFileSync(openssl ?? "", [...made, "-keyout", key, "-out", cert], { stdio: "ignore" });
    server.setSecureContext({ key: readFileSync(key), cert: readFileSync(cert) });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const lookUp = async () => [{ address: "127.0.0.1", family: 4 }];
  const { send } = openOutgoing(["127.0.0.1/32"], { lookUp });
  const get = (more: { checksCertificate?: boolean } = {}) =>
    send({ method: "GET", url: `https://git.example.com:${port}/`, ...more });

  it("needs a certificate that is trusted", async () => {
    await assert.rejects(get(), {
      failure: "untrusted",
      message: /^The certificate of git\.example\.com:\d+ is not trusted \(\w+\)\. .*NODE_EXTRA_CA_CERTS$/,
    });
  });

  it("takes any if it was told so", async () => {
    assert.equal((await get({ checksCertificate: false })).text, `git.example.com:${port}`);
  });
});
