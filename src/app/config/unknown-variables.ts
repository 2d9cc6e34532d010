import { crmNames, crmOf, type CrmName } from '../../connectors/definitions.ts'
import { editDistance, letters, nearNames } from '../../domain/normalise/near-names.ts'

const prefix = 'PAYDIRT_'
/** The settings whose misspellings are refused. Other programs have variables like the remaining ones. */
const checked = new RegExp(`^(${[prefix, ...crmNames.map((name) => `${name.toUpperCase()}_`)].join('|')})`)

/** Without them a CRM is not set up. */
const credentials = crmNames.flatMap((name) => crmOf(name).needs)

/** Read by others from the same `.env`: docker-compose.yml, and the launcher, which passes one to its child. */
const ofOthers: ReadonlySet<string> = new Set([
  'PAYDIRT_POSTGRES_IMAGE',
  'PAYDIRT_REDIS_IMAGE',
  'PAYDIRT_PARENT_IPC',
])

/**
 * Returns the variables that were probably meant as settings and are none, each with the settings that it resembles. A misspelt
 * budget must not leave the default in force. Variables of other programs are let be. `ownFile` has the names that stand in the
 * folder's `.env`: only there is a credential that leaves out words (HUBSPOT_TOKEN) meant for Paydirt.
 */
export function unknownVariables(
  env: Readonly<Record<string, string>>,
  known: readonly string[],
  ownFile: ReadonlySet<string>,
): { name: string; near: string[] }[] {
  const settings = new Set(known)
  return Object.keys(env).flatMap((name) => {
    if (settings.has(name) || ofOthers.has(name) || name.startsWith('PAYDIRT_TEST_')) return []
    if (name.toUpperCase().startsWith(prefix)) return [{ name, near: nearSettings(name, known) }]
    // PAYDRIT_BUDGET_DAY_USD, HUBSPOT_ACESS_TOKEN: so near that nothing else can be meant.
    const near = /^[phs]/i.test(name) ? known.filter((setting) => isMisspelling(name, setting)) : []
    if (near.length > 0) return [{ name, near }]
    if (!ownFile.has(name)) return []
    const shortened = credentials.filter((setting) => !(setting in env) && leavesOutWords(name, setting))
    return shortened.length > 0 ? [{ name, near: shortened }] : []
  })
}

/**
 * Returns a sentence on variables that may have been meant as the credentials of a CRM that is not set up, and may as well be
 * another program's; blank for none.
 */
export function mistakenCredentials(crm: CrmName, env: NodeJS.ProcessEnv = process.env): string {
  const pairs = crmOf(crm).needs.flatMap((setting) =>
    env[setting]
      ? []
      : Object.keys(env).flatMap((name) =>
          env[name] && leavesOutWords(name, setting) ? [{ name, setting }] : [],
        ),
  )
  return pairs
    .map(({ name, setting }) => `${name} is set, which is not read; did you mean ${setting}?`)
    .join(' ')
}

/**
 * True for the variables that Kubernetes and Docker set for each service whose name begins with `paydirt`. One of them,
 * `PAYDIRT_PORT=tcp://…`, has the name of a setting.
 */
export function isServiceLink(name: string, value: string): boolean {
  if (!name.startsWith(prefix)) return false
  if (name.endsWith('_SERVICE_HOST')) return /^[\d.]+$|^[\da-f:]+$/i.test(value)
  if (/_SERVICE_PORT(_[A-Z0-9_]+)?$/.test(name)) return /^\d+$/.test(value)
  if (/_PORT(_\d+_(TCP|UDP|SCTP))?$/.test(name)) return /^(tcp|udp|sctp):\/\//.test(value)
  return /_PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)$/.test(name)
}

/** The common prefix is left out of the comparison: with it, all settings resemble each other. */
function nearSettings(name: string, known: readonly string[]): string[] {
  const byTail = new Map(known.map((setting) => [tail(setting), setting]))
  return nearNames(tail(name), [...byTail.keys()]).map((found) => byTail.get(found) as string)
}

function isMisspelling(name: string, setting: string): boolean {
  if (!checked.test(setting) || Math.abs(name.length - setting.length) > 2) return false
  return editDistance(letters(name), letters(setting)) <= (setting.startsWith(prefix) ? 2 : 1)
}

/** HUBSPOT_TOKEN for HUBSPOT_ACCESS_TOKEN. Counts only while the setting is absent: both together are of two programs. */
function leavesOutWords(name: string, setting: string): boolean {
  const [crm, ...rest] = setting.split('_')
  const [first, ...words] = name.toUpperCase().split('_')
  const isPart = words.length > 0 && words.length < rest.length && words.every((word) => rest.includes(word))
  return first === crm && isPart && words.at(-1) === rest.at(-1)
}

function tail(name: string): string {
  return name.toUpperCase().startsWith(prefix) ? name.slice(prefix.length) : name
}
