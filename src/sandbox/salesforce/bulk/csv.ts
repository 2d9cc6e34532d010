/** Parses RFC 4180 text with a one-character delimiter. Throws on an unclosed quote. */
export function parseCsv(text: string, delimiter: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let value = ''
  let isQuoted = false
  let hasContent = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] as string
    if (isQuoted) {
      if (sign !== '"') value += sign
      else if (text[at + 1] === '"') value += text[++at]
      else isQuoted = false
    } else if (sign === '"' && value === '') {
      isQuoted = true
      hasContent = true
    } else if (sign === delimiter) {
      row.push(value)
      value = ''
      hasContent = true
    } else if (sign === '\n' || sign === '\r') {
      if (sign === '\r' && text[at + 1] === '\n') at += 1
      if (hasContent || value !== '') rows.push([...row, value])
      row = []
      value = ''
      hasContent = false
    } else value += sign
  }
  if (isQuoted) throw new Error('a quoted value is not closed')
  if (hasContent || value !== '') rows.push([...row, value])
  return rows
}

/** Writes every value quoted, as the bulk API writes its results. */
export function formatCsv(rows: readonly (readonly string[])[], delimiter: string, lineEnd: string): string {
  return rows
    .map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(delimiter) + lineEnd)
    .join('')
}
