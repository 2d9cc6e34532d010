import type { FieldValue } from './record.ts'
import type { ObjectKind } from './words.ts'

type Answer = Record<string, unknown>
interface Field {
  name: string
  read: (answer: Answer) => unknown
}

/**
 * The canonical fields of an object and where each stands in the service's answer (sections 2.1 and 2.2). Names are
 * what a CSV column, a mapping and a policy use. `logo` is not among them: it comes from a lookup of its own.
 */
const profileFields: Record<ObjectKind, readonly Field[]> = {
  company: [
    same('company_name'),
    same('profnet_url'),
    same('domain'),
    field('website', (answer) => answer['company_url']),
    field('tagline', (answer) => answer['title']),
    same('industry'),
    same('description'),
    field('employees', (answer) => answer['company_size']),
    field('employee_range', (answer) => answer['company_size_printed']),
    same('company_type'),
    same('founded_year'),
    same('headquarters'),
    field('address', (answer) => answer['company_address']),
    same('country_code'),
    field('followers', (answer) => answer['follower_size']),
  ],
  person: [
    field('full_name', (answer) => answer['name']),
    same('profnet_url'),
    same('headline'),
    field('job_title', (answer) => currentPosition(answer)?.['title']),
    field('company_name', (answer) => asObject(answer['company'])?.['company_name']),
    field('company_profnet_url', (answer) => asObject(answer['company'])?.['profnet_url']),
    field('about', (answer) => answer['description']),
    same('city'),
    same('location'),
    same('country_code'),
    field('followers', (answer) => answer['follower_size']),
    field('connections', (answer) => answer['connection_size']),
  ],
}

/** Every canonical field of an object, in the order in which reports and CSV files show them. */
export function fieldNames(object: ObjectKind): string[] {
  const names = profileFields[object].map(({ name }) => name)
  return object === 'company' ? [...names, 'logo'] : names
}

/**
 * The values that a profile answer holds. Blank ones (null, "", white space, an empty list) are left out: nothing
 * found is never a value.
 */
export function profileValues(object: ObjectKind, answer: Answer): Record<string, FieldValue> {
  const values: Record<string, FieldValue> = {}
  for (const { name, read } of profileFields[object]) {
    const value = scalar(read(answer))
    if (value !== undefined) values[name] = value
  }
  return values
}

function currentPosition(answer: Answer): Answer | undefined {
  const jobs = Array.isArray(answer['employment_history']) ? answer['employment_history'] : []
  const positions = asObject(jobs[0])?.['positions']
  return (Array.isArray(positions) ? asObject(positions[0]) : undefined) ?? asObject(jobs[0])
}

function scalar(value: unknown): FieldValue | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim()
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'boolean' ? value : undefined
}

function asObject(value: unknown): Answer | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Answer) : undefined
}

function field(name: string, read: Field['read']): Field {
  return { name, read }
}

function same(name: string): Field {
  return field(name, (answer) => answer[name])
}
