import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import type { H3Event } from "h3";
import { exactSize, Refusal } from "../../../shared/refusal.ts";
import { ownerOfNetwork } from "../../../shared/sharing/owner.ts";
import { loopTurn } from "../../../shared/sharing/resources.ts";
import { clientIp } from "../client-address.ts";
import { networksOf, wideNetworkOf } from "../network.ts";
import { nodeRequest } from "../node.ts";
import { isPauseDue, pauseBytes, Transfer, type TransferRoom } from "./transfer.ts";
import { ClientDisconnected, refusalOf, type UploadRefusals } from "./upload.ts";

const maxFields = 20;
/** Of the names and values of all fields: a path has up to 4 KB. */
const maxFieldBytes = 16 * 1024;
/** Of what comes before the file: fields, and the lines between them. */
const maxHeadBytes = 32 * 1024;
/** Parsed at once of what comes before the file: 64 KB of nothing but boundaries would take 70 ms. */
const headSliceBytes = 1024;

export interface FileForm {
  /** The fields that came before the file. */
  fields: ReadonlyMap<string, string>;
  /** Comes as it is read. The sender waits while nobody reads it. */
  content: AsyncIterable<Uint8Array>;
  /** Call it before the content is read: from then on the form may take as long as it needs. @throws Refusal 429, 503 */
  admit(organizationId: string): void;
}

export interface FileFormOptions {
  /** The name of the part that has the file. It comes last. */
  fileField: string;
  /** Called once a field has come, before the form is read on. @throws Refusal */
  checkField(name: string, value: string): void;
  /** Counts the bytes of forms that are not admitted, by network. */
  heads: TransferRoom;
  /** Counts admitted forms, each as 1. */
  files: TransferRoom;
  refusals: UploadRefusals;
}

/** Requests on these sockets have no time limit: the slow ones are cut. */
const admittedSockets = new WeakSet<Socket>();

/** Returns true while the socket sends a file that was admitted. */
export function sendsFile(socket: Socket): boolean {
  return admittedSockets.has(socket);
}

/**
 * Reads a form of fields and one file, which is never in memory as a whole.
 * @param use reads the content to its end, or none of it. Its result counts once the form has ended
 * @throws what `use` and `checkField` throw; Refusal 400, 408, 413, 415, 429, 503; ClientDisconnected
 */
export async function readFileForm<Result>(
  event: H3Event,
  options: FileFormOptions,
  use: (form: FileForm) => Promise<Result>,
): Promise<Result> {
  const reader = new FormReader(event, options);
  try {
    const [result] = await Promise.all([reader.opened.then(use).finally(() => reader.skip()), reader.ended]);
    return result;
  } catch (error) {
    reader.fail(error as Error);
    throw error;
  } finally {
    reader.close();
  }
}

class FormReader {
  readonly #event: H3Event;
  readonly #request: IncomingMessage;
  readonly #options: FileFormOptions;
  readonly #parser: BusboyInstance;
  readonly #fields = new Map<string, string>();
  #fieldBytes = 0;
  #headBytes = 0;
  readonly #opened = Promise.withResolvers<FileForm>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #waiting = new AbortController();
  /** Of its first bytes, by network; once it is admitted, of the whole form. */
  #transfer: Transfer;
  #isAdmitted = false;
  #file: Readable | undefined;
  #owner: string;
  #bytesSincePause = 0;
  #isOver = false;

  /** @throws Refusal 415 */
  constructor(event: H3Event, options: FileFormOptions) {
    this.#event = event;
    this.#request = nodeRequest(event);
    this.#options = options;
    this.#owner = ownerOfNetwork(wideNetworkOf(clientIp(event)));
    this.#transfer = this.#openTransfer(options.heads, maxHeadBytes + pauseBytes);
    this.#parser = this.#openParser();
    this.#request.on("data", this.#onData).once("end", this.#onEnd).once("close", this.#onClose);
  }

  get opened(): Promise<FileForm> {
    return this.#opened.promise;
  }

  /** Resolves at the end of the whole form. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Drops the file if nobody reads it, so that the form goes on. */
  skip(): void {
    this.#file?.resume();
  }

