CREATE TABLE "refused_deliveries" (
	"trigger_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"cause" text NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "refused_deliveries_trigger_id_hour_cause_pk" PRIMARY KEY("trigger_id","hour","cause")
);
--> statement-breakpoint
ALTER TABLE "builds" DROP CONSTRAINT "builds_delivery_id_unique";--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "rebuild" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "triggers" ADD COLUMN "filter" text;--> statement-breakpoint
ALTER TABLE "refused_deliveries" ADD CONSTRAINT "refused_deliveries_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "refused_deliveries_age" ON "refused_deliveries" USING btree ("hour");--> statement-breakpoint
CREATE UNIQUE INDEX "builds_delivery" ON "builds" USING btree ("delivery_id","rebuild");