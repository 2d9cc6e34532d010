import { maySee } from './access.ts'
import { SalesforceError } from './errors.ts'
import { isId, toLongId } from './ids.ts'
import { childRelationships, type ChildRelationship } from './making/tied.ts'
import type { FieldDefinition, ObjectDefinition, SalesforceType } from './schema.ts'
import type { Condition, Literal, Soql } from './soql-parse.ts'
import { readField, type FieldValue, type SalesforceRecord, type SalesforceStore } from './store.ts'

export interface Selection {
  readonly type: SalesforceType
  readonly records: SalesforceRecord[]
  /** Exact field names as requested; `Account.Name` for a parent's field. */
  readonly columns: readonly Column[]
  /** Child relationships whose ids are selected too. */
  readonly children: readonly ChildRelationship[]
}

export interface Column {
  readonly name: string
  readonly path: readonly string[]
}

type Predicate = (record: SalesforceRecord) => boolean
type Reader = (record: SalesforceRecord) => string | number | boolean | null

/** Evaluates a parsed query over the org's current data. */
export function runSoql(store: SalesforceStore, soql: Soql, withDeleted: boolean): Selection {
  const definition = objectOf(store, soql.from)
  const columns = soql.fields.map((name) => columnOf(store, definition, name))
  const children = soql.children.map(({ relationship, fields }) => {
    const found = childRelationships[definition.name].find(
      ({ relationshipName }) => relationshipName.toLowerCase() === relationship.toLowerCase(),
    )
    if (!found || fields.some((name) => name.toLowerCase() !== 'id')) throw unknownRelationship(relationship)
    return found
  })
  const matches = soql.where ? compile(soql.where, definition) : () => true
  if (soql.offset > 2000)
    throw new SalesforceError(400, 'NUMBER_OUTSIDE_VALID_RANGE', 'Maximum SOQL offset allowed is 2000')
  const records: SalesforceRecord[] = []
  for (const record of store.list(definition.name))
    if (
      (withDeleted ? !store.isPurged(record) : record.deletedAtMs === undefined) &&
      maySee(store.access, record) &&
      matches(record)
    )
      records.push(record)
  sort(records, soql, definition)
  const end = soql.limit === undefined ? undefined : soql.offset + soql.limit
  return { type: definition.name, columns, children, records: records.slice(soql.offset, end) }
}

export function objectOf(store: SalesforceStore, name: string): ObjectDefinition {
  const found = Object.values(store.schema).find((object) => object.name.toLowerCase() === name.toLowerCase())
  if (!found || store.access.hidden.has(found.name))
    throw new SalesforceError(
      400,
      'INVALID_TYPE',
      `sObject type '${name}' is not supported. If you are attempting to use a custom object, be sure to append the '__c' after the entity name. Please reference your WSDL or the describe call for the appropriate names.`,
    )
  return found
}

/** Reads one column, through the parent record for a relationship. */
export function readColumn(
  store: SalesforceStore,
  record: SalesforceRecord,
  column: Column,
): FieldValue | object {
  const [first = '', second] = column.path
  if (second === undefined) return readField(record, first)
  const parentId = record.fields[first === 'Account' ? 'AccountId' : 'ParentId']
  const parent = typeof parentId === 'string' ? store.get('Account', parentId) : undefined
  return parent ? readField(parent, second) : null
}

function columnOf(store: SalesforceStore, definition: ObjectDefinition, name: string): Column {
  const [first = '', second] = name.split('.')
  if (second === undefined) {
    const exact = fieldOf(definition, first).name
    return { name: exact, path: [exact] }
  }
  const relation = [...definition.fields.values()].find(
    (field) =>
      field.relationshipName?.toLowerCase() === first.toLowerCase() && field.name !== 'MasterRecordId',
  )
  if (!relation?.relationshipName || store.access.hidden.has('Account')) throw unknownRelationship(first)
  const exact = fieldOf(store.schema.Account, second).name
  return { name: `${relation.relationshipName}.${exact}`, path: [relation.relationshipName, exact] }
}

function unknownRelationship(name: string): SalesforceError {
  return new SalesforceError(
    400,
    'INVALID_FIELD',
    `Didn't understand relationship '${name}' in field path. If you are attempting to use a custom relationship, be sure to append the '__r' after the custom relationship name. Please reference your WSDL or the describe call for the appropriate names.`,
  )
}

function fieldOf(definition: ObjectDefinition, name: string): FieldDefinition {
  const found = definition.fields.get(name.toLowerCase())
  if (!found)
    throw new SalesforceError(
      400,
      'INVALID_FIELD',
      `No such column '${name}' on entity '${definition.name}'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name. Please reference your WSDL or the describe call for the appropriate names.`,
    )
  return found
}

function compile(condition: Condition, definition: ObjectDefinition): Predicate {
  switch (condition.kind) {
    case 'and': {
      const parts = condition.parts.map((part) => compile(part, definition))
      return (record) => parts.every((matches) => matches(record))
    }
    case 'or': {
      const parts = condition.parts.map((part) => compile(part, definition))
      return (record) => parts.some((matches) => matches(record))
    }
    case 'not': {
      const part = compile(condition.part, definition)
      return (record) => !part(record)
    }
    case 'in': {
      const field = filterable(definition, condition.field)
      const read = readerOf(field)
      const values = new Set(condition.values.map((value) => operand(field, value)))
      return (record) => values.has(read(record)) !== condition.isNegated
    }
    case 'compare':
      return compileComparison(condition, filterable(definition, condition.field))
  }
}

