-- Who was a member of a group when it was removed. A device that was away then is told of it when it
-- comes back, and of what was said there before. Rows are kept as long as the log (workers/upkeep.ts).
create table former_members (
  app_no int not null,
  uid text collate "C" not null,
  -- Of the group: unlike its guid, no other gets it again.
  conversation bigint not null,
  guid text collate "C" not null,
  at timestamptz not null default now(),
  primary key (app_no, uid, conversation)
);
create index former_members_at on former_members (at);
