import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { missingServers, startRedis } from '../test/faults/servers.ts'
import { startEmbeddedRedis } from '../src/queues/embedded-redis.ts'
import { arrivalGaps } from './arrival-gaps.ts'
import { startChild, type Child } from './child.ts'
import { writeCompanies } from './companies-csv.ts'
import { startHaproxy } from './haproxy-judge.ts'
import { findProgram, type Judge, type JudgeLimit } from './judge.ts'
import type { Phase, Rule } from './limit-server.ts'
import { startNginx } from './nginx-judge.ts'
import type { BenchOptions } from './options.ts'
import { drawnWaves } from './pacing-drawn.ts'
import { judgedWaves } from './pacing-judged.ts'
import { drawPacing } from './pacing-picture.ts'
import { pacingWaves, quickWaves, type PacingScenario } from './pacing-scenarios.ts'
import type { SendTimes } from './pacing-worker.ts'
import { oneLookup, openStores, type Stores } from './setup.ts'
import { printTable, round } from './table.ts'

interface Row {
  limit: string
  processes: number
  'use %': number | string
  '429 %': number | string
  goal: string
  requests: number
  '429 while learning': number
  'back at 95 % (windows)': string
  /** The gaps between requests: as the pacer planned them, as it let the requests go, and as they arrived. */
  'gaps under half an interval %': string
  '95 % of the gaps off by at most, ms': string
  load: number
}

/**
 * Measures the pacer and real HTTP against hidden limits, in real time: one or four processes that share one Redis.
 * Nothing is paid for. Use and refusals are the server's own counts, in whole windows.
 */
export async function pacing({ quick, only, pictures, seed }: BenchOptions): Promise<Row[]> {
  const programs = { nginx: findProgram('nginx'), haproxy: findProgram('haproxy') }
  const all = quick ? quickWaves() : [...pacingWaves(), ...judgedWaves(), ...drawnWaves(seed)]
  const asked = all.map((wave) =>
    wave.filter(({ group }) => (only.length === 0 ? group !== 'drawn' : only.includes(group))),
  )
  const needed = new Set(asked.flat().flatMap(({ judge }) => judge?.program ?? []))
  const missing = [...needed].filter((name) => programs[name] === undefined)
  for (const name of missing) process.stderr.write(`skipped ${name} as the judge: it is not installed\n`)
  const waves = asked
    .map((wave) => wave.filter(({ judge }) => judge === undefined || !missing.includes(judge.program)))
    .filter((wave) => wave.length > 0)
  if (waves.length === 0)
    throw new Error(
      missing.length > 0
        ? `nothing is left to measure without ${missing.join(' and ')}`
        : `no limits of pacing are called ${only.join(',')}; there are ${[...new Set(all.flat().map(({ group }) => group))].join(', ')}`,
    )
  const server = await startChild('limit-server.ts', { jitter: true })
  const redis = missingServers() === undefined ? await startRedis() : await startEmbeddedRedis()
  const workers: Child[] = []
  const rows: Row[] = []
  try {
    const url = await server.ask<string>('url')
    for (let count = 0; count < 5; count += 1)
      workers.push(await startChild('pacing-worker.ts', { url, redisUrl: redis.url, prefix: 'bench' }))
    for (const wave of waves) {
      const minutes = round(Math.max(...wave.map(({ phases }) => totalOf(phases))) / 60)
      process.stderr.write(`pacing: ${wave.map(({ label }) => label).join('; ')} (${minutes} min)\n`)
      const limits = wave.flatMap(judgeLimitOf)
      // Limits of one wave have the same judge.
      const name = wave[0]?.judge?.program
      const judge = name && (await startJudge[name](programs[name] as string, url, limits))
      try {
        const ran = await Promise.all(
          wave.map((scenario) => runScenario(scenario, { server, judge, workers })),
        )
        const measured = ran.flatMap((each) => each.phases.map((_, index) => rowOf(each, index)))
        printTable('pacing', measured)
        rows.push(...measured)
        if (pictures !== undefined) await drawAll(pictures, ran)
      } finally {
        await judge?.stop()
      }
    }
    printTable(`pacing (${missingServers() === undefined ? 'Redis' : 'embedded Valkey'})`, rows)
    return rows
  } finally {
    for (const worker of workers) await worker.stop()
    await server.stop()
    await redis.stop()
  }
}

