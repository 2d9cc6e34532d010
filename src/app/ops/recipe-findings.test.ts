import { expect, test } from 'vitest'
import type { Connector } from '../../connectors/connector.ts'
import { resolveConfig } from '../config/config.ts'
import { readEnvironment } from '../config/environment.ts'
import { fileSchema } from '../config/file.ts'
import { hubspotMapping } from '../../connectors/hubspot/mapping.ts'
import { recipeFindings } from './recipe-findings.ts'

test('fields without a place are one line of the doctor, without an arrow', async () => {
  const config = resolveConfig(
    readEnvironment({ PAYDIRT_SERVICE_URL: 'https://data.example' }),
    fileSchema.parse({}),
  )
  // Each object lacks a few properties.
  const connector = {
    name: 'hubspot',
    entities: { companies: 'company', contacts: 'person' },
    capabilities: { keepsValues: true },
    mapping: hubspotMapping,
    describe: async (entity: string) =>
      Object.values(hubspotMapping.entities[entity]?.fields ?? {})
        .slice(3)
        .map(({ property: name, create }) => ({
          name,
          label: name,
          type: create?.type ?? 'text',
          writable: true,
        })),
    ensureFields: async () => [],
  } as unknown as Connector
  const findings = await recipeFindings(config, connector)
  const fine = findings.filter(({ status }) => status === 'ok')
  expect(fine).toEqual([
    {
      name: 'hubspot',
      status: 'ok',
      message: expect.stringMatching(/companies: .*missing in the account: .*\. contacts: /),
    },
  ])
})
