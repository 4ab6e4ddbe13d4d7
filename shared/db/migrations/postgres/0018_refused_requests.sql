CREATE TABLE "refused_requests" (
	"id" uuid PRIMARY KEY NOT NULL,
	"trigger_id" uuid NOT NULL,
	"cause" text NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"network" text NOT NULL,
	"headers" json NOT NULL,
	"query" text NOT NULL,
	"size" integer,
	"body" "bytea"
);
--> statement-breakpoint
ALTER TABLE "refused_requests" ADD CONSTRAINT "refused_requests_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "refused_requests_cause" ON "refused_requests" USING btree ("trigger_id","cause","id");--> statement-breakpoint
CREATE INDEX "refused_requests_trigger" ON "refused_requests" USING btree ("trigger_id","received_at","id");--> statement-breakpoint
CREATE INDEX "refused_requests_age" ON "refused_requests" USING btree ("received_at");