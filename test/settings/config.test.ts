import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { ConfigError, readConfig } from "../../shared/settings/config.ts";
import { settings } from "../../shared/settings/settings.ts";
import { listSettings, renderSettings } from "../../shared/settings/table.ts";

const secretKey = { SECRET_KEY: "x".repeat(32) };

describe("the configuration", () => {
  it("has working defaults", () => {
    const config = readConfig(secretKey);
    assert.deepEqual(
      [config.host, config.port, config.databaseUrl, config.maxPayloadBytes, config.deliveriesPerHour],
      ["127.0.0.1", 3000, "file:data/signalbox.db", 5 * 1024 * 1024, 300],
    );
    assert.equal(config.baseUrl, "http://localhost:3000");
  });

  it("derives public addresses from PUBLIC_URL, and PUBLIC_URL from PORT", () => {
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

  it("treats an empty variable as absent", () => {
    assert.equal(readConfig({ ...secretKey, PORT: "", PUBLIC_URL: "" }).port, 3000);
  });

  it("reports all problems together, by name, without secrets", () => {
    const wrong = {
      PORT: "http",
      PUBLIC_URL: "ftp://x",
      BASE_URL: "https://x.example.com/path",
      DATABASE_URL: "mysql://x",
      SECRET_KEY: "too-short-secret",
      LOG_LEVEL: "loud",
      TRUSTED_PROXIES: "not-an-ip",
      OUTBOUND_ALLOWED_NETWORKS: "10.0.0.0/33",
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

  it("is described in shared/SETTINGS.md, which `npm run settings` writes", () => {
    assert.equal(readFileSync("shared/SETTINGS.md", "utf8"), renderSettings());
  });

  it("lists every setting with its value, and never a secret", () => {
    const listed = listSettings({
      PORT: "8080",
      HOST: "",
      SECRET_KEY: "k".repeat(32),
      SECRET_KEY_PREVIOUS: "p".repeat(32),
      DATABASE_URL: "postgres://user:hunter2@db:5432/ci?sslmode=require&password=hunter3",
      REDIS_URL: "redis://:hunter4@redis/0",
    });

    const values = Object.fromEntries(listed.map(({ name, value }) => [name, value]));
    assert.equal(listed.length, Object.keys(settings).length);
    assert.deepEqual(
      [values.PORT, values.HOST, values.SECRET_KEY, values.DATABASE_URL, values.REDIS_URL],
      [
        "8080",
        undefined,
        "[redacted]",
        "postgres://user:[redacted]@db:5432/ci",
        "redis://:[redacted]@redis/0",
      ],
    );
    assert.doesNotMatch(JSON.stringify(listed), /hunter|kkkk|pppp/);
    assert.equal(listed.find(({ name }) => name === "PORT")?.default, "3000");
  });
});
