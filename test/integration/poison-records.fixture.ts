import { writeFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { expect } from 'vitest'
import { enrichCsv, openInput } from '../../src/app/runs/enrich-csv.ts'
import { openOnDemand } from '../../src/app/runs/on-demand.ts'
import type { Identity } from '../../src/domain/record.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse } from '../support/house.ts'
import { openCrmWorld, type CrmKind, type Values } from './crm-worlds.ts'

const url = 'https://www.profnet.com/in/poison'
const crossed = (length: number) => `a${'\u0301'.repeat(length / 2)}${'\u0323'.repeat(length / 2)}`
const scattered = Array.from({ length: 50_000 }, (_, at) =>
  String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_000)),
).join('')

/** Text that no compression shortens. */
const han = (length: number) => scattered.slice(0, length)

/** Kinds of values that a web form, an import or an enemy puts into a CRM. */
export const poisons: Identity[] = [
  { profileUrl: `${url}%00` },
  { profileUrl: `${url}\u0000` },
  { profileUrl: `${url}\ud800` },
  { profileUrl: `${url}/${'a'.repeat(100_000)}` },
  { profileUrl: `${url}%zz` },
  { profileUrl: 'javascript:alert(4)' },
  { profileUrl: `https://${'de.'.repeat(30_000)}profnet.com/in/x` },
  { profileUrl: `${url}%1b%5b2J` },
  { company: 'Acme\u0000' },
  { company: '\ud83d Acme' },
  { company: 'Acme \udd16' },
  { company: '(株)'.repeat(20_000) },
  { company: crossed(60_000) },
  { company: '\u001b]0;owned\u0007Acme' },
  { company: 'a.'.repeat(50_000) },
  { company: 'Acme\u007f' },
  { company: 'the inc '.repeat(10_000) },
  { firstName: 'A\u0000da' },
  { firstName: 'dr '.repeat(30_000) },
  { lastName: 'Moreau\u0007' },
  { lastName: crossed(100_000) },
  { email: `${'a@'.repeat(50_000)} ` },
  { email: `${'<'.repeat(100_000)}x` },
  { email: `a@b.example${'?'.repeat(100_000)}\nx` },
  { email: 'ada\u0000@acme.example' },
  { phone: `${'1'.repeat(100_000)}x` },
  { phone: '+49 30 90\u009b1820' },
  { domain: `${scattered}.example` },
  { domain: `https://acme.example${'/'.repeat(100_000)}x` },
  { domain: 'acme\u0000.example' },
  { profileUrl: `${url}-${han(1_500)}` },
]

export interface Crowd {
  size: number
  /** The number of different people among the good records: a second record of one costs nothing. */
  people: number
  /** Every so manyth record is poison. */
  every: number
}

function crowd({ size, people, every }: Crowd): { identity: Identity; isPoison: boolean }[] {
  return Array.from({ length: size }, (_, index) => {
    const profileUrl = `https://www.profnet.com/in/among-poison-${index % people}`
    const good: Identity = { profileUrl, firstName: 'Ada', lastName: `Moreau ${index}`, company: 'Acme' }
    if (index % every !== every - 1) return { identity: good, isPoison: false }
    return { identity: { ...good, ...poisons[Math.floor(index / every) % poisons.length] }, isPoison: true }
  })
}

type IdentityPart = 'profileUrl' | 'domain' | 'email' | 'phone' | 'firstName' | 'lastName' | 'company'

const properties: Record<CrmKind, { entity: string; names: Record<IdentityPart, string> }> = {
  hubspot: {
    entity: 'contacts',
    names: {
      profileUrl: 'profnet_url',
      domain: 'website',
      email: 'email',
      phone: 'phone',
      firstName: 'firstname',
      lastName: 'lastname',
      company: 'company',
    },
  },
  salesforce: {
    entity: 'Lead',
    names: {
      profileUrl: 'Profnet_URL__c',
      domain: 'Website',
      email: 'Email',
      phone: 'Phone',
      firstName: 'FirstName',
      lastName: 'LastName',
      company: 'Company',
    },
  },
}

/** The columns that differ between any two runs: ids, times, and our own stamps. */
const ownStamp = /paydirt_|modified|modstamp|createdate|createddate|^id$|object_id/i

async function syncCrm(sandbox: Sandbox, kind: CrmKind, records: ReturnType<typeof crowd>) {
  const { entity, names } = properties[kind]
  const world = await openCrmWorld(sandbox, kind, entity)
  try {
    const ids = records.map(({ identity }) =>
      world.add(
        Object.fromEntries(
          Object.entries(identity).map(([field, value]) => [names[field as IdentityPart], value]),
        ) as Values,
      ),
    )
    const { tasks } = await world.sync({})
    // A second try gets the same, and is not stopped either.
    const again = await world.sync()
    const state = world.state()
    const outcome = await world.context.database.db
      .selectFrom('tasks')
      .select(['record_id', 'status', 'reason', 'identity'])
      .orderBy('id')
      .execute()
    const pressed: string[] = []
    for (const [at, trigger] of (['button', 'workflow', 'monitor'] as const).entries())
      pressed.push(...(await press(world, trigger, ids.slice(30 * at, 30 * (at + 1)))))
    return {
      tasks,
      again: again.tasks,
      pressed,
      outcome: ids.map((id) => outcome.find((task) => task.record_id === id)),
      values: ids.map((id) =>
        Object.fromEntries(Object.entries(state.get(id) ?? {}).filter(([name]) => !ownStamp.test(name))),
      ),
    }
  } finally {
    await world.close()
  }
}

