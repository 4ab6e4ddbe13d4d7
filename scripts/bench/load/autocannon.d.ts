/** The part of autocannon that is used here; the package has no types of its own. */
declare module "autocannon" {
  interface Options {
    url: string;
    method: string;
    headers: Record<string, string>;
    body: string;
    connections: number;
    /** Seconds. */
    duration?: number;
    /** Stop after this many requests instead. */
    amount?: number;
    /** How often, in milliseconds, it looks whether to stop. */
    sampleInt: number;
  }

  interface Run extends PromiseLike<{ errors: number; timeouts: number }> {
    on(
      event: "response",
      listener: (client: unknown, status: number, bytes: number, milliseconds: number) => void,
    ): this;
  }

  function autocannon(options: Options): Run;
  export = autocannon;
}
