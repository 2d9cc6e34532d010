import { ConfigError } from '../errors.ts'
import { enrichmentFieldNames, boughtFieldNames, matchFieldNames, profileFieldNames } from '../fields.ts'
import type { Atomic } from '../money.ts'
import { objectKinds, type ObjectKind, type Operation } from '../words.ts'

/** The fields that a run wants of each record, and the steps it may buy for them. */
export interface Recipe {
  name: string
  /** Canonical fields, in any order. Nothing else is written or bought. */
  fields: readonly string[]
  /** The steps that may be taken. The planner decides their order. */
  steps: readonly Operation[]
  /** The most that one record may cost. Absent: no ceiling. */
  priceCeilingAtomic?: Atomic
  /** Once one of these fields is found, nothing more is bought for the record. Absent: every candidate is bought. */
  stopWhen?: readonly string[]
  /** Search by name where an e-mail or phone finds no person (`is_enable_similarity_search`). */
  similarity?: boolean
  /** Code or name of the country of phones without a prefix, for records without a country of their own. */
  country?: string
  /** The hosts of the network, of which a profile has one key. Absent: the default ones. */
  networkHosts?: readonly string[]
}

/** Returns a recipe by name. Throws ConfigError for an unknown name. */
export type RecipeBook = (object: ObjectKind, name: string) => Recipe

export const defaultRecipeName = 'profile'

/** The recipe of runs that write what was observed: it wants nothing, so that no lookup is ever bought for such a run. */
export const observedRecipeName = 'observed'

const contactFieldNames = ['email', 'phone', 'mobile_phone']

/**
 * `profile` reads the profile behind a record's own profile URL. `contact` also finds people and companies without a URL,
 * and reveals the work e-mail and phones that a record lacks. `full` adds the employer and the enrichment of companies.
 * Personal e-mail addresses are revealed only for a recipe of the config that wants them.
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
      fields: [...matchFieldNames, ...contactFieldNames],
      steps: ['contact.lookup', 'contact.redeem'],
    },
  },
  full: {
    company: {
      fields: [...profileFieldNames('company'), 'logo', ...enrichmentFieldNames],
      steps: ['company.lookup', 'company.profile', 'company.enrich', 'company.logo'],
    },
    person: {
      fields: boughtFieldNames('person').filter((name) => name !== 'email_personal'),
      steps: ['contact.lookup', 'person.profile', 'company.profile', 'contact.redeem', 'company.logo'],
    },
  },
}

/** The parts of `contact` for people, as a match names them: what is bought is the e-mail or the phones, and not both. */
const contactParts: Readonly<Record<string, readonly string[]>> = {
  'contact:email': ['email'],
  'contact:phone': ['phone', 'mobile_phone'],
}

function partOfContact(object: ObjectKind, name: string): Omit<Recipe, 'name'> | undefined {
  const revealed = object === 'person' && Object.hasOwn(contactParts, name) ? contactParts[name] : undefined
  return (
    revealed && { fields: [...matchFieldNames, ...revealed], steps: ['contact.lookup', 'contact.redeem'] }
  )
}

/** The names of the built-in recipes. Each has a part for every object. */
export const builtInRecipeNames: readonly string[] = Object.keys(builtIn)

/** Returns the book of the config's recipes and the built-in ones. A recipe of the config wins over a built-in one. */
export function recipeBook(
  custom: readonly (Recipe & { object: ObjectKind })[] = [],
  networkHosts?: readonly string[],
): RecipeBook {
  const ofNetwork = networkHosts === undefined ? {} : { networkHosts }
  const made = new Map<string, Recipe>()
  // Each step of each record asks for its recipe.
  return (object, name) => {
    const key = `${object} ${name}`
    const recipe = made.get(key) ?? make(object, name)
    made.set(key, recipe)
    return recipe
  }

  function make(object: ObjectKind, name: string): Recipe {
    if (name === observedRecipeName) return { name, fields: [], steps: [] }
    const own = custom.find((recipe) => recipe.name === name && recipe.object === object)
    if (own) return { ...own, ...ofNetwork }
    const known = Object.hasOwn(builtIn, name) ? builtIn[name]?.[object] : partOfContact(object, name)
    if (known) return { name, ...known, ...ofNetwork }
    const names = [
      ...new Set([
        ...builtInRecipeNames,
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

/** The default recipe of each object. */
export const recipes = Object.fromEntries(
  objectKinds.map((object) => [object, builtInRecipes(object, defaultRecipeName)]),
) as Record<ObjectKind, Recipe>