/** Returns the states of the tasks that a trigger makes of these records. */
async function press(
  { context, connector, kind, entity }: Awaited<ReturnType<typeof openCrmWorld>>,
  trigger: 'button' | 'workflow' | 'monitor',
  ids: string[],
): Promise<string[]> {
  const errors: unknown[] = []
  context.connectors.set(kind, connector)
  const onDemand = openOnDemand(context, { onReady: () => {}, onError: (error) => void errors.push(error) })
  const made = await onDemand.request({
    connector: kind,
    object: 'person',
    entity,
    ids,
    recipe: 'profile',
    trigger,
    source: { caller: 'test' },
  })
  await onDemand.idle()
  expect(errors).toEqual([])
  const tasks = await context.database.db
    .selectFrom('tasks')
    .select(['id', 'status'])
    .where('run_id', '=', made[0]?.runId ?? '')
    .execute()
  return made.map(({ taskId }) => tasks.find(({ id }) => id === taskId)?.status ?? 'none')
}

const columns: (keyof Identity)[] = [
  'profileUrl',
  'firstName',
  'lastName',
  'company',
  'email',
  'phone',
  'domain',
]
const headers = ['profnet_url', 'first_name', 'last_name', 'company', 'email', 'phone', 'domain']

async function enrichFiles(sandbox: Sandbox, files: ReturnType<typeof crowd>[]) {
  const { context, close } = await openHouse(sandbox)
  try {
    const results: { tasks: Record<string, number>; rows: Record<string, string>[] }[] = []
    for (const [at, records] of files.entries()) {
      const input = join(context.config.dataDir, '..', `poison-${at}.csv`)
      // UTF-8 has no half characters: another character that nobody may have stands for them.
      const rows = records.map(({ identity }) =>
        columns.map((name) => (identity[name] ?? '').replaceAll(/[\ud800-\udfff](?<!\p{Cs}{2})/gu, '\u0001')),
      )
      await writeFile(input, stringify([headers, ...rows]))
      const csv = await openInput(context.config, { input, object: 'person' })
      const { summary } = await enrichCsv(context, csv, {
        out: `${input}.out`,
        signal: new AbortController().signal,
      })
      const written = parse(await readFile(`${input}.out`), { columns: true }) as Record<string, string>[]
      results.push({ tasks: summary.tasks, rows: written.map(comparable) })
    }
    return results
  } finally {
    await close()
  }
}

function comparable(row: Record<string, string>): Record<string, string> {
  const reason = (row['paydirt_reason'] ?? '').replace(/duplicate of line \d+(; )?/, '')
  return { ...row, paydirt_reason: reason, paydirt_enriched_at: '' }
}

/** Syncs the records with and without the poison among them, and compares what becomes of the good ones. */
export async function expectGoodOnesUntouched(sandbox: Sandbox, kind: CrmKind, of: Crowd) {
  const records = crowd(of)
  const good = records.filter(({ isPoison }) => !isPoison)
  const bad = of.size - good.length
  const [mixed, pure] = [await syncCrm(sandbox, kind, records), await syncCrm(sandbox, kind, good)]
  const keep = <T>(all: readonly T[]) => all.filter((_, at) => !records[at]?.isPoison)
  const poison = <T>(all: readonly T[]) => all.filter((_, at) => records[at]?.isPoison)
  expect(keep(mixed.values)).toEqual(pure.values)
  expect(keep(mixed.outcome).map((task) => task?.status)).toEqual(pure.outcome.map((task) => task?.status))
  for (const task of poison(mixed.outcome))
    expect(task).toMatchObject({
      status: 'rejected',
      reason: expect.stringMatching(/cannot be read|broken profile URL/),
    })
  expect({ ...mixed.tasks, rejected: mixed.tasks.rejected - bad }).toEqual(pure.tasks)
  expect(mixed.again.rejected).toBe(bad)
  expect(poison(mixed.pressed)).toEqual(poison(mixed.pressed).map(() => 'rejected'))
  expect(keep(mixed.pressed).some((status) => status === 'rejected' || status === 'queued')).toBe(false)
  return { good: good.length, bad, tasks: mixed.tasks }
}

/** The same for a file. */
export async function expectGoodRowsUntouched(sandbox: Sandbox, of: Crowd) {
  const records = crowd(of)
  const good = records.filter(({ isPoison }) => !isPoison)
  const [pure, mixed] = await enrichFiles(sandbox, [good, records])
  const rows = mixed?.rows ?? []
  expect(rows.filter((_, at) => !records[at]?.isPoison)).toEqual(pure?.rows)
  for (const row of rows.filter((_, at) => records[at]?.isPoison))
    expect(row).toMatchObject({
      paydirt_status: 'rejected',
      paydirt_reason: expect.stringMatching(/cannot be read|broken profile URL/),
    })
  return { good: good.length, bad: of.size - good.length, tasks: mixed?.tasks }
}

/** Syncs a record whose only fault is in a field that nothing is looked up by, and whose value names no country. */
export async function syncOneWithBadField(sandbox: Sandbox, kind: CrmKind) {
  const { entity, names } = properties[kind]
  const world = await openCrmWorld(sandbox, kind, entity)
  try {
    const country = kind === 'hubspot' ? 'country' : 'Country'
    world.add({
      [names.profileUrl]: 'https://www.profnet.com/in/bad-country',
      [names.lastName]: 'Moreau',
      [names.company]: 'Acme',
      [country]: 'Ger\u0000many',
    })
    const before = sandbox.stats().settled
    const { tasks } = await world.sync({})
    return { rejected: tasks.rejected, bought: sandbox.stats().settled - before }
  } finally {
    await world.close()
  }
}
