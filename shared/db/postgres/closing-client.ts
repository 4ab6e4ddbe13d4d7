import { Client } from "pg";

type Callback = (error?: Error) => void;

/**
 * Closes a connection that could not be made. The driver would leave it open until the server gives up, such as one that
 * asks for a password when there is none: a command would not end for a minute.
 */
export class ClosingClient extends Client {
  override connect(): Promise<Client>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<Client> | undefined {
    if (!callback) {
      const { promise, resolve, reject } = Promise.withResolvers<Client>();
      this.connect((error) => (error ? reject(error) : resolve(this)));
      return promise;
    }
    // At once: the pool listens for errors from then on, and the server may end the connection in its next message.
    super.connect((error: Error | undefined) => {
      if (error) this.end().catch(() => {});
      callback(error);
    });
    return undefined;
  }
}
