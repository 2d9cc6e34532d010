// `node scripts/run.mjs configuration`: writes the tables of docs/configuration.md from the schemas, and docs/service-contract.md
// from the catalogue.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { contractPage } from './contract-page.ts'
import { writeParts } from './reference.ts'

const docs = join(import.meta.dirname, '../../docs')
await write('configuration.md', writeParts(await readFile(join(docs, 'configuration.md'), 'utf8')))
await write('service-contract.md', contractPage())

async function write(name: string, text: string): Promise<void> {
  const path = join(docs, name)
  await writeFile(path, await format(text, { ...(await resolveConfig(path)), filepath: path }))
}
