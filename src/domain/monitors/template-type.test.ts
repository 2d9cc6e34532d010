import { expect, test } from 'vitest'
import { readTemplateTypes, templateProblem } from './template-type.ts'

const email = {
  channel_node_id: 'node-1',
  channel_type_slug: 'email',
  name: 'E-mail',
  parameters: [
    { key: 'subject', is_required: true, max_length: 10 },
    { key: 'body', is_required: false, max_length: 20 },
  ],
}

test.each<[string, { slug?: string; parameters: Record<string, unknown> }, string | undefined]>([
  ['a whole one', { parameters: { subject: 'Hello', body: 'You' } }, undefined],
  ['without what may be left out', { parameters: { subject: 'Hello' } }, undefined],
  [
    'of another channel',
    { slug: 'messaging', parameters: { subject: 'Hello' } },
    'channel_type_slug of this node is email',
  ],
  ['without a subject', { parameters: { body: 'You' } }, 'parameters.subject is missing'],
  [
    'with a parameter of another type',
    { parameters: { subject: 'Hello', text: 'You' } },
    'parameters has no text; it has subject, body',
  ],
  [
    'with a long subject',
    { parameters: { subject: 'Hello, hello' } },
    'parameters.subject has 12 characters; 10 are allowed',
  ],
])('a template %s', (_, { slug = 'email', parameters }, problem) => {
  const [type] = readTemplateTypes([email])
  expect(templateProblem(type!, { slug, parameters })).toBe(problem)
})

test('types of a form that is not known here are listed, and check nothing', () => {
  const types = readTemplateTypes([
    { channel_node_id: 'node-1', parameters: { subject: 'text' } },
    { channel_node_id: 'node-2', parameters: ['note'] },
    { channel_node_id: 'node-3', parameters: [{ id: 1 }] },
    { name: 'without a node' },
    null,
  ])
  expect(types.map(({ nodeId, parameters }) => [nodeId, parameters?.map(({ key }) => key) ?? null])).toEqual([
    ['node-1', null],
    ['node-2', ['note']],
    ['node-3', null],
  ])
  expect(templateProblem(types[0]!, { slug: 'any', parameters: { any: 1 } })).toBeUndefined()
  expect(readTemplateTypes({ no: 'list' })).toEqual([])
})
