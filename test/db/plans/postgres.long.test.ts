import { describe } from "node:test";
import { postgres, skipPostgres } from "../../helpers/databases.ts";
import { testPlans } from "./check.ts";

describe("Postgres with 30,000 rows a table", { skip: skipPostgres }, () => testPlans(postgres, 30_000));