  close(): void {
    this.#isOver = true;
    admittedSockets.delete(this.#request.socket);
    this.#transfer.end();
    this.#request.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
  }

  #openTransfer(room: TransferRoom, maxBytes: number, organization?: string): Transfer {
    const owners = { ...networksOf(clientIp(this.#event)), ...(organization && { organization }) };
    return new Transfer(room, { owners, maxBytes, cut: () => this.fail(this.#options.refusals.tooSlow()) });
  }

  #openParser(): BusboyInstance {
    const { "content-type": type = "" } = this.#request.headers;
    if (!/^multipart\/form-data *;/i.test(type)) throw notAForm();
    const { fileField } = this.#options;
    let parser: BusboyInstance;
    try {
      parser = new Busboy({
        headers: { "content-type": type } as BusboyHeaders,
        isPartAFile: (name) => name === fileField,
        preservePath: true,
        limits: {
          fields: maxFields,
          parts: maxFields + 1,
          files: 1,
          fieldSize: maxFieldBytes,
          headerSize: maxHeadBytes,
        },
      });
    } catch {
      throw notAForm(); // it has no boundary
    }
    parser.on("field", (name, value) => this.#keepField(name, value));
    parser.on("file", (_, file) => this.#open(file));
    parser.on("error", () => this.fail(malformed()));
    for (const limit of ["partsLimit", "fieldsLimit"] as const) parser.on(limit, () => this.fail(tooMany()));
    parser.on("finish", () => this.#finish());
    return parser;
  }

  /**
   * An exception of a listener would end the process.
   * @param name undefined if the part has none
   */
  #keepField(name: string | undefined, value: string): void {
    if (this.#isOver) return;
    try {
      if (name === undefined) throw malformed();
      this.#fieldBytes += Buffer.byteLength(name) + Buffer.byteLength(value);
      if (this.#fieldBytes > maxFieldBytes) throw tooLarge();
      this.#options.checkField(name, value);
      this.#fields.set(name, value);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  #open(file: Readable): void {
    this.#file = file;
    file.on("error", () => this.fail(malformed()));
    this.#opened.resolve({
      fields: this.#fields,
      content: contentOf(file),
      admit: (organizationId) => this.#admit(organizationId),
    });
  }

  #admit(organization: string): void {
    const transfer = this.#openTransfer(this.#options.files, 1, organization);
    const refusal = refusalOf(transfer.grow(1), this.#options.refusals);
    if (refusal) throw refusal;
    this.#transfer.end();
    this.#owner = organization;
    this.#transfer = transfer;
    this.#isAdmitted = true;
    admittedSockets.add(this.#request.socket);
    if (!this.#request.isPaused()) transfer.start();
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isOver) return;
    this.#request.pause();
    if (!this.#isAdmitted) this.#countHead(chunk.length);
    if (this.#isOver) return;
    this.#transfer.move(chunk.length);
    this.#transfer.stop();
    this.#bytesSincePause += chunk.length;
    this.#parse(chunk);
  };

  /** Ends with the first slice that breaks a limit. */
  #parse(chunk: Buffer): void {
    if (this.#isOver) return;
    const length = this.#file ? chunk.length : Math.min(chunk.length, headSliceBytes);
    if (!this.#file) this.#headBytes += length;
    const rest = chunk.subarray(length);
    this.#parser.write(chunk.subarray(0, length), () => {
      if (!this.#file && this.#headBytes > maxHeadBytes) this.fail(tooLarge());
      else if (rest.length > 0) this.#parse(rest);
      else this.#readOn();
    });
  }

  #countHead(bytes: number): void {
    const refusal = refusalOf(this.#transfer.grow(bytes), this.#options.refusals);
    if (refusal) this.fail(refusal);
  }

  /** All bodies of an owner take turns. */
  #readOn(): void {
    if (this.#isOver) return;
    if (isPauseDue(this.#bytesSincePause, () => this.#owner)) this.#waitForTurn();
    else this.#resume();
  }

  #waitForTurn(): void {
    this.#bytesSincePause = 0;
    loopTurn(this.#owner, this.#waiting.signal).then(
      () => this.#resume(),
      (error) => this.fail(error),
    );
  }

  #resume(): void {
    if (this.#isOver) return;
    this.#transfer.start();
    this.#request.resume();
  }

  readonly #onEnd = (): void => {
    this.#transfer.stop();
    if (!this.#isOver) this.#parser.end();
  };

  readonly #onClose = (): void => {
    if (!this.#request.complete) this.fail(new ClientDisconnected("The client closed the connection"));
  };

  #finish(): void {
    const { fileField } = this.#options;
    if (this.#file) this.#ended.resolve();
    else this.fail(new Refusal(400, `The form has no file in its part ${fileField}`));
  }

  /** Does nothing the second time. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting.abort();
    this.#opened.reject(error);
    this.#ended.reject(error);
    this.#file?.destroy(error);
  }
}

/** A reader may stop early: the rest is then skipped. */
async function* contentOf(file: Readable): AsyncGenerator<Uint8Array> {
  yield* file.iterator({ destroyOnReturn: false });
}

function notAForm(): Refusal {
  return new Refusal(415, "Content-Type must be multipart/form-data with a boundary");
}

function tooLarge(): Refusal {
  return new Refusal(413, `The fields before the file are larger than ${exactSize(maxFieldBytes)}`);
}

function tooMany(): Refusal {
  return new Refusal(400, `The form has more than ${maxFields} fields before the file`);
}

function malformed(): Refusal {
  return new Refusal(400, "The form is malformed, or ends too early");
}
