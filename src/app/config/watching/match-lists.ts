import type { Atomic } from '../../../domain/money.ts'
import type { ListSettings } from '../lists.ts'
import { contactRecipe, entityFor, tiesToCompany } from './contact-lists.ts'
import {
  championListNames,
  championListSettings,
  championOfList,
  type ChampionConfig,
} from './champion-lists.ts'
import type { OnMatch } from './on-match.ts'

/** The part of the settings that says what is done on a match. */
export interface MatchConfig extends ChampionConfig {
  monitors?: Readonly<Record<string, DeclaredMatch>>
}

interface DeclaredMatch {
  onMatch?: OnMatch | undefined
  /** The service's own enrichment of people, which no charge of ours explains. */
  automaticPersonEnrichment?: Readonly<Record<string, unknown>> | undefined
}

/** Each match is worked as two lists: one of its company, and one of the people there. */
export type MatchPart = 'companies' | 'people'

/** No list of the settings can have such a name. */
const form = /^monitors\.(.+)\.(companies|people)$/

/** Returns the name of the list by which a monitor's companies or people are worked. */
export function matchListName(monitor: string, part: MatchPart): string {
  return `monitors.${monitor}.${part}`
}

/** Returns the monitor for whose matches a list stands; undefined for any other list. */
export function monitorOfList(list: string): { monitor: string; part: MatchPart } | undefined {
  const [, monitor, part] = form.exec(list) ?? []
  return monitor === undefined ? undefined : { monitor, part: part as MatchPart }
}

/** Returns the lists whose rows are given, by name: those of all declared monitors and champions. */
export function givenLists(config: MatchConfig): Record<string, ListSettings> {
  const names = Object.keys(config.monitors ?? {}).flatMap((monitor) =>
    (['companies', 'people'] as const).map((part) => matchListName(monitor, part)),
  )
  return Object.fromEntries(
    [...names, ...championListNames(config)].flatMap((name) => {
      const settings = givenListSettings(config, name)
      return settings ? [[name, settings]] : []
    }),
  )
}

/** Returns the settings of a list whose rows are given: by matches of a monitor, or by champions. Undefined for a name that is none. */
export function givenListSettings(config: MatchConfig, list: string): ListSettings | undefined {
  return matchListSettings(config, list) ?? championListSettings(config, list)
}

/** Returns the place in the settings that decides on a list: `lists.dach`, or `monitors.dach.onMatch`. */
export function placeOfList(list: string): string {
  const watch = championOfList(list)
  if (watch !== undefined) return `champions.${watch}.onJoin`
  const named = monitorOfList(list)
  return named
    ? `monitors.${named.monitor}.onMatch${named.part === 'people' ? '.people' : ''}`
    : `lists.${list}`
}

/** Returns a message about a list with the place where its settings stand. */
export function withPlace(list: string, message: string): string {
  const place = placeOfList(list)
  return message.replaceAll(`lists.${list}.into`, place).replaceAll(`lists.${list}`, place)
}

/** Returns the monitors for which the service enriches people by itself. */
export function automaticMonitors({ monitors = {} }: MatchConfig): string[] {
  return Object.entries(monitors).flatMap(([name, { automaticPersonEnrichment }]) =>
    automaticPersonEnrichment === undefined ? [] : [name],
  )
}

/** Returns what is done on a match of a monitor; undefined where the settings do not say. */
export function onMatchOf({ monitors = {} }: MatchConfig, monitor: string): OnMatch | undefined {
  return Object.hasOwn(monitors, monitor) ? monitors[monitor]?.onMatch : undefined
}

/** Returns the settings of the list by which the matches of a monitor are worked; undefined for a name that is none. */
export function matchListSettings(config: MatchConfig, list: string): ListSettings | undefined {
  const named = monitorOfList(list)
  const onMatch = named && onMatchOf(config, named.monitor)
  if (!named || !onMatch) return undefined
  return named.part === 'companies' ? companies(onMatch) : people(onMatch)
}

/** Returns the most that is spent for the matches of a monitor in a day and in a month; undefined: no cap. */
export function matchCaps(
  config: MatchConfig,
  monitor: string,
): { dayAtomic: Atomic | undefined; monthAtomic: Atomic | undefined } {
  const { budgetDayUsd: dayAtomic, budgetMonthUsd: monthAtomic } = onMatchOf(config, monitor) ?? {}
  return { dayAtomic, monthAtomic }
}

function companies(onMatch: OnMatch): ListSettings {
  const { connector, recipe, set, owner } = onMatch
  return {
    ...shared(onMatch),
    into: {
      connector,
      entity: companyEntityOf(onMatch),
      ...(recipe === undefined ? {} : { update: true }),
      ...(set && { set }),
      ...(owner === undefined ? {} : { owner }),
    },
    ...(recipe === undefined ? {} : { recipe }),
  }
}

function people(onMatch: OnMatch): ListSettings | undefined {
  if (!onMatch.people) return undefined
  const {
    recipe: own,
    contact,
    entity = entityFor(onMatch.connector, 'person'),
    owner,
    ...wanted
  } = onMatch.people
  const recipe = own ?? (contact && contactRecipe(contact))
  return {
    ...shared(onMatch),
    people: wanted,
    // The company is there, or was made just now: none is made beside its people.
    into: {
      connector: onMatch.connector,
      entity,
      ...(tiesToCompany(onMatch.connector, entity) ? { associate: 'existing' as const } : {}),
      ...(owner === undefined ? {} : { owner }),
    },
    ...(recipe === undefined ? {} : { recipe }),
  }
}

function shared(onMatch: OnMatch): Pick<ListSettings, 'search' | 'filters' | 'exclude'> {
  const { exclude } = onMatch
  const entity = companyEntityOf(onMatch)
  const filters = exclude?.filters?.map((each) => ({ ...each, entity: each.entity ?? entity }))
  return {
    search: 'company.search',
    filters: {},
    ...(exclude ? { exclude: { ...exclude, ...(filters && { filters }) } } : {}),
  }
}

/** Returns the CRM's name of the object of a match's company. */
export function companyEntityOf({ connector, entity }: Pick<OnMatch, 'connector' | 'entity'>): string {
  return entity ?? entityFor(connector, 'company')
}
