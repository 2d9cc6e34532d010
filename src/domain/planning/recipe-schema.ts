import { z } from 'zod'
import { ConfigError } from '../errors.ts'
import { boughtFieldNames, observedFieldNames } from '../fields.ts'
import { nearNames } from '../normalise/near-names.ts'
import {
  builtInRecipeNames,
  observedRecipeName,
  recipeBook,
  type Recipe,
  type RecipeBook,
} from './recipes.ts'
import { described, ofType, setting } from '../setting.ts'
import { usd } from '../usd-schema.ts'
import { operationRow, stepOperations } from '../operations.ts'
import { objectKinds, type ObjectKind, type Operation } from '../words.ts'

const recipe = z.strictObject({
  fields: described(z.array(z.string().min(1)).min(1), {
    means: 'the [fields](#fields) that it fills',
    example: ['email', 'phone'],
  }),
  steps: described(ofType('list of [steps](recipes.md)', z.array(z.enum(stepOperations)).min(1)), {
    means: 'what may be bought to find them',
    example: ['contact.lookup', 'contact.redeem'],
  }),
  priceCeilingUsd: setting(usd, {
    means: 'the most that one record may cost',
    defaultText: 'no ceiling',
    example: '0.20',
  }),
  stopWhen: setting(z.array(z.string().min(1)).min(1), {
    means: 'nothing more is bought for a record once one of these fields is found',
    defaultText: 'every candidate is bought',
    example: ['email'],
  }),
  similaritySearch: setting(z.boolean(), {
    means: 'look up by name too, where the e-mail or the phone finds nobody',
    default: false,
    example: true,
  }),
  country: setting(z.string().min(2), {
    means: 'code or name of the country of phone numbers without a prefix, for records without a country',
    example: 'DE',
  }),
})

/**
 * The `recipes` of `paydirt.config.ts`, by name and object; in addition to the built-in ones.
 *
 * @example { mail: { person: { fields: ['email'], steps: ['contact.lookup', 'contact.redeem'], priceCeilingUsd: '0.20' } } }
 */
export const recipesSchema = z.record(
  z.string().min(1),
  z.strictObject({ company: recipe.optional(), person: recipe.optional() }),
)

/** Throws ConfigError for a field or step that the object does not have. */
export function resolveRecipes(
  config: z.output<typeof recipesSchema> = {},
  networkHosts?: readonly string[],
): RecipeBook {
  const custom: (Recipe & { object: ObjectKind })[] = []
  for (const [name, byObject] of Object.entries(config)) {
    if (name === observedRecipeName)
      throw new ConfigError(
        'bad_recipe',
        `recipes.${name}: the name is taken by runs that write what was observed`,
      )
    for (const object of objectKinds) {
      const given = byObject[object]
      if (!given) continue
      checkFields(`recipes.${name}.${object}`, object, [...given.fields, ...(given.stopWhen ?? [])])
      checkSteps(`recipes.${name}.${object}`, object, given.steps)
      custom.push({
        name,
        object,
        fields: given.fields,
        steps: given.steps,
        ...(given.priceCeilingUsd === undefined ? {} : { priceCeilingAtomic: given.priceCeilingUsd }),
        ...(given.stopWhen ? { stopWhen: given.stopWhen } : {}),
        ...(given.similaritySearch === undefined ? {} : { similarity: given.similaritySearch }),
        ...(given.country === undefined ? {} : { country: given.country }),
      })
    }
  }
  return recipeBook(custom, networkHosts)
}

/** Returns the names of the recipes that there are for an object: the built-in ones first. */
export function recipeNamesFor(config: z.output<typeof recipesSchema> = {}, object: ObjectKind): string[] {
  const own = Object.entries(config).flatMap(([name, byObject]) => (byObject[object] ? [name] : []))
  return [...new Set([...builtInRecipeNames, ...own])]
}

function checkFields(at: string, object: ObjectKind, fields: readonly string[]): void {
  const known = boughtFieldNames(object)
  const wrong = fields.find((field) => !known.includes(field))
  if (wrong === undefined) return
  if (observedFieldNames(object).includes(wrong))
    throw new ConfigError(
      'bad_recipe',
      `${at}: no lookup tells "${wrong}"; it is observed over time, by a pipeline of \`${object === 'company' ? 'signals' : 'champions'}\``,
    )
  const near = nearNames(wrong, known)
  throw new ConfigError(
    'bad_recipe',
    `${at}: a ${object} has no field "${wrong}"${near.length > 0 ? ` (near: ${near.join(', ')})` : ''}`,
  )
}

function checkSteps(at: string, object: ObjectKind, taken: readonly Operation[]): void {
  const wrong = taken.find((step) => !operationRow(step).stepOf.includes(object))
  if (wrong !== undefined)
    throw new ConfigError('bad_recipe', `${at}: ${wrong} is not a step for a ${object}`)
}
