import { fieldNames } from './answer-fields.ts'
import { assumed, type AnswerShape, type Family, type RequestField } from './entry.ts'
import { filter, paging, text } from './fields.ts'

const common = { access: assumed('direct'), price: assumed('unknown'), timeoutMs: 30_000 } as const
const monitorId: RequestField = text('assumed', { isRequired: true })
const uuid = [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID'] as const

const settings: Readonly<Record<string, RequestField>> = {
  name: text('assumed'),
  status: text('shown 3', { vocabulary: 'monitor_status' }),
  signal_types: filter('shown 4.4', { vocabulary: 'monitor_signal_types' }),
  filters: { is: 'object', origin: 'assumed' },
  domain_search_ids: filter('assumed'),
  webhook_url: text('assumed'),
  webhook_headers: { is: 'object', origin: 'assumed' },
}

const monitor: AnswerShape = {
  at: assumed('data'),
  fields: {
    monitor_id: { origin: 'assumed' },
    name: { origin: 'assumed', is: 'string' },
    status: { origin: 'shown 3', is: 'string', teaches: 'monitor_status' },
    detection_mode: { origin: 'shown 3', is: 'string', teaches: 'detection_modes' },
    signal_types: { origin: 'shown 4.4', is: 'array', teaches: 'monitor_signal_types' },
  },
}
const document: AnswerShape = { at: assumed('data'), fields: {} }

/** Monitors and channel templates. The description says what they do; their paths and most keys are assumed. */
export const monitors = {
  'monitor.list': {
    ...common,
    summary: 'all monitors of the workspace',
    method: assumed('GET'),
    path: assumed('/monitors'),
    request: { ...paging },
    answer: {
      at: assumed('data.monitors'),
      rows: { id: assumed('monitor_id'), total: assumed('data.pagination.total_entries') },
      fields: monitor.fields,
    },
  },
  'monitor.read': {
    ...common,
    summary: 'one monitor',
    method: assumed('GET'),
    path: assumed('/monitors/{monitor_id}'),
    request: { monitor_id: monitorId },
    answer: monitor,
  },
  'monitor.create': {
    ...common,
    summary: 'makes a monitor',
    method: assumed('POST'),
    path: assumed('/monitors'),
    request: {
      ...settings,
      name: text('assumed', { isRequired: true }),
      detection_mode: text('shown 3', { vocabulary: 'detection_modes', isRequired: true }),
    },
    answer: monitor,
  },
  'monitor.update': {
    ...common,
    summary: 'changes a monitor; its detection_mode stays',
    method: assumed('PATCH'),
    path: assumed('/monitors/{monitor_id}'),
    request: { monitor_id: monitorId, ...settings },
    answer: monitor,
  },
  'monitor.delete': {
    ...common,
    summary: 'deletes a monitor',
    method: assumed('DELETE'),
    path: assumed('/monitors/{monitor_id}'),
    request: { monitor_id: monitorId },
    answer: document,
  },
  'monitor.statistics': {
    ...common,
    summary: 'counts of a monitor',
    method: assumed('GET'),
    path: assumed('/monitors/{monitor_id}/statistics'),
    request: { monitor_id: monitorId },
    answer: document,
  },
  'monitor.charts': {
    ...common,
    summary: 'counts of a monitor over time',
    method: assumed('GET'),
    path: assumed('/monitors/{monitor_id}/charts'),
    request: { monitor_id: monitorId },
    answer: document,
  },
  'monitor.logs': {
    ...common,
    summary: 'all detections of a monitor, delivered or not',
    method: assumed('GET'),
    path: assumed('/monitors/{monitor_id}/detection-logs'),
    request: { monitor_id: monitorId, ...paging },
    answer: {
      at: assumed('data.logs'),
      rows: { id: assumed('detection_log_id'), total: assumed('data.pagination.total_entries') },
      fields: {},
    },
  },
  'monitor.validate': {
    ...common,
    summary: 'delivers once to a webhook to see that it takes deliveries',
    method: assumed('POST'),
    path: assumed('/monitors/webhook/validate'),
    request: {
      webhook_url: text('assumed', { isRequired: true }),
      webhook_headers: { is: 'object', origin: 'assumed' },
    },
    answer: document,
  },
  'monitor.test': {
    ...common,
    summary: 'processes a monitor once as a test',
    method: assumed('POST'),
    path: assumed('/monitors/{monitor_id}/test'),
    request: { monitor_id: monitorId },
    answer: document,
  },
  'monitor.interpret': {
    ...common,
    summary: 'drafts a monitor from a sentence; makes none',
    method: assumed('POST'),
    path: assumed('/monitors/interpret'),
    request: { query: text('assumed', { isRequired: true }) },
    answer: document,
  },
  'template.types': {
    ...common,
    summary: 'types of channel templates',
    method: assumed('GET'),
    path: assumed('/channel-templates/types'),
    request: {},
    answer: {
      at: assumed('data.types'),
      fields: {
        ...fieldNames('shown 4.4', { channel_node_id: 'string' }),
        channel_type_slug: { origin: 'shown 4.4', is: 'string', teaches: 'channel_types' },
      },
    },
  },
  'template.create': {
    ...common,
    summary: 'makes a channel template',
    method: assumed('POST'),
    path: assumed('/channel-templates'),
    request: {
      channel_node_id: text('shown 4.4', { isRequired: true, matches: uuid }),
      channel_type_slug: text('shown 4.4', { isRequired: true, vocabulary: 'channel_types' }),
      name: text('assumed'),
      parameters: { is: 'object', origin: 'shown 4.4' },
    },
    answer: document,
  },
  'template.delete': {
    ...common,
    summary: 'removes versions of channel templates',
    method: assumed('POST'),
    path: assumed('/channel-templates/delete'),
    request: {
      channel_template_id: { is: 'integers', origin: 'shown 4.4', isRequired: true, within: [1, 100] },
    },
    answer: document,
  },
} satisfies Family