const startJudge = { nginx: startNginx, haproxy: startHaproxy }

interface Ran {
  scenario: PacingScenario
  phases: Phase[]
  sent: SendTimes
}

interface Parts {
  server: Child
  judge: Judge | undefined
  workers: Child[]
}

async function runScenario(scenario: PacingScenario, { server, judge, workers }: Parts): Promise<Ran> {
  if (scenario.isCommand) return runCommand(scenario, server)
  const { id, processes, phases, knownAtOnce } = scenario
  const senders = knownAtOnce ?? Math.ceil(100 / processes)
  const isPaced = knownAtOnce === undefined
  // The first process runs the scenarios with one process, the others share the rest: their loads do not affect each
  // other.
  const [alone, ...shared] = workers as [Child, ...Child[]]
  const mine = processes === 1 ? [alone] : shared
  const [limit] = judgeLimitOf(scenario)
  let isFirst = true
  // Behind another judge the stand-in service has no limit that is ever reached.
  const serviceMs = scenario.judge?.serviceMs
  if (serviceMs !== undefined) await server.ask('rule', { id, rules: [unlimited(serviceMs)] })
  for (const [place, { rules, seconds }] of phases.entries()) {
    if (judge && limit) await judge.begin(id, place)
    else await server.ask('rule', { id, rules })
    if (isFirst)
      for (const worker of mine) await worker.ask('begin', { id, senders, isPaced, to: limit && judge?.url })
    isFirst = false
    await setTimeout(seconds * 1_000)
  }
  const measured = limit && judge ? await judge.phases(limit) : await server.ask<Phase[]>('phases', id)
  const sent = await Promise.all(mine.map((worker) => worker.ask<SendTimes>('times', id)))
  await Promise.all(mine.map((worker) => worker.ask('end', id)))
  return {
    scenario,
    phases: measured,
    sent: {
      plannedMs: sent.flatMap(({ plannedMs }) => plannedMs),
      handedOutMs: sent.flatMap(({ handedOutMs }) => handedOutMs),
    },
  }
}

/** Runs the command on a file that does not end before the time does, with the stores and settings that it has by default. */
async function runCommand(scenario: PacingScenario, server: Child): Promise<Ran> {
  const { id, phases, knownAtOnce } = scenario
  const [{ rules, seconds }] = phases as [(typeof phases)[number]]
  const stores = (await openStores('embedded')) as Stores
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-bench-files-'))
  const [input, out] = [join(folder, 'in.csv'), join(folder, 'out.csv')]
  try {
    await writeCompanies(input, Math.ceil(1.5 * seconds * (rules[0] as Rule).limit) + 500, id)
    await server.ask('rule', { id, rules })
    const env = {
      ...stores.env,
      PAYDIRT_SERVICE_URL: `${await server.ask<string>('url')}/${id}`,
      PAYDIRT_API_KEY: 'bench',
    }
    const budgets = { runUsd: '100000', dayUsd: '100000' }
    const file = { ...oneLookup, budgets }
    const command = await startChild('csv-run.ts', { env, file, input, out, knownAtOnce })
    const ran = command.ask('run').catch(() => {})
    // The server's time begins with the first request.
    while ((await server.ask<Phase[]>('phases', id))[0]?.windows.length === 0) await setTimeout(100)
    await setTimeout(seconds * 1_000)
    const measured = await server.ask<Phase[]>('phases', id)
    command.kill('SIGKILL')
    await ran
    await command.ended
    return { scenario, phases: measured, sent: { plannedMs: [], handedOutMs: [] } }
  } finally {
    await rm(folder, { recursive: true, force: true })
    await stores.stop()
  }
}

function judgeLimitOf({ id, judge }: PacingScenario): JudgeLimit[] {
  return judge === undefined ? [] : [{ id, rules: judge.rules }]
}

function unlimited(serviceMs: number): Rule {
  const shape = { kind: 'at-once', most: 1_000, serviceMs } as const
  return { kind: 'fixed', limit: 1_000_000 / serviceMs, windowMs: 1_000, shape }
}

