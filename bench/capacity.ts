import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { errorOf, lineThrough, needsAt, predict, type Costs } from './capacity-model.ts'
import { startMeasuredStores, type MeasuredStores, type StoreCounts } from './capacity-stores.ts'
import { startChild, type Child } from './child.ts'
import type { BenchOptions } from './options.ts'
import { machineMs, processorMs } from './processor-time.ts'
import type { RedisCommands } from './redis-commands.ts'
import { envWith, oneLookup, withStub } from './setup.ts'
import type { StubStats } from './stub-service.ts'
import { printTable, round } from './table.ts'
import { missingServers } from '../test/faults/servers.ts'

/** Everything that one night cost, from its scan to its last written record. */
interface Night extends StoreCounts {
  lookups: number
  workerMs: number
  serviceMs: number
  crmMs: number
  queueCommands: number
  pacerCommands: number
  otherCommands: number
  redisCommands: number
  /** From the first answer to the last. */
  answeringMs: number
  /** From the last answer to the last written record. */
  writingOnMs: number
  perSecond: number
  /** Processor time of all processes in between. */
  answeringCpuMs: number
  /** Cores that were busy while answers came, and those that were ours. */
  busyCores: number
  ourCores: number
  redisShare: number
  /** Bytes of living rows at the end. */
  keptBytes: number
  tables: { table: string; bytes: number; indexBytes: number; rows: number }[]
  slowest: { statement: string; calls: number; walBytes: number; ms: number }[]
}

/** The model is of these: what is counted. Seconds depend on what else the machine does. */
const modelled = [
  'statements',
  'transactions',
  'walBytes',
  'keptBytes',
  'queueCommands',
  'pacerCommands',
  'redisOperations',
  'workerMs',
  'postgresMs',
  'redisMs',
  'answeringCpuMs',
  'perSecond',
] as const

export interface Prediction {
  measure: string
  'a lookup': number
  predicted: number
  measured: number
  'error, %': number
  'within 15 %': string
}

const workerCount = 4
const goalPerSecond = 1_000
const goalPacerCommands = 0.2
const coresHere = availableParallelism()

/**
 * Measures nights of three sizes: four workers on one Postgres and one Redis, a service without a limit, a CRM's stand-in.
 * Says of each resource what a lookup takes of it, predicts the third night from the first two, and says which resource
 * was full. `--sizes` takes three.
 */
export async function capacity(options: BenchOptions): Promise<{ nights: Night[]; model: Prediction[] }> {
  const sizes = options.sizes ?? (options.quick ? [60, 120, 240] : [3_000, 12_000, 30_000])
  const missing = missingServers()
  if (missing !== undefined) {
    process.stderr.write(`skipped: ${missing}\n`)
    return { nights: [], model: [] }
  }
  const nights: Night[] = []
  for (const lookups of sizes) {
    nights.push(await measureNight(lookups))
    printTable('capacity: nights, a lookup', nights.map(rowOf))
  }
  const model = modelOf(nights)
  printTable(`capacity: the night of ${sizes.at(-1)} from the two before`, model)
  const last = nights.at(-1)
  if (last) {
    printTable('capacity: tables, a lookup', tablesOf(last))
    printTable('capacity: the statements that took the longest, a lookup', slowestOf(last))
    process.stderr.write(`\n${whatWasFull(last)}\n${whatThePacerSent(last)}\n`)
    const costs = costsOf(last)
    printTable(
      'capacity: what it takes',
      [last.perSecond, 1_000, 10_000].map((perSecond) => rounded(needsAt(perSecond, costs))),
    )
  }
  return { nights, model }
}

