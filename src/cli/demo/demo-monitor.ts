import { isDeepStrictEqual } from 'node:util'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { resolveConfig, type Config } from '../../app/config/config.ts'
import { readEnvironment } from '../../app/config/environment.ts'
import { loadConfigFile } from '../../app/config/file.ts'
import { createContext, type Context } from '../../app/context/context.ts'
import { start } from '../../app/start.ts'
import { counted } from '../../domain/values/counted.ts'
import { printable } from '../../domain/values/printable.ts'
import { API_KEY } from '../../sandbox/accounts.ts'
import type { CrmContents } from '../../sandbox/crm/book.ts'
import type { StandInName } from '../../sandbox/stand-ins.ts'
import { matchesOfMonitor } from '../../store/matches/matches-page.ts'
import { deliveryCounts } from '../../store/messages/monitor-deliveries.ts'
import { pause } from '../../timing/pause.ts'
import { addSettings, type DemoFolder } from './demo-folder.ts'
import { monitorOf, usualLimit, writeMonitorSettings } from './demo-settings.ts'
import { demoSteps, demoStopped } from './demo-steps.ts'
import type { SandboxProcess } from './sandbox-process.ts'

/** A week of the world, the same for everyone: what happens in it depends on nothing but its days. */
const week = { from: '2026-03-02', days: 7 }
const lookEveryMs = 300
const patienceMs = 180_000

/** The match and its run, and what the CRM had before, with it and after it was taken back, as `--json` prints them. */
export interface MonitorDemo {
  monitor: string
  /** Absent where an earlier demo of the folder has worked the match. */
  runId: string | undefined
  detections: number
  commands: string[]
  crm: { before: Counts; made: Counts; after: Counts; isAsBefore: boolean }
}

type Counts = Record<string, number>

interface MonitorDemoOptions {
  crm: StandInName
  /** It names the ledger. */
  config: Config
  environment: Readonly<Record<string, string>>
  sandbox: SandboxProcess
  signal: AbortSignal
  say: (text: string) => void
}

/**
 * Goes from a monitor in the settings to records in a CRM, and back: by the commands that a person would enter, a service that listens, and
 * the deliveries that the sandbox sends it when the time of its world is moved. Only the chain and this machine have the time of payments.
 */
export async function demoMonitor(
  folder: DemoFolder,
  { crm, config, environment, sandbox, signal, say }: MonitorDemoOptions,
): Promise<MonitorDemo> {
  const monitor = monitorOf(crm)
  const before = await contentsOf(sandbox)
  await writeMonitorSettings(folder, { crm, owner: before.owners.at(-1)!, limit: usualLimit })
  const port = await freePort()
  await addSettings(folder, secrets)
  const service = {
    ...environment,
    ...secrets,
    PAYDIRT_PORT: String(port),
    PAYDIRT_PUBLIC_URL: `http://127.0.0.1:${port}`,
  }
  const { step, commands } = demoSteps(folder, { environment: service, signal, say })
  // The key is for the monitors alone: with it a lookup would be paid for in credits, and not by the wallet.
  const environmentWithKey = { ...service, PAYDIRT_API_KEY: API_KEY }
  const withKey = demoSteps(folder, { environment: environmentWithKey, signal, say, commands })
  let detections = 0
  const known = new Set((await matchesOf(config, monitor)).map(({ id }) => id))

  await moveClock(sandbox, { at: week.from })
  say(`the CRM, by its own account: ${countsText(countsOf(before))}\n`)
  await step('it is read into the index, at no cost:', 'index', crm)
  await withKey.step('the monitor of paydirt.config.mjs, as it would be made:', 'monitors', 'plan')
  await withKey.step('and made at the service:', 'monitors', 'apply')

  if (!signal.aborted) {
    const running = await startListening(folder, service)
    try {
      say(
        `Paydirt listens, as by \`paydirt start\`:\n${running.parts.map((part) => `    ${part}\n`).join('')}`,
      )
      detections = await moveClock(sandbox, { advanceDays: week.days })
      say(`the world's clock goes from ${week.from} on by ${week.days} days: ${counted(detections, 'detection')}, delivered with a signature to
  ${service.PAYDIRT_PUBLIC_URL}/hooks/monitor\n`)
      await untilWorked(running.context, monitor, signal)
      await moveClock(sandbox, { at: week.from })
      await moveClock(sandbox, { advanceDays: week.days })
      say('the same week once more: all of it is delivered again.\n')
      await untilWorked(running.context, monitor, signal)
    } finally {
      await running.stop()
    }
  }
  await step('what was delivered, and what became of it:', 'monitors', 'deliveries')

  const match = (await matchesOf(config, monitor)).find(({ id }) => !known.has(id))
  const made = await contentsOf(sandbox)
  say(`the CRM now, by its own account: ${countsText(countsOf(made))}\n${newRecords(before, made)}`)
  if (match && match.outcome !== 'worked')
    throw demoStopped(`the match ended as ${match.outcome}: ${match.reason}`)
  if (match) {
    await step('what it cost:', 'spend', '--by', 'list')
    await step('the way back, first as a plan:', 'undo', match.id, '--plan')
    await step('and done:', 'undo', match.id)
  } else say('an earlier demo of this folder has worked these signals: nothing is made of them again.\n')
  const after = await contentsOf(sandbox)
  const isAsBefore = isDeepStrictEqual(after, before)
  say(
    isAsBefore
      ? `the CRM holds what it held before, value by value: ${countsText(countsOf(after))}\n`
      : `THE CRM IS NOT AS IT WAS: ${countsText(countsOf(after))}\n${newRecords(before, after)}`,
  )
  return {
    monitor,
    runId: match?.id,
    detections,
    commands,
    crm: { before: countsOf(before), made: countsOf(made), after: countsOf(after), isAsBefore },
  }
}

