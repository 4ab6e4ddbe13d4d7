DROP INDEX "deliveries_event";--> statement-breakpoint
DROP INDEX "deliveries_external_id";--> statement-breakpoint
DROP INDEX "deliveries_trigger";--> statement-breakpoint
CREATE INDEX "deliveries_trigger" ON "deliveries" USING btree ("trigger_id","id","event","external_id");