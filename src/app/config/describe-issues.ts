import { z } from 'zod'
import { nearNames } from '../../domain/normalise/near-names.ts'

type Issue = z.core.$ZodIssue

const mostShown = 5

/** Keys of monitors that the service had before, with what stands in their place. */
const goneKeys: Readonly<Record<string, string>> = {
  is_active: "status: 'active'",
  is_paused: "status: 'paused'",
}

/**
 * Returns what is wrong with a config file, one text: each place, and for a misspelt key or word the names that were probably meant.
 * `given` is what was read, for its words.
 */
export function describeIssues(schema: z.ZodType, issues: readonly Issue[], given?: unknown): string {
  const texts = issues.flatMap(branches).flatMap((issue) => describe(schema, issue, given))
  const more = texts.length > mostShown ? [`and ${texts.length - mostShown} more`] : []
  return [...texts.slice(0, mostShown), ...more].join('; ')
}

/** Returns what is said of a name that does not exist: the near ones, or a few that there are. */
export function meantBy(name: string, known: readonly string[]): string {
  const near = nearNames(name, known)
  if (near.length > 0) return `did you mean ${near.join(' or ')}?`
  return known.length > 0 && known.length <= 20
    ? `there are ${known.join(', ')}`
    : 'see docs/configuration.md'
}

function describe(schema: z.ZodType, issue: Issue, given: unknown): string[] {
  const at = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') {
    // The message of a key that is no name says only that it is none.
    const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
    return [`${at || 'the default export'}: ${message}${nearWords(issue, given)}`]
  }
  const known = keysAt(schema, issue.path)
  return issue.keys.map((key) => {
    const place = at === '' ? key : `${at}.${key}`
    const gone = at.startsWith('monitors.') ? goneKeys[key] : undefined
    return gone === undefined
      ? `${place} is not a setting; ${meantBy(key, known)}`
      : `${place} is not there any more: write ${gone}`
  })
}

/** Returns the words that were probably meant by one that is none of a few; '' where none is near. */
function nearWords(issue: Issue, given: unknown): string {
  const word = issue.code === 'invalid_value' ? valueAt(given, issue.path) : undefined
  if (issue.code !== 'invalid_value' || typeof word !== 'string') return ''
  const near = nearNames(word, issue.values.map(String))
  return near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    given,
  )
}

/** A value that may have several forms fails once for each. Keeps the form that was meant: the one whose outer type fits. */
function branches(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const meant = issue.errors.find((inner) =>
    inner.every(({ path, code }) => path.length > 0 || isKeyIssue(code)),
  )
  if (!meant) return [issue]
  return meant.flatMap(branches).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

function isKeyIssue(code: Issue['code']): boolean {
  return code === 'unrecognized_keys'
}

/** Returns the names that an object of the schema may have at a path; none where any name may stand. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let reached: z.ZodType[] = [schema]
  for (const step of path) reached = reached.flatMap(forms).flatMap((form) => below(form, step))
  return [...new Set(reached.flatMap(forms).flatMap(namesOf))]
}

function namesOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape)
  if (schema instanceof z.ZodRecord && schema.keyType instanceof z.ZodEnum)
    return schema.keyType.options.map(String)
  return []
}

function below(schema: z.ZodType, step: PropertyKey): z.ZodType[] {
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as Record<string, z.ZodType>
    const inner = Object.hasOwn(shape, String(step)) ? shape[String(step)] : undefined
    return inner ? [inner] : []
  }
  if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType]
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType]
  return []
}

/** Returns what stands inside wrappers and unions. */
function forms(schema: z.ZodType): z.ZodType[] {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodReadonly
  )
    return forms(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodPipe) return forms(schema.in as z.ZodType)
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap(forms)
  return [schema]
}
