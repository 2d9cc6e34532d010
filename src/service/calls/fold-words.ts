import { normalForm } from '../../domain/normalise/normal-form.ts'

const apostrophes = /['’]/gu
const gaps = /[\p{P}\p{Z}\p{Cc}]+/gu

/**
 * Folds a department, function or level to lower-case words with single spaces. The service compares such values without case,
 * spaces and punctuation, and reads a value that names no entry as the entry with all its words: the words must stay apart.
 */
export function foldWords(value: string): string {
  const text = normalForm('NFC', value).toLowerCase()
  return text.replace(apostrophes, '').replace(gaps, ' ').trim()
}

/** Returns what two spellings of one value share: `Human Resources` and `HumanResources` are the same to the service. */
export function comparedWords(value: string): string {
  return foldWords(value).replaceAll(' ', '')
}
