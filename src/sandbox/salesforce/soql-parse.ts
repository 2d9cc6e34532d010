import { malformedQuery } from './errors.ts'

export type Literal =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'datetime'; readonly value: number }
  | { readonly kind: 'date'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }

type CompareOperator = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'LIKE'

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly part: Condition }
  | {
      readonly kind: 'compare'
      readonly field: string
      readonly operator: CompareOperator
      readonly value: Literal
    }
  | {
      readonly kind: 'in'
      readonly field: string
      readonly isNegated: boolean
      readonly values: readonly Literal[]
    }

/** A subquery over a child relationship: `(SELECT Id FROM Tasks)`. */
interface ChildQuery {
  readonly relationship: string
  readonly fields: readonly string[]
}

export interface Soql {
  readonly fields: readonly string[]
  readonly children: readonly ChildQuery[]
  readonly isCount: boolean
  readonly from: string
  readonly where: Condition | undefined
  readonly orderBy: readonly {
    readonly field: string
    readonly isDescending: boolean
    readonly nullsLast: boolean
  }[]
  readonly limit: number | undefined
  readonly offset: number
}

/** Parses the part of SOQL that the stand-in supports. Anything else is MALFORMED_QUERY, never a guess. */
export function parseSoql(text: string): Soql {
  const tokens = tokenize(text)
  let at = 0
  const peek = (): string => tokens[at] ?? '<EOF>'
  const next = (): string => tokens[at++] ?? '<EOF>'
  const isWord = (word: string): boolean => peek().toUpperCase() === word
  const take = (word: string): boolean => {
    if (!isWord(word)) return false
    at += 1
    return true
  }
  const need = (word: string): void => {
    if (!take(word)) throw unexpected(peek())
  }
  const name = (): string => {
    const token = next()
    if (!/^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)?$/.test(token) || RESERVED.has(token.toUpperCase()))
      throw unexpected(token)
    return token
  }
  const literal = (): Literal => readLiteral(next())

  const term = (): Condition => {
    if (take('(')) {
      const inner = condition()
      need(')')
      return inner
    }
    if (take('NOT')) return { kind: 'not', part: term() }
    const field = name()
    const isNegated = take('NOT')
    if (take('IN')) {
      need('(')
      const values = [literal()]
      while (take(',')) values.push(literal())
      need(')')
      return { kind: 'in', field, isNegated, values }
    }
    if (isNegated) throw unexpected(peek())
    const operator = next().toUpperCase()
    if (operator === '<>') return { kind: 'compare', field, operator: '!=', value: literal() }
    if (!OPERATORS.has(operator)) throw unexpected(operator)
    return { kind: 'compare', field, operator: operator as CompareOperator, value: literal() }
  }
  // AND and OR cannot be mixed without parentheses.
  const condition = (): Condition => {
    const parts = [term()]
    if (!isWord('AND') && !isWord('OR')) return parts[0] as Condition
    const joint = next().toUpperCase()
    do parts.push(term())
    while (take(joint))
    if (isWord('AND') || isWord('OR')) throw unexpected(peek())
    return { kind: joint === 'AND' ? 'and' : 'or', parts }
  }

  const childQuery = (): ChildQuery => {
    need('SELECT')
    const wanted = [name()]
    while (take(',')) wanted.push(name())
    need('FROM')
    const relationship = name()
    need(')')
    return { relationship, fields: wanted }
  }

  need('SELECT')
  const fields: string[] = []
  const children: ChildQuery[] = []
  let isCount = false
  if (isWord('COUNT')) {
    next()
    need('(')
    need(')')
    isCount = true
  } else {
    do {
      if (take('(')) children.push(childQuery())
      else fields.push(name())
    } while (take(','))
  }
  need('FROM')
  const from = name()
  const where = take('WHERE') ? condition() : undefined
  const orderBy: { field: string; isDescending: boolean; nullsLast: boolean }[] = []
  if (take('ORDER')) {
    need('BY')
    do {
      const field = name()
      const isDescending = take('DESC') || (take('ASC'), false)
      let nullsLast = false
      if (take('NULLS')) {
        nullsLast = take('LAST')
        if (!nullsLast) need('FIRST')
      }
      orderBy.push({ field, isDescending, nullsLast })
    } while (take(','))
  }
  const limit = take('LIMIT') ? count(next()) : undefined
  const offset = take('OFFSET') ? count(next()) : 0
  if (at < tokens.length) throw unexpected(peek())
  return { fields, children, isCount, from, where, orderBy, limit, offset }
}

function tokenize(text: string): string[] {
  const tokens: string[] = []
  const pattern =
    /\s*(?:('(?:[^'\\]|\\.)*')|(\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2}))|(\d{4}-\d{2}-\d{2})|(-?\d+(?:\.\d+)?)|([A-Za-z][\w.]*)|(<=|>=|!=|<>|[=<>(),]))/gy
  let end = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    tokens.push(match.slice(1).find((part) => part !== undefined) as string)
    end = pattern.lastIndex
  }
  const rest = text.slice(end).trim()
  if (rest !== '') throw malformedQuery(`unexpected token: '${rest[0]}'`)
  return tokens
}

function readLiteral(token: string): Literal {
  if (token.startsWith("'")) return { kind: 'text', value: unescape(token.slice(1, -1)) }
  if (/^\d{4}-\d{2}-\d{2}T/.test(token)) {
    const value = Date.parse(token)
    if (Number.isNaN(value)) throw unexpected(token)
    return { kind: 'datetime', value }
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(token)) return { kind: 'date', value: token }
  if (/^-?\d/.test(token)) return { kind: 'number', value: Number(token) }
  switch (token.toUpperCase()) {
    case 'TRUE':
      return { kind: 'boolean', value: true }
    case 'FALSE':
      return { kind: 'boolean', value: false }
    case 'NULL':
      return { kind: 'null' }
    default:
      throw unexpected(token)
  }
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) => {
    const plain = ESCAPES[escaped]
    if (plain === undefined) throw malformedQuery(`Invalid string literal '\\${escaped}'`)
    return plain
  })
}

function count(token: string): number {
  if (!/^\d+$/.test(token)) throw unexpected(token)
  return Number(token)
}

function unexpected(token: string): Error {
  return malformedQuery(token === '<EOF>' ? 'unexpected token: <EOF>' : `unexpected token: '${token}'`)
}

const OPERATORS: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=', 'LIKE'])
const RESERVED: ReadonlySet<string> = new Set([
  'SELECT',
  'FROM',
  'WHERE',
  'AND',
  'OR',
  'NOT',
  'ORDER',
  'LIMIT',
  'IN',
])
// In LIKE, a backslash before % or _ makes the character literal. Elsewhere the result is the character itself.
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  '"': '"',
  "'": "'",
  '\\': '\\',
  '%': '\\%',
  _: '\\_',
}
