import { appendFileSync, chmodSync, linkSync, lstatSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { PassThrough, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { csvDirectory, errorOf } from '../../../test/fixtures/csv-files.ts'
import { ConfigError, InputError } from '../../domain/errors.ts'
import type { FieldValue } from '../../domain/record.ts'
import { assertWritableOutput } from './output-file.ts'
import { openCsv } from './read-csv.ts'
import { hashFile } from './text-file.ts'
import { writeEnriched, type RowResult } from './write-csv.ts'

const enrichedAt = new Date('2026-01-02T03:04:05.678Z')

function written(ordinal: number, values: Record<string, FieldValue>): RowResult {
  const patch = Object.fromEntries(Object.entries(values).map(([name, set]) => [name, { set }]))
  return { ordinal, status: 'written', reason: null, patch, enrichedAt }
}

describe('where it is written', () => {
  const opened = async (directory: ReturnType<typeof csvDirectory>) =>
    openCsv(directory.write('in.csv', 'domain\na\nb\n'), { object: 'company' })

  test('standard output gets the same bytes', async () => {
    const directory = csvDirectory()
    const input = await opened(directory)
    const stdout = new PassThrough()
    const results = [written(1, {}), written(2, {})]
    expect(await writeEnriched({ input, out: '-', fields: [], results, stdout })).toEqual({ rows: 2 })
    expect(stdout.writableEnded).toBe(false)
    stdout.end()
    await writeEnriched({ input, out: directory.at('out.csv'), fields: [], results })
    expect(await text(stdout)).toBe(directory.read('out.csv'))
  })

  test.each(['EPIPE', 'ENOSPC'])('standard output that ends with %s', async (code) => {
    const input = await opened(csvDirectory())
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
    })
    const writing = writeEnriched({ input, out: '-', fields: [], results: [written(1, {})], stdout })
    // A reader that has seen enough is no failure; a full disk is.
    if (code === 'EPIPE') await writing
    else await expect(writing).rejects.toThrow(code)
  })

  test.each(['the same path', 'a symbolic link', 'a hard link'])(
    'the input itself is refused: %s',
    async (how) => {
      const directory = csvDirectory()
      const input = await opened(directory)
      const out = how === 'the same path' ? `${directory.path}/./in.csv` : directory.at('link.csv')
      if (how === 'a symbolic link') symlinkSync(input.path, out)
      if (how === 'a hard link') linkSync(input.path, out)
      for (const attempt of [
        () => writeEnriched({ input, out, fields: [], results: [] }),
        () => assertWritableOutput(input.path, out),
      ]) {
        const error = await errorOf(attempt())
        expect(error).toBeInstanceOf(ConfigError)
        expect(error.message).toContain('this is the input file itself')
      }
      expect(directory.read('in.csv')).toBe('domain\na\nb\n')
    },
  )

  test('a file that appears meanwhile is kept, unless it may be replaced', async () => {
    const directory = csvDirectory()
    const input = await opened(directory)
    const out = directory.at('out.csv')
    const noted: string[] = []
    const results = async function* () {
      directory.write('out.csv', 'precious')
      yield written(1, {})
    }
    const onComplete = async ({ sha256 }: { sha256: string }) => void noted.push(sha256)
    const error = await errorOf(
      writeEnriched({ input, out, fields: [], results: results(), replace: false, onComplete }),
    )
    expect(error.code).toBe('csv_out_exists')
    expect(error.message).toContain('a file of this name is there')
    expect(directory.read('out.csv')).toBe('precious')
    expect(directory.names()).toEqual(['in.csv', 'out.csv'])

    await writeEnriched({ input, out, fields: [], results: results(), replace: true, onComplete })
    expect(noted).toEqual([noted[1], await hashFile(out)])
  })

  test('a free name is taken without a trace of the temporary one', async () => {
    const directory = csvDirectory()
    const input = await opened(directory)
    await writeEnriched({ input, out: directory.at('out.csv'), fields: [], results: [], replace: false })
    expect(directory.names()).toEqual(['in.csv', 'out.csv'])
    expect(statSync(directory.at('out.csv')).nlink).toBe(1)
  })

  test('a directory that does not exist is named, and a directory is no file', async () => {
    const directory = csvDirectory()
    const input = await opened(directory)
    const missing = await errorOf(assertWritableOutput(input.path, directory.at('none/out.csv')))
    expect(missing.message).toContain(`there is no directory ${directory.at('none')}`)
    mkdirSync(directory.at('some'))
    expect((await errorOf(assertWritableOutput(input.path, directory.at('some')))).message).toContain(
      'it is a directory',
    )
  })

  test('a check before the run leaves nothing behind', async () => {
    const directory = csvDirectory()
    const input = await opened(directory)
    await assertWritableOutput(input.path, directory.at('out.csv'))
    expect(directory.names()).toEqual(['in.csv'])
  })

  test('an output that exists is replaced, with its mode and the link to it', async () => {
    const directory = csvDirectory()
    const input = await opened(directory)
    directory.write('real.csv', 'old')
    chmodSync(directory.at('real.csv'), 0o640)
    symlinkSync('real.csv', directory.at('out.csv'))
    await writeEnriched({ input, out: directory.at('out.csv'), fields: [], results: [] })
    expect(lstatSync(directory.at('out.csv')).isSymbolicLink()).toBe(true)
    expect(directory.read('real.csv')).toContain('paydirt_status')
    expect(statSync(directory.at('real.csv')).mode & 0o777).toBe(0o640)
  })

  test('a device is written to and stays one', async () => {
    const input = await opened(csvDirectory())
    await writeEnriched({ input, out: '/dev/null', fields: [], results: [] })
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
  })
})