async function measureNight(lookups: number): Promise<Night> {
  const stores = await startMeasuredStores()
  const crm = await startChild('crm-process.ts', { companies: lookups })
  try {
    return await withStub({}, async (stub, serviceUrl) => {
      const order = {
        countsRedis: true,
        env: {
          ...(await envWith(stores, crm, serviceUrl)),
          PAYDIRT_LOG_LEVEL: process.env['BENCH_LOG'] ?? 'silent',
        },
        file: {
          ...oneLookup,
          pacing: { concurrency: 64, startPerSecond: 4 * goalPerSecond },
          budgets: { runUsd: '1000000', dayUsd: '1000000' },
          connectors: { hubspot: { tenSecondLimit: 1_000_000, searchLimit: 1_000_000 } },
        },
      }
      const workers: Child[] = []
      for (let count = 0; count < workerCount; count += 1)
        workers.push(await startChild('paydirt-process.ts', order))
      try {
        return await watch({ lookups, stores, workers, stub, crm })
      } finally {
        for (const worker of workers) await worker.stop()
      }
    })
  } finally {
    await crm.stop()
    await stores.stop()
  }
}

interface Watched {
  lookups: number
  stores: MeasuredStores
  workers: readonly Child[]
  stub: Child
  crm: Child
}

async function watch({ lookups, stores, workers, stub, crm }: Watched): Promise<Night> {
  const ours = async () => {
    const counts = await stores.counts()
    const sent = await Promise.all(workers.map((worker) => worker.ask<RedisCommands>('redisCommands')))
    const total = (who: keyof RedisCommands) => sent.reduce((sum, each) => sum + each[who], 0)
    return {
      ...counts,
      queueCommands: total('queue'),
      pacerCommands: total('pacer'),
      otherCommands: total('other'),
      workerMs: workers.reduce((sum, { pid }) => sum + processorMs(pid), 0),
      serviceMs: processorMs(stub.pid),
      crmMs: processorMs(crm.pid),
    }
  }
  const answered = async () => (await stub.ask<StubStats>('stats')).answered
  const started = await ours()
  await workers[0]?.ask('scanAll')
  await Promise.all(workers.map((worker) => worker.ask('start', 'worker')))
  await until(async () => (await answered()) > 0)
  const first = {
    atMs: performance.now(),
    answered: await answered(),
    counts: await ours(),
    machine: machineMs(),
  }
  await until(async () => (await answered()) >= lookups)
  const last = {
    atMs: performance.now(),
    answered: await answered(),
    counts: await ours(),
    machine: machineMs(),
  }
  await until(async () => (await stores.openTasks()) === 0)
  const writingOnMs = performance.now() - last.atMs
  const spent = difference(await ours(), started)
  const slowest = await stores.statements()
  const answeringMs = last.atMs - first.atMs
  const meanwhile = difference(last.counts, first.counts)
  const ourMs =
    meanwhile.workerMs + meanwhile.postgresMs + meanwhile.redisMs + meanwhile.serviceMs + meanwhile.crmMs
  return {
    ...spent,
    lookups,
    redisCommands: spent.queueCommands + spent.pacerCommands + spent.otherCommands,
    answeringMs,
    writingOnMs,
    answeringCpuMs: ourMs,
    perSecond: (1_000 * (last.answered - first.answered)) / answeringMs,
    busyCores: (last.machine.busyMs - first.machine.busyMs) / answeringMs,
    ourCores: ourMs / answeringMs,
    redisShare: meanwhile.redisMs / answeringMs,
    slowest,
    keptBytes: await stores.keptBytes(),
    tables: await stores.tables(),
  }
}

