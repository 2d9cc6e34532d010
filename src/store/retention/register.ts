import { erasureRules } from './rules.ts'

/**
 * `rules`: erased by the settings of retention, src/store/retention/rules.ts. `with`: goes with the rows of another table. `clock`: has an
 * end of its own, which no setting changes. `ever`: is kept.
 */
export interface KeptTable {
  table: string
  /** True where a row may hold a name, an address, a profile or a number of a person. */
  persons: boolean
  kept: 'rules' | 'with' | 'clock' | 'ever'
  /** The rows it goes with, its own end, or the reason why it is kept. */
  why: string
}

const withRows: Readonly<Record<string, [persons: boolean, why: string]>> = {
  task_words: [true, 'the words of a task go with the task'],
  field_writes: [true, 'values and ids go with the task; field, price and times stay for the reports'],
  run_stops: [true, 'the name of who stopped a run goes with the run'],
  plan_records: [true, 'go with their plan'],
  bundle_members: [true, 'keys follow those of their lookups; shares of an amount stay'],
  charges: [true, 'bodies and challenges go with the lookup; amounts, times, nonces and transactions stay'],
  list_row_identities: [true, 'go with the rows of the list'],
  list_review_names: [true, 'go with the answer of the reviewer'],
  reserved_identities: [true, 'go with the record that was made'],
  signal_accounts: [true, 'go by `signalsDays`, with all that is kept of them'],
  signal_checks: [false, 'go with their account'],
  signal_scores: [false, 'go by `signalsDays`'],
  alert_deliveries: [false, 'go with their alert'],
}

const ownClock: Readonly<Record<string, [persons: boolean, why: string]>> = {
  replays: [false, 'digests, until the request they guard can no longer be sent again'],
  desk_sessions: [true, 'until they expire'],
  desk_attempts: [true, 'until their bar has passed'],
  api_token_calls: [false, 'an hour'],
  monitor_deliveries: [true, '7 days after they were worked, then counted'],
  monitor_seen: [true, '400 days, as digests with the domain of a company'],
  monitor_log_entries: [false, '400 days'],
  measurements: [false, 'by their span'],
  operation_probes: [false, 'until the probe ends'],
}

const forEver: Readonly<Record<string, [persons: boolean, why: string]>> = {
  meta: [false, 'the id of the ledger'],
  budgets: [false, 'money: sums of a run, a day, a month, a connector'],
  chain_transfers: [false, 'money: public, compared by every reconciliation'],
  chain_checkpoints: [false, 'one row a scope'],
  reconciliations: [false, 'money: differences with the chain, without names of lookups'],
  recipients: [false, 'money: the addresses that were pinned'],
  terms: [false, 'money: one row an endpoint'],
  switches: [false, 'money: whether spending is stopped'],
  seen_prices: [false, 'one row a price'],
  suppressions: [false, 'digests: without them a suppressed person would be looked up again'],
  api_tokens: [true, 'the names of tokens, until a person deletes them: a revoked one is refused by its row'],
  erasures: [false, 'the report of what was erased'],
  migrations: [false, 'the schema'],
  schema_changes: [false, 'the schema'],
  watermarks: [true, 'one row a filter; without it a sync begins anew'],
  schedules: [true, 'one row a schedule; the name of who paused it, while it is paused'],
  declared_monitors: [false, 'one row a monitor'],
  monitor_newest: [false, 'one row a monitor'],
  monitor_delivery_totals: [false, 'counts'],
  monitor_log_reads: [false, 'one row a monitor'],
  operation_states: [false, 'one row an operation'],
  answer_fields: [false, 'names of fields'],
  learned_words: [false, 'words of the vocabularies of the service'],
  known_limits: [false, 'one row a limit'],
  accepted_renames: [false, 'names of fields'],
  service_warnings: [false, 'names of fields'],
  paces: [false, 'one row a pace'],
}

const rowsOf = (kept: KeptTable['kept'], tables: typeof forEver): KeptTable[] =>
  Object.entries(tables).map(([table, [persons, why]]) => ({ table, persons, kept, why }))

const withoutPersons = new Set([
  'alerts',
  'call_refusals',
  'former_monitors',
  'monitor_headers',
  'workflow_callbacks',
])

/** Every table of the schema, once. A test holds it to the tables of the database. */
export const keptTables: readonly KeptTable[] = [
  ...[...new Set(erasureRules.map(({ table }) => table))].map((table): KeptTable => {
    const groups = new Set(erasureRules.filter((rule) => rule.table === table).map(({ group }) => group))
    const why = [...groups].map((group) => `\`${group}Days\``).join(', ')
    return { table, persons: !withoutPersons.has(table), kept: 'rules', why }
  }),
  ...rowsOf('with', withRows),
  ...rowsOf('clock', ownClock),
  ...rowsOf('ever', forEver),
]
