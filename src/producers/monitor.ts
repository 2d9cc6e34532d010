import { createHash } from 'node:crypto'
import { describeError } from '../domain/errors.ts'
import {
  companiesOf,
  readDelivery,
  type DeliveredCompany,
  type DeliveredSignal,
  type ReadDelivery,
} from '../domain/monitors/read-delivery.ts'
import type { WhoseMonitor } from '../domain/monitors/whose-monitor.ts'
import type { RecipeBook } from '../domain/planning/recipes.ts'
import { recordIdentities } from '../domain/subjects/record-identities.ts'
import type { IndexedRecord, RecordIndexLedger } from '../store/identities/record-index.ts'
import type { DueDelivery, MonitorDeliveries } from '../store/messages/monitor-deliveries.ts'
import type { OnDemand } from './on-demand.ts'

export interface MonitorOptions {
  deliveries: MonitorDeliveries
  index: Pick<RecordIndexLedger, 'find'>
  onDemand: Pick<OnDemand, 'request'>
  /** The CRMs that are configured here. */
  connectors: readonly string[]
  recipes: RecipeBook
  recipe: string
  /** The network's word in the names of fields, where it is not the default. */
  networkName: string
  /** The hosts of the network, on all of which a profile is the same. Default: the published ones. */
  networkHosts?: readonly string[] | undefined
  /** Says whose monitor a delivery names. Default: nothing is known of it. */
  whose?: (given: ReadDelivery['monitor']) => Promise<WhoseMonitor>
  /**
   * Takes the signals of one company of a monitor of the settings, once however often it is called. Returns false where the monitor
   * declares nothing to do: then tasks are made of it.
   */
  takeMatch?: (monitor: string, signals: readonly DeliveredSignal[]) => Promise<boolean>
  now: () => Date
  onError: (error: unknown) => void
}

export interface Monitor {
  /** Stores a delivery. Returns false for one that was received before. */
  receive(body: string, headers?: readonly string[]): Promise<boolean>
  /** Counts a delivery whose body cannot be read. */
  refuse(body: string, reason: string): Promise<void>
  /** Makes tasks of the deliveries received. Returns their number. */
  work(): Promise<number>
}

const leaseMs = 60_000
/** The name of a company stands for its record, in an index of the ledger. */
const maxNameLength = 500
const mostTries = 8
const keptMs = 7 * 86_400_000
/** As long as signals are kept. */
const seenKeptMs = 400 * 86_400_000
const lateMs = 3_600_000
const pruneEveryMs = 600_000
const headersEveryMs = 3_600_000
const yieldMs = 2
const mostYields = 25

/**
 * Turns the deliveries of monitors into tasks: one for each CRM record that the index has under the profile or domain
 * of a company that the delivery names. A company without a known record gets a task that ends at once, because
 * there would be no record to write an answer to. Companies of a monitor that declares `onMatch` become matches instead.
 *
 * Crash windows. Each meaning belongs for ever to the delivery that brought it first (one transaction, `admit`):
 * - The delivery is stored, and not admitted: the next lease admits it.
 * - It is admitted, and nothing is worked: the next lease is told the same meanings, because they bear its digest.
 * - Some companies are matches or tasks: matches are taken once in `oncePer`, presses share a task, unknown ones have one run.
 * - All is worked, and the delivery has not ended: as before, then it ends.
 * Between two deliveries of one meaning the first commit decides; the other one ends as `repeated`.
 */
