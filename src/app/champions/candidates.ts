import type { Connector } from '../../connectors/connector.ts'
import type { KnownJob } from '../../domain/champions/moved.ts'
import { ConfigError } from '../../domain/errors.ts'
import { askableProfileUrl, lookupKey, profileUrlOf, type LookupKey } from '../../domain/keys.ts'
import { identifiersOfSubject } from '../../domain/lists/list-row.ts'
import { nearNames } from '../../domain/normalise/near-names.ts'
import { registrableDomain } from '../../domain/normalise/domain.ts'
import { companyDomainOf, isPersonalMailDomain } from '../../domain/normalise/email.ts'
import type { Identity, SourceRecord } from '../../domain/record.ts'
import {
  lastChampionChecks,
  type CheckedChampion,
  type WatchedObject,
} from '../../store/champions/champions.ts'
import type { Config } from '../config/config.ts'
import type { ChampionSettings } from '../config/watching/champions.ts'
import type { Context } from '../context/context.ts'
import { readRecords } from '../records/read-records.ts'

/** A record whose person can be looked up. */
export interface Candidate {
  recordId: string
  identity: Identity
  /** The canonical profile URL. */
  profileUrl: string
  key: LookupKey
  /** The job that the record names, or that the last check has found. */
  known: KnownJob
  last: CheckedChampion | undefined
}

export interface Candidates {
  /** Those of whom a check is due, the longest unchecked first. */
  due: Candidate[]
  all: Candidate[]
  skipped: { place: string; reason: string }[]
  suppressed: number
  object: WatchedObject
}

const dayMs = 86_400_000

/** Returns the settings of a watch. Throws ConfigError with the near names. */
export function championsNamed({ champions }: Pick<Config, 'champions'>, name: string): ChampionSettings {
  const found = Object.hasOwn(champions, name) ? champions[name] : undefined
  if (found) return found
  const known = Object.keys(champions)
  const near = nearNames(name, known)
  throw new ConfigError(
    'no_champions',
    known.length === 0
      ? 'no champions are watched: name them under champions in paydirt.config.ts (docs/champions.md)'
      : `champions has no ${name}; ${near.length > 0 ? `near: ${near.join(', ')}` : `there are ${known.join(', ')}`}`,
  )
}

/** Returns the CRM's name of people. Throws ConfigError for an object that is none. */
export function personEntity(
  { name, entities }: Pick<Connector, 'name' | 'entities'>,
  asked: string | undefined,
  place: string,
): string {
  const fitting = Object.keys(entities).filter((entity) => entities[entity] === 'person')
  const found = asked === undefined ? fitting[0] : fitting.find((entity) => entity === asked)
  if (found !== undefined) return found
  throw new ConfigError(
    'unknown_entity',
    `${place}.entity: ${name} has no people called ${asked}; there is ${fitting.join(', ')}`,
  )
}

/**
 * Reads the people of a watch out of their CRM, at no cost. Throws ConfigError where no record meets the filter. A person who has moved is
 * not checked again: the record of the new employer is the one to watch.
 */
export async function readCandidates(
  context: Context,
  watch: string,
  connector: Connector,
  { signal, onRecords }: { signal: AbortSignal; onRecords?: ((read: number) => void) | undefined },
): Promise<Candidates> {
  const place = `champions.${watch}`
  const settings = championsNamed(context.config, watch)
  const entity = personEntity(connector, settings.entity, place)
  const { filter, limit, days } = settings
  const records = await readRecords(connector, { entity, filter, limit, place, signal, onRecords })
  if (records.length === 0) throw new ConfigError('no_champions', `${place}: no record meets the filter`)
  const object = { watch, connector: connector.name, entity }
  const last = await lastChampionChecks(
    context.database.db,
    object,
    records.map(({ id }) => id),
  )
  const skipped: Candidates['skipped'] = []
  const named: Candidate[] = []
  for (const record of records) {
    const candidate = candidateOf(record, last.get(record.id), context.config.networkHosts)
    if (typeof candidate === 'string')
      skipped.push({ place: `${connector.name}:${entity}:${record.id}`, reason: candidate })
    else named.push(candidate)
  }
  const isSuppressed = await context.suppressions.match(
    named.map(({ identity }) => identifiersOfSubject('person', identity)),
  )
  const all = named.filter((_, at) => !isSuppressed.has(at))
  const before = context.now().getTime() - days * dayMs
  const checkedAt = ({ last: known }: Candidate) => known?.checkedAt.getTime() ?? -Infinity
  const due = all
    .filter((each) => each.last?.verdict !== 'moved' && checkedAt(each) <= before)
    .toSorted((one, other) => (checkedAt(one) < checkedAt(other) ? -1 : 1))
  return { due, all, skipped, suppressed: isSuppressed.size, object }
}

function candidateOf(
  { id, identity, values = {}, unreadable }: SourceRecord,
  last: CheckedChampion | undefined,
  hosts: readonly string[],
): Candidate | string {
  if (unreadable !== undefined) return unreadable
  if (identity.profileUrl === undefined) return 'it has no profile URL'
  const profile = askableProfileUrl('person', identity.profileUrl, hosts)
  if (!profile.ok) return `its profile URL cannot be used: ${profile.reason}`
  // Another profile on the record is another person, or a mended mistake: what was known does not hold.
  const same = last?.profileUrl === profile.value ? last : undefined
  return {
    recordId: id,
    identity,
    profileUrl: profile.value,
    key: lookupKey('person.profile', profile.value),
    known: same?.known ?? jobOfRecord(identity, values),
    last: same,
  }
}

/** Returns the job that a record names. The domain of a work address counts where the record has no other. */
function jobOfRecord(identity: Identity, values: NonNullable<SourceRecord['values']>): KnownJob {
  const own = [values['company_domain'], identity.domain].find((value) => typeof value === 'string')
  const read = typeof own === 'string' ? registrableDomain(own) : undefined
  const named = read?.ok && !isPersonalMailDomain(read.value) ? read.value : undefined
  const domain = named ?? (identity.email === undefined ? undefined : companyDomainOf(identity.email))
  const profile = values['company_profnet_url']
  const title = values['job_title']
  return {
    ...(typeof profile === 'string' && { profileUrl: profile }),
    ...(domain !== undefined && { domain }),
    ...(typeof title === 'string' && { title }),
  }
}

/** Returns the URL that is asked for. */
export function askedUrl({ profileUrl }: Pick<Candidate, 'profileUrl'>): string {
  return profileUrlOf(profileUrl)
}
