import type { LookupKey } from '../../domain/keys.ts'
import { noteFromCli } from '../context/audit-from-cli.ts'
import { underAllNames, type Identifier } from '../../domain/subjects/identifiers.ts'
import { openRedis } from '../../queues/connection.ts'
import { createQueues, type Queues } from '../../queues/queues.ts'
import { eraseSubject, rehearseErasure, type Erased } from '../../store/subjects/erase-subject.ts'
import { vacuumErased } from '../../store/subjects/vacuum-erased.ts'
import { notesInCrms } from '../../store/notes/erase-notes.ts'
import { findSubject, type Subject } from '../../store/subjects/find-subject.ts'
import {
  ownIdentities,
  recordsInCrms,
  recordsOfTasks,
  type CrmRecord,
  type SubjectRecord,
} from '../../store/subjects/subject-records.ts'
import type { Context } from '../context/context.ts'

export interface Forgotten {
  plan: false
  erased: Erased & { jobs: number }
  /** New entries of the suppression list. */
  suppressed: number
  /** The records, notes and tasks of CRMs that still hold the subject, as far as the ledger knew them. Nothing is erased there. */
  inCrms: CrmRecord[]
}

/** The rows that `forget` would change now. */
export interface ForgetPlan extends Omit<Forgotten, 'plan'> {
  plan: true
  /** The identifiers that were given, and the others by which the ledger knows the same subject. */
  identifiers: Identifier[]
  records: SubjectRecord[]
  lookups: LookupKey[]
  /** The reason why `forget` would refuse now; null when it would not. */
  refusal: string | null
}

type ForgetContext = Pick<Context, 'database' | 'suppressions' | 'config' | 'now' | 'randomBytes'>

interface ForgetOptions {
  suppress: boolean
}

/**
 * Erases a subject in tables, plans and queue, and prevents further lookups. The amounts, times and nonces of payments stay,
 * without a name.
 */
export async function forget(
  context: ForgetContext,
  identifiers: readonly Identifier[],
  options: ForgetOptions,
): Promise<Forgotten> {
  const { database, suppressions } = context
  const subject = await findSubject(database.db, identifiers, context.config.networkHosts)
  // Read first: once the subject is erased nobody knows them any more. `--plan` names them too.
  const inCrms = await namedInCrms(context, subject)
  // Suppressed first, erased second: a sync that runs at this moment must not buy the subject again.
  const suppressed = options.suppress ? await suppressions.add(subject.identifiers) : 0
  const erased = await eraseSubject(database.db, subject, {
    ...eraseOptions(context),
    note: (db, counts) =>
      noteFromCli({ ...context, database: { ...database, db } }, 'forget', {
        details: { ...counts, suppressed },
      }),
  })
  const jobs = await countJobs(context, subject.lookups, (queues) => queues.dropLookups(subject.lookups))
  await vacuumErased(database)
  return { plan: false, erased: { ...erased, jobs }, suppressed, inCrms }
}

/** Returns what `forget` would erase and suppress. Changes nothing. */
export async function planForget(
  context: ForgetContext,
  identifiers: readonly Identifier[],
  options: ForgetOptions,
): Promise<ForgetPlan> {
  const { db } = context.database
  const subject = await findSubject(db, identifiers, context.config.networkHosts)
  const { erased, refusal } = await rehearseErasure(db, subject, eraseOptions(context))
  const jobs = await countJobs(context, subject.lookups, (queues) => queues.countJobsOf(subject.lookups))
  return {
    plan: true,
    erased: { ...erased, jobs },
    suppressed: options.suppress ? await context.suppressions.countNew(subject.identifiers) : 0,
    identifiers: namedOnce(subject.identifiers, context.config.networkHosts),
    inCrms: await namedInCrms(context, subject),
    records: await recordsOfTasks(db, subject.taskIds),
    lookups: subject.lookups,
    refusal: refusal?.message ?? null,
  }
}

/** A profile is found under every host of the network; one of them names it. */
function namedOnce(identifiers: readonly Identifier[], hosts: readonly string[]): Identifier[] {
  const named = identifiers.map((each): [string, Identifier] => [
    underAllNames(each, hosts)[0]?.value ?? each.value,
    each,
  ])
  return [...new Map(named.map(([value, { kind }]) => [`${kind}|${value}`, { kind, value }])).values()]
}

/** Notes and tasks stand as `note` and `task`, behind the records. */
async function namedInCrms({ database, config }: ForgetContext, subject: Subject): Promise<CrmRecord[]> {
  const { taskIds } = subject
  const identities = ownIdentities(subject, config.networkHosts)
  return [
    ...(await recordsInCrms(database.db, subject, config.networkHosts)),
    ...(await notesInCrms(database.db, { identities, taskIds })),
  ]
}

function eraseOptions({ now, randomBytes, config }: ForgetContext) {
  return { now, hosts: config.networkHosts, token: () => randomBytes(12).toString('hex') }
}

/** Jobs in the embedded Redis ended with their process. */
async function countJobs(
  { config }: ForgetContext,
  keys: readonly LookupKey[],
  work: (queues: Queues) => Promise<number>,
): Promise<number> {
  if (config.redisUrl === undefined || keys.length === 0) return 0
  const redis = await openRedis(config.redisUrl, config.redisAccess)
  const queues = createQueues(redis.redis, { prefix: config.redisPrefix, onError: () => {} })
  try {
    return await work(queues)
  } finally {
    await queues.close()
    await redis.close()
  }
}
