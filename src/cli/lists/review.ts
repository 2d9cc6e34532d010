import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import type { Context } from '../../app/context/context.ts'
import { judgedRows } from '../../app/lists/judging/judged-rows.ts'
import { listCalls, listNamed } from '../../app/lists/pages/list-calls.ts'
import { reviewedObject } from '../../app/lists/judging/answers-to.ts'
import { answerRow, forgetAnswer, type Answered } from '../../app/lists/review/answer-row.ts'
import { identityWords, waitingRows, type WaitingRow } from '../../app/lists/review/waiting-rows.ts'
import { InputError } from '../../domain/errors.ts'
import { counted } from '../../domain/values/counted.ts'
import { printable } from '../../domain/values/printable.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import { createReviews, type Review } from '../../store/lists/reviews.ts'
import { print } from '../terminal/print.ts'
import { withContext } from '../terminal/with-context.ts'
import { nameOf } from './list-text.ts'

interface ReviewOptions {
  same?: string
  new?: true
  never?: true
  forgetAnswer?: true
  json?: true
}

/** The answers of a list that are shown. */
const latest = 100

/** Shows the rows that wait, or stores an answer about one of them. */
export async function reviewList(
  list: string,
  key: string | undefined,
  options: ReviewOptions,
): Promise<void> {
  const given = answerOf(options)
  if (key === undefined && (given !== undefined || options.forgetAnswer))
    throw new InputError('no_key', `name the row by its key: \`paydirt lists review ${list}\` shows the keys`)
  if (key !== undefined && given === undefined && !options.forgetAnswer)
    throw new InputError(
      'no_answer',
      'say what the row is: --same RECORD, --new or --never, or --forget-answer',
    )
  await withContext(async (context) => {
    if (key === undefined) return show(context, list, options.json)
    if (given === undefined) return takeBack(context, list, key, options.json)
    const answered = await answerRow(context, list, { key, ...given, by: 'cli' })
    await noteFromCli(context, 'list.answer', {
      target: list,
      details: { row: key, answer: given.answer, record: answered.record },
    })
    print(options.json ? `${JSON.stringify(answered)}\n` : answeredText(answered))
  })
}

function answerOf(options: ReviewOptions) {
  if (options.same !== undefined) return { answer: 'same' as const, record: options.same }
  if (options.new) return { answer: 'new' as const }
  return options.never ? { answer: 'never' as const } : undefined
}

async function takeBack(context: Context, list: string, key: string, json: true | undefined): Promise<void> {
  const { answer } = await forgetAnswer(context, list, key)
  await noteFromCli(context, 'list.forget_answer', { target: list, details: { row: key, answer } })
  print(
    json ? `${JSON.stringify({ list, key, forgotten: answer })}\n` : `the answer ${answer} is taken back\n`,
  )
}

async function show(context: Context, list: string, json: true | undefined): Promise<void> {
  const settings = listNamed(context.config, list)
  const calls = await listCalls(context, list, { asks: false })
  const waiting: WaitingRow[] = []
  for await (const rows of judgedRows(context, calls))
    waiting.push(...(await waitingRows(context, settings, rows)))
  const answers = await createReviews(context.database.db, reviewedObject(settings.into), context).ofList(
    list,
    latest,
  )
  if (json) return print(`${JSON.stringify({ list, waiting: waiting.map(documentOf), answers })}\n`)
  print(waiting.length === 0 ? `no row of ${list} waits for an answer\n` : waiting.map(rowText).join(''))
  if (answers.length > 0) print(`${counted(answers.length, 'answer')}:\n${answers.map(answerText).join('')}`)
  const [first] = waiting
  if (first)
    print(`answer with \`paydirt lists review ${list} ${first.key} --same RECORD\`, --new or --never\n`)
}

/** A row that waits, as `--json` prints it. */
function documentOf({ key, judged: { row, verdict, reason }, records }: WaitingRow) {
  return { key, verdict, reason, page: row.page, id: row.serviceId, values: row.values, records }
}

function rowText({ key, judged, records }: WaitingRow): string {
  const like = records.map(
    ({ entity, recordId, known }) =>
      `                ${entity}:${recordId}  ${printable(identityWords(known)).slice(0, 160)}\n`,
  )
  return `  ${key}  ${nameOf(judged)}\n                ${judged.verdict}: ${judged.reason}\n${like.join('')}`
}

function answerText({ key, answer, recordId, by, at, isRecordThere }: Review): string {
  const record = recordId === null ? '' : ` ${recordId}${isRecordThere ? '' : ' (gone: the row waits again)'}`
  return `  ${key}  ${answer}${record}, ${printable(by)}, ${utcMinute(at)}\n`
}

function answeredText({ key, verdict, reason }: Answered): string {
  return `${key} is ${verdict}: ${reason}\n`
}
