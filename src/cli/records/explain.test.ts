import { expect, test } from 'vitest'
import { explainRecord } from './explain.ts'

test('a row of a file is not explained, and what explains it is named', async () => {
  const refusal = explainRecord('csv:company:2', {})
  await expect(refusal).rejects.toThrow('paydirt csv FILE --object company --plan')
  await expect(refusal).rejects.toThrow('paydirt history csv:company:2')
})
