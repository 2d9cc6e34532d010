// `node scripts/run.mjs configuration`: writes the tables of docs/configuration.md from the schemas.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { writeParts } from './reference.ts'

const path = join(import.meta.dirname, '../../docs/configuration.md')
const text = writeParts(await readFile(path, 'utf8'))
await writeFile(path, await format(text, { ...(await resolveConfig(path)), filepath: path }))