/** For play on this machine: the second is the one with which every sandbox signs. */
const secrets = {
  PAYDIRT_MONITOR_SECRET: 'the-monitors-of-a-demo',
  PAYDIRT_MONITOR_SIGNING_SECRET: 'sandbox-webhook-secret',
}

const page = { limit: 20, offset: 0 }

/** Reads the ledger while no command and no service has it. */
async function matchesOf(config: Config, monitor: string) {
  const context = await createContext(config)
  try {
    return await matchesOfMonitor(context.database.db, monitor, page)
  } finally {
    await context.close()
  }
}

/** Starts in this process all that `paydirt start` does, with the settings of the folder. */
async function startListening({ path }: DemoFolder, environment: Readonly<Record<string, string>>) {
  const config = resolveConfig(readEnvironment(environment), await loadConfigFile(path))
  const context = await createContext(config)
  try {
    const { parts, stop } = await start(context, 'all')
    return {
      context,
      parts,
      async stop() {
        await stop()
        await context.close()
      },
    }
  } catch (error) {
    await context.close()
    throw error
  }
}

/** Waits until every delivery and match has its end. Throws InputError where one waits for something that a demo cannot give it. */
async function untilWorked(
  { database: { db } }: Context,
  monitor: string,
  signal: AbortSignal,
): Promise<void> {
  const giveUpMs = performance.now() + patienceMs
  while (!signal.aborted) {
    const isReceived = (await deliveryCounts(db)).every(({ outcome }) => outcome !== 'waiting')
    const open = (await matchesOfMonitor(db, monitor, page)).filter(({ state }) => state !== 'done')
    if (isReceived && open.length === 0) return
    if (performance.now() > giveUpMs)
      throw demoStopped(open[0]?.reason ?? 'a delivery was not worked in time')
    await pause(lookEveryMs, signal)
  }
}

async function contentsOf({ crmPageUrl }: SandboxProcess): Promise<CrmContents> {
  const response = await fetch(new URL('contents.json', crmPageUrl))
  if (!response.ok) throw new Error(`the CRM's stand-in did not show its records (${response.status})`)
  return (await response.json()) as CrmContents
}

/** Returns the number of detections, all of which were sent when this resolves. */
async function moveClock({ serviceUrl }: SandboxProcess, order: object): Promise<number> {
  const response = await fetch(`${serviceUrl}/_sandbox/clock`, {
    method: 'POST',
    body: JSON.stringify(order),
  })
  if (!response.ok) throw new Error(`the sandbox did not move its clock (${response.status})`)
  return ((await response.json()) as { detections: number }).detections
}

function countsOf({ records }: CrmContents): Counts {
  return Object.fromEntries(Object.entries(records).map(([object, all]) => [object, Object.keys(all).length]))
}

function countsText(counts: Counts): string {
  return Object.entries(counts)
    .map(([object, count]) => `${count} ${object}`)
    .join(', ')
}

/** The values by which a person recognises a record, of HubSpot and of Salesforce. */
const shown =
  'name domain firstname lastname jobtitle email companies hs_task_subject Name Website FirstName LastName Title Email AccountId Subject WhatId hubspot_owner_id OwnerId records'.split(
    ' ',
  )

function newRecords(before: CrmContents, now: CrmContents): string {
  return Object.entries(now.records)
    .flatMap(([object, all]) =>
      Object.entries(all)
        .filter(([id]) => before.records[object]?.[id] === undefined)
        .map(([id, values]) => {
          const told = shown.flatMap((name) =>
            values[name] === undefined ? [] : [`${name}=${printable(values[name].slice(0, 60))}`],
          )
          return `  new in ${object}: ${id}  ${told.join(', ')}\n`
        }),
    )
    .join('')
}

/** The address is a part of the monitor, and so is known before the service that listens there is started. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
