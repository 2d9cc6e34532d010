import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCsvConnector, openCsv } from '../../../src/connectors/csv/index.ts'
import { connectorSuite } from '../connector-suite.ts'

connectorSuite({
  connector: 'csv',
  entity: 'company',
  textField: 'industry',
  blanks: [],
  ownFields: 0,
  can: [],
  async open() {
    const directory = await mkdtemp(join(tmpdir(), 'paydirt-suite-'))
    const path = join(directory, 'in.csv')
    const rows = Array.from(
      { length: 1200 },
      (_, at) => `https://www.profnet.com/company/acme-${at},Acme ${at}`,
    )
    await writeFile(path, `profnet_url,company\n${rows.join('\n')}\n`)
    const csv = await openCsv(path, { object: 'company' })
    return {
      connector: createCsvConnector({ csv }),
      ids: rows.map((_, at) => String(at + 2)),
      stop: () => rm(directory, { recursive: true, force: true }),
    }
  },
})
