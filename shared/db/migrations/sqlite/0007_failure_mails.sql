ALTER TABLE `repository_connections` ADD `failure_mailed_at` integer;--> statement-breakpoint
ALTER TABLE `notification_services` ADD `failure_mailed_at` integer;