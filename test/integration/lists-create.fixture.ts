import { expect } from 'vitest'
import { applyList, type AppliedList, type ApplyListOptions } from '../../src/app/lists/making/apply-list.ts'
import { fetchList } from '../../src/app/lists/pages/fetch-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { planList } from '../../src/app/lists/making/plan-list.ts'
import { indexRecords } from '../../src/app/records/index-records.ts'
import { undoableRun } from '../../src/app/records/undo.ts'
import { undoMade } from '../../src/app/records/undo-made.ts'
import { readPlan } from '../../src/app/runs/apply-plan.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { newPlanId } from '../../src/app/context/new-id.ts'
import type { Context } from '../../src/app/context/context.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { allRows } from '../support/list-rows.ts'
import { openCrmWorld, type CrmKind } from './crm-worlds.ts'

const entities = { hubspot: 'companies', salesforce: 'Account' } as const
export const nameOf = { hubspot: 'name', salesforce: 'Name' } as const
const signal = new AbortController().signal

/** A CRM, an index of it, and lists of companies whose pages are bought. */
export async function openListWorld(
  sandbox: Sandbox,
  kind: CrmKind,
  {
    entity = entities[kind],
    limit = 5,
    into = {},
    list: more = {},
  }: {
    entity?: string
    limit?: number
    into?: Record<string, unknown>
    list?: Record<string, unknown>
  } = {},
) {
  const list = {
    search: 'company.search',
    filters: { countries: ['DE'] },
    into: { connector: kind, entity, ...into },
    limit,
    budgetUsd: '5',
  } as const
  const world = await openCrmWorld(sandbox, kind, entity, {
    payment: {
      maxPricesUsd: {
        'company.search': '0.05',
        'people.search': '0.05',
        'contact.redeem:email-work': '0.15',
        'contact.redeem:phone': '0.30',
      },
    },
    lists: {
      german: { ...list, ...more },
      again: { ...list, ...more },
      people: {
        ...list,
        into: { ...list.into, update: undefined },
        search: 'people.search',
        filters: { people_titles: ['CFO'] },
      },
    } as never,
  })
  const { context, connector } = world
  const calls = (name = 'german') => listCalls(context, name, { asks: false })
  return {
    ...world,
    calls,
    async fetch(name = 'german') {
      const fetched = await fetchList(context, await calls(name), {
        budgetAtomic: 10_000_000n,
        reachableOnly: true,
        signal,
      })
      expect(fetched).toMatchObject({ end: 'complete' })
      return allRows(context, await calls(name))
    },
    async index() {
      for (const each of Object.keys(connector.entities))
        await indexRecords(context, connector, each, { rebuild: true, signal })
    },
    async plan(name = 'german') {
      return planList(context, await calls(name), connector, newPlanId(context))
    },
    apply: (
      planId: string,
      more: Partial<ApplyListOptions> & { context?: Context } = {},
    ): Promise<AppliedList> => applyPlanned(more.context ?? context, planId, { connector, ...more }),
    async takeBack(runId: string, plan = false) {
      const run = await undoableRun(context, runId)
      return undoMade(context, connector, run!, { plan, signal })
    },
    async made() {
      return context.database.db.selectFrom('created_records').selectAll().orderBy('ordinal').execute()
    },
    async planned() {
      return context.database.db.selectFrom('plan_records').selectAll().execute()
    },
    async reserved() {
      return context.database.db.selectFrom('reserved_identities').selectAll().execute()
    },
  }
}

async function applyPlanned(
  context: Context,
  planId: string,
  more: Partial<ApplyListOptions> & { connector: Connector },
): Promise<AppliedList> {
  return applyList(context, await readPlan(context, planId), { signal, ...more })
}

export type ListWorld = Awaited<ReturnType<typeof openListWorld>>
