INSERT INTO "settings" ("name", "value") VALUES ('installation', md5(random()::text || clock_timestamp()::text));
