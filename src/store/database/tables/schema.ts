import type { AccessTables } from './access-tables.ts'
import type { ContractTables } from './contract-tables.ts'
import type { IdentityTables, ListTables } from './identity-tables.ts'
import type { LedgerTables } from './ledger-tables.ts'
import type { ChampionTables } from './champion-tables.ts'
import type { MatchTables } from './match-tables.ts'
import type { NoteTables } from './note-tables.ts'
import type { RunTables } from './run-tables.ts'
import type { SignalTables } from './signal-tables.ts'

/** The tables as Kysely sees them. The migrations define them. */
export interface Tables
  extends
    RunTables,
    LedgerTables,
    ContractTables,
    AccessTables,
    IdentityTables,
    ListTables,
    SignalTables,
    NoteTables,
    MatchTables,
    ChampionTables {}
