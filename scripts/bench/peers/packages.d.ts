/** The bench installs these packages when it runs: the project has neither them nor their types. */
declare module "pg-boss" {
  interface Job<Data> {
    id: string;
    data: Data;
  }
  interface Transaction {
    executeSql(text: string, values: unknown[]): Promise<unknown>;
  }
  export class PgBoss {
    constructor(options: object);
    on(event: "error", listener: (error: Error) => void): this;
    start(): Promise<this>;
    createQueue(name: string, options: object): Promise<void>;
    send(name: string, data: object): Promise<string | null>;
    work<Data>(
      name: string,
      options: object,
      handler: (jobs: Job<Data>[], transaction: Transaction) => Promise<void>,
    ): Promise<string>;
  }
}

declare module "graphile-worker" {
  interface Helpers {
    query(text: string, values: unknown[]): Promise<unknown>;
  }
  interface Options {
    preset: { worker: object };
    taskList?: Record<string, (payload: unknown, helpers: Helpers) => Promise<void>>;
  }
  export function makeWorkerUtils(options: Options): Promise<{
    migrate(): Promise<void>;
    addJob(task: string, payload: object, spec: object): Promise<{ id: string }>;
  }>;
  export function run(options: Options): Promise<{ promise: Promise<void> }>;
}
