DROP INDEX "deliveries_waiting";--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "organization_id" uuid;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "is_filtered" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("is_filtered","organization_id","enqueued_at") WHERE "deliveries"."status" is null;