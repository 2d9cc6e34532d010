import { isAscii, normalForm } from './normal-form.ts'

/** Letters that Unicode does not decompose although people write them with and without marks. */
const latinLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  ĸ: 'k',
  ŋ: 'n',
  ŧ: 't',
}

/**
 * Folds the differences between two spellings of one text: compatibility forms, case, white space, and the marks on Latin
 * letters. Marks of other scripts make other letters (й is not и, が is not か) and stay. For keys only, never for writing.
 * Idempotent.
 */
export function foldText(text: string): string {
  // Nothing to fold but case and white space.
  if (isAscii(text)) return text.toLowerCase().replace(/ {2,}/g, ' ').trim()
  return normaliseText(text, foldOnce)
}

/** Folds until nothing changes, because one round may make the next one possible. */
export function normaliseText(text: string, fold: (text: string) => string): string {
  let folded = fold(text)
  for (let round = 0; round < 8; round++) {
    const again = fold(folded)
    if (again === folded) break
    folded = again
  }
  return folded
}

function foldOnce(text: string): string {
  const bare = normalForm('NFD', normalForm('NFKC', text).toLowerCase())
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .replace(/[ßøæœłđðþħıĸŋŧ]/g, (letter) => latinLetters[letter] ?? letter)
    .replaceAll('ς', 'σ')
  return normalForm('NFKC', bare)
    .replace(/[\p{White_Space}\p{Cf}]+/gu, (gap) => (/\p{White_Space}/u.test(gap) ? ' ' : ''))
    .trim()
}

const before = new Set(['dr', 'prof', 'mr', 'mrs', 'ms', 'mx'])
const behind = new Set(['phd', 'mba'])

/**
 * Returns a person's name for a key: folded, without punctuation, courtesy titles and degrees. The order of the names stays,
 * and so do suffixes like `Jr.`, which distinguish father and son. Blank when nothing else was given.
 */
export function foldPersonName(...names: readonly string[]): string {
  return normaliseText(names.join(' '), foldName)
}

function foldName(name: string): string {
  const words = foldText(name)
    .replace(/['’ʼ`´‘.]/gu, '')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')
  let [start, end] = [0, words.length]
  while (end - start > 2 && before.has(words[start] as string)) start += 1
  while (end - start > 2 && behind.has(words[end - 1] as string)) end -= 1
  return words.slice(start, end).join(' ')
}
