ALTER TABLE `repository_connections` ADD `rests_until` integer;--> statement-breakpoint
ALTER TABLE `outbox_receivers` ADD `taken_until` integer;