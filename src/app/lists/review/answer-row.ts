import { crmOf } from '../../../connectors/definitions.ts'
import { ConfigError, InputError } from '../../../domain/errors.ts'
import { anotherRow, answerNames, mayBeNew } from '../../../domain/lists/answers.ts'
import { identityText, type JudgedRow, type ReviewAnswer } from '../../../domain/lists/judged-row.ts'
import { knownIdentities } from '../../../store/lists/known-identities.ts'
import { createReviews, type Review } from '../../../store/lists/reviews.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { reviewedObject } from '../judging/answers-to.ts'
import { entitiesLike } from '../judging/entities-like.ts'
import { judgeList } from '../judging/judge-list.ts'
import { judgedRows } from '../judging/judged-rows.ts'
import { listCalls, listNamed, type ListCalls } from '../pages/list-calls.ts'
import { rowKey } from './row-key.ts'

export interface AnswerOptions {
  key: string
  answer: ReviewAnswer
  /** The record that the row is, for `same`, as a person writes it: `123`, or `companies:123`. */
  record?: string | undefined
  by: string
  /** The records that the person saw. Default: those that are like the row now. */
  shown?: readonly string[] | undefined
}

/** The answer that was stored. Scripts rely on its form. */
export interface Answered {
  list: string
  key: string
  answer: ReviewAnswer
  /** The id of the record that the row is. */
  record: string | null
  /** The verdict from now on. */
  verdict: string
  reason: string
}

/**
 * Stores a person's answer about a row of a list. It holds for the same row of every list into the same object, until it is forgotten or
 * answered again. Throws InputError for a row or a record that is not there, and ConfigError for an answer that cannot hold.
 */
export async function answerRow(
  context: Context,
  list: string,
  { key, answer, record, by, shown: seen }: AnswerOptions,
): Promise<Answered> {
  const settings = listNamed(context.config, list)
  const { search, into } = settings
  const calls = await listCalls(context, list, { asks: false })
  const judged = await findRow(context, calls, key)
  if (!judged)
    throw new InputError(
      'no_such_row',
      `the ledger has no row ${key.slice(0, 40)} of ${list}: \`paydirt lists review ${list}\` shows the keys of those that wait`,
    )
  assertAnswerable(judged)
  const [alone = judged] = await judgeList(context, settings, [judged.row], { answers: false })
  const recordId = answer === 'same' ? await existing(context, into, record) : null
  if (answer === 'new') await assertNew(context, into, alone)
  const names = answerNames(judged.row, search)
  const reviews = createReviews(context.database.db, reviewedObject(into), context)
  const before = [...(await reviews.find(names)).values()].filter((each) => each.answer === 'new')
  const like = alone.records.map((each) => each.recordId)
  const shown = [
    ...like.filter((id) => seen === undefined || seen.includes(id)),
    ...before.flatMap((each) => each.shown),
    // Like a row of the list, and like no record.
    ...(judged.verdict === 'ambiguous' && judged.records.length === 0 ? [anotherRow] : []),
  ]
  await reviews.answer({
    key,
    list,
    answer,
    recordId,
    shown: answer === 'new' ? [...new Set(shown)] : [],
    by,
    names,
    identities: judged.row.identities.map(identityText),
  })
  const after = await judgeList(context, settings, [judged.row])
  const { verdict = 'new', reason = '' } = after[0] ?? {}
  return { list, key, answer, record: recordId, verdict, reason }
}

async function findRow(context: Context, calls: ListCalls, key: string): Promise<JudgedRow | undefined> {
  for await (const rows of judgedRows(context, calls)) {
    const found = rows.find(
      (each) => each.verdict !== 'duplicate' && rowKey(each.row, calls.settings.search) === key,
    )
    if (found) return found
  }
  return undefined
}

/** Erases the answer about a row, so that it waits again. Throws InputError where there is none. */
export async function forgetAnswer(context: Context, list: string, key: string): Promise<Review> {
  const { into } = listNamed(context.config, list)
  const forgotten = await createReviews(context.database.db, reviewedObject(into), context).forget(key)
  if (forgotten) return forgotten
  throw new InputError('no_answer', `there is no answer about a row ${key.slice(0, 40)} of ${list}`)
}

function assertAnswerable({ verdict, reason }: JudgedRow): void {
  if (verdict !== 'drifted' && verdict !== 'suppressed') return
  throw new ConfigError('not_answerable', `the row is ${verdict} (${reason}): no answer changes that`)
}

/** An answer that no verdict would follow is refused, so that nobody believes it. */
async function assertNew(
  { recordIndex }: Pick<Context, 'recordIndex'>,
  { connector, entity }: ListSettings['into'],
  { row, verdict, reason, records }: JudgedRow,
): Promise<void> {
  if (verdict === 'excluded')
    throw new ConfigError('not_new', 'the row is not new: `exclude` of the list names it')
  const comparable = entitiesLike({ connector, entity })
  const found = (await recordIndex.find([connector], row.identities)).filter((each) =>
    comparable.includes(each.entity),
  )
  const canBeNew = mayBeNew(row, (identity) =>
    found.filter((each) => identityText(each) === identityText(identity)),
  )
  if (verdict !== 'exists' && canBeNew) return
  const ids = records.map((each) => `${each.entity}:${each.recordId}`).join(', ')
  throw new ConfigError(
    'not_new',
    `the row is not new: ${reason} (${ids}). Say which of them it is (same), or that no record is made of it (never)`,
  )
}

async function existing(
  { database }: Pick<Context, 'database'>,
  { connector, entity }: ListSettings['into'],
  record: string | undefined,
): Promise<string> {
  const comparable = entitiesLike({ connector, entity })
  const prefixes = [`${connector}:`, ...comparable.map((each) => `${each}:`)]
  const bare = prefixes.reduce(
    (text, prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : text),
    record?.trim() ?? '',
  )
  const id = crmOf(connector).canonicalId(bare)
  if (id !== '' && (await knownIdentities(database.db, { connector, comparable }, [id])).has(id)) return id
  throw new InputError(
    'no_such_record',
    `the index of ${connector} has no record ${entity}:${id.slice(0, 60)}. \`paydirt index ${connector}\` reads what the CRM has, at no cost`,
  )
}
