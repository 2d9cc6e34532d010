import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { fileSchema, type FileConfig } from '../../src/app/config/file.ts'
import { startSchedules, type Schedules, type SchedulesOptions } from '../../src/app/schedules/scheduler.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, quick, type CrmHouse } from './crm-house.ts'

export const nightly = {
  connector: 'hubspot',
  object: 'companies',
  cron: '0 2 * * *',
  timeZone: 'Europe/Berlin',
} as const

let sandbox: Sandbox
export let house: CrmHouse
/** Tests move it. */
export const clock = { now: new Date(0) }
/** Stopped after each test. */
export const started: Schedules[] = []

/** Opens one sandbox for the calling file, and closes after each test what it has opened. */
export function useSchedules(): void {
  beforeAll(async () => void (sandbox = await startSandbox()))
  afterAll(() => sandbox.stop())
  afterEach(async () => {
    for (const schedules of started.splice(0)) await schedules.stop(5_000)
    await house.close()
  })
}

export async function open(
  schedules: FileConfig['schedules'],
  options: { realTime?: boolean } = {},
): Promise<void> {
  clock.now = new Date('2026-11-20T00:30:00Z')
  house = await openCrmHouse(sandbox, {
    config: { ...checked({ schedules }), connectors: quick },
    env: { PAYDIRT_PORT: '0' },
    ...(options.realTime ? {} : { overrides: { now: () => clock.now } }),
  })
}

/** Returns the config with its defaults, as it is read from a file. */
function checked(config: FileConfig): FileConfig {
  return fileSchema.parse(config) as FileConfig
}

export async function scheduler(options: SchedulesOptions = {}): Promise<Schedules> {
  // Only what a test calls for: rounds of their own would come at real times.
  const schedules = await startSchedules(house.context, { everyMs: 3_600_000, ...options })
  started.push(schedules)
  return schedules
}

export const turns = () =>
  house.context.database.db.selectFrom('schedule_turns').selectAll().orderBy('id').execute()
export const until = <T>(condition: () => Promise<T>) =>
  vi.waitFor(condition, { timeout: 20_000, interval: 20 })
export const company = (name: string) => ({ name, profnet_url: urlOf(name) })
export const urlOf = (name: string) => `https://www.profnet.com/company/${name}`

/** A nightly schedule with both ends of its window. */
export const windowed = { ...nightly, startNoLaterThan: '04:00', stopAt: '06:00' } as const

export const at = (time: string) => void (clock.now = new Date(time))

export const statesAre = (states: string[]) =>
  until(async () => expect((await turns()).map(({ state }) => state)).toEqual(states))
