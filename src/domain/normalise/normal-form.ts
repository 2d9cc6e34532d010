const crowdedMarks = /[\p{M}--\u034f]{30}(?=[\p{M}--\u034f])/gv

/** Returns whether a text has no other characters than those of ASCII that are printed. */
export function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

/**
 * Returns a text in a Unicode normal form. Sorting a long run of combining marks takes the square of its length, so runs of
 * more than 30 are divided by a grapheme joiner, as the stream-safe text format of Unicode (UAX 15) does. Idempotent.
 */
export function normalForm(form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD', text: string): string {
  // ASCII is the same in every form.
  if (isAscii(text)) return text
  return text.replace(crowdedMarks, '$&\u034f').normalize(form)
}
