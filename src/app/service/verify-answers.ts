import { formatUsd } from '../../domain/money.ts'
import type { Operation } from '../../domain/words.ts'
import type { Catalogue } from '../../service/catalogue/catalogue.ts'
import type { VocabularyName } from '../../service/catalogue/vocabularies.ts'
import { withRenames } from '../../service/catalogue/with-renames.ts'
import { addAnswer, openBook, type AnswerBook } from '../../service/drift/answer-book.ts'
import { compare, type Comparison } from '../../service/drift/compare.ts'
import type { ShapeField } from '../../service/observations/answer-shape.ts'
import { renamesOf } from '../../store/contract/accepted-renames.ts'
import { knownWords } from '../../store/contract/learned-words.ts'
import { storedAnswers, type StoredWhole } from '../../store/contract/stored-answers.ts'
import type { Database } from '../../store/database/database.ts'
import type { Context } from '../context/context.ts'
import { describeOperations, isKeptWhole } from './describe-operations.ts'

/** The comparison of one operation. Plain data. */
export interface VerifiedOperation extends Omit<Comparison, 'fix'> {
  operation: Operation
  /** Answers in the ledger, and those of them that cannot be read as the catalogue says. */
  answers: number
  unreadable: number
  lastAnswerAt: Date | null
  stopped: string | null
  /** The setting of the operation that mends, as `paydirt.config.ts` takes it. */
  fix: Record<string, unknown> | null
  /** Every name and type that answers had. */
  fields: ShapeField[]
}

/** Operations of which the ledger keeps the record and not the whole answer. */
const keptAsRecord: readonly Operation[] = [
  'company.profile',
  'person.profile',
  'company.lookup',
  'company.enrich',
]

/**
 * Compares the answers that the ledger holds, and what was noted of those that it does not hold any more, with the catalogue.
 * Asks the service for nothing. Answers are read a page at a time.
 */
export async function verifyAnswers({
  database,
  config,
}: Pick<Context, 'database' | 'config'>): Promise<VerifiedOperation[]> {
  const { db } = database
  const catalogue = withRenames(config.catalogue, await renamesOf(db))
  const books = await readAnswers(db, catalogue)
  const learned = await knownWords(db)
  const words = (vocabulary: VocabularyName) => [
    ...(config.vocabularies[vocabulary] ?? []),
    ...learned.flatMap((each) => (each.vocabulary === vocabulary ? [each.word] : [])),
  ]
  const described = await describeOperations(
    { database, config },
    { seenToo: (of) => fieldsOf(books.get(of)) },
  )
  return described.flatMap(({ operation, claims, stops, lastAnswerAt }) => {
    const book = books.get(operation) ?? openBook(catalogue.of(operation))
    const { fix, ...comparison } = compare(book, claims, words)
    const isUntouched = book.answers === 0 && lastAnswerAt === null && comparison.drift.length === 0
    if (isUntouched && stops.length === 0) return []
    return [
      {
        operation,
        answers: book.answers,
        unreadable: book.unreadable,
        lastAnswerAt: book.lastAt ?? lastAnswerAt,
        stopped: stops[0]?.reason ?? null,
        ...comparison,
        // The ledger keeps the record alone, without what stood beside it.
        neverSeen: keptAsRecord.includes(operation)
          ? comparison.neverSeen.filter((name) => !name.startsWith('metadata'))
          : comparison.neverSeen,
        fix: fix ? asSetting(fix) : null,
        fields: fieldsOf(book).map(({ path, type }) => ({ path, type })),
      },
    ]
  })
}

async function readAnswers(db: Database, catalogue: Catalogue): Promise<Map<Operation, AnswerBook>> {
  const operations = catalogue.all().map(({ operation }) => operation)
  const books = new Map<Operation, AnswerBook>()
  for await (const stored of storedAnswers(db, operations)) {
    const answer = wholeOf(stored)
    if (answer === undefined) continue
    const book = books.get(stored.operation) ?? openBook(catalogue.of(stored.operation))
    books.set(stored.operation, book)
    addAnswer(book, answer, stored.answeredAt)
  }
  return books
}

/** Returns the answer as it came, as far as the ledger has it; undefined where it does not. */
function wholeOf({ operation, outcome, answer }: StoredWhole): unknown {
  if (outcome === 'unreadable') return parsed(answer?.['raw'])
  if (isKeptWhole(operation)) return answer ?? undefined
  if (keptAsRecord.includes(operation)) return { data: answer }
  return undefined
}

function parsed(raw: unknown): unknown {
  if (typeof raw !== 'string') return undefined
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

function fieldsOf(book: AnswerBook | undefined) {
  return [...(book?.fields.values() ?? [])].sort((one, other) => (one.path < other.path ? -1 : 1))
}

function asSetting({ priceUsd, ...setting }: NonNullable<Comparison['fix']>): Record<string, unknown> {
  return { ...setting, ...(priceUsd !== undefined && { priceUsd: formatUsd(priceUsd) }) }
}
