import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from '../../domain/errors.ts'
import type { StandInName } from '../../sandbox/stand-ins.ts'
import { standInNames } from '../terminal/choices.ts'
import type { DemoFolder } from './demo-folder.ts'

const marks = ['// Written by `paydirt demo --list`.\n', '// Written by `paydirt demo --monitor`.\n'] as const
const entities: Record<StandInName, string> = { hubspot: 'companies', salesforce: 'Account' }

/** The most records of a list, where nothing else is said. */
export const usualLimit = 60

export function listOf(crm: StandInName): string {
  return `${crm}-fintechs`
}

export function monitorOf(crm: StandInName): string {
  return `${crm}-moves`
}

/**
 * The lists stand in the folder's settings, so that they are there for the commands that a person enters afterwards. Those of both CRMs,
 * because a folder keeps its settings when the demo of the other CRM follows.
 */
export async function writeListSettings(folder: DemoFolder, limit: number): Promise<void> {
  const text = `${marks[0]}export default ${JSON.stringify(listSettings(limit), null, 2)}\n`
  await writeSettings(folder, standInNames.map(listOf), text)
}

/** The settings of a monitor into one CRM, because the monitor of a CRM that is not there could do nothing. The lists stay beside it. */
export async function writeMonitorSettings(
  folder: DemoFolder,
  { crm, owner, limit }: { crm: StandInName; owner: string; limit: number },
): Promise<void> {
  const { payment, ...lists } = listSettings(limit)
  const settings = {
    ...lists,
    payment: { maxPricesUsd: { ...payment.maxPricesUsd, ...monitorPrices } },
    // Reading the logs needs a key of the service, with which lookups would be paid for in credits.
    service: { vocabularies: { management_levels: levels } },
    http: { monitor: { signature, logsEveryMinutes: 0 } },
    monitors: {
      [monitorOf(crm)]: {
        detection_mode: 'signal_first',
        signal_types: ['expansions'],
        filters: { froms: ['SE'], stages: ['Scaling'], signal_strengths: ['strong'] },
        webhook: 'auto',
        onMatch: {
          connector: crm,
          recipe: 'contact',
          create: true,
          people: {
            perCompany: 2,
            levels,
            contact: ['email'],
            owner: { fromCompany: true },
          },
          owner,
          task: { title: 'Call them about their new market', dueDays: 2 },
          budgetDayUsd: '2',
        },
      },
    },
  }
  const text = `${marks[1]}export default ${JSON.stringify(settings, null, 2)}\n`
  await writeSettings(folder, [monitorOf(crm), owner], text)
}

/** Named as vocabulary too, because no answer has held them yet. */
const levels = ['C-Level', 'Vice President', 'Director']

const monitorPrices = {
  'monitor.list': '0.05',
  'monitor.create': '0.05',
  'monitor.update': '0.05',
  'people.search': '0.05',
  'contact.redeem:email-work': '0.15',
}

/** The sandbox signs its deliveries like this. Real deliveries may be signed in another way, which is not shown. */
const signature = {
  header: 'x-sandbox-signature',
  prefix: 'v1=',
  timestampHeader: 'x-sandbox-timestamp',
}

function listSettings(limit: number) {
  const listInto = (crm: StandInName) => ({
    search: 'company.search',
    filters: { countries: ['DE'], industries: ['Financial Services'] },
    into: { connector: crm, entity: entities[crm] },
    requires: ['domain'],
    limit,
    budgetUsd: '1',
  })
  return {
    pacing: { startPerSecond: 150 },
    payment: { maxPricesUsd: { 'company.search': '0.05' } },
    lists: Object.fromEntries(standInNames.map((crm) => [listOf(crm), listInto(crm)])),
  }
}

/** Settings that name all of `names` are left as they are; those of another demo are replaced. Throws ConfigError for a person's own. */
async function writeSettings({ path }: DemoFolder, names: readonly string[], text: string): Promise<void> {
  const file = join(path, 'paydirt.config.mjs')
  if (existsSync(file)) {
    const there = await readFile(file, 'utf8')
    if (names.every((name) => there.includes(`"${name}"`))) return
    if (!marks.some((mark) => there.startsWith(mark)))
      throw new ConfigError(
        'not_a_demo_folder',
        `paydirt.config.mjs does not name ${names.join(' and ')}: name a new folder with --out`,
      )
  }
  await writeFile(file, text)
}
