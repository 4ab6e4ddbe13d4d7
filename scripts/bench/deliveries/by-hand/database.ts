import Client from "better-sqlite3";

/** Has the keys and indexes that an API would need. */
const schema = `
  create table pipelines (
    id text primary key,
    slug text not null unique,
    command text not null,
    queue_id text not null,
    last_build_number integer not null
  );
  create table builds (
    id text primary key,
    pipeline_id text not null references pipelines (id),
    number integer not null,
    delivery_id text not null unique,
    state text not null,
    message text not null,
    "commit" text not null,
    branch text not null,
    environment text not null,
    source text not null,
    created_at integer not null,
    started_at integer,
    finished_at integer,
    unique (pipeline_id, number)
  );
  create table jobs (
    id text primary key,
    build_id text not null references builds (id) on delete cascade,
    queue_id text not null,
    command text not null,
    state text not null,
    created_at integer not null,
    started_at integer,
    finished_at integer
  );
  create index jobs_build on jobs (build_id);
  create index jobs_queue on jobs (queue_id, state, id);
`;

/** Makes commits durable. */
export function openByHandDatabase(file: string): Client.Database {
  const client = new Client(file);
  client.pragma("journal_mode = WAL");
  client.pragma("synchronous = FULL");
  client.pragma("foreign_keys = ON");
  return client;
}

export function makeByHandDatabase(file: string, pipelineId: string): void {
  const client = openByHandDatabase(file);
  client.exec(schema);
  const insert =
    "insert into pipelines (id, slug, command, queue_id, last_build_number) values (?, ?, ?, ?, 0)";
  client.prepare(insert).run(pipelineId, "bench", "echo hello", "queue");
  client.close();
}
