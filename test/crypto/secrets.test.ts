import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createCipher } from "../../shared/crypto/cipher.ts";
import { createPasswords, operatorNetworks } from "../../shared/crypto/passwords.ts";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { hashToken, issueToken, isWellFormedToken } from "../../shared/crypto/tokens.ts";
import { checkSecretKey, WrongSecretKey } from "../../shared/sealing/secret-key-check.ts";
import { createLog, describeError, redactTokens } from "../../shared/services/log.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { startWorld } from "../helpers/world.ts";

describe("tokens", () => {
  it("are a prefix, 43 characters of randomness and 6 of checksum", () => {
    assert.match(issueToken("trigger"), /^sbtr_[0-9A-Za-z]{49}$/);
    assert.match(issueToken("access"), /^sbat_[0-9A-Za-z]{49}$/);
    assert.equal(new Set(Array.from({ length: 1000 }, () => issueToken("job"))).size, 1000);
  });

  it("are recognised by kind; a changed character makes them invalid", () => {
    const token = issueToken("trigger");
    assert.ok(isWellFormedToken("trigger", token));
    assert.ok(!isWellFormedToken("access", token));
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === "x" ? "y" : "x") + token.slice(at + 1);
      assert.ok(!isWellFormedToken("trigger", changed), `at ${at}`);
    }
  });

  it("are stored as a hash", () => {
    const token = issueToken("access");
    assert.match(hashToken(token), /^[\w-]{43}$/);
    assert.ok(!token.includes(hashToken(token)));
  });
});

describe("the cipher", () => {
  const place = sealedPlaces.secretsOfTriggers;
  const [first, second] = ["first key of at least 32 characters!", "second key of at least 32 characters"];

  it("opens what it sealed, and seals the same text differently each time", () => {
    const cipher = createCipher(first);
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        (text) => cipher.open(cipher.seal(text, place), place) === text,
      ),
    );
    assert.notEqual(cipher.seal("x", place), cipher.seal("x", place));
  });

  it("opens what the previous key sealed", () => {
    const sealed = createCipher(first).seal("secret", place);
    assert.equal(createCipher(second, first).open(sealed, place), "secret");
  });

  it("names the key at the end of a text", () => {
    const cipher = createCipher(first);
    const sealed = cipher.seal("secret", place);
    assert.match(sealed, /^v2(\.[\w-]+){3}\.key:[0-9a-f]{8}$/);
    assert.ok(sealed.endsWith(cipher.keyNames[0]));
    assert.deepEqual(createCipher(second, first).keyNames, [
      createCipher(second).keyNames[0],
      cipher.keyNames[0],
    ]);
    assert.throws(() => cipher.open(sealed.replace(/\.key:.*/, ""), place), /SECRET_KEY/);
  });

  it("refuses another key's text and any damaged text", () => {
    const sealed = createCipher(first).seal("secret", place);
    assert.throws(() => createCipher(second).open(sealed, place), /SECRET_KEY/);
    for (const bad of [
      "",
      "v1",
      "v2.a.b.c",
      "v3.a.b.c",
      sealed.replace("v2.", "v1."),
      sealed.slice(0, -2),
      sealed.replace(/.{2}\.key:/, ".key:"),
      sealed.replace("v2.", "v2.A"),
    ]) {
      assert.throws(() => createCipher(first).open(bad, place), /SECRET_KEY/);
    }
  });

  it("refuses a tag that was cut, which a forger would find sooner", () => {
    const cipher = createCipher(first);
    const [form, nonce, tag = "", ...rest] = cipher.seal("secret", place).split(".");
    for (const bytes of [4, 8, 12, 13, 14, 15]) {
      const cut = Buffer.from(tag, "base64url").subarray(0, bytes).toString("base64url");
      assert.throws(() => cipher.open([form, nonce, cut, ...rest].join("."), place), /SECRET_KEY/);
    }
  });

  it("opens a text only at its place", () => {
    const cipher = createCipher(first);
    const ofPipeline = sealedPlaces.variablesOfPipeline("1");

    const sealed = cipher.seal("secret", ofPipeline);

    for (const each of [cipher, createCipher(second, first)]) {
      assert.equal(each.open(sealed, ofPipeline), "secret");
      for (const other of [place, sealedPlaces.variablesOfBuilds, sealedPlaces.variablesOfPipeline("2")])
        assert.throws(() => each.open(sealed, other), /another place/);
      assert.throws(() => each.open(sealed.replace("v2.", "v1."), ofPipeline), /SECRET_KEY/);
    }
  });
});

