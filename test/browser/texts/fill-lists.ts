import { answerRow } from '../../../src/app/lists/review/answer-row.ts'
import { rowKey } from '../../../src/app/lists/review/row-key.ts'
import { boundsOf, callOf, listCalls } from '../../../src/app/lists/pages/list-calls.ts'
import { openFetch } from '../../../src/app/lists/pages/open-fetch.ts'
import type { Context } from '../../../src/app/context/context.ts'
import { listRowOf } from '../../../src/domain/lists/list-row.ts'
import { createPlannedRows } from '../../../src/store/lists/planned-rows.ts'
import { takePage } from '../../../src/store/lists/take-page.ts'
import { createPlanLedger } from '../../../src/store/plans/plans.ts'
import { storable } from './storable.ts'

export const textList = 'l'.repeat(40)
export const textListPlan = 'ptextlist'

/** The settings of the list, with the text wherever a person may write one. */
export function listsWith(text: string) {
  return {
    [textList]: {
      search: 'company.search',
      filters: { countries: ['DE'] },
      into: {
        connector: 'hubspot',
        entity: 'companies',
        set: { [storable(text)]: storable(text) },
        owner: storable(text),
      },
      budgetUsd: '2.50',
      budgetMonthUsd: '98765.43',
    },
  } as const
}

/** Adds rows that exist, are new or wait, an answer about one of them, and a plan. */
export async function fillLists(context: Context, text: string): Promise<void> {
  const { database, now } = context
  const given = storable(text)
  const calls = await listCalls(context, textList, { asks: false })
  const row = (id: string, domain: string) =>
    listRowOf(
      'company',
      {
        domain_search_id: id,
        company_name: given,
        domain,
        profnet_url: `https://www.profnet.com/company/${id}`,
        industry: given,
      },
      { page: 1, idName: 'domain_search_id' },
    )
  const rows = [row('there', 'there.example'), row('like', 'shared.example'), row('new', `${given}.example`)]
  const fetch = await openFetch(context, calls)
  await takePage(
    database.db,
    fetch.id,
    {
      part: 0,
      page: 1,
      lookupKey: callOf(calls).key,
      freshUntil: new Date(now().getTime() + 86_400_000),
      total: 1_234_567,
      arrived: rows.length,
      dropped: { suppressed: 1_234 },
      rows: rows.map((each, place) => ({ row: each, place })),
    },
    { bounds: boundsOf(calls), now },
  )
  const record = (id: string, domain: string, profile: string) => ({
    id: `${id}${given.slice(0, 200).toWellFormed()}`,
    object: 'company' as const,
    identity: { domain, company: given, profileUrl: `https://www.profnet.com/company/${profile}` },
    values: {},
  })
  await context.recordIndex.add('hubspot', 'companies', [
    record('1', 'there.example', 'there'),
    record('2', 'shared.example', 'other'),
    record('3', 'shared.example', 'another'),
  ])
  await answerRow(context, textList, {
    key: rowKey(rows[0]!, calls.settings.search),
    answer: 'same',
    record: record('1', '', '').id,
    by: given,
  })
  const plans = createPlanLedger(database.db, context)
  await plans.begin({
    id: textListPlan,
    kind: 'list',
    connector: 'hubspot',
    object: 'company',
    entity: 'companies',
    recipe: 'list',
    job: { list: textList },
    priceAtomic: 0n,
  })
  const { identity, identities, values } = rows[2]!
  await createPlannedRows(database.db).add(textListPlan, [
    { ordinal: 1, key: 'k', identity, identities, values, page: 1, lookupKey: null },
  ])
  await plans.finish(textListPlan, {
    toBuy: 0,
    highAtomic: text.length > 10 ? 98_765_432_100n : 0n,
    document: {
      plan: true,
      kind: 'list',
      rows: 1_234_567,
      reachable: 1_234_567,
      isComplete: false,
      verdicts: { new: 1_234_567, exists: 7, ambiguous: 3 },
      creates: 1_234_567,
      crmCalls: 1_234_567,
      into: calls.settings.into,
      owners: [
        { owner: given, name: given, records: 1_234_567 },
        { owner: null, name: null, records: 3 },
      ],
      association: { entity: given, existing: 3, made: 1_234_567, creates: 1, none: { [given]: 1_234_567 } },
      refusals: text.length > 10 ? [given] : [],
    },
  })
}
