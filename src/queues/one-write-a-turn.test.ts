import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { writeOnceATurn } from './one-write-a-turn.ts'

/** A stream that notes what each call of the system would carry. */
function recording() {
  const calls: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      calls.push(String(chunk))
      done()
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => String(chunk)).join('+'))
      done()
    },
  })
  writeOnceATurn(stream)
  return { stream, calls }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('what many promises of one turn write leaves at once, in order', async () => {
  const { stream, calls } = recording()
  const ended = Promise.withResolvers<void>()
  const jobs = ['a', 'b', 'c'].map(async (name) => {
    await ended.promise
    await Promise.resolve()
    stream.write(name)
  })
  ended.resolve()
  await Promise.all(jobs)
  await turn()
  expect(calls).toEqual(['a+b+c'])
})

test('what is written in another turn does not wait for a third', async () => {
  const { stream, calls } = recording()
  stream.write('a')
  await turn()
  expect(calls).toEqual(['a'])
  stream.write('b')
  stream.write('c')
  await turn()
  expect(calls).toEqual(['a', 'b+c'])
})

test('a stream that ends meanwhile still sends what was written', async () => {
  const { stream, calls } = recording()
  stream.write('a')
  stream.end('b')
  await turn()
  expect(calls.join('+')).toBe('a+b')
})

test('a stream that is destroyed meanwhile throws nothing', async () => {
  const { stream } = recording()
  const errors: unknown[] = []
  stream.on('error', (error) => errors.push(error))
  stream.write('a')
  stream.destroy()
  await turn()
  expect(errors).toEqual([])
})
