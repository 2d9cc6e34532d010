import { html } from 'hono/html'
import { crmNames, variablesNeededBy } from '../../../../connectors/definitions.ts'
import type { SyncPlansPort } from '../../model/sync-plan.ts'
import { shortened } from '../../view/foreign-text.ts'
import { connectorName } from '../../view/format.ts'
import { csrf, type Page, type Shell } from '../../view/layout.ts'
import { card, empty } from '../../view/parts.ts'

/** Planning reads every record that it counts, so a first question is a small one. */
export const defaultLimit = 500

export interface PlanFormValues {
  connector?: string | undefined
  entity?: string | undefined
  recipe?: string | undefined
  limit?: string | undefined
  problem?: string | undefined
}

/** Chooses what to sync. The next page shows cost and changes, and nothing is spent before that. */
export function planForm(
  choices: ReturnType<SyncPlansPort['choices']>,
  { connector, entity, recipe, limit = String(defaultLimit), problem }: PlanFormValues,
  { visitor }: Shell,
): Page {
  const chosen = choices.find((each) => each.connector === connector && each.entity === entity) ?? choices[0]
  const recipes = [...new Set(choices.flatMap((each) => each.recipes))]
  return {
    title: 'Start a sync',
    lead: 'The next page shows what it would cost and change. Nothing is spent before you have confirmed that.',
    current: '/',
    body: chosen
      ? card(
          'sync',
          'What to sync',
          html`<form class="stack" method="post" action="/sync/plans">
            ${csrf(visitor)} ${problem ? html`<p class="problem" role="alert">${problem}</p>` : ''}
            <label for="source">Object</label>
            <select id="source" name="source">
              ${choices.map(
                (each) =>
                  html`<option
                    value="${each.connector} ${each.entity}"
                    ${each === chosen ? html`selected` : ''}
                  >
                    ${connectorName(each.connector)} ${each.entity}
                  </option>`,
              )}
            </select>
            <label for="recipe">Recipe</label>
            <select id="recipe" name="recipe" aria-describedby="recipe-note">
              ${recipes.map(
                (name) =>
                  html`<option
                    value="${name}"
                    ${name === (recipe ?? chosen.defaultRecipe) ? html`selected` : ''}
                  >
                    ${shortened(name, 60)}
                  </option>`,
              )}
            </select>
            <p class="note" id="recipe-note">
              Which fields to fill, and what may be bought for them. Settings has the recipes.
            </p>
            <label for="limit">Limit</label>
            <input
              id="limit"
              name="limit"
              inputmode="numeric"
              autocomplete="off"
              value="${shortened(limit, 20)}"
              aria-describedby="limit-note"
            />
            <p class="note" id="limit-note">
              At most so many new or changed records; the next sync continues behind them. Blank: all of them,
              which may take minutes to plan.
            </p>
            <div><button class="primary" type="submit">Show the plan</button></div>
          </form>`,
        )
      : empty(`No CRM is set up. Set ${crmNames.map(variablesNeededBy).join(', or ')}, then restart.`),
  }
}
