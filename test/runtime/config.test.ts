import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { ConfigError, readConfig, settings } from "../../shared/runtime/config.ts";

const secretKey = { SECRET_KEY: "x".repeat(32) };

describe("the configuration", () => {
  it("has defaults that just work", () => {
    const config = readConfig(secretKey);
    assert.deepEqual(
      [config.host, config.port, config.databaseUrl, config.maxPayloadBytes, config.deliveriesPerHour],
      ["127.0.0.1", 3000, "file:data/signalbox.db", 5 * 1024 * 1024, 300],
    );
    assert.equal(config.baseUrl, "http://localhost:3000");
  });

  it("derives the public addresses from PUBLIC_URL, and that from PORT", () => {
    assert.equal(readConfig({ ...secretKey, PORT: "8080" }).appUrl, "http://localhost:8080");
    const config = readConfig({
      ...secretKey,
      PUBLIC_URL: "https://ci.example.com/",
      BASE_URL: "https://api.example.com",
    });
    assert.deepEqual(
      [config.baseUrl, config.authUrl, config.webhookUrl, config.appUrl],
      [
        "https://api.example.com",
        "https://ci.example.com",
        "https://ci.example.com",
        "https://ci.example.com",
      ],
    );
  });

  it("takes an empty variable as absent", () => {
    assert.equal(readConfig({ ...secretKey, PORT: "", PUBLIC_URL: "" }).port, 3000);
  });

  it("reports all problems together, each by its name and never with a secret's value", () => {
    const wrong = {
      PORT: "http",
      PUBLIC_URL: "ftp://x",
      BASE_URL: "https://x.example.com/path",
      DATABASE_URL: "mysql://x",
      SECRET_KEY: "too-short-secret",
      LOG_LEVEL: "loud",
      TRUSTED_PROXIES: "not-an-ip",
      DELIVERIES_PER_HOUR: "0",
    };
    assert.throws(
      () => readConfig(wrong),
      (error: Error) => {
        assert.ok(error instanceof ConfigError);
        for (const name of Object.keys(wrong)) assert.match(error.message, new RegExp(`^ {2}${name} `, "m"));
        assert.doesNotMatch(error.message, /too-short-secret/);
        return true;
      },
    );
  });

  it("is described in the README, setting by setting", () => {
    const rows = readFileSync("README.md", "utf8").matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*?) \|$/gm);
    const table = Object.fromEntries(
      [...rows].map(([, name, fallback, meaning]) => [name, { fallback, meaning }]),
    );
    const declared = Object.entries(settings).map(([name, schema]) => {
      const fallback = schema.safeParse(undefined);
      const shown =
        fallback.success && fallback.data !== undefined && `${fallback.data}` !== ""
          ? `\`${fallback.data}\``
          : "";
      return [name, { fallback: shown, meaning: schema.description }];
    });
    assert.deepEqual(table, Object.fromEntries(declared));
  });
});
