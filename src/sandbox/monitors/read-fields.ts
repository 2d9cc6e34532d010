import { asObject, isAbsent, isRefused, missing, type BadRequest } from '../http/request-body.ts'
import type { Plan } from '../plan.ts'
import { codes, refusal } from './codes.ts'
import {
  detectionModes,
  fieldNames,
  filterNames,
  signalTypes,
  statuses,
  type MonitorFields,
} from './monitor.ts'
import { readWebhookHeaders, readWebhookUrl } from './read-webhook.ts'

export interface ReadFields {
  fields: MonitorFields
  /** Keys inside of fields that were dropped, by their path. */
  ignoredFields: string[]
}

const required = ['name', 'detection_mode', 'signal_types'] as const
const blank: Omit<MonitorFields, (typeof required)[number]> = {
  // A monitor that nobody activated sends nothing.
  status: 'draft',
  filters: {},
  domain_search_ids: [],
  webhook_url: null,
  webhook_headers: {},
}

/** Reads the fields of a new monitor; or, with those that stand, of a changed one. */
export function readFields(
  body: Record<string, unknown>,
  standing: MonitorFields | null,
  plan: Plan,
): ReadFields | BadRequest {
  if (standing === null) {
    for (const name of required) if (isAbsent(body[name])) return missing(name)
  }
  const changes: Record<string, unknown> = {}
  for (const name of fieldNames) {
    const value = body[name]
    if (value === undefined) continue
    const read = readers[name](value)
    if (isProblem(read)) return read.problem
    changes[name] = read.value
  }
  const fields = { ...blank, ...standing, ...changes } as MonitorFields
  if (standing !== null && fields.detection_mode !== standing.detection_mode) {
    const message = 'detection_mode cannot change after the monitor was created'
    return refusal(codes.detectionModeFixed, message, { parameter: 'detection_mode' })
  }
  const most = plan.max_monitor_company
  if (fields.domain_search_ids.length > most) {
    const message = `domain_search_ids must be a list of at most ${most} ids`
    return refusal(codes.companies, message, { parameter: 'domain_search_ids' })
  }
  return withoutStrays(fields, body)
}

/** Drops what the monitor cannot use and names it, as the service does with every key that it does not know. */
function withoutStrays(fields: MonitorFields, body: Record<string, unknown>): ReadFields | BadRequest {
  const ignoredFields = Object.keys(asObject(body['filters']) ?? {})
    .filter((name) => !filterNames.includes(name as never))
    .map((name) => `filters.${name}`)
  if (fields.detection_mode === 'signal_first') {
    if (!isAbsent(body['domain_search_ids'])) ignoredFields.push('domain_search_ids')
    return { fields: { ...fields, domain_search_ids: [] }, ignoredFields }
  }
  if (fields.domain_search_ids.length === 0) {
    const message = 'a monitor in company_first names the companies in domain_search_ids'
    return refusal(codes.companiesNeeded, message, { parameter: 'domain_search_ids' })
  }
  return { fields, ignoredFields }
}

type Read<T> = { value: T } | { problem: BadRequest }

const isProblem = (read: Read<unknown>): read is { problem: BadRequest } => 'problem' in read

const readers: { [N in keyof MonitorFields]: (raw: unknown) => Read<MonitorFields[N]> } = {
  name: (raw) =>
    typeof raw === 'string' && raw.trim() !== '' && raw.length <= 200
      ? { value: raw.trim() }
      : problem(codes.name, 'name must be a text of at most 200 characters', 'name'),
  status: (raw) => oneOf(statuses, raw, codes.status, 'status'),
  detection_mode: (raw) => oneOf(detectionModes, raw, codes.detectionMode, 'detection_mode'),
  signal_types(raw) {
    const types = textsOf(raw)
    const isKnown = types?.every((type) => signalTypes.includes(type as never))
    if (types === null || types.length === 0 || !isKnown) {
      const message = `signal_types must be a list of ${signalTypes.join(', ')}`
      return problem(codes.signalTypes, message, 'signal_types')
    }
    return { value: [...new Set(types)] }
  },
  filters(raw) {
    if (raw === null) return { value: {} }
    const given = asObject(raw)
    if (given === null) return problem(codes.filters, 'filters must be an object', 'filters')
    const read: Record<string, string[]> = {}
    for (const name of filterNames) {
      if (isAbsent(given[name])) continue
      const values = textsOf(given[name])
      if (values === null) {
        return problem(codes.filters, `filters.${name} must be a list of texts`, `filters.${name}`)
      }
      read[name] = values
    }
    return { value: read }
  },
  domain_search_ids(raw) {
    const ids = raw === null ? [] : textsOf(raw)
    if (ids === null || ids.some((id) => id.trim() === '')) {
      const message = 'domain_search_ids must be a list of ids'
      return problem(codes.companies, message, 'domain_search_ids')
    }
    return { value: [...new Set(ids)] }
  },
  webhook_url: (raw) => (raw === null ? { value: null } : asRead(readWebhookUrl(raw))),
  webhook_headers: (raw) => (raw === null ? { value: {} } : asRead(readWebhookHeaders(raw))),
}

function oneOf<T extends string>(
  words: readonly T[],
  raw: unknown,
  code: (typeof codes)[keyof typeof codes],
  parameter: string,
): Read<T> {
  const word = words.find((each) => each === raw)
  return word === undefined
    ? problem(code, `${parameter} must be one of ${words.join(', ')}`, parameter)
    : { value: word }
}

function problem(code: (typeof codes)[keyof typeof codes], message: string, parameter: string) {
  return { problem: refusal(code, message, { parameter }) }
}

function asRead<T extends object | string>(read: T | BadRequest): Read<T> {
  return typeof read === 'object' && isRefused(read) ? { problem: read as BadRequest } : { value: read as T }
}

function textsOf(raw: unknown): string[] | null {
  return Array.isArray(raw) && raw.every((each) => typeof each === 'string') ? (raw as string[]) : null
}
