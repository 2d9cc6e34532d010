import { randomBytes as nodeRandomBytes } from 'node:crypto'
import type { Connector } from '../../connectors/connector.ts'
import { freshUntil } from '../../domain/freshness.ts'
import type { ChargeJournal } from '../../domain/ports/charge-journal.ts'
import type { AcquirePermit } from '../../domain/ports/send-permit.ts'
import type { Send } from '../../domain/ports/transport.ts'
import { createChain, type Chain } from '../../pay/chain/chain.ts'
import { openDatabase, type OpenDatabase } from '../../store/database/database.ts'
import { ledgerId } from '../../store/database/meta.ts'
import { traceQuery } from '../../store/database/query-spans.ts'
import { createLookupLedger, type LookupLedger, type SettledHere } from '../../store/ledger/lookups.ts'
import { createSpendSwitch, type SpendSwitch } from '../../store/ledger/spend-switch.ts'
import { createRunLedger, type RunLedger } from '../../store/runs/runs.ts'
import { createTaskLedger, type TaskLedger } from '../../store/runs/tasks.ts'
import { createRecordIndex, type RecordIndexLedger } from '../../store/identities/record-index.ts'
import { createSuppressionLedger, type SuppressionLedger } from '../../store/subjects/suppressions.ts'
import { createFieldWriteLedger, type FieldWriteLedger } from '../../store/writes/field-writes.ts'
import { createJustNow } from '../../timing/just-now.ts'
import { createClosedFieldsFinder, type ClosedFieldsFinder } from '../../planning/closed-fields.ts'
import { createStepPlanner, type StepPlanner } from '../../planning/step-planner.ts'
import type { Config } from '../config/config.ts'
import type { ProcessRole } from '../config/stores/database.ts'
import { ruleOf } from '../config/policies.ts'
import { openEngine, type Engine } from './engine.ts'
import { createLog, moduleLog, type Log } from './log.ts'

/** Everything that the parts are built from, in one visible place. A worker takes the few of them that it names. */
export interface Context {
  config: Config
  log: Log
  now: () => Date
  randomBytes: (size: number) => Buffer
  database: OpenDatabase
  runs: RunLedger
  tasks: TaskLedger
  lookups: LookupLedger
  fieldWrites: FieldWriteLedger
  suppressions: SuppressionLedger
  /** Finds the CRMs' records again by what identifies them. */
  recordIndex: RecordIndexLedger
  spendSwitch: SpendSwitch
  /** Everything that planning a task's next step needs, the same for every trigger. */
  planning: Planning
  chain: Chain
  /** Told to a command that finds this process's ledger in use; see queries/serve-queries.ts. */
  holder: { desk?: string | undefined }
  connectors: Map<string, Connector>
  /** The time that background records are gathered before they are written; undefined: the default. */
  gatherMs: number | undefined
  /** Opens Redis and what moves work over it: only processes that work need it. */
  openEngine(): Promise<Engine>
  close(): Promise<void>
}

interface Planning {
  planner: StepPlanner
  closedFields: ClosedFieldsFinder
  lookups: LookupLedger
  tasks: TaskLedger
}

/** Replacements and wrappers that tests put in. */
export interface Overrides {
  now?: () => Date
  randomBytes?: (size: number) => Buffer
  log?: Log
  journal?: (journal: ChargeJournal) => ChargeJournal
  send?: (send: Send) => Send
  acquirePermit?: (acquire: AcquirePermit) => AcquirePermit
  gatherMs?: number
  /** The role of `paydirt start`. Default: a command. */
  role?: ProcessRole
}

export async function createContext(config: Config, overrides: Overrides = {}): Promise<Context> {
  const { now = () => new Date(), randomBytes = nodeRandomBytes } = overrides
  const log = overrides.log ?? createLog(config.log)
  const telemetry = config.telemetry
    ? await import('./telemetry.ts').then(({ startTelemetry }) => startTelemetry(config.telemetry!))
    : undefined
  const database = await openDatabase({
    dataDir: config.dataDir,
    onQuery: telemetry && traceQuery,
    url: config.databaseUrl,
    migratedBy: config.migratedBy,
    onMigration: (line, level) => moduleLog(log, 'store')[level](line),
    connections: config.connections(overrides.role ?? 'command'),
  })
  const { db } = database
  // Released in reverse order. Telemetry ends last, so that the end of everything else is traced too.
  const releases: (() => Promise<void>)[] = [async () => telemetry?.stop(), () => database.close()]
  const runs = createRunLedger(db, { now })
  const tasks = createTaskLedger(db, { now })
  // The step after a purchase follows within the second, also on a busy machine.
  const settled: SettledHere = createJustNow({ mostMs: 1_000, most: 500 })
  const lookups = createLookupLedger(db, { now, hosts: config.networkHosts, settled })
  // Drawn once and never changed, but needed for each page of a scan and each on-demand request.
  let salt: string | undefined
  const suppressions = createSuppressionLedger(db, {
    now,
    hosts: config.networkHosts,
    salt: async () => (salt ??= await ledgerId(db, randomBytes)),
  })
  const chain = createChain({ rpcUrl: config.rpcUrl, asset: config.policy.asset })
  const recordIndex = createRecordIndex(db, {
    now,
    hosts: config.networkHosts,
    suppressed: suppressions.match,
  })
  let engine: Promise<Engine> | undefined
  const fieldWrites = createFieldWriteLedger(db, { now })
  return {
    config,
    log,
    now,
    randomBytes,
    database,
    runs,
    tasks,
    lookups,
    fieldWrites,
    suppressions,
    recordIndex,
    spendSwitch: createSpendSwitch(db, { now }),
    planning: {
      lookups,
      tasks,
      planner: createStepPlanner({
        lookups,
        recipes: config.recipes,
        prices: config.prices,
        suppressed: suppressions.match,
        now,
        onUnexpected: (failure) =>
          moduleLog(log, 'planning').warn(failure, 'a record could not be planned, and was rejected'),
      }),
      closedFields: createClosedFieldsFinder({
        recipes: config.recipes,
        rule: (connector, field) => ruleOf(config.policies, connector, field),
        fieldWrites,
        now,
      }),
    },
    chain,
    holder: {},
    connectors: new Map(),
    gatherMs: overrides.gatherMs,
    openEngine: () =>
      (engine ??= openEngine({
        config,
        log,
        now,
        randomBytes,
        database,
        chain,
        settled,
        runs,
        suppressions,
        recordIndex,
        freshUntil: (operation, outcome, at) => freshUntil(operation, outcome, at, config.freshness),
        isTraced: telemetry !== undefined,
        wrapSend: overrides.send,
        wrapJournal: overrides.journal,
        wrapAcquirePermit: overrides.acquirePermit,
        onOpened: (release) => releases.push(release),
      })),
    async close() {
      for (const release of releases.reverse()) await release()
    },
  }
}
