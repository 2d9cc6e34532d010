export { createCsvConnector } from './csv-connector.ts'
export { assertWritableOutput } from './output-file.ts'
export { openCsv, type OpenedCsv } from './read-csv.ts'
export { writeEnriched, type RowResult } from './write-csv.ts'
