import type { Connector } from '../../connectors/connector.ts'
import type { ClosedFields } from '../../domain/planning/could-write.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'
import { wantedFields } from '../../domain/planning/wanted-fields.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { createClosedFieldsFinder } from '../../planning/closed-fields.ts'
import type { Config } from '../config/config.ts'
import { ruleOf } from '../config/policies.ts'
import { noticeOf } from '../runs/left-out.ts'
import type { Finding } from './finding.ts'

/** Says for each recipe what the account cannot hold: a run buys nothing for it. */
export async function recipeFindings(config: Config, connector: Connector): Promise<Finding[]> {
  const finder = createClosedFieldsFinder({
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
  const findings: Finding[] = []
  for (const [entity, object] of Object.entries(connector.entities)) {
    for (const name of new Set([config.defaultRecipe, 'contact', 'full'])) {
      const recipe = config.recipes(object, name)
      const run = { connector: connector.name, object, entity, recipe: name, source: {} }
      const { ofRun } = await finder.find(connector, run, { dryRun: true })
      const message = noticeOf(entity, recipe, ofRun)
      if (message === undefined) continue
      findings.push({
        name: connector.name,
        status: buysNothing(recipe, object, ofRun) ? 'warning' : 'ok',
        message,
        todo: 'To have them, give them a property in `mapping`, or mend what the message names.',
      })
    }
  }
  return findings
}

function buysNothing(recipe: Recipe, object: ObjectKind, closed: ClosedFields): boolean {
  return wantedFields({ object, identity: {}, closed }, recipe).length === 0
}
