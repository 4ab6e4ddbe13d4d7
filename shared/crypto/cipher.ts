import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";

/**
 * AES-256-GCM, keys derived from SECRET_KEY. Text: `v1.<nonce>.<tag>.<ciphertext>.key:<id>`, base64url. Version 0.1.0
 * ends it before `.key`, and ignores that part.
 */
export interface Cipher {
  seal(plain: string): string;
  /** @throws Error when neither SECRET_KEY nor the previous one opens it */
  open(sealed: string): string;
  /**
   * For secrets with too few values for a plain hash. Store the first HMAC; look up by all, the previous key's
   * included.
   */
  macs(text: string): string[];
  /** The fingerprints of both keys, by which a database of another key is recognized. */
  fingerprints: string[];
  /** The names of both keys, the current one first: `:<id>`, the end of the texts that they seal. */
  keyNames: [current: string, ...previous: string[]];
}

const nonceBytes = 12;

export function createCipher(secretKey: string, previousSecretKey?: string): Cipher {
  const secrets = previousSecretKey ? [secretKey, previousSecretKey] : [secretKey];
  const keys = secrets.map((secret) => derive(secret, "encryption"));
  const [currentKey] = keys as [Buffer];
  const keyNames = secrets.map(nameKey) as Cipher["keyNames"];
  // Seven times faster than bytes, which OpenSSL would import for each HMAC.
  const macKeys = secrets.map((secret) => createSecretKey(derive(secret, "mac")));

  return {
    seal(plain) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", currentKey, nonce);
      const sealed = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      const parts = [nonce, cipher.getAuthTag(), sealed].map((part) => part.toString("base64url"));
      return ["v1", ...parts, `key${keyNames[0]}`].join(".");
    },

    open(sealed) {
      for (const [index, key] of keys.entries()) {
        const plain = openWith(key, `key${keyNames[index]}`, sealed);
        if (plain !== undefined) return plain;
      }
      throw new Error("A stored secret cannot be opened with SECRET_KEY: it was stored under another key.");
    },

    macs: (text) => macKeys.map((key) => mac(key, text)),

    keyNames,

    fingerprints: secrets.map((secret) => mac(derive(secret, "fingerprint"), "signalbox")),
  };
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "signalbox", purpose, 32));
}

function nameKey(secret: string): string {
  return `:${derive(secret, "key id").toString("hex").slice(0, 8)}`;
}

function mac(key: Buffer | KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

function openWith(key: Buffer, keyName: string, sealed: string): string | undefined {
  const [version, nonce, tag, body, sealedUnder = keyName] = sealed.split(".");
  if (sealedUnder !== keyName) return undefined;
  if (version !== "v1" || nonce === undefined || tag === undefined || body === undefined) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64url"));
    decipher.setAuthTag(Buffer.from(tag, "base64url"));
    return Buffer.concat([decipher.update(Buffer.from(body, "base64url")), decipher.final()]).toString(
      "utf8",
    );
  } catch {
    return undefined;
  }
}
