import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectorNames } from '../../src/connectors/definitions.ts'

test.each(connectorNames)('%s passes the connector suite in a test of its own', (name) => {
  expect(existsSync(join(import.meta.dirname, `connectors/${name}.test.ts`))).toBe(true)
})
