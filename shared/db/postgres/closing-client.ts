import { Client } from "pg";

type Callback = (error: Error | undefined) => void;

/**
 * Closes a connection that could not be made. The driver would leave it open until the server gives up, such as one that
 * asks for a password when there is none: a command would not end for a minute.
 */
export class ClosingClient extends Client {
  override connect(): Promise<Client>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<Client> | undefined {
    const connected = super.connect().catch((error) => {
      this.end().catch(() => {});
      throw error;
    });
    if (!callback) return connected;
    connected.then(() => callback(undefined), callback);
    return undefined;
  }
}
