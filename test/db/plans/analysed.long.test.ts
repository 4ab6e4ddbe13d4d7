import { describe } from "node:test";
import { postgres, skipPostgres, sqlite } from "../../helpers/databases.ts";
import { testPlans } from "./check.ts";

describe("SQLite with 10,000 rows a table", () => testPlans(sqlite, 10_000));

describe("Postgres with 30,000 rows a table", { skip: skipPostgres }, () => testPlans(postgres, 30_000));
