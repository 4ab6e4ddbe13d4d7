ALTER TABLE `audit_events` ADD `token` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `worked_ms` integer;--> statement-breakpoint
ALTER TABLE `builds` ADD `working_since` integer;