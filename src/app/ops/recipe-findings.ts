import type { Connector } from '../../connectors/connector.ts'
import type { ClosedFields, ClosedReason } from '../../domain/planning/could-write.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'
import { closedText, wantedFields } from '../../domain/planning/wanted-fields.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { createClosedFieldsFinder, type ClosedFieldsFinder } from '../../planning/closed-fields.ts'
import type { Config } from '../config/config.ts'
import { ruleOf } from '../config/policies.ts'
import { entitiesOf } from '../context/entities.ts'
import { noticeOf } from '../runs/left-out.ts'
import { priceRefusal } from '../runs/price-refusal.ts'
import type { Finding } from './finding.ts'

/** Says what the account cannot hold of the recipes: a run buys nothing for it. A recipe that buys nothing at all is a warning. */
export async function recipeFindings(config: Config, connector: Connector): Promise<Finding[]> {
  const finder = finderWithoutLedger(config)
  const findings: Finding[] = []
  const shut: string[] = []
  for (const [entity, object] of Object.entries(connector.entities)) {
    const ofEntity: Record<string, ClosedReason> = {}
    for (const name of new Set([config.defaultRecipe, 'contact', 'full'])) {
      const recipe = config.recipes(object, name)
      const run = { connector: connector.name, object, entity, recipe: name, source: {} }
      const { ofRun } = await finder.find(connector, run, { dryRun: true })
      const message = noticeOf(entity, recipe, ofRun)
      if (message === undefined) continue
      if (buysNothing(recipe, object, ofRun)) {
        const todo = 'Give them a property in `mapping`, or mend what the message names.'
        findings.push({ name: connector.name, status: 'warning', message, todo })
        continue
      }
      for (const field of recipe.fields) if (ofRun[field]) ofEntity[field] = ofRun[field]
    }
    if (Object.keys(ofEntity).length > 0) shut.push(`${entity}: ${closedText(ofEntity)}`)
  }
  // One line: these are no faults, and many would hide the warnings.
  if (shut.length > 0)
    findings.push({
      name: connector.name,
      status: 'ok',
      message: `nothing is bought for fields of recipes that have no place here (\`mapping\` gives them one). ${shut.join('. ')}`,
    })
  return findings
}

/** Names the schedules whose runs would fail by the prices of their recipes. */
export async function scheduleFindings(config: Config, connector: Connector): Promise<Finding[]> {
  const planning = { closedFields: finderWithoutLedger(config) }
  const findings: Finding[] = []
  for (const { name, object: named, recipe = config.defaultRecipe, refresh } of config.schedules.filter(
    (schedule) => schedule.connector === connector.name && schedule.list === undefined,
  )) {
    for (const entity of entitiesOf(connector, named)) {
      const object = connector.entities[entity] as ObjectKind
      const run = { connector: connector.name, object, entity, recipe, source: { refresh } }
      const refused = await priceRefusal({ config, planning }, connector, run)
      if (!refused) continue
      findings.push({
        name: `schedules.${name}`,
        status: 'problem',
        message: `no run of ${entity} begins`,
        todo: refused.message,
      })
    }
  }
  return findings
}

/** The rules of the configuration alone: doctor opens no ledger. */
function finderWithoutLedger(config: Config): ClosedFieldsFinder {
  return createClosedFieldsFinder({
    recipes: config.recipes,
    rule: (name, field) => ruleOf(config.policies, name, field),
    fieldWrites: {
      history: async () => ({
        ours: new Map(),
        open: new Map(),
        blocked: new Map(),
        undone: new Map(),
        wrote: new Map(),
      }),
    },
    now: () => new Date(),
  })
}

function buysNothing(recipe: Recipe, object: ObjectKind, closed: ClosedFields): boolean {
  return wantedFields({ object, identity: {}, closed }, recipe).length === 0
}
