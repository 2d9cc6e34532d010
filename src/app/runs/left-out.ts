import type { Connector } from '../../connectors/connector.ts'
import type { ClosedFields } from '../../domain/planning/could-write.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'
import { closedText, wantedFields } from '../../domain/planning/wanted-fields.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { ClosedFieldsFinder } from '../../planning/closed-fields.ts'
import type { Config } from '../config/config.ts'

/** The fields and steps of a recipe that a run leaves out for every record, known before anything is spent. */
export interface LeftOutOfRun {
  closed: ClosedFields
  /** The recipe with the fields that are left. */
  recipe: Recipe
  /** The same in words; undefined where the account can hold all that the recipe wants. */
  notice: string | undefined
}

/** The part of a run that is known before it is opened. */
export type JudgedRun = Pick<Run, 'connector' | 'object' | 'entity' | 'recipe' | 'source'>

/** The part of the context that knows what an account can hold. */
export interface LeftOutContext {
  config: Pick<Config, 'recipes'>
  planning: { closedFields: ClosedFieldsFinder }
}

/** Returns what the mapping, the account or the policy cannot hold of a run's recipe. Spends nothing. */
export async function leftOutOfRun(
  { planning, config }: LeftOutContext,
  connector: Connector,
  run: JudgedRun,
  options: { dryRun: boolean },
): Promise<LeftOutOfRun> {
  const { ofRun: closed } = await planning.closedFields.find(connector, run, options)
  const recipe = config.recipes(run.object, run.recipe)
  return {
    closed,
    recipe: { ...recipe, fields: wantedFields({ object: run.object, identity: {}, closed }, recipe) },
    notice: noticeOf(run.entity, recipe, closed),
  }
}

/** Returns for which fields of a recipe nothing is bought in an entity, and why, as a sentence. */
export function noticeOf(entity: string, recipe: Recipe, closed: ClosedFields): string | undefined {
  const shut = recipe.fields.filter((field) => Object.hasOwn(closed, field))
  if (shut.length === 0) return undefined
  return `${entity}: the recipe ${recipe.name} wants fields that cannot be written, and nothing is bought ${shut.length < recipe.fields.length ? 'for them' : 'at all'}: ${closedText(closed, shut)}`
}
