CREATE TABLE "filter_misses" (
	"trigger_id" uuid PRIMARY KEY NOT NULL,
	"filter" text NOT NULL,
	"count" integer NOT NULL,
	"retry_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "filter_misses" ADD CONSTRAINT "filter_misses_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE cascade ON UPDATE no action;