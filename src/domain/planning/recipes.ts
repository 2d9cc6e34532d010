import { ConfigError } from '../errors.ts'
import { enrichmentFieldNames, fieldNames, profileFieldNames } from '../fields.ts'
import type { Atomic } from '../money.ts'
import { objectKinds, type ObjectKind, type Operation } from '../words.ts'

/** What a run wants to know of each record, and what may be bought for it. */
export interface Recipe {
  name: string
  /** Canonical fields, in any order. Nothing else is written or bought. */
  fields: readonly string[]
  /** Which steps may be taken; their order is the planner's affair. */
  steps: readonly Operation[]
  /** The most that one record may cost. Absent: whatever its steps cost. */
  priceCeilingAtomic?: Atomic
  /** Nothing more is bought for a record once one of these fields is found. Absent: only when nothing is left to buy. */
  stopWhen?: readonly string[]
  /** Search by name where an e-mail or phone finds nobody (`is_enable_similarity_search`). */
  similarity?: boolean
  /** Code or name of the country of phones that stand without a prefix in a record that says no country itself. */
  country?: string
}

/** Finds a recipe by name. Throws ConfigError for one that there is none of. */
export type RecipeBook = (object: ObjectKind, name: string) => Recipe

export const defaultRecipeName = 'profile'

const contactFieldNames = ['email', 'phone', 'mobile_phone']

/**
 * `profile` reads what a record's own profile URL tells. `contact` also finds people and companies without one, and reveals
 * the work e-mail and phones that a record lacks. `full` is all of that, the employer and the enrichment of companies.
 * Private e-mail addresses are revealed only where a recipe of the config asks for them.
 */
const builtIn: Readonly<Record<string, Record<ObjectKind, Omit<Recipe, 'name'>>>> = {
  profile: {
    company: {
      fields: [...profileFieldNames('company'), 'logo'],
      steps: ['company.profile', 'company.logo'],
    },
    person: { fields: profileFieldNames('person'), steps: ['person.profile'] },
  },
  contact: {
    company: {
      fields: [...profileFieldNames('company'), 'logo'],
      steps: ['company.lookup', 'company.profile', 'company.logo'],
    },
    person: {
      fields: ['full_name', 'profnet_url', 'job_title', 'company_name', ...contactFieldNames],
      steps: ['contact.lookup', 'contact.redeem'],
    },
  },
  full: {
    company: {
      fields: [...profileFieldNames('company'), 'logo', ...enrichmentFieldNames],
      steps: ['company.lookup', 'company.profile', 'company.enrich', 'company.logo'],
    },
    person: {
      fields: fieldNames('person').filter((name) => name !== 'email_personal'),
      steps: ['contact.lookup', 'person.profile', 'company.profile', 'contact.redeem', 'company.logo'],
    },
  },
}

/** The recipes of the config, and behind them the built-in ones. */
export function recipeBook(custom: readonly (Recipe & { object: ObjectKind })[] = []): RecipeBook {
  return (object, name) => {
    const own = custom.find((recipe) => recipe.name === name && recipe.object === object)
    if (own) return own
    const known = Object.hasOwn(builtIn, name) ? builtIn[name]?.[object] : undefined
    if (known) return { name, ...known }
    const names = [
      ...new Set([
        ...Object.keys(builtIn),
        ...custom.filter((recipe) => recipe.object === object).map((recipe) => recipe.name),
      ]),
    ]
    throw new ConfigError(
      'no_such_recipe',
      `there is no recipe "${name}" for a ${object}; there are ${names.join(', ')}`,
    )
  }
}

export const builtInRecipes: RecipeBook = recipeBook()

/** The recipe that is taken where none is named. */
export const recipes = Object.fromEntries(
  objectKinds.map((object) => [object, builtInRecipes(object, defaultRecipeName)]),
) as Record<ObjectKind, Recipe>
