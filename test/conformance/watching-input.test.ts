import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/app/config/config.ts'
import { loadConfigFile } from '../../src/app/config/file.ts'

const accounts = { connector: 'hubspot' }
const pipeline = (more: object) => ({ signals: { pipeline: { accounts, ...more } } })
const spain = { detection_mode: 'signal_first', signal_types: ['expansions'] }
const monitor = (more: object, name = 'spain') => ({ monitors: { [name]: { ...spain, ...more } } })
const champions = (more: object) => ({ champions: { customers: { connector: 'hubspot', ...more } } })
const prices = (names: readonly string[], usd: string) => ({
  payment: { maxPricesUsd: Object.fromEntries(names.map((name) => [name, usd])) },
})
const points = (more: object) => pipeline({ score: { points: [{ type: 'job', points: 20, ...more }] } })

/** Loads settings from a file, as every command does. Returns the refusal. */
async function refusalOf(settings: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-input-'))
  try {
    await writeFile(join(folder, 'paydirt.config.mjs'), `export default ${JSON.stringify(settings)}\n`)
    resolveConfig({}, await loadConfigFile(folder))
    return 'accepted'
  } catch (error) {
    expect(error).toMatchObject({ name: 'ConfigError' })
    return (error as Error).message
  } finally {
    await rm(folder, { recursive: true })
  }
}

test.each<[string, object, RegExp]>([
  // Signals.
  ['an unknown type', pipeline({ types: ['jobs'] }), /signals\.pipeline\.types\.0: .*did you mean job\?/],
  ['days of an unknown type', pipeline({ days: { jobs: 7 } }), /signals\.pipeline\.days\.?.*jobs/],
  ['days that are no number', pipeline({ days: { job: 'weekly' } }), /signals\.pipeline\.days\.job: /],
  [
    'an unknown CRM',
    { signals: { pipeline: { accounts: { connector: 'hubspott' } } } },
    /signals\.pipeline\.accounts.*hubspot/,
  ],
  [
    'a filter that is none',
    { signals: { pipeline: { accounts: { ...accounts, filter: 'customer' } } } },
    /signals\.pipeline\.accounts\.filter: must be PROPERTY=VALUE/,
  ],
  [
    'a budget below one account',
    { ...pipeline({ types: ['job'], budgetUsd: '0.01' }), ...prices(['job.search'], '0.05') },
    /signals\.pipeline\.budgetUsd: 0\.010000 USD is below what one account may cost: 0\.050000/,
  ],
  ['a budget that is no amount', pipeline({ budgetUsd: 'much' }), /signals\.pipeline\.budgetUsd: /],
  ['a weight that is no number', points({ points: 'many' }), /signals\.pipeline\.score\.points\.0\.points: /],
  [
    'a weight that is nothing',
    points({ points: 0 }),
    /signals\.pipeline\.score\.points\.0\.points: gives nothing/,
  ],
  [
    'a rule of an unknown type',
    points({ type: 'newz' }),
    /signals\.pipeline\.score\.points\.0\.type: .*did you mean news\?/,
  ],
  [
    'an unknown word of a match',
    points({ match: { function: ['sales'] } }),
    /signals\.pipeline\.score\.points\.0\.match\.function is not a setting; did you mean functions/,
  ],
  [
    'a field that is none',
    pipeline({ write: ['signal_scores'] }),
    /signals\.pipeline\.write\.0: .*did you mean signal_score/,
  ],
  [
    'a schedule of no pipeline',
    { ...pipeline({ budgetUsd: '1' }), schedules: { s: { signals: 'pipelines', cron: '0 3 * * *' } } },
    /schedules\.s\.signals: there is no pipeline pipelines; there are pipeline/,
  ],
  // Monitors.
  [
    'an unknown mode',
    monitor({ detection_mode: 'market' }),
    /monitors\.spain\.detection_mode: "market" is no word that is known; there are signal_first, company_first/,
  ],
  [
    'a misspelt mode',
    monitor({ detection_mode: 'signal-first' }),
    /monitors\.spain\.detection_mode: .*did you mean signal_first\?/,
  ],
  [
    'a misspelt type of signals',
    monitor({ signal_types: ['expantions'] }),
    /monitors\.spain\.signal_types\[0\]: "expantions" .*did you mean expansions\?/,
  ],
  [
    'a word that is none of a closed list',
    monitor({ filters: { momentum: ['advance'] } }),
    /monitors\.spain\.filters\.momentum\[0\]: "advance" is none of advancing/,
  ],
  [
    'a word of answers',
    monitor({ filters: { stages: ['retreating'] } }),
    /monitors\.spain\.filters\.stages\[0\]: answers have "retreating", and no filter takes it/,
  ],
  ['an unknown status', monitor({ status: 'pause' }), /monitors\.spain\.status: .*did you mean paused\?/],
  [
    'an old boolean',
    monitor({ is_active: true }),
    /monitors\.spain\.is_active is not there any more: write status: 'active'/,
  ],
  [
    'a public URL that is none',
    monitor({ webhook: 'https://10.0.0.5/hooks' }),
    /monitors\.spain\.webhook: 10\.0\.0\.5 is no public address/,
  ],
  [
    'a name that two monitors could have',
    monitor({}, 'Spain'),
    /monitors\.Spain: must be a name of small letters/,
  ],
  [
    'a recipe that is none',
    monitor({ onMatch: { connector: 'hubspot', recipe: 'everything' } }),
    /monitors\.spain\.onMatch\.recipe: /,
  ],
  // Champions.
  ['days that nobody waits', champions({ days: 0 }), /champions\.customers\.days: /],
  [
    'a filter of champions that is none',
    champions({ filter: 'customers' }),
    /champions\.customers\.filter: must be PROPERTY=VALUE/,
  ],
  [
    'a budget below one person',
    { ...champions({ budgetUsd: '0.01' }), ...prices(['person.profile'], '0.05') },
    /champions\.customers\.budgetUsd: 0\.010000 USD is below what one person may cost/,
  ],
  [
    'contact and recipe',
    champions({ onJoin: { contact: ['email'], recipe: 'profile' } }),
    /champions\.customers\.onJoin\.contact: is decided by the recipe/,
  ],
  [
    'a recipe of champions that is none',
    champions({ onJoin: { recipe: 'everything' } }),
    /champions\.customers\.onJoin\.recipe: /,
  ],
  [
    'what is bought to reach nobody',
    champions({ onJoin: { contact: ['mail'] } }),
    /champions\.customers\.onJoin\.contact\.0: .*did you mean email\?/,
  ],
  [
    'a schedule of no champions',
    { ...champions({ budgetUsd: '1' }), schedules: { s: { champions: 'customer', cron: '0 3 * * *' } } },
    /schedules\.s\.champions: there is no watch of champions customer; there are customers/,
  ],
])('%s is refused on loading, with its place', async (_, settings, message) => {
  expect(await refusalOf(settings)).toMatch(message)
})

test.each<[string, object]>([
  ['a pipeline', pipeline({ types: ['job'], score: { points: [{ type: 'job', points: 20 }] } })],
  ['a monitor', monitor({})],
  ['a type of signals that is like none that is known', monitor({ signal_types: ['funding rounds'] })],
  [
    'a word that the settings allow',
    {
      ...monitor({ signal_types: ['expansion'] }),
      service: { vocabularies: { monitor_signal_types: ['expansion'] } },
    },
  ],
  ['champions', champions({ onJoin: { contact: ['email'] }, relationship: 'Former customer' })],
])('%s is accepted', async (_, settings) => {
  expect(await refusalOf(settings)).toBe('accepted')
})
