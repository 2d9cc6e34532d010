/** The desk's sessions, its sign-in attempts, and the audit log. */
export const desk = `
create table desk_sessions (
  -- The SHA-256 of the token, never the token itself.
  token_hash text primary key,
  user_name text not null,
  role text not null check (role in ('viewer', 'operator', 'admin')),
  created_at timestamptz not null,
  seen_at timestamptz not null,
  -- The latest end; an idle session ends before.
  expires_at timestamptz not null
);
create index desk_sessions_expiry on desk_sessions (expires_at);

-- Failed sign-ins by address and by name, both hashed.
create table desk_attempts (
  scope text primary key,
  failures int not null,
  last_at timestamptz not null,
  -- Whether the last attempt was let through to the password.
  admitted boolean not null,
  blocked_until timestamptz
);

create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  role text not null,
  action text not null,
  target text,
  -- Counts and amounts; never a value of a record.
  details jsonb
);
create index audit_at on audit (at desc);

create table reconciliations (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  difference_atomic bigint not null,
  differences int not null,
  in_doubt_atomic bigint not null,
  document jsonb not null
);
create index reconciliations_at on reconciliations (at desc);
create index charges_created on charges (created_at);
`