function rowOf({ scenario, phases, sent }: Ran, index: number): Row {
  const { rules, windows, limits, arrivalsMs } = phases[index] as Phase
  const lengthMs = Math.max(...rules.map(({ windowMs }) => windowMs))
  const whole = windows.slice(0, -1)
  const uses = whole.map(({ admitted }, at) => admitted / (limits[at] as number))
  const backAt = uses.findIndex((use) => use >= 0.95)
  const isChange = scenario.group === 'change'
  const from = isChange ? Math.max(0, backAt) : Math.ceil((scenario.learnSeconds * 1_000) / lengthMs)
  const steady = whole.slice(from)
  const gaps = gapsOnTheWay(sent, arrivalsMs, scenario)
  const admitted = sum(steady.map((window) => window.admitted))
  const refused = sum(steady.map((window) => window.refused))
  // A limit that changes is judged by what it was: a neighbour takes more in one run than in another.
  const permitted = sum(limits.slice(from, whole.length))
  return {
    limit: phases.length > 1 ? `${scenario.label}: phase ${index + 1} (${textOf(rules)})` : scenario.label,
    processes: scenario.processes,
    'use %': steady.length === 0 ? '' : round((100 * admitted) / permitted, 2),
    '429 %': steady.length === 0 ? '' : round((100 * refused) / (admitted + refused), 2),
    goal: scenario.goal,
    requests: admitted + refused,
    '429 while learning': sum(whole.slice(0, from).map((window) => window.refused)),
    'back at 95 % (windows)': backAt < 0 ? `not in ${whole.length}` : String(backAt + 1),
    'gaps under half an interval %': gaps.map(({ shortPercent }) => shortPercent).join(' / '),
    '95 % of the gaps off by at most, ms': gaps.map(({ offMsP95 }) => offMsP95).join(' / '),
    load: round(loadavg()[0] as number),
  }
}

/** How even the requests are at each station on their way, once the pacer has learned. */
function gapsOnTheWay({ plannedMs, handedOutMs }: SendTimes, arrivalsMs: number[], scenario: PacingScenario) {
  // A command tells nothing of its own times.
  if (arrivalsMs.length === 0 || plannedMs.length === 0) return []
  const perSecond = scenario.phases[0]?.rules[0]?.limit as number
  return [plannedMs, handedOutMs, arrivalsMs].map((timesMs) => {
    const fromMs = (timesMs[0] as number) + scenario.learnSeconds * 1_000
    return arrivalGaps(
      timesMs.filter((atMs) => atMs >= fromMs),
      perSecond,
    )
  })
}

async function drawAll(folder: string, ran: readonly Ran[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const each of ran) {
    const { label, id, learnSeconds, processes, group } = each.scenario
    // A picture is of seconds; what a minute allows has no rate.
    if (each.phases.some(({ rules }) => rules.some(({ windowMs }) => windowMs !== 1_000))) continue
    const rows = each.phases.map((_, index) => rowOf(each, index))
    const learned = learnSeconds > 0 ? ` after ${learnSeconds} s${rows.length > 1 ? ' of each' : ''}` : ''
    const whole = each.phases.map(({ windows, limits }) => ({ windows: windows.slice(0, -1), limits }))
    const windows = whole.flatMap((phase) => phase.windows)
    const begins = whole.map((_, at) => sum(whole.slice(0, at).map((phase) => phase.windows.length)))
    const picture = drawPacing({
      title: label,
      subtitle: `${rows.map((row) => row['use %']).join(', ')} % of the limit used, ${rows.map((row) => row['429 %']).join(', ')} % refused${learned}`,
      limits: whole.flatMap((phase) => phase.limits.slice(0, phase.windows.length)),
      served: windows.map(({ admitted }) => admitted),
      refused: windows.map(({ refused }) => refused),
      countsFrom: group === 'change' || learnSeconds === 0 ? [] : begins.map((from) => from + learnSeconds),
    })
    // The id ends in the number of processes.
    const name = processes === 1 ? id.replace(/-1$/, '') : id
    await writeFile(join(folder, `${name.toLowerCase()}.svg`), picture)
  }
}

function textOf(rules: readonly Rule[]): string {
  return rules.map(({ limit, windowMs }) => `${round(limit)} in ${windowMs / 1_000} s`).join(', ')
}

function totalOf(phases: PacingScenario['phases']): number {
  return sum(phases.map(({ seconds }) => seconds))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