export function createMonitor(options: MonitorOptions): Monitor {
  const { deliveries, now } = options
  let prunedAtMs = 0
  /** Names of headers by the time at which they were kept, so that a delivery costs one write. */
  const keptHeaders = new Map<string, number>()
  /** Deliveries that are being stored. Their senders wait for the answer, and work can wait. */
  let storing = 0

  /**
   * Lets deliveries that arrive go first, for a while at each step: the embedded ledger carries out one statement at a time, and where
   * the processor is taken by others, working what has come would leave none for what comes.
   */
  async function letOthersGoFirst(): Promise<void> {
    for (let waits = 0; storing > 0 && waits < mostYields; waits += 1)
      await new Promise((resolve) => setTimeout(resolve, yieldMs))
  }

  async function turnIntoTasks({ digest, body, receivedAt, source }: DueDelivery): Promise<void> {
    const none = { records: 0, unknown: 0, reason: null }
    let parsed: unknown
    try {
      parsed = JSON.parse(body)
    } catch {
      return deliveries.finish(digest, { ...none, outcome: 'malformed', reason: 'the body is not JSON' })
    }
    const read = readDelivery(parsed, options.networkName)
    const whose = (await options.whose?.(read.monitor)) ?? { is: 'open' as const }
    const monitor = 'name' in whose ? whose.name : read.monitor.id
    if (read.isTest) return deliveries.finish(digest, { ...none, monitor, outcome: 'test' })
    if (whose.is === 'unknown' || whose.is === 'deleted')
      return deliveries.finish(digest, { ...none, monitor, outcome: `${whose.is}_monitor` })
    if (read.signals.length === 0)
      return deliveries.finish(digest, { ...none, monitor, outcome: 'no_company' })
    // An entry of the log was never sent here, so that it is neither late nor out of order.
    const triggeredAt = source === 'log' ? null : read.triggeredAt
    const isLate = triggeredAt !== null && receivedAt.getTime() - triggeredAt.getTime() > lateMs
    await letOthersGoFirst()
    const fresh = await deliveries.admit(digest, {
      monitor,
      triggeredAt,
      isLate,
      signals: read.signals.map(({ meaning, company }) => ({
        meaning,
        company: company.profile ?? company.domain,
      })),
    })
    const signals = read.signals.filter(({ meaning }) => fresh.has(meaning))
    if (signals.length === 0) return deliveries.finish(digest, { ...none, outcome: 'repeated' })
    const companies = companiesOf(await notMatched(whose.is === 'ours' ? whose.name : undefined, signals))
    await letOthersGoFirst()
    const found = await recordsOf(companies)
    const records = Map.groupBy(found.flat(), ({ connector, entity }) => `${connector}/${entity}`)
    for (const group of records.values()) {
      const { connector, entity } = group[0] as IndexedRecord
      await options.onDemand.request({
        connector,
        entity,
        object: 'company',
        ids: idsIn(group),
        recipe: options.recipes('company', options.recipe).name,
        trigger: 'monitor',
        source: { caller: 'monitor', records: idsIn(group).length },
      })
    }
    await letOthersGoFirst()
    const unknown = companies.filter((_, place) => found[place]?.length === 0)
    await deliveries.addUnknown(
      `m${digest.slice(0, 16)}`,
      unknown.map(({ profile, domain }) => (profile ?? domain ?? '').slice(0, maxNameLength)),
      options.recipe,
      'no record of this company was seen in a CRM yet',
    )
    await letOthersGoFirst()
    const sum = [...records.values()].reduce((count, group) => count + idsIn(group).length, 0)
    await deliveries.finish(digest, {
      records: sum,
      unknown: unknown.length,
      reason: null,
      outcome: source === 'log' ? 'missed' : 'worked',
    })
  }

  /** Hands the companies of a declared monitor over, and returns the signals of the others. */
  async function notMatched(
    monitor: string | undefined,
    signals: readonly DeliveredSignal[],
  ): Promise<readonly DeliveredSignal[]> {
    const { takeMatch } = options
    if (!takeMatch || monitor === undefined) return signals
    const left: DeliveredSignal[] = []
    const ofCompany = Map.groupBy(signals, ({ company }) => company.profile ?? company.domain)
    for (const group of ofCompany.values()) if (!(await takeMatch(monitor, group))) left.push(...group)
    return left
  }

  /** Returns the records of each company. A name is not enough, and a mailbox provider's domain names none. */
  async function recordsOf(companies: readonly DeliveredCompany[]): Promise<IndexedRecord[][]> {
    const named = companies.map(({ profile, domain }) =>
      recordIdentities(
        {
          object: 'company',
          identity: {
            ...(profile === null ? {} : { profileUrl: profile }),
            ...(domain === null ? {} : { domain }),
          },
        },
        { hosts: options.networkHosts },
      ),
    )
    const found = await options.index.find(options.connectors, named.flat())
    const records = Map.groupBy(found, ({ kind, value }) => `${kind}|${value}`)
    return named.map((identities) =>
      identities.flatMap(({ kind, value }) => records.get(`${kind}|${value}`) ?? []),
    )
  }

  /** A delivery is stored and answered also where this fails: the names come again with the next one. */
  async function keepHeaders(names: readonly string[]): Promise<void> {
    const atMs = now().getTime()
    const due = names.filter((name) => atMs - (keptHeaders.get(name) ?? 0) >= headersEveryMs)
    if (due.length === 0) return
    try {
      await deliveries.keepHeaders(due)
      if (keptHeaders.size < 1_000) for (const name of due) keptHeaders.set(name, atMs)
    } catch (error) {
      options.onError(error)
    }
  }

  return {
    async receive(body, headers = []) {
      storing += 1
      try {
        const isNew = await deliveries.add(digestOf(body), body)
        await keepHeaders(headers)
        return isNew
      } finally {
        storing -= 1
      }
    },

    refuse: (body, reason) => deliveries.addMalformed(digestOf(body), reason),

    async work() {
      const due = await deliveries.lease({ limit: 10, leaseMs })
      for (const delivery of due) {
        await letOthersGoFirst()
        try {
          await turnIntoTasks(delivery)
        } catch (error) {
          options.onError(error)
          const reason = describeError(error)
          if (delivery.tries >= mostTries)
            await deliveries.finish(delivery.digest, { records: 0, unknown: 0, reason, outcome: 'failed' })
          else {
            const waitMs = Math.min(300_000, 1_000 * 2 ** delivery.tries)
            await deliveries.postpone(delivery.digest, new Date(now().getTime() + waitMs), reason)
          }
        }
      }
      if (Math.abs(now().getTime() - prunedAtMs) >= pruneEveryMs) {
        const ago = (ms: number) => new Date(now().getTime() - ms)
        await deliveries.prune({ deliveries: ago(keptMs), seen: ago(seenKeptMs) })
        prunedAtMs = now().getTime()
      }
      return due.length
    },
  }
}

function digestOf(body: string): string {
  return createHash('sha256').update(body).digest('hex')
}

function idsIn(records: readonly IndexedRecord[]): string[] {
  return [...new Set(records.map(({ recordId }) => recordId))]
}
