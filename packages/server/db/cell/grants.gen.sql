-- Made by `npm run generate` from src/core/tables/. `loquat migrate` applies it after the migrations, as the
-- role that owns the tables. Roles that don't exist get nothing: then the service runs as the owner.
-- docs/decisions/0035-database-roles.md explains it.

do $$
begin
  if to_regrole('loquat_service') is null or current_user = 'loquat_service' then return; end if;
  grant usage on schema public to loquat_service;
  grant usage, select, update on all sequences in schema public to loquat_service;
  revoke all on apps, api_keys, auth_tokens, revocations, idempotency, workers, leases, jobs, job_steps, job_schedules, event_bodies, event_positions, sequencer_progress, positions, log_breaks, log_origin, roles, moderation_rules, keyword_lists, flag_reasons, users, friends, blocks, totals, gateways, presence, groups, bans, former_members, conversations, inbox, direct_views, view_totals, app_pins, messages, held_messages, checked_messages, flags, reviews, muids, gone_messages, uncounted, threads, thread_users, mentions, interactions, reactions, reaction_counts, saves, files, file_references, file_usage, marks, mark_thinning, receipt_progress, receipt_floors, search_segments, search_ids, search_grams, search_changes, webhooks, webhook_progress, webhook_parked, webhook_backlog, webhook_dead_letters, webhook_deliveries, usage_progress, usage_days, usage_steps, usage_peaks, usage_activity, usage_returns, usage_seen, events, outbox from loquat_service;
  grant select, insert, update, delete on apps to loquat_service;
  grant select, insert, update, delete on api_keys to loquat_service;
  grant select, insert, update, delete on auth_tokens to loquat_service;
  grant select, insert, delete on revocations to loquat_service;
  grant select, insert, update, delete on idempotency to loquat_service;
  grant select, insert, update, delete on workers to loquat_service;
  grant select, insert, update on leases to loquat_service;
  grant select, insert, update, delete on jobs to loquat_service;
  grant select, insert, delete on job_steps to loquat_service;
  grant select, insert, update, delete on job_schedules to loquat_service;
  grant select, insert, delete on event_bodies to loquat_service;
  grant select, insert, delete on event_positions to loquat_service;
  grant select, update on sequencer_progress to loquat_service;
  grant select, insert, update, delete on positions to loquat_service;
  grant select, insert, delete on log_breaks to loquat_service;
  grant select, update on log_origin to loquat_service;
  grant select, insert, update, delete on roles to loquat_service;
  grant select, insert, update, delete on moderation_rules to loquat_service;
  grant select, insert, update, delete on keyword_lists to loquat_service;
  grant select, insert, update, delete on flag_reasons to loquat_service;
  grant select, insert, update, delete on users to loquat_service;
  grant select, insert, delete on friends to loquat_service;
  grant select, insert, delete on blocks to loquat_service;
  grant select, insert, update, delete on totals to loquat_service;
  grant select, insert, update, delete on gateways to loquat_service;
  grant select, insert, update, delete on presence to loquat_service;
  grant select, insert, update, delete on groups to loquat_service;
  grant select, insert, delete on bans to loquat_service;
  grant select, insert, delete on former_members to loquat_service;
  grant select, insert, update, delete on conversations to loquat_service;
  grant select, insert, update, delete on inbox to loquat_service;
  grant select, insert, update, delete on direct_views to loquat_service;
  grant select, insert, update, delete on view_totals to loquat_service;
  grant select, insert, update, delete on app_pins to loquat_service;
  grant select, insert, update, delete on messages to loquat_service;
  grant select, insert, update, delete on held_messages to loquat_service;
  grant select, insert, update, delete on checked_messages to loquat_service;
  grant select, insert, update, delete on flags to loquat_service;
  grant select, insert, update, delete on reviews to loquat_service;
  grant select, insert, update, delete on muids to loquat_service;
  grant select, insert, delete on gone_messages to loquat_service;
  grant select, insert, delete on uncounted to loquat_service;
  grant select, insert, update, delete on threads to loquat_service;
  grant select, insert, update, delete on thread_users to loquat_service;
  grant select, insert, delete on mentions to loquat_service;
  grant select, insert, delete on interactions to loquat_service;
  grant select, insert, delete on reactions to loquat_service;
  grant select, insert, update, delete on reaction_counts to loquat_service;
  grant select, insert, delete on saves to loquat_service;
  grant select, insert, update, delete on files to loquat_service;
  grant select, insert, delete on file_references to loquat_service;
  grant select, insert, update, delete on file_usage to loquat_service;
  grant select, insert, update, delete on marks to loquat_service;
  grant select, update on mark_thinning to loquat_service;
  grant select, insert, update, delete on receipt_progress to loquat_service;
  grant select, insert, update, delete on receipt_floors to loquat_service;
  grant select, insert, update, delete on search_segments to loquat_service;
  grant select, insert, delete on search_ids to loquat_service;
  grant select, insert, update, delete on search_grams to loquat_service;
  grant select, insert, update, delete on search_changes to loquat_service;
  grant select, insert, update, delete on webhooks to loquat_service;
  grant select, insert, update, delete on webhook_progress to loquat_service;
  grant select, insert, update, delete on webhook_parked to loquat_service;
  grant select, insert, delete on webhook_backlog to loquat_service;
  grant select, insert, update, delete on webhook_dead_letters to loquat_service;
  grant select, insert, delete on webhook_deliveries to loquat_service;
  grant select, insert, update, delete on usage_progress to loquat_service;
  grant select, insert, update, delete on usage_days to loquat_service;
  grant select, insert, update, delete on usage_steps to loquat_service;
  grant select, insert, update, delete on usage_peaks to loquat_service;
  grant select, insert, update, delete on usage_activity to loquat_service;
  grant select, insert, update, delete on usage_returns to loquat_service;
  grant select, insert, delete on usage_seen to loquat_service;
  grant select on events to loquat_service;
  grant select on outbox to loquat_service;
end $$;

do $$
begin
  if to_regrole('loquat_audit') is null or current_user = 'loquat_audit' then return; end if;
  grant usage on schema public to loquat_audit;
  revoke all on apps, api_keys, auth_tokens, revocations, idempotency, workers, leases, jobs, job_steps, job_schedules, event_bodies, event_positions, sequencer_progress, positions, log_breaks, log_origin, roles, moderation_rules, keyword_lists, flag_reasons, users, friends, blocks, totals, gateways, presence, groups, bans, former_members, conversations, inbox, direct_views, view_totals, app_pins, messages, held_messages, checked_messages, flags, reviews, muids, gone_messages, uncounted, threads, thread_users, mentions, interactions, reactions, reaction_counts, saves, files, file_references, file_usage, marks, mark_thinning, receipt_progress, receipt_floors, search_segments, search_ids, search_grams, search_changes, webhooks, webhook_progress, webhook_parked, webhook_backlog, webhook_dead_letters, webhook_deliveries, usage_progress, usage_days, usage_steps, usage_peaks, usage_activity, usage_returns, usage_seen, events, outbox from loquat_audit;
  grant select (app_no, app_id, settings, ceilings, created_at, archived_at, suspended_at, throttle, search_upto, special_roles, moderation) on apps to loquat_audit;
  grant select (app_no, name, scope, created_at) on api_keys to loquat_audit;
  grant select (app_no, uid, audit_id, created_at) on auth_tokens to loquat_audit;
  grant select (app_no, last, next, at) on log_breaks to loquat_audit;
  grant select (system_id, timeline, wal_position, break_no) on log_origin to loquat_audit;
end $$;
