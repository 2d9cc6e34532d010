import { wholeAnswer } from '../catalogue/entry.ts'
import { valueAt } from '../calls/json-path.ts'
import type { Contract } from '../catalogue/catalogue.ts'

/** Names as `service.operations` takes them. */
export type Places = Partial<Record<'at' | 'rows' | 'id' | 'total', string>>

/**
 * Returns the places to which what the catalogue names has moved, by one answer: of the rows, their id and their total, or of the
 * document. Only places that are missing are looked for, and only those that are found are named.
 */
export function findPlaces(contract: Contract, answer: unknown): Places {
  const { at, rows } = contract.answer
  if (!rows) {
    if (valueAt(answer, at.value) !== undefined) return {}
    const [moved] = documents(answer)
    return moved === undefined ? {} : { at: moved }
  }
  const places: Places = {}
  let list = valueAt(answer, at.value)
  let path = at.value
  if (!Array.isArray(list)) {
    const moved = movedRows(contract, answer)
    if (!moved) return {}
    places.rows = path = moved.path
    list = moved.list
  }
  const objects = (list as unknown[]).filter(isObject)
  if (objects.length > 0 && !objects.every((row) => isId(valueAt(row, rows.id.value)))) {
    const id = movedId(rows.id.value, objects)
    if (id !== undefined) places.id = id
  }
  if (typeof valueAt(answer, rows.total.value) !== 'number') {
    const total = movedTotal(answer, { of: path, old: rows.total.value, least: objects.length })
    if (total !== undefined) places.total = total
  }
  return places
}

interface Node {
  path: string
  value: unknown
}

const deepest = 4

/** Visits the answer from the outside in, without the entries of lists. */
function* nodesIn(value: unknown, path = '', depth = 0): Generator<Node> {
  if (!isObject(value) || depth === deepest) return
  const below = Object.entries(value).map(([name, each]): Node => ({
    path: path === '' ? name : `${path}.${name}`,
    value: each,
  }))
  yield* below
  for (const each of below) yield* nodesIn(each.value, each.path, depth + 1)
}

const nameOf = (path: string) => path.split('.').at(-1) ?? ''
const parentOf = (path: string) => path.split('.').slice(0, -1).join('.')

function movedRows({ answer: { at, rows } }: Contract, answer: unknown) {
  if (Array.isArray(answer)) {
    const isRows = answer.length > 0 && answer.every(isObject)
    return isRows ? { path: wholeAnswer, list: answer } : undefined
  }
  const lists = [...nodesIn(answer)].flatMap(({ path, value }) =>
    Array.isArray(value) && value.every(isObject) && !path.startsWith('metadata')
      ? [{ path, list: value }]
      : [],
  )
  const hasIds = lists.filter(({ list }) => rows && list.some((row) => isId(valueAt(row, rows.id.value))))
  const hasName = lists.filter(({ path }) => nameOf(path) === nameOf(at.value))
  const [first, ...others] = lists
  return hasIds[0] ?? hasName[0] ?? (others.length === 0 ? first : undefined)
}

/** The value of an id differs in every row. Of several such fields the one with the most words of the old name is taken. */
function movedId(old: string, rows: readonly Record<string, unknown>[]): string | undefined {
  const words = new Set(old.split('_'))
  const shared = (name: string) => name.split('_').filter((word) => words.has(word)).length
  const [best] = Object.keys(rows[0] ?? {})
    .filter((name) => /(^|_)(id|uid|key)$/.test(name) && rows.every((row) => isId(row[name])))
    .filter((name) => new Set(rows.map((row) => row[name])).size === rows.length)
    .sort((one, other) => shared(other) - shared(one))
  return best
}

const noTotal = /page|size|limit|offset|credit|cost|quota|took|_ms$|_id$/i

/** A total is a number that is not below the rows, beside the old one or beside the rows, with a name that says so. */
function movedTotal(
  answer: unknown,
  { of, old, least }: { of: string; old: string; least: number },
): string | undefined {
  const around = parentOf(old)
  const score = ({ path }: Node) =>
    (parentOf(path) === around ? 4 : 0) +
    (nameOf(parentOf(path)) === nameOf(around) ? 3 : 0) +
    (parentOf(path) === parentOf(of) ? 2 : 0) +
    (nameOf(path) === nameOf(old) ? 3 : 0) +
    (/total|count|entries|results|hits|found/i.test(nameOf(path)) ? 2 : 0)
  const [best] = [...nodesIn(answer)]
    .filter(
      ({ path, value }) =>
        Number.isInteger(value) && (value as number) >= least && !noTotal.test(nameOf(path)),
    )
    .filter(({ path }) => !path.startsWith('metadata.profile'))
    .map((node) => ({ node, points: score(node) }))
    .filter(({ points }) => points >= 2)
    .sort((one, other) => other.points - one.points)
  return best?.node.path
}

/** Objects at the top that are no metadata, the largest first. */
function documents(answer: unknown): string[] {
  if (!isObject(answer)) return []
  return Object.entries(answer)
    .filter(([name, value]) => isObject(value) && name !== 'metadata' && name !== 'pagination')
    .sort(([, one], [, other]) => Object.keys(other as object).length - Object.keys(one as object).length)
    .map(([name]) => name)
}

function isId(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
