import type { Account } from '../accounts.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { DirectAsk, DirectAnswer, DirectEndpoint } from '../http/direct.ts'
import {
  asObject,
  isAbsent,
  isRefused,
  malformed,
  missing,
  OVER_QUOTA,
  readBody,
  textOf,
  type BadRequest,
} from '../http/request-body.ts'
import { withTotals } from '../plan.ts'
import type { Action } from './action.ts'
import { templateTypes, type TemplateType } from './template-types.ts'

interface Template {
  channel_template_id: number
  /** Counts the templates of this name and node. Each version has an id of its own. */
  version: number
  name: string
  channel_node_id: string
  channel_type_slug: string
  parameters: Record<string, string>
  created_at: string
}

export interface Templates {
  read: DirectEndpoint[]
  actions: Action[]
  count(account: Account): number
}

/** Channel templates: their types, create and delete. No operation lists them (service.md, 4.4 names none). */
export function createTemplates({ faults, now }: { faults: FaultSwitch; now: () => Date }): Templates {
  const held = new WeakMap<Account, Map<number, Template>>()
  let lastId = 4100

  function of(account: Account) {
    const own = held.get(account) ?? new Map<number, Template>()
    held.set(account, own)
    return own
  }

  function create(ask: DirectAsk): DirectAnswer {
    const read = readBody(ask, ['name', 'channel_node_id', 'channel_type_slug', 'parameters'])
    if (isRefused(read)) return { refused: read, status: 400 }
    const { body, ignoredFields } = read
    const checked = readTemplate(body)
    if (isRefused(checked)) return { refused: checked, status: 400 }
    const own = of(ask.account)
    const limit = withTotals(faults.current.plan).total_max_channel_template
    if (own.size >= limit) {
      const message = `The plan has ${limit} channel templates, all in use`
      return { refused: { code: OVER_QUOTA, message, details: { limit } }, status: 416 }
    }
    const versions = [...own.values()].filter(
      (each) => each.name === checked.name && each.channel_node_id === checked.channel_node_id,
    )
    const template: Template = {
      channel_template_id: ++lastId,
      version: 1 + Math.max(0, ...versions.map(({ version }) => version)),
      ...checked,
      created_at: now().toISOString(),
    }
    own.set(template.channel_template_id, template)
    return { data: template, ignoredFields }
  }

  /** An id that no template has is named in the answer and not refused, so that a repeated deletion does no harm. */
  function remove(ask: DirectAsk): DirectAnswer {
    const read = readBody(ask, ['channel_template_id'])
    if (isRefused(read)) return { refused: read, status: 400 }
    const ids = read.body['channel_template_id']
    if (isAbsent(ids)) return { refused: missing('channel_template_id'), status: 400 }
    if (!Array.isArray(ids) || ids.length === 0 || !ids.every((id) => Number.isSafeInteger(id))) {
      const message = 'channel_template_id must be a list of numbers'
      return { refused: malformed(message, 'channel_template_id'), status: 400 }
    }
    const own = of(ask.account)
    const deleted = [...new Set(ids as number[])].filter((id) => own.delete(id))
    return {
      data: { deleted, not_found: (ids as number[]).filter((id) => !deleted.includes(id)) },
      ignoredFields: read.ignoredFields,
    }
  }

  return {
    read: [
      {
        name: 'template_types',
        method: 'GET',
        path: '/channel-templates/types',
        answer: ({ query }) => ({ data: { types: templateTypes }, ignoredFields: [...query.keys()] }),
      },
    ],
    actions: [
      { name: 'template_create', method: 'POST', path: '/channel-templates', answer: create },
      { name: 'template_delete', method: 'POST', path: '/channel-templates/delete', answer: remove },
    ],
    count: (account) => held.get(account)?.size ?? 0,
  }
}

function readTemplate(
  body: Record<string, unknown>,
): Omit<Template, 'channel_template_id' | 'version' | 'created_at'> | BadRequest {
  for (const key of ['name', 'channel_node_id', 'channel_type_slug', 'parameters']) {
    if (isAbsent(body[key])) return missing(key)
  }
  const name = textOf(body['name'])
  if (name === undefined || name.length > 200) {
    return malformed('name must be a text of at most 200 characters', 'name')
  }
  const { channel_node_id: nodeId, channel_type_slug: slug } = body
  const type = templateTypes.find((each) => each.channel_node_id === nodeId)
  if (type === undefined) {
    return malformed('channel_node_id must be the UUID of a channel template type', 'channel_node_id')
  }
  if (slug !== type.channel_type_slug) {
    return malformed(`channel_type_slug of this node is ${type.channel_type_slug}`, 'channel_type_slug')
  }
  const parameters = readParameters(type, body['parameters'])
  if (isRefused(parameters)) return parameters as BadRequest
  return {
    name,
    channel_node_id: type.channel_node_id,
    channel_type_slug: type.channel_type_slug,
    parameters: parameters as Record<string, string>,
  }
}

function readParameters(type: TemplateType, raw: unknown): Record<string, string> | BadRequest {
  const given = asObject(raw)
  if (given === null) return malformed('parameters must be an object', 'parameters')
  const valid = type.parameters.map(({ key }) => key)
  const stray = Object.keys(given).find((key) => !valid.includes(key))
  if (stray !== undefined) {
    const message = `parameters of ${type.channel_type_slug} has no ${stray}; it has ${valid.join(', ')}`
    return malformed(message, `parameters.${stray}`)
  }
  for (const { key, is_required: isRequired, max_length: most } of type.parameters) {
    if (isAbsent(given[key])) {
      if (isRequired) return missing(`parameters.${key}`)
      continue
    }
    const value = textOf(given[key])
    if (value === undefined || value.length > most) {
      return malformed(`parameters.${key} must be a text of at most ${most} characters`, `parameters.${key}`)
    }
  }
  return Object.fromEntries(
    valid.flatMap((key) => (isAbsent(given[key]) ? [] : [[key, given[key] as string]])),
  )
}
