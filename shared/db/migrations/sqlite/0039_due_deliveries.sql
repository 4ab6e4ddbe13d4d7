DROP INDEX `deliveries_waiting`;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `organization_id` text;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `is_filtered` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`is_filtered`,`organization_id`,`enqueued_at`) WHERE "deliveries"."status" is null;