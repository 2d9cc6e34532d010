import type { ListSettings } from '../lists.ts'
import type { ChampionSettings } from './champions.ts'
import { contactRecipe, entityFor, tiesToCompany } from './contact-lists.ts'
import { championPurse, purseNamed } from './purses.ts'

/** The part of the settings that says what is done for champions. */
export interface ChampionConfig {
  champions?: Readonly<Record<string, ChampionSettings>>
}

/** Returns the watch for whose champions a list stands; undefined for any other list. Its name is that of their budget. */
export function championOfList(list: string): string | undefined {
  const { kind, name } = purseNamed(list)
  return kind === 'champions' ? name : undefined
}

/** Returns the names of the lists by which records at new employers are made. */
export function championListNames({ champions = {} }: ChampionConfig): string[] {
  return Object.entries(champions).flatMap(([watch, { onJoin }]) =>
    onJoin === undefined ? [] : [championPurse(watch).budget],
  )
}

/** Returns the settings of the list by which records at new employers are made; undefined for a name that is none. */
export function championListSettings(
  { champions = {} }: ChampionConfig,
  list: string,
): ListSettings | undefined {
  const watch = championOfList(list)
  const settings = watch !== undefined && Object.hasOwn(champions, watch) ? champions[watch] : undefined
  const { onJoin } = settings ?? {}
  if (!settings || !onJoin) return undefined
  const { connector, entity = entityFor(connector, 'person') } = settings
  const { associate, owner, set, contact } = onJoin
  const recipe = onJoin.recipe ?? (contact && contactRecipe(contact))
  return {
    search: 'people.search',
    filters: {},
    into: {
      connector,
      entity,
      ...(tiesToCompany(connector, entity) ? { associate } : {}),
      ...(set && { set }),
      ...(owner === undefined ? {} : { owner }),
    },
    ...(recipe === undefined ? {} : { recipe }),
  }
}