describe("passwords", () => {
  it("match in any Unicode form, and match nothing else", async () => {
    const passwords = createPasswords();
    const stored = await passwords.hash("caf\u00e9 au lait", operatorNetworks);
    assert.match(stored, /^scrypt\$32768\$8\$3\$/);
    assert.ok(await passwords.matches("cafe\u0301 au lait", stored, operatorNetworks));
    assert.ok(!(await passwords.matches("cafe au lait", stored, operatorNetworks)));
    assert.ok(!(await passwords.matches("", "", operatorNetworks)));
  });

  it("are checked at the cost of new hashes where there is none to match", async () => {
    const ordinary = createPasswords({ N: 1024, r: 8, p: 1 });
    const tooCostly = createPasswords({ N: 2 ** 20, r: 8, p: 1 });

    for (const none of [undefined, null]) {
      assert.ok(!(await ordinary.matches("", none, operatorNetworks)));
      await assert.rejects(tooCostly.matches("", none, operatorNetworks), /memory limit exceeded/);
    }
  });
});

describe("the log", () => {
  const capture = () => {
    const lines: string[] = [];
    return {
      lines,
      log: createLog({ level: "info", process: "test" }, { write: (line) => void lines.push(line) }),
    };
  };

  it("redacts every token to its prefix", () => {
    const token = issueToken("trigger");
    const { lines, log } = capture();
    log.info({ url: `/deliver/${token}`, nested: { a: [token] }, authorization: "x" }, `failed for ${token}`);
    log.error({ err: new Error(`cannot use ${token}`, { cause: new Error(token) }) });

    assert.ok(lines.length === 2 && !lines.join("").includes(token.slice(5)));
    assert.match(lines[0] ?? "", /sbtr_\[redacted\]/);
    assert.match(redactTokens("Bearer sbat_abcdefgh"), /^Bearer sbat_\[redacted\]$/);
  });

  it("escapes control characters, and those of bidi", () => {
    const { lines, log } = capture();
    const odd = "a\u007f\u009b2J\u202e\u{e0001}b\n";
    log.info({ odd }, odd);
    log.request({ requestId: "1", method: "GET", path: `/${odd}`, status: 200, ms: 1, ip: "::1" });

    for (const line of lines) assert.match(line, /^[\x20-\x7e]*\n$/);
    assert.deepEqual(JSON.parse(lines[0] ?? "").odd, odd);
    assert.equal(JSON.parse(lines[1] ?? "").path, `/${odd}`);
  });

  it("redacts the parameters of a failed statement", () => {
    const error = Object.assign(new Error("Failed query: insert\nparams: hunter2"), {
      query: "insert",
      params: ["hunter2"],
      cause: Object.assign(new Error("duplicate key"), { code: "23505", detail: "Key (x)=(hunter2)" }),
    });
    const text = JSON.stringify(describeError(error));
    assert.doesNotMatch(text, /hunter2/);
    assert.match(text, /Failed query: insert.*23505/);
  });
});

describeOnSqlite("a database of another SECRET_KEY", (database) => {
  it("is refused at start, and accepted with SECRET_KEY_PREVIOUS", async () => {
    const world = await startWorld(database);
    await checkSecretKey(world.services);
    await checkSecretKey(world.services);
    const withKey = (key: string, previous?: string) => ({
      ...world.services,
      cipher: createCipher(key, previous),
    });
    const changed = "another key of at least 32 characters";

    await assert.rejects(checkSecretKey(withKey(changed)), (error: Error) => {
      assert.ok(error instanceof WrongSecretKey);
      assert.match(error.message, /^SECRET_KEY is not the key/);
      return true;
    });
    await checkSecretKey(withKey(changed, world.config.secretKey));
    await checkSecretKey(withKey(changed));
    await world.close();
  });
});