function compileComparison(
  { operator, value }: Extract<Condition, { kind: 'compare' }>,
  field: FieldDefinition,
): Predicate {
  const read = readerOf(field)
  if (operator === 'LIKE') {
    if (value.kind !== 'text' || !TEXT_TYPES.has(field.type)) throw badOperator(field, operator)
    const pattern = likePattern(value.value)
    return (record) => {
      const found = readField(record, field.name)
      return typeof found === 'string' && pattern.test(found)
    }
  }
  const wanted = operand(field, value)
  if (operator === '=') return (record) => read(record) === wanted
  // Unlike in SQL, null is different from every value.
  if (operator === '!=') return (record) => read(record) !== wanted
  if (wanted === null || field.type === 'boolean') throw badOperator(field, operator)
  return (record) => {
    const found = read(record)
    if (found === null) return false
    if (operator === '<') return found < wanted
    if (operator === '<=') return found <= wanted
    if (operator === '>') return found > wanted
    return found >= wanted
  }
}

/** Returns a field's value for comparison: text in lower case, times as milliseconds. */
function readerOf(field: FieldDefinition): Reader {
  switch (field.name) {
    case 'Id':
      return (record) => record.id
    case 'SystemModstamp':
      return (record) => record.modstampMs
    case 'LastModifiedDate':
      return (record) => record.modifiedAtMs
    case 'CreatedDate':
      return (record) => record.createdAtMs
  }
  if (field.type === 'datetime')
    return (record) => {
      const value = readField(record, field.name)
      return typeof value === 'string' ? Date.parse(value) : null
    }
  if (field.type === 'reference') return (record) => readField(record, field.name)
  return (record) => {
    const value = readField(record, field.name)
    return typeof value === 'string' ? value.toLowerCase() : value
  }
}

function operand(field: FieldDefinition, literal: Literal): string | number | boolean | null {
  if (literal.kind === 'null') return null
  switch (field.type) {
    case 'id':
    case 'reference':
      if (literal.kind !== 'text') throw wrongType(field, 'string', literal)
      if (!isId(literal.value))
        throw new SalesforceError(400, 'INVALID_QUERY_FILTER_OPERATOR', `invalid ID field: ${literal.value}`)
      return toLongId(literal.value)
    case 'datetime':
      if (literal.kind !== 'datetime') throw wrongType(field, 'dateTime', literal)
      return literal.value
    case 'date':
      if (literal.kind !== 'date') throw wrongType(field, 'date', literal)
      return literal.value
    case 'int':
    case 'double':
    case 'currency':
      if (literal.kind !== 'number') throw wrongType(field, field.type, literal)
      return literal.value
    case 'boolean':
      if (literal.kind !== 'boolean') throw wrongType(field, 'boolean', literal)
      return literal.value
    default:
      if (literal.kind !== 'text') throw wrongType(field, 'string', literal)
      return literal.value === '' ? null : literal.value.toLowerCase()
  }
}

function sort(records: SalesforceRecord[], soql: Soql, definition: ObjectDefinition): void {
  const keys = soql.orderBy.map((order) => ({ ...order, read: readerOf(fieldOf(definition, order.field)) }))
  if (keys.length === 0) return
  records.sort((a, b) => {
    for (const { read, isDescending, nullsLast } of keys) {
      const left = read(a)
      const right = read(b)
      if (left === right) continue
      if (left === null) return nullsLast ? 1 : -1
      if (right === null) return nullsLast ? -1 : 1
      return left < right === isDescending ? 1 : -1
    }
    return 0
  })
}

function filterable(definition: ObjectDefinition, name: string): FieldDefinition {
  const field = fieldOf(definition, name)
  if (field.type === 'textarea' && field.length > 255)
    throw new SalesforceError(
      400,
      'INVALID_FIELD',
      `field '${field.name}' can not be filtered in a query call`,
    )
  return field
}

function likePattern(text: string): RegExp {
  let pattern = ''
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] as string
    if (sign === '\\' && at + 1 < text.length) pattern += escapeRegExp(text[++at] as string)
    else if (sign === '%') pattern += '.*'
    else if (sign === '_') pattern += '.'
    else pattern += escapeRegExp(sign)
  }
  return new RegExp(`^${pattern}$`, 'is')
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function wrongType(field: FieldDefinition, expected: string, literal: Literal): SalesforceError {
  const quoted = literal.kind === 'text' ? ' and should not be enclosed in quotes' : ''
  return new SalesforceError(
    400,
    'INVALID_FIELD',
    `value of filter criterion for field '${field.name}' must be of type ${expected}${quoted}`,
  )
}

function badOperator(field: FieldDefinition, operator: string): SalesforceError {
  return new SalesforceError(
    400,
    'INVALID_QUERY_FILTER_OPERATOR',
    `invalid operator ${operator} on ${field.type} field ${field.name}`,
  )
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['string', 'email', 'phone', 'url', 'picklist', 'textarea'])
