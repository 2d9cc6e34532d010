import { createWriteStream } from 'node:fs'
import { once } from 'node:events'

/** Writes a file of companies, each with a profile of its own: one lookup per row. */
export async function writeCompanies(path: string, rows: number, tag: string): Promise<void> {
  const file = createWriteStream(path)
  file.write('id,name,profnet_url\n')
  for (let row = 1; row <= rows; row += 1) {
    const line = `${row},Company ${row},https://www.profnet.example/company/${tag}-${row}\n`
    if (!file.write(line)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'close')
}
