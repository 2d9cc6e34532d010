import { expect, test } from 'vitest'
import type { Connector } from '../../connectors/connector.ts'
import { noteFindings } from './note-findings.ts'

const asked: string[] = []
const crm = (problems: { code: string; message: string; todo: string }[]): Connector =>
  ({
    name: 'hubspot',
    entities: { companies: 'company', contacts: 'person' },
    notes: {
      check: async (entity: string) => {
        asked.push(entity)
        return problems
      },
    },
  }) as unknown as Connector
const accounts = { connector: 'hubspot' } as const

test('a CRM from which no notes are wanted is not asked', async () => {
  const signals = { dach: { accounts }, listed: { accounts: { list: 'x' }, note: true } }
  expect(await noteFindings({ signals } as never, crm([]))).toEqual([])
  expect(asked).toEqual([])
})

test('one right of several places is asked for once, and what is missing names them', async () => {
  const signals = { dach: { accounts, note: true } }
  const monitors = { spain: { onMatch: { connector: 'hubspot', task: { title: 'Call' } } } }
  const missing = { code: 'x', message: 'it lacks a scope', todo: 'Add it.' }
  expect(await noteFindings({ signals, monitors } as never, crm([missing]))).toEqual([
    {
      name: 'signals.dach, monitors.spain.onMatch',
      status: 'problem',
      message: 'it lacks a scope',
      todo: 'Add it.',
    },
  ])
  expect(await noteFindings({ signals, monitors } as never, crm([]))).toMatchObject([{ status: 'ok' }])
  expect(asked).toEqual(['companies', 'companies'])
})