describe('what goes wrong leaves an existing output whole, and nothing else behind', () => {
  const failing: [string, (inputPath: string) => AsyncIterable<RowResult>, string][] = [
    [
      'results that fail half-way',
      async function* () {
        yield written(1, {})
        throw new InputError('boom', 'the ledger went away')
      },
      'boom',
    ],
    [
      'results of another file',
      async function* () {
        yield written(1, {})
        yield written(70_000, {})
      },
      'csv_foreign_results',
    ],
    [
      'results out of order',
      async function* () {
        yield written(2, {})
        yield written(1, {})
      },
      'csv_foreign_results',
    ],
    [
      'an input that changes meanwhile',
      async function* (path) {
        appendFileSync(path, 'more\n')
        yield written(1, {})
      },
      'csv_changed',
    ],
  ]

  test.each(failing)('%s', async (_, results, code) => {
    const directory = csvDirectory()
    const path = directory.write('in.csv', `domain\n${'a\n'.repeat(60_000)}`)
    const input = await openCsv(path, { object: 'company' })
    directory.write('out.csv', 'precious')
    const error = await errorOf(
      writeEnriched({ input, out: directory.at('out.csv'), fields: [], results: results(path) }),
    )
    expect(error.code).toBe(code)
    expect(directory.read('out.csv')).toBe('precious')
    expect(directory.names()).toEqual(['in.csv', 'out.csv'])
  })

  test('an input that changed before: standard output stays empty', async () => {
    const directory = csvDirectory()
    const input = await openCsv(directory.write('in.csv', 'domain\na\n'), { object: 'company' })
    directory.write('in.csv', 'domain\nb\n')
    const stdout = new PassThrough()
    const error = await errorOf(writeEnriched({ input, out: '-', fields: [], results: [], stdout }))
    expect(error.code).toBe('csv_changed')
    stdout.end()
    expect(await text(stdout)).toBe('')
  })

  test('an abort', async () => {
    const directory = csvDirectory()
    const input = await openCsv(directory.write('in.csv', `domain\n${'a\n'.repeat(60_000)}`), {
      object: 'company',
    })
    const stop = new AbortController()
    let closed = false
    async function* results() {
      try {
        for (let ordinal = 1; ; ordinal++) {
          if (ordinal === 1000) stop.abort()
          yield written(ordinal, {})
        }
      } finally {
        closed = true
      }
    }
    const { signal } = stop
    const writing = writeEnriched({
      input,
      out: directory.at('out.csv'),
      fields: [],
      results: results(),
      signal,
    })
    expect((await errorOf(writing)).name).toBe('AbortError')
    expect(directory.names()).toEqual(['in.csv'])
    expect(closed).toBe(true)
  })
})
