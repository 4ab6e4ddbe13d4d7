DROP INDEX `job_logs_organization`;--> statement-breakpoint
DROP INDEX `job_logs_age`;--> statement-breakpoint
CREATE INDEX `job_logs_counted` ON `job_logs` (`organization_id`,`created_at`) WHERE "job_logs"."is_counted";--> statement-breakpoint
DROP INDEX `job_log_chunks_start`;--> statement-breakpoint
ALTER TABLE `job_log_chunks` ADD `lines` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `job_log_chunks_start` ON `job_log_chunks` (`job_id`,`attempt`,`start`,`size`,`lines`);