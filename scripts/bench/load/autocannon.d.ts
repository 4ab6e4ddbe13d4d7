/** The package has no types. */
declare module "autocannon" {
  interface Options {
    url: string;
    method: string;
    headers: Record<string, string>;
    body: string;
    connections: number;
    /** Seconds. */
    duration?: number;
    /** Stops after this many requests instead. */
    amount?: number;
    /** Interval of the check to stop, in milliseconds. */
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