/** The counts are of other processes, which tell nobody when they change. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(100)
}

function difference<T extends object>(later: T, earlier: T): T {
  const of = (counts: T, name: string) => (counts as Record<string, number>)[name] ?? 0
  return Object.fromEntries(
    Object.keys(later).map((name) => [name, of(later, name) - of(earlier, name)]),
  ) as T
}

function modelOf([small, large, third]: Night[]): Prediction[] {
  if (!small || !large || !third) return []
  return modelled.map((measure) => {
    const line = (of: (night: Night) => number) =>
      predict(
        lineThrough(
          { lookups: small.lookups, total: of(small) },
          { lookups: large.lookups, total: of(large) },
        ),
        third.lookups,
      )
    // The processor is the limit here: as many as fit into the part of it that these programs were given.
    const predicted =
      measure === 'perSecond'
        ? (1_000 * third.ourCores * third.lookups) / line((night) => night.answeringCpuMs)
        : line((night) => night[measure])
    const error = errorOf(predicted, third[measure])
    return {
      measure,
      'a lookup': round(third[measure] / (measure === 'perSecond' ? 1 : third.lookups), 3),
      predicted: round(predicted),
      measured: round(third[measure]),
      'error, %': round(100 * error),
      'within 15 %': Math.abs(error) <= 0.15 ? 'yes' : 'no',
    }
  })
}

function costsOf(night: Night): Costs {
  const each = (total: number) => total / night.lookups
  return {
    workerMs: each(night.workerMs),
    postgresMs: each(night.postgresMs),
    redisMs: each(night.redisMs),
    walBytes: each(night.walBytes),
    keptBytes: each(night.keptBytes),
    redisCommands: each(night.redisCommands),
  }
}

function rowOf(night: Night) {
  const each = (total: number, digits = 2) => round(total / night.lookups, digits)
  return {
    lookups: night.lookups,
    'a second': round(night.perSecond, 0),
    'busy cores, ours': `${round(night.busyCores, 2)}, ${round(night.ourCores, 2)}`,
    'ms: workers': each(night.workerMs),
    Postgres: each(night.postgresMs),
    Redis: each(night.redisMs),
    service: each(night.serviceMs),
    CRM: each(night.crmMs),
    statements: each(night.statements),
    transactions: each(night.transactions),
    'WAL bytes': each(night.walBytes, 0),
    'table bytes, kept': `${each(night.tableBytes, 0)}, ${each(night.keptBytes, 0)}`,
    'Redis: queue': each(night.queueCommands),
    [`pacer, goal ${goalPacerCommands}`]: each(night.pacerCommands, 3),
    other: each(night.otherCommands),
    'with scripts': each(night.redisOperations),
    'written later, s': round(night.writingOnMs / 1_000),
  }
}

function tablesOf({ tables, lookups }: Night) {
  return tables.map(({ table, bytes, indexBytes, rows }) => ({
    table,
    rows: round(rows / lookups, 2),
    bytes: round(bytes / lookups, 0),
    'of them indexes': round(indexBytes / lookups, 0),
  }))
}

function slowestOf({ slowest, lookups }: Night) {
  return slowest.map(({ statement, calls, walBytes, ms }) => ({
    ms: round(ms / lookups, 3),
    'WAL bytes': round(walBytes / lookups, 0),
    calls: round(calls / lookups, 3),
    statement,
  }))
}

function whatWasFull(night: Night): string {
  const { perSecond, busyCores, ourCores, redisShare } = night
  const reached = `${round(perSecond, 0)} lookups a second through ${workerCount} workers`
  const eachMs = (1_000 * ourCores) / perSecond
  const share = `a lookup takes ${round(eachMs, 2)} ms of processor over all processes, stand-ins included, so ${coresHere} cores carry at most ${round((1_000 * coresHere) / eachMs, 0)} a second`
  if (perSecond >= goalPerSecond) return `${reached}; ${share}`
  if (redisShare > 0.9) return `${reached}: the thread of Redis was full (${round(100 * redisShare, 0)} %)`
  if (busyCores > 0.93 * coresHere)
    return `${reached}: the processors were full (${round(busyCores, 2)} of ${coresHere} cores, ${round(ourCores, 2)} of them ours); ${share}`
  return `${reached}: no resource was full (${round(busyCores, 2)} of ${coresHere} cores); ${share}`
}

function whatThePacerSent({ pacerCommands, lookups, perSecond }: Night): string {
  const each = pacerCommands / lookups
  const isMet = each < goalPacerCommands ? 'met' : 'missed'
  return `the pacer sent ${round(each, 3)} commands to Redis for each lookup at ${round(perSecond, 0)} a second; the goal of less than ${goalPacerCommands} (at ${goalPerSecond} a second) is ${isMet}`
}

function rounded<T extends Record<string, number>>(row: T): Record<string, number> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value.toPrecision(3))]))
}
